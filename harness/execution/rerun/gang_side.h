// What a rerun does beside its own steps if it is one node of a gang.
//
// Role: the calls of rerun.cc to the session, the tasks and the merging. A gang's folder is
// gang/JOB.ATTEMPT below that of the context; node N works in node-N there, node 0 in the rerun's
// own place.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_GANG_SIDE_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_GANG_SIDE_H_

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/execution/rerun/gang_session.h"
#include "harness/execution/rerun/gang_tasks.h"
#include "harness/execution/rerun/obstacle.h"

namespace rharness {

// Whether this ticket is for several tasks.
bool IsGang(const Ticket& ticket);
// The scheduler's nodes that a ticket is for; empty: any.
std::vector<std::string> RequiredNodes(const Ticket& ticket);
// Whether these have the numbers of a gang in this order: its own, but where the command starts its
// ranks itself.
bool NumbersNodes(const Ticket& ticket);
// Of the GPUs that a ticket names for all nodes on one machine, those of one node; else all.
std::vector<int> GpusOfNode(const Ticket& ticket, int node);
std::filesystem::path GangFolder(const std::filesystem::path& folder, const Ticket& ticket);
// And its parent, unless another gang has its folder there.
void RemoveGangFolder(const std::filesystem::path& gang_folder);

class GangSide {
 public:
  GangSide(const Ticket& ticket, std::filesystem::path folder, int node,
           std::function<bool()> should_cancel);

  bool is_head() const { return node_ == 0; }
  // Where this node's rerun has its place: `folder` for node 0.
  static std::filesystem::path PlaceOf(const std::filesystem::path& folder, const Ticket& ticket,
                                       int node);
  // Errors: those of GangSession::Join.
  Status Join() { return session_.Join(); }

  // None: this node makes one of its own. Else node 0's, with an obstacle where that cannot be
  // used.
  Result<std::optional<Workspace>> Attach();

  // Tells the others that this node could start, or its obstacle, and waits for them. The result's
  // obstacle is why the gang does not start; empty: it does.
  Result<NodeReady> Gather(const Workspace& workspace, NodeReady mine);

  // The tasks of this node. `node`: without session and start.
  TasksResult Run(TasksOfNode node, WallTime started, Evidence* evidence);

  // Node 0, after its tasks: waits for the others and merges what they leave into `evidence`;
  // brings the outputs of local workspaces into node 0's. Returns whether another attempt is worth
  // it.
  Result<bool> Merge(const Workspace& workspace, Evidence* evidence);
  // Another node, at its end.
  Status TellEnd(const Evidence& evidence, bool infrastructure);
  std::string Log(std::string_view name) const;
  // Node 0, last: removes the folder, as far as nobody writes there any more.
  void Remove();

 private:
  // Whether other nodes observe what node 0's command starts on them.
  bool Watches() const;
  Status StartWatch(const Workspace& workspace);
  // Of node 0, or that there is none.
  void ChoosePort(NodeReady* mine) const;
  // Why no node that is not up will come; empty: not known.
  std::string StepTrouble(std::chrono::nanoseconds waited);
  // Whether the first failure is that of the port, which is then the evidence's obstacle.
  bool IsOfThePort(Evidence* evidence) const;

  const Ticket& ticket_;
  const Gang& gang_;
  const std::filesystem::path folder_;
  const int node_;
  const std::function<bool()> should_cancel_;
  GangSession session_;
  Rendezvous start_;
  std::vector<std::string> names_;  // of the nodes, by number; node 0 alone
  std::vector<TaskEnd> tasks_;
  std::uint64_t peak_memory_bytes_ = 0;  // of the tasks together
  NotesAt notes_;
  std::unique_ptr<ObservedRun> watch_;                   // of a node without tasks
  std::optional<std::chrono::nanoseconds> step_failed_;  // when srun first told trouble
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_GANG_SIDE_H_
