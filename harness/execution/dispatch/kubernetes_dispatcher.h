// Carries out attempts as pods of Kubernetes' Jobs, over a folder shared with the pods.
//
// Below the drill's folder, dispatch/BATCH/ holds the attempts of one call (task_folder.h) and
// jobs.json, the objects as sent to the server. The drill and the batch fix their names, so a call
// with an unknown result is repeated: the server reports existing objects. dispatch/cluster.json
// names the cluster.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_DISPATCHER_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_DISPATCHER_H_

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/clock.h"
#include "harness/execution/dispatch/dispatcher.h"
#include "harness/execution/dispatch/kubernetes_batch.h"
#include "harness/execution/dispatch/kubernetes_client.h"
#include "harness/execution/dispatch/queue.h"

namespace rharness {

class KubernetesDispatcher : public Dispatcher {
 public:
  // Calls `on_step` for a rerun that is collected; both may be empty.
  KubernetesDispatcher(KubernetesOptions options, KubernetesClient* client, Clock* clock,
                       std::function<Status(const RerunStep&)> on_step,
                       std::function<bool()> should_cancel);

  // Finds the cluster and reads the pod template; looks for attempts that an earlier process of
  // this drill submitted: running or finished ones are assigned to the next submission of the same
  // rerun. Errors: those of FindCluster and LoadPodTemplate; io.
  Status Adopt();

  std::string_view name() const override { return "kubernetes"; }
  Status Submit(std::vector<Attempt> attempts) override;
  Result<std::vector<AttemptEnd>> Wait(std::chrono::nanoseconds longest) override;

 private:
  struct Batch {
    std::filesystem::path folder;
    bool indexed = false;
    bool submitted = false;       // the server has said so
    bool avoids = false;          // nodes that failed
    std::set<std::string> kinds;  // of its objects
  };
  struct Task {
    int batch = 0;
    std::string name;  // of its folder: its index
    std::filesystem::path folder;
    std::string job;
    Ticket ticket;
    PodNeeds needs;
    std::optional<std::size_t> index;    // the caller's; none: adopted, and not requested yet
    std::optional<MonotonicTime> ended;  // when nothing of it was first seen alive
    std::optional<MonotonicTime> idle;   // when it was first seen idle, though it may run
    std::optional<std::pair<std::string, MonotonicTime>> trouble;  // and since when
    std::map<std::string, std::string> nodes;  // of its pods, by name, as they were last seen
    std::string gone;                          // the pods that went first: "NAME on NODE"
    std::string disruption;                    // why a pod of it had to go, when last seen
    std::string no_log;                        // why its log was not available, at the last try
  };
  struct Seen;  // the server's state in one round

  Status AdoptBatch(const std::filesystem::path& folder);
  Status SubmitBatch(const PodNeeds& needs, std::vector<Attempt> attempts);
  Status Create(int batch);
  void Refuse(int batch, const std::string& why, bool asked);
  Status CreateWhatIsMissing();
  // None: the server does not answer, or a wrong one does.
  std::optional<Seen> Look();
  void LookCloser(Seen* seen);
  bool IsStillTheCluster();
  Status Poll(std::vector<AttemptEnd>* ends);
  KubernetesTask ViewOf(Task* task, const Seen& seen) const;
  // None: nothing has come of it yet.
  Result<std::optional<AttemptEnd>> Settle(Task* task, const Seen& seen);
  // Reads the results of a finished task from its pod's log. Errors: integrity if the log has no
  // frame of it.
  Status FetchFromLog(Task* task, const KubernetesTask& view);
  AttemptEnd GiveUp(Task* task, const KubernetesTask& view, const TaskDecision& decision);
  void CancelAll();
  // The objects of these kinds with these labels.
  Status Remove(const std::string& labels, std::set<std::string> kinds);
  void ClearFinished();
  void TellSilence(const std::string& what);
  void TellAgain(const Task& task, const std::string& why);
  void TellWaits(const std::string& trouble, const std::string& why);

  const KubernetesOptions options_;
  KubernetesClient& client_;
  Clock& clock_;
  const std::function<Status(const RerunStep&)> on_step_;
  const std::function<bool()> should_cancel_;
  KubernetesCluster cluster_;
  PodTemplate pod_;
  std::map<int, Batch> batches_;  // batches that may have Jobs left
  int last_batch_ = 0;
  std::vector<Task> tasks_;        // that have not ended
  std::vector<AttemptEnd> ended_;  // and not told yet
  std::set<std::string> avoid_;    // nodes that failed
  std::vector<std::string> unwanted_jobs_;
  std::vector<std::string> unwanted_pods_;
  std::set<std::string> told_;  // troubles that were told
  MonotonicTime next_poll_{0};
  std::chrono::nanoseconds interval_{0};
  bool tried_ = false;  // a dry run went well
  bool cancelled_ = false;
  bool silent_ = false;  // the server does not answer, and that was reported
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_DISPATCHER_H_
