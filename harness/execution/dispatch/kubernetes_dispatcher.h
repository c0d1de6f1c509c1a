// Carries attempts out as pods of Kubernetes' Jobs, over a folder that the pods see, too.
//
// Below the drill's folder, dispatch/BATCH/ holds what was handed over in one call (task_folder.h)
// and jobs.json, the objects as the server got them. Their names are fixed by the drill and the
// batch, so that a call of which nobody knows what became of it is made again: the server says that
// they are there. dispatch/cluster.json says on which cluster.
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
  // `on_step` is told of a rerun that is collected; both may be empty.
  KubernetesDispatcher(KubernetesOptions options, KubernetesClient* client, Clock* clock,
                       std::function<Status(const RerunStep&)> on_step,
                       std::function<bool()> should_cancel);

  // Finds the cluster and reads the pod template; looks for what an earlier process of this drill
  // handed over: what that still does, or has done, is taken for the attempt of the same rerun that
  // is submitted next. Errors: those of FindCluster and LoadPodTemplate; io.
  Status Adopt();

  std::string_view name() const override { return "kubernetes"; }
  Status Submit(std::vector<Attempt> attempts) override;
  Result<std::vector<AttemptEnd>> Wait(std::chrono::nanoseconds longest) override;

 private:
  struct Batch {
    std::filesystem::path folder;
    bool indexed = false;
    bool submitted = false;  // the server has said so
    bool avoids = false;     // nodes that failed
  };
  struct Task {
    int batch = 0;
    std::string name;  // of its folder: its index
    std::filesystem::path folder;
    std::string job;
    Ticket ticket;
    PodNeeds needs;
    std::optional<std::size_t> index;    // the caller's; none: adopted, and not asked for yet
    std::optional<MonotonicTime> ended;  // when there was first nothing of it that lives
    std::optional<MonotonicTime> idle;   // when it was first seen not to run, though it may
    std::optional<std::pair<std::string, MonotonicTime>> trouble;  // and since when
    std::string disruption;  // why a pod of it had to go, when that was last seen
    std::string no_log;      // why its log could not be had, when it was last asked for
  };
  struct Seen;  // what the server said in one round

  Status AdoptBatch(const std::filesystem::path& folder);
  Status SubmitBatch(const PodNeeds& needs, std::vector<Attempt> attempts);
  Status Create(int batch);
  void Refuse(int batch, const std::string& why);
  Status CreateWhatIsMissing();
  // None: the server does not answer, or another one does.
  std::optional<Seen> Look();
  void LookCloser(Seen* seen);
  bool IsStillTheCluster();
  Status Poll(std::vector<AttemptEnd>* ends);
  KubernetesTask ViewOf(Task* task, const Seen& seen) const;
  // None: nothing has come of it yet.
  Result<std::optional<AttemptEnd>> Settle(Task* task, const Seen& seen);
  // What the pod of a task that is over has left in its log. Errors: integrity where that is no
  // frame of it.
  Status FetchFromLog(Task* task, const KubernetesTask& view);
  AttemptEnd GiveUp(Task* task, const KubernetesTask& view, const TaskDecision& decision);
  void CancelAll();
  void ClearFinished();
  void TellSilence(const std::string& what);
  void TellWaits(const std::string& trouble, const std::string& why);

  const KubernetesOptions options_;
  KubernetesClient& client_;
  Clock& clock_;
  const std::function<Status(const RerunStep&)> on_step_;
  const std::function<bool()> should_cancel_;
  KubernetesCluster cluster_;
  PodTemplate pod_;
  std::map<int, Batch> batches_;  // of which Jobs may be left
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
  bool silent_ = false;  // the server does not answer, and that was told
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_DISPATCHER_H_
