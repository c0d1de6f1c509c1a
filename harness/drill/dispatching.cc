// Making the dispatcher of a drill.
#include "harness/drill/dispatching.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>

#include "harness/execution/dispatch/kubernetes_dispatcher.h"
#include "harness/execution/dispatch/local_dispatcher.h"
#include "harness/execution/dispatch/slurm_dispatcher.h"
#include "harness/execution/dispatch/task_folder.h"

namespace rharness {

namespace fs = std::filesystem;

std::string LauncherOf(const Manifest& manifest, const DrillOptions& options) {
  const bool in_a_pod = options.dispatch == "kubernetes" && manifest.image.kind == ImageKind::kOci;
  return in_a_pod && options.launcher == "auto"
             ? "pod"
             : ChooseLauncher(options.launcher, manifest.image.kind);
}

Result<std::vector<std::string>> SpreadOverNodes(DrillOptions* options) {
  std::vector<std::string> absent;
  std::map<std::string, std::vector<std::string>> unusable;  // by the reason
  if (!options->distribute) return absent;
  ASSIGN_OR_RETURN(const NodeChoice choice, ChooseNodes(options->sbatch));
  SlurmClient client;
  ASSIGN_OR_RETURN(const std::vector<SlurmNode> nodes, client.Nodes(choice));
  for (const SlurmNode& node : nodes) {
    if (RoomOf(node, choice.reserved) == NodeRoom::kUnusable) {
      unusable[DescribeState(node)].push_back(node.name);
    } else {
      options->plan.nodes.push_back(node.name);
    }
  }
  for (const auto& [why, names] : unusable) {
    const std::string which = names.size() == 1 ? "node" : fmt::format("{} nodes,", names.size());
    absent.push_back(fmt::format("no rerun on {} {}: {}", which, FoldNames(names), why));
  }
  const std::size_t found = options->plan.nodes.size();
  if (found == 0) {
    return InvalidInput(absent.empty() ? "Slurm shows no such node; `sinfo` lists those that are "
                                         "there"
                                       : fmt::format("{}", fmt::join(absent, "; ")),
                        "--distribute");
  }
  if (found > kMostNodes) {
    return InvalidInput(
        fmt::format("{} nodes are more than {} a drill: name some by --sbatch=--nodelist=..., or "
                    "compare the fleet by `rharness probe run --distribute`",
                    found, kMostNodes),
        "--distribute");
  }
  options->plan.reruns = static_cast<int>(found);
  return absent;
}

Status Dispatching::MakeLaunchers(const std::vector<std::string>& names,
                                  std::vector<std::string>* notes) {
  for (const std::string& name : names) {
    if (name.empty() || launchers_.contains(name)) continue;
    auto launcher = MakeLauncher(name);
    if (!launcher.ok() && launcher.error().code == ErrorCode::kInvalidInput) {
      return launcher.error();
    }
    if (!launcher.ok()) {
      notes->push_back(launcher.error().ToString());
      continue;
    }
    launchers_[name] = std::move(*launcher);
  }
  return {};
}

Status Dispatching::BeginSlurm(const DrillOptions& options, const std::string& drill_id,
                               std::function<Status(const RerunStep&)> on_step,
                               std::function<bool()> should_stop, Clock* clock) {
  ASSIGN_OR_RETURN(const fs::path program, ThisProgram());
  auto slurm =
      std::make_unique<SlurmDispatcher>(SlurmOptions{.folder = options.out,
                                                     .drill_id = drill_id,
                                                     .program = program,
                                                     .sbatch = options.sbatch},
                                        &slurm_, clock, std::move(on_step), std::move(should_stop));
  RETURN_IF_ERROR(slurm->Adopt());
  dispatcher_ = std::move(slurm);
  return {};
}

Status Dispatching::BeginKubernetes(const DrillOptions& options, const std::string& drill_id,
                                    std::function<Status(const RerunStep&)> on_step,
                                    std::function<bool()> should_stop, Clock* clock) {
  const bool by_log = options.pod_evidence == "log";
  ASSIGN_OR_RETURN(const fs::path here, ThisProgram());
  const fs::path program = !by_log ? here : fs::path(options.pod_program);
  kubernetes_ = std::make_unique<KubernetesClient>(options.kubectl);
  auto kubernetes = std::make_unique<KubernetesDispatcher>(
      KubernetesOptions{.folder = options.out,
                        .drill_id = drill_id,
                        .program = program,
                        .kubectl = options.kubectl,
                        .pod_template = options.pod_template,
                        .evidence_in_log = by_log},
      kubernetes_.get(), clock, std::move(on_step), std::move(should_stop));
  RETURN_IF_ERROR(kubernetes->Adopt());
  dispatcher_ = std::move(kubernetes);
  return {};
}

Status Dispatching::Begin(const DrillOptions& options, const std::string& drill_id,
                          const std::vector<std::string>& launchers,
                          std::function<Status(const RerunStep&)> on_step,
                          std::function<bool()> should_stop, Clock* clock,
                          std::vector<std::string>* notes) {
  if (options.dispatch == "slurm") {
    return BeginSlurm(options, drill_id, std::move(on_step), std::move(should_stop), clock);
  }
  if (options.dispatch == "kubernetes") {
    return BeginKubernetes(options, drill_id, std::move(on_step), std::move(should_stop), clock);
  }
  RETURN_IF_ERROR(MakeLaunchers(launchers, notes));
  context_ = {.folder = options.out,
              .executor = executor_.get(),
              .cache = &cache_,
              .clock = clock,
              .on_step = std::move(on_step),
              .should_cancel = std::move(should_stop)};
  for (const auto& [name, launcher] : launchers_) context_.launchers[name] = launcher.get();
  dispatcher_ = std::make_unique<LocalDispatcher>(
      [this](const Ticket& ticket) { return CarryOutHere(ticket, context_); });
  return {};
}

}  // namespace rharness
