// Carries out attempts as tasks of Slurm's job arrays, over a folder shared with its nodes.
//
// Below the drill's folder, dispatch/BATCH/ holds one array: batch.json (which attempts, written
// before sbatch is called), job (its number, once known) and INDEX/ for each task with ticket.json,
// log.txt and out/, the folder of `rharness rerun`. An attempt's results are moved to the drill
// once its end marker proves them. A restarted process finds its arrays by their names.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_SLURM_DISPATCHER_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_SLURM_DISPATCHER_H_

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/execution/dispatch/dispatcher.h"
#include "harness/execution/dispatch/queue.h"
#include "harness/execution/dispatch/slurm_batch.h"
#include "harness/execution/dispatch/slurm_client.h"
#include "harness/execution/rerun/end_marker.h"

namespace rharness {

class SlurmDispatcher : public Dispatcher {
 public:
  // Calls `on_step` for a rerun that is collected; both may be empty.
  SlurmDispatcher(SlurmOptions options, SlurmClient* client, Clock* clock,
                  std::function<Status(const RerunStep&)> on_step,
                  std::function<bool()> should_cancel);

  // Looks for arrays of an earlier process of this drill: running or finished attempts are assigned
  // to the next submission of the same rerun. Errors: io, process.
  Status Adopt();

  std::string_view name() const override { return "slurm"; }
  Status Submit(std::vector<Attempt> attempts) override;
  Result<std::vector<AttemptEnd>> Wait(std::chrono::nanoseconds longest) override;

 private:
  struct Task {
    std::string id;                // "JOB_INDEX"; empty: not known whether it is submitted
    std::filesystem::path folder;  // of the task
    Ticket ticket;
    std::optional<std::size_t> index;    // the caller's; none: adopted, and not requested yet
    std::optional<MonotonicTime> ended;  // when Slurm first reported that, or no longer knew it
    // Since when its one required node is out of service.
    std::optional<MonotonicTime> out_since{};
    std::string trouble{};  // of a submission with an unknown or no effect
  };

  Status SubmitClass(const ResourceClass& needs, std::vector<Attempt> attempts);
  Status SubmitBatch(const ResourceClass& needs, std::vector<Attempt> attempts);
  Status AdoptBatch(const std::filesystem::path& batch);
  void TellSilence(const Error& error);
  // False: Slurm does not answer.
  Result<bool> FindNumbers();
  Status Poll(std::vector<AttemptEnd>* ends);
  // While Slurm is silent, only what has left its evidence ends.
  Status SettleAll(const SlurmTasks& queue, const std::optional<SlurmTasks>& accounting,
                   std::vector<AttemptEnd>* ends);
  void CancelAll();
  // None: nothing has come of it yet.
  Result<std::optional<AttemptEnd>> Settle(Task* task, const SlurmTasks& queue,
                                           const std::optional<SlurmTasks>& accounting);
  // The end of a task that has no evidence and does not wait for it.
  AttemptEnd GiveUp(const Task& task, const TaskDecision& decision);
  // How long the task's one required node has been out of service.
  static std::chrono::nanoseconds SinceOut(Task* task, const TaskView& view, MonotonicTime now);
  AttemptEnd WithoutEvidence(const Task& task, AttemptEnd::Kind kind, OutcomeKind outcome,
                             const std::string& why) const;

  const SlurmOptions options_;
  SlurmClient& client_;
  Clock& clock_;
  const std::function<Status(const RerunStep&)> on_step_;
  const std::function<bool()> should_cancel_;
  std::vector<Task> tasks_;            // that have not ended
  std::vector<AttemptEnd> ended_;      // and not told yet
  std::set<std::string> avoid_;        // nodes that failed
  std::set<std::string> told_;         // reported reasons of lost tasks
  std::vector<std::string> given_up_;  // ids of tasks to cancel
  int batches_ = 0;
  MonotonicTime next_poll_{0};
  std::chrono::nanoseconds interval_{0};
  bool cancelled_ = false;
  bool silent_ = false;  // Slurm does not answer, and that was reported
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_SLURM_DISPATCHER_H_
