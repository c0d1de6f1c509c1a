// Runs one command once on every node of a class, by Slurm, to compare a fleet.
//
// Free nodes are submitted together, in one job with a task per node; busy ones wait in the queue
// singly, a few at a time, so that a node that is never free delays no other. Below the sweep's
// folder, BATCH/ is one job and BATCH/NODE/ the command's working folder and output on that node.
// Slurm's report on a job is never the answer of a node.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_NODE_SWEEP_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_NODE_SWEEP_H_

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/execution/dispatch/queue.h"
#include "harness/execution/dispatch/slurm_client.h"
#include "harness/execution/dispatch/slurm_nodes.h"

namespace rharness {

struct SweepOptions {
  std::filesystem::path folder;        // absolute, and the same on every node; empty or missing
  std::string id;                      // unique; names its jobs
  std::vector<std::string> command;    // its environment is this process's
  std::chrono::seconds timeout{3600};  // of the command on a node
  std::chrono::seconds wait{3600};     // longest wait for nodes to become free
};

// What became of a node.
struct NodeEnd {
  std::string node;
  std::filesystem::path folder;  // the command's output; empty: it did not run
  std::optional<int> exit_code;  // of the command; none: it did not end
  std::string why;               // then: one sentence. Else its last line of output.
};

// A node that has not ended, for NextGroups.
struct WaitingNode {
  std::string name;
  NodeRoom room = NodeRoom::kBusy;
  bool alone = false;  // it held up others before
};
// The next nodes to submit, a job per group: free nodes together, at most kMostNodesAJob; of the
// others as many singly as keep `queued` of these at kMostQueued. Pure.
inline constexpr std::size_t kMostNodesAJob = 1000;
inline constexpr std::size_t kMostQueued = 16;
std::vector<std::vector<std::string>> NextGroups(const std::vector<WaitingNode>& waiting,
                                                 std::size_t queued);

// The last line of a job's log that names this node; empty: none. Pure.
std::string LineAbout(std::string_view log, std::string_view node);

// The name of a sweep's job in Slurm's queue.
std::string SweepJobName(std::string_view id, int batch);

// Cancels the queued jobs of a killed process. Errors: those of SlurmClient.
Status CancelSweep(const std::filesystem::path& folder, SlurmClient* client);

// One thread; calls are short, except for the requested wait.
class NodeSweep {
 public:
  NodeSweep(SweepOptions options, NodeChoice choice, SlurmClient* client, Clock* clock);

  // Lists the nodes; submits nothing yet. Errors: invalid_input if there is none; those of
  // SlurmClient; io.
  Status Begin();
  const std::vector<std::string>& nodes() const { return names_; }

  // Nodes that ended since the last call; waits for one until `longest` has passed. Errors: io.
  Result<std::vector<NodeEnd>> Wait(std::chrono::nanoseconds longest);
  bool Done() const { return parts_.empty() && ended_.empty(); }
  // Cancels all submissions: every remaining node ends.
  void Cancel();

 private:
  struct Part {
    std::optional<int> batch;  // of its submission; none: it waits
    bool alone = false;
    int attempts = 0;  // that came to no end
    int preempted = 0;
    std::string why;  // of the last one
    SlurmNode seen;   // as sinfo had it last
  };
  struct Batch {
    std::vector<std::string> nodes;  // that have not ended
    bool single = false;
    std::optional<std::uint64_t> job;  // none: not known whether it is submitted
    MonotonicTime submitted{0};
    bool waits = true;                   // it has not started...
    std::string reason;                  // ...for this reason
    std::optional<MonotonicTime> ended;  // when Slurm first reported that, or no longer knew it
  };

  std::filesystem::path FolderOf(int batch) const;
  Status Round();
  void Collect();
  bool Poll();
  void SettleBatch(int number, const std::optional<SlurmTask>& said);
  void SettleWaiting(int number, const SlurmTask& said);
  void GiveBack(int number, bool alone);
  void EndBatch(int number, const SlurmTask& said);
  void EndUnknown(int number);
  bool LookAtNodes();
  void DropUnusable();
  void DropLate();
  Status SubmitNext();
  Status SubmitGroup(const std::vector<std::string>& group);
  void Refuse(const std::vector<std::string>& group, const std::string& why);
  void FindNumbers();
  void End(const std::string& node, std::string why);
  std::vector<std::string> Arguments(int number, const std::vector<std::string>& group) const;
  void TellSilence(const Error& error);

  const SweepOptions options_;
  const NodeChoice choice_;
  SlurmClient& client_;
  Clock& clock_;
  std::vector<std::string> names_;
  std::map<std::string, Part> parts_;  // that have not ended
  std::map<int, Batch> batches_;       // likewise
  std::vector<NodeEnd> ended_;         // and not told yet
  int last_batch_ = 0;
  std::string refusal_;      // the last one, if nothing was accepted since
  std::string unknown_why_;  // ": WHY", if squeue refuses to answer
  MonotonicTime began_{0};
  MonotonicTime next_round_{0};
  std::chrono::nanoseconds interval_{0};
  bool silent_ = false;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_NODE_SWEEP_H_
