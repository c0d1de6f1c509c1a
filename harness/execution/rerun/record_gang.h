// A recording by several tasks: each records its own part, and rank 0 makes one manifest of them.
//
// Role: `rharness record` as a task of srun, mpirun or torchrun, started for each task by itself
// (StartTasks), or watching the other nodes of a command (allocation_watch.h). The parts meet in a
// folder beside the manifest, which all nodes see.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_GANG_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_GANG_H_

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/subprocess.h"
#include "harness/execution/rerun/allocation_watch.h"
#include "harness/execution/rerun/record.h"
#include "harness/execution/rerun/rendezvous.h"

namespace rharness {

// What one task recorded.
struct RecordedPart {
  int rank = 0;
  int node = 0;
  std::string id;  // of the run, as in TaskPlace
  std::string host;
  bool sees_folder = true;  // rank 0's current folder
  Outcome outcome;
  Manifest manifest;
};

// The request of a task: rank 0 measures what all write; another looks for no outputs, and only the
// first of a node hashes data.
RecordRequest AsTask(RecordRequest request, const TaskPlace& place);

class GangRecording {
 public:
  // By this process's variables: a task of several, or one that records or watches a command in an
  // allocation of several nodes. `out`: of the manifest, absolute. None: neither.
  // Errors: those of WatchedNodeOf.
  static Result<std::unique_ptr<GangRecording>> For(const Variables& environment,
                                                    const std::filesystem::path& out, bool observe);
  // `folder`: of the parts; absolute.
  GangRecording(TaskPlace place, std::filesystem::path folder);
  ~GangRecording();
  GangRecording(const GangRecording&) = delete;
  GangRecording& operator=(const GangRecording&) = delete;

  bool is_head() const { return place_.rank == 0; }
  // Before the command; the request becomes this task's. Errors: invalid_input if a part of this
  // rank is there already; io.
  Status Begin(const std::function<bool()>& should_cancel, RecordRequest* request);
  // Polled while the command runs: whether it must end, since the command of another rank failed.
  bool MustStop();
  // Another rank than 0, at its end. Errors: io.
  Status Tell(Manifest manifest, const Outcome& outcome);
  // Rank 0: adds the parts to the manifest.
  void Merge(Manifest* manifest) const;

 private:
  void TellProblem();
  void StartWatch(const std::function<bool()>& should_cancel, RecordRequest* request);
  Status Claim();
  // After the command of any rank: the others end if it failed.
  void TellOutcome(const Outcome& outcome) const;
  // Rank 0, after its command: waits up to ten minutes for the others, 30 seconds if its own
  // command failed, and reports each minute which are missing. An error is a sentence of the
  // recording, and its outcome that of the first rank that failed.
  void WaitForOthers(const std::function<bool()>& should_cancel, Recording* recording);
  // What is missing of the others: an error, or, of nodes that only watch, not seen.
  void NoteMissing(std::string sentence, Recording* recording) const;
  std::filesystem::path PartOf(int rank) const;
  std::filesystem::path Marker() const;
  // Ranks whose parts did not come.
  std::vector<int> AwaitParts(bool succeeded, const std::function<bool()>& should_cancel) const;
  // Left by an earlier recording to the same place.
  bool IsStale(const RecordedPart& part) const;

  const TaskPlace place_;
  bool is_once_ = false;                    // one command, and nodes that watch
  NotesAt notes_;                           // of the command's processes on this node
  std::unique_ptr<AllocationWatch> watch_;  // of the one that has the command
  const std::filesystem::path folder_;
  HeadPulse head_;                   // of a node that watches
  std::filesystem::path marker_;     // rank 0's, in its current folder; empty: none
  std::vector<RecordedPart> parts_;  // of the other ranks
  std::chrono::steady_clock::time_point looked_{};
  bool must_stop_ = false;
  bool problem_told_ = false;
};

// One manifest of all. Data and code that only another rank read are added; what differs between
// nodes is a note, and for data and code one that admission refuses. `once`: rank 0 alone has the
// command, and a part is what ran on its node. Pure.
void MergeRecords(const TaskPlace& place, const std::vector<RecordedPart>& parts, bool once,
                  Manifest* manifest);

// Errors: unsupported, in a heterogeneous job of Slurm.
Status CheckAllocation(const Variables& environment);

// Records the allocation of a command that starts its tasks itself (`record -- srun ...` in a batch
// script); a rerun gets one of the same size. If the manifest has no parts of other nodes, its
// observation says that these were not seen. Does nothing outside of an allocation of several
// nodes.
void DescribeAllocation(const Variables& environment, Manifest* manifest);

// Starts this program's own command line once for each task of a run on this machine, with the
// variables of torchrun. Returns the exit code of rank 0, which ends if any fails. `out`: of their
// manifest, if none is named.
int StartTasks(int nodes, int tasks_per_node, const std::filesystem::path& out,
               const std::function<bool()>& should_cancel);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_GANG_H_
