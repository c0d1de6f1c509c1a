// A gate's drill through the drill of every day.
#include "harness/cli/gate_drill.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <optional>
#include <thread>

#include "harness/cli/progress_line.h"
#include "harness/drill/drill.h"
#include "harness/drill/historical_runs.h"

namespace rharness {
namespace {

std::atomic<bool> interrupted{false};

void Interrupt(int) { interrupted = true; }

}  // namespace

Result<std::vector<Manifest>> LoadHistory(const std::string& url) {
  ASSIGN_OR_RETURN(const auto store, OpenHistory(url));
  ASSIGN_OR_RETURN(const std::vector<std::string> run_ids,
                   SelectRuns("", std::nullopt, 0, SystemClock().Now(), store.get()));
  return LoadRuns(run_ids, store.get());
}

std::string SelectionOf(const std::vector<ImpactedRun>& runs, std::size_t all) {
  if (runs.size() == all) return "";
  std::string selection;
  for (const ImpactedRun& run : runs) {
    selection += fmt::format("{}run_id = {}", selection.empty() ? "" : " or ", run.run_id);
  }
  return selection;
}

Result<Report> DrillImpacted(const std::vector<ImpactedRun>& runs, std::size_t all,
                             const GateDrillOptions& options) {
  DrillOptions drill;
  drill.history = options.history;
  drill.out = options.out;
  drill.selection = SelectionOf(runs, all);
  drill.places.root = options.root;
  drill.plan.jobs = options.jobs;
  drill.plan.reruns = options.reruns;
  drill.plan.slots.cpus = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, Interrupt);
  ProgressLine line;
  const DrillHooks hooks{.progress = [&](const Progress& progress) { line.Show(progress); },
                         .should_stop = [] { return interrupted.load(); }};
  auto report = RunDrill(drill, hooks, &SystemClock());
  line.Clear();
  return report;
}

}  // namespace rharness
