// The dispatcher of a drill, and the state that its reruns share.
#ifndef RHARNESS_HARNESS_DRILL_DISPATCHING_H_
#define RHARNESS_HARNESS_DRILL_DISPATCHING_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/drill/drill.h"
#include "harness/execution/dispatch/dispatcher.h"
#include "harness/execution/dispatch/kubernetes_client.h"
#include "harness/execution/dispatch/slurm_client.h"

namespace rharness {

// The launcher for a run, by the drill's options and the run's image; empty: the drill has none for
// that kind of image.
std::string LauncherOf(const Manifest& manifest, const DrillOptions& options);

// For one rerun of each run on every node (--distribute): puts the cluster's usable nodes into the
// plan's options. Returns a sentence per unusable node. Errors: invalid_input for none, and for
// more than kMostNodes; those of SlurmClient.
inline constexpr std::size_t kMostNodes = 128;
Result<std::vector<std::string>> SpreadOverNodes(DrillOptions* options);

// The dispatcher of a drill with all its parts. Neither copied nor moved: the parts refer to each
// other.
class Dispatching {
 public:
  Dispatching() = default;
  Dispatching(const Dispatching&) = delete;
  Dispatching& operator=(const Dispatching&) = delete;

  // `launchers`: the names that tickets will give. An unavailable one is an obstacle of its reruns,
  // not of the drill: adds a sentence to `notes`. Errors: invalid_input; those of
  // SlurmDispatcher::Adopt and KubernetesDispatcher::Adopt.
  Status Begin(const DrillOptions& options, const std::string& drill_id,
               const std::vector<std::string>& launchers,
               std::function<Status(const RerunStep&)> on_step, std::function<bool()> should_stop,
               Clock* clock, std::vector<std::string>* notes);

  Dispatcher* dispatcher() { return dispatcher_.get(); }

 private:
  Status BeginSlurm(const DrillOptions& options, const std::string& drill_id,
                    std::function<Status(const RerunStep&)> on_step,
                    std::function<bool()> should_stop, Clock* clock);
  Status BeginKubernetes(const DrillOptions& options, const std::string& drill_id,
                         std::function<Status(const RerunStep&)> on_step,
                         std::function<bool()> should_stop, Clock* clock);
  Status MakeLaunchers(const std::vector<std::string>& names, std::vector<std::string>* notes);

  std::map<std::string, std::unique_ptr<Launcher>> launchers_;
  std::unique_ptr<Executor> executor_ = MakeLocalExecutor();
  ContentCache cache_;
  RerunContext context_;
  SlurmClient slurm_;
  std::unique_ptr<KubernetesClient> kubernetes_;
  std::unique_ptr<Dispatcher> dispatcher_;  // last member: it uses the others
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_DISPATCHING_H_
