// Turning selected runs into ordered reruns with limits and costs.
#include "harness/drill/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "harness/base/clock.h"
#include "harness/base/files.h"
#include "harness/execution/rerun/rerun_place.h"
#include "reports/text.h"

namespace rharness {
namespace {

// Why this run can never start with these slots; empty if it can.
std::string Misfit(const Resources& needs, const Slots& slots) {
  if (needs.cpus > slots.cpus) {
    return fmt::format("needs {} CPUs, {} are offered", needs.cpus, slots.cpus);
  }
  if (needs.gpus > slots.gpus) {
    return fmt::format("needs {} GPUs, {} are offered", needs.gpus, slots.gpus);
  }
  if (slots.memory_bytes > 0 && needs.memory_bytes > slots.memory_bytes) {
    return fmt::format("needs {} bytes of memory, {} are offered", needs.memory_bytes,
                       slots.memory_bytes);
  }
  return {};
}

std::uint64_t Least(std::uint64_t asked, std::uint64_t limit) {
  if (asked == 0 || limit == 0) return asked + limit;
  return std::min(asked, limit);
}

// What this manifest asks for and does not get.
void NoteCaps(const RunNeeds& run, const PlanOptions& options, Plan* plan) {
  const Resources& asked = run.resources;
  const auto note = [&](bool above, std::string_view what, const std::string& request,
                        const std::string& limit, std::string_view option) {
    if (!above) return;
    plan->capped.push_back(fmt::format("{}: requests {} of {}, and gets {} ({})", run.run_id,
                                       request, what, limit, option));
  };
  note(options.memory_bytes > 0 && asked.memory_bytes > options.memory_bytes, "memory",
       fmt::format("{} bytes", asked.memory_bytes), fmt::format("{}", options.memory_bytes),
       "--rerun-memory");
  note(options.disk_bytes > 0 && asked.disk_bytes > options.disk_bytes, "disk",
       fmt::format("{} bytes", asked.disk_bytes), fmt::format("{}", options.disk_bytes),
       "--rerun-disk");
  note(asked.timeout_seconds > options.longest_seconds, "time",
       FormatDuration(Seconds(asked.timeout_seconds)),
       FormatDuration(Seconds(options.longest_seconds)), "--rerun-time");
}

// How many of these reruns fit side by side, by the scarcest resource.
int Width(const Resources& needs, const PlanOptions& options) {
  int width = options.slots.cpus / std::max(1, needs.cpus);
  if (needs.gpus > 0) width = std::min(width, options.slots.gpus / needs.gpus);
  if (options.slots.memory_bytes > 0 && needs.memory_bytes > 0) {
    width = std::min(width, static_cast<int>(options.slots.memory_bytes / needs.memory_bytes));
  }
  if (options.jobs > 0) width = std::min(width, options.jobs);
  return std::max(1, width);
}

// Which budget this rerun is beyond; empty: none. Else it is spent.
std::string Spend(const PlannedRerun& planned, const PlanOptions& options, Plan* plan) {
  const double seconds = plan->run_seconds + planned.expected_seconds;
  const double gpu_hours = plan->gpu_hours + planned.Whole().gpus * planned.expected_seconds / 3600;
  if (options.budget_seconds > 0 && seconds > options.budget_seconds) {
    return "the budget of " + FormatDuration(Seconds(options.budget_seconds));
  }
  if (options.budget_gpu_hours > 0 && planned.resources.gpus > 0 &&
      gpu_hours > options.budget_gpu_hours) {
    return fmt::format("the budget of {:.4g} GPU hours", options.budget_gpu_hours);
  }
  plan->run_seconds = seconds;
  plan->gpu_hours = gpu_hours;
  return {};
}

// Lists reruns round by round (all first ones, then all second ones) while the budget lasts.
void Fill(const std::vector<const RunNeeds*>& runs, const PlanOptions& options, Plan* plan) {
  for (int rerun = 1; rerun <= options.reruns; ++rerun) {
    for (const RunNeeds* run : runs) {
      PlannedRerun planned = PlanRerun(*run, rerun, options);
      const std::string beyond = Spend(planned, options, plan);
      if (beyond.empty()) {
        plan->reruns.push_back(std::move(planned));
      } else if (rerun == 1) {
        plan->left_out.push_back(run->run_id);
        plan->notes.push_back(fmt::format("{}: beyond {}", run->run_id, beyond));
      } else {
        plan->notes.push_back(fmt::format("{}: rerun {} is beyond {}", run->run_id, rerun, beyond));
      }
    }
  }
}

// A lower bound that longest-first scheduling comes close to.
double EstimateWall(const std::vector<PlannedRerun>& reruns, const PlanOptions& options) {
  double wall = 0.0;
  double longest = 0.0;
  for (const PlannedRerun& rerun : reruns) {
    wall += rerun.expected_seconds / Width(rerun.Whole(), options);
    longest = std::max(longest, rerun.expected_seconds);
  }
  return std::max(wall, longest);
}

// A line a configuration.
std::string DescribeReplicates(const Plan& plan) {
  std::string text;
  for (std::size_t i = 0, next = 0; i < plan.replicates.size(); i = next) {
    const std::string& run_id = plan.replicates[i].run_id;
    double seconds = 0.0;
    for (; next < plan.replicates.size() && plan.replicates[next].run_id == run_id; ++next) {
      seconds += plan.replicates[next].expected_seconds;
    }
    text +=
        fmt::format("{} replicate{} of the configuration of {}: {}, if a rerun of it differs\n",
                    next - i, next - i == 1 ? "" : "s", run_id, FormatDuration(Seconds(seconds)));
  }
  return text;
}

std::string DescribeRisks(const Plan& plan) {
  if (plan.risks.empty()) return {};
  std::string text = "risk: days since the last decision x what hangs on it x doubt\n";
  for (const RunRisk& risk : plan.risks) text += "  " + DescribeRisk(risk) + "\n";
  return text;
}

std::string_view OrderOf(const Plan& plan) {
  if (!plan.risks.empty()) return "riskiest_first";
  return plan.budget_seconds > 0 ? "longest_waiting_first" : "history";
}

Json RerunJson(const PlannedRerun& rerun) {
  Json json = Json::MakeObject({{"job", rerun.job},
                                {"run_id", rerun.run_id},
                                {"rerun", rerun.rerun},
                                {"expected_seconds", rerun.expected_seconds},
                                {"timeout_seconds", rerun.resources.timeout_seconds},
                                {"cpus", rerun.resources.cpus},
                                {"gpus", rerun.resources.gpus},
                                {"memory_bytes", rerun.resources.memory_bytes},
                                {"disk_bytes", rerun.resources.disk_bytes}});
  if (!rerun.node.empty()) json.Set("node", rerun.node);
  if (rerun.nodes > 1) json.Set("nodes", rerun.nodes);
  return json;
}

}  // namespace

PlannedRerun PlanRerun(const RunNeeds& run, int rerun, const PlanOptions& options) {
  PlannedRerun planned{.run_id = run.run_id,
                       .rerun = rerun,
                       .job = fmt::format("{}.{}", run.run_id, rerun),
                       .resources = run.resources,
                       .nodes = run.nodes,
                       .expected_seconds = std::max(0.0, run.duration_seconds)};
  if (!options.nodes.empty()) {
    planned.node = options.nodes[static_cast<std::size_t>(rerun - 1) % options.nodes.size()];
  }
  Resources& needs = planned.resources;
  needs.cpus = std::max(1, needs.cpus);
  needs.memory_bytes = Least(needs.memory_bytes, options.memory_bytes);
  needs.disk_bytes = Least(needs.disk_bytes, options.disk_bytes);
  if (needs.timeout_seconds <= 0) {
    needs.timeout_seconds =
        std::max(options.timeout_floor_seconds, options.timeout_factor * planned.expected_seconds);
  }
  needs.timeout_seconds = std::min(needs.timeout_seconds, options.longest_seconds);
  return planned;
}

PlannedRerun PlanReplicate(const RunNeeds& run, int replicate, const PlanOptions& options) {
  PlannedRerun planned = PlanRerun(run, kReplicates + replicate, options);
  planned.job = fmt::format("{}.{}", run.run_id, RerunName(planned.rerun));
  planned.replicate = replicate;
  planned.node.clear();
  return planned;
}

void AddReplicates(std::vector<PlannedRerun> replicates, const PlanOptions& options, Plan* plan) {
  for (PlannedRerun& replicate : replicates) {
    const std::string beyond = Spend(replicate, options, plan);
    if (beyond.empty()) {
      plan->replicates.push_back(std::move(replicate));
    } else {
      plan->notes.push_back(fmt::format("{}: beyond {}", replicate.job, beyond));
    }
  }
  plan->wall_seconds += EstimateWall(plan->replicates, options);
}

Plan BuildPlan(const std::vector<RunNeeds>& runs, const PlanOptions& options) {
  Plan plan;
  plan.budget_seconds = options.budget_seconds;
  std::vector<const RunNeeds*> fitting;
  for (const RunNeeds& run : runs) {
    NoteCaps(run, options, &plan);
    std::string misfit = Misfit(PlanRerun(run, 1, options).Whole(), options.slots);
    if (run.nodes > 1 && !options.nodes.empty()) {
      misfit = fmt::format("runs over {} nodes; expected a drill without --distribute", run.nodes);
    }
    if (misfit.empty()) {
      fitting.push_back(&run);
    } else {
      plan.left_out.push_back(run.run_id);
      plan.notes.push_back(fmt::format("{}: {}", run.run_id, misfit));
    }
  }
  Fill(fitting, options, &plan);
  std::stable_sort(plan.reruns.begin(), plan.reruns.end(),
                   [](const PlannedRerun& a, const PlannedRerun& b) {
                     return a.expected_seconds > b.expected_seconds;
                   });
  plan.wall_seconds = EstimateWall(plan.reruns, options);
  return plan;
}

std::string DescribePlan(const Plan& plan) {
  std::size_t width = 3;
  std::vector<const PlannedRerun*> all;
  for (const auto* reruns : {&plan.reruns, &plan.replicates}) {
    for (const PlannedRerun& rerun : *reruns) all.push_back(&rerun);
  }
  for (const PlannedRerun* rerun : all) width = std::max(width, rerun->job.size());
  std::string text = fmt::format("{:<{}}  {:>10}  {:>5}  {:>5}  {:>10}\n", "JOB", width, "EXPECTED",
                                 "CPUS", "GPUS", "TIMEOUT");
  for (const PlannedRerun* rerun : all) {
    text += fmt::format("{:<{}}  {:>10}  {:>5}  {:>5}  {:>10}\n", rerun->job, width,
                        FormatDuration(Seconds(rerun->expected_seconds)), rerun->resources.cpus,
                        rerun->resources.gpus,
                        FormatDuration(Seconds(rerun->resources.timeout_seconds)));
  }
  text += DescribeReplicates(plan);
  text += DescribeRisks(plan);
  for (const std::string& note : plan.capped) text += "capped: " + note + "\n";
  for (const std::string& note : plan.notes) text += "left out: " + note + "\n";
  if (plan.budget_seconds > 0) {
    text += fmt::format("within {}: {} come first\n", FormatDuration(Seconds(plan.budget_seconds)),
                        plan.risks.empty() ? "the runs that have waited longest for a drill"
                                           : "the runs at the highest risk");
  }
  text += fmt::format("{}, {} of run time, about {} here", Counted(plan.reruns.size(), "rerun"),
                      FormatDuration(Seconds(plan.run_seconds)),
                      FormatDuration(Seconds(plan.wall_seconds)));
  if (plan.gpu_hours > 0) text += fmt::format(", {:.2f} GPU hours", plan.gpu_hours);
  return TerminalSafe(text + "\n");
}

Json ToJson(const Plan& plan) {
  Json reruns = Json::MakeArray();
  for (const PlannedRerun& rerun : plan.reruns) reruns.Append(RerunJson(rerun));
  Json replicates = Json::MakeArray();
  for (const PlannedRerun& replicate : plan.replicates) replicates.Append(RerunJson(replicate));
  Json left_out = Json::MakeArray();
  for (const std::string& run_id : plan.left_out) left_out.Append(run_id);
  Json notes = Json::MakeArray();
  for (const std::string& note : plan.notes) notes.Append(note);
  for (const std::string& note : plan.capped) notes.Append(note);
  Json risks = Json::MakeArray();
  for (const RunRisk& risk : plan.risks) risks.Append(ToJson(risk));
  return Json::MakeObject({{"schema", "rharness.plan/v1"},
                           {"reruns", std::move(reruns)},
                           {"replicates", std::move(replicates)},
                           {"left_out", std::move(left_out)},
                           {"notes", std::move(notes)},
                           {"budget_seconds", plan.budget_seconds},
                           {"order", OrderOf(plan)},
                           {"risks", std::move(risks)},
                           {"run_seconds", plan.run_seconds},
                           {"wall_seconds", plan.wall_seconds},
                           {"gpu_hours", plan.gpu_hours}});
}

}  // namespace rharness
