// What runs on the other nodes of an allocation while a command that starts its own tasks is
// recorded (`record -- srun ...` in a batch script).
//
// Role: a step beside the command's own has one process of this program on each other node. It
// makes the folder of notes there, at the same path as on node 0, since the command's tasks get
// node 0's variables; waits for the command's end; and records its node as a part
// (record_gang.h). Nothing here can fail the recording. Source: Slurm, srun(1), --overlap and
// --relative.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_ALLOCATION_WATCH_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_ALLOCATION_WATCH_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "harness/execution/rerun/record.h"
#include "harness/execution/rerun/rendezvous.h"

namespace rharness {

// Node 0's side.
class AllocationWatch {
 public:
  // `folder`: of the parts; absolute, and there. `notes`: free on each node.
  AllocationWatch(int nodes, std::filesystem::path folder, std::filesystem::path notes);
  ~AllocationWatch();
  AllocationWatch(const AllocationWatch&) = delete;
  AllocationWatch& operator=(const AllocationWatch&) = delete;

  // `id`: of the recording.
  void Start(const std::string& id);
  // Before the command: until all nodes could watch, but no longer than a minute.
  void WaitUntilReady(const std::function<bool()>& should_cancel);
  // After the command.
  void TellDone() const;

  // Why the other nodes are not seen; empty: they are.
  std::string Problem() const;

 private:
  void SetProblem(std::string problem);
  // Polled while the step runs.
  void Beat();

  const int nodes_;
  const std::filesystem::path folder_;
  NotesAt notes_;
  mutable std::mutex mutex_;
  std::string problem_;
  std::atomic<bool> ended_{true};
  std::uint64_t beats_ = 0;  // of the step's thread, likewise the next
  std::chrono::steady_clock::time_point next_beat_{};
  std::jthread step_;  // last member: it uses the others
};

// Another node's side.
struct WatchedNode {
  TaskPlace place;
  std::filesystem::path folder;  // of the parts
  NotesAt notes;
};
// Empty: this process is none. Errors: invalid_input for a variable that is not of a step of
// rharness itself: a process that takes itself for no watch would start the command again.
Result<std::optional<WatchedNode>> WatchedNodeOf(const Variables& environment);
// `folder`: of the parts.
void TellReady(const std::filesystem::path& folder, int node);
bool IsDone(const std::filesystem::path& folder);

// Whether node 0 still records: it writes another count every few seconds. One that was killed
// does not say that it is done. By this node's clock.
class HeadPulse {
 public:
  explicit HeadPulse(std::filesystem::path folder, std::chrono::milliseconds silence = kHeadSilence)
      : folder_(std::move(folder)), silence_(silence) {}
  // Nothing new was written since this long, or since the first call.
  bool IsGone();

 private:
  static constexpr std::chrono::milliseconds kHeadSilence{45'000};

  std::filesystem::path folder_;  // of the parts
  std::chrono::milliseconds silence_;
  std::string last_;
  std::optional<std::chrono::steady_clock::time_point> since_;
};

// This program with its own command line, to start it again; empty: not known.
std::vector<std::string> OwnCommandLine();

// A path that is free on this node and most likely on others, for a folder of notes.
std::filesystem::path FreeNotesPath();

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_ALLOCATION_WATCH_H_
