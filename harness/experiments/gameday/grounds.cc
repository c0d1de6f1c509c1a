// Configurations, their faults and their reruns.
#include "harness/experiments/gameday/grounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "harness/base/digest.h"
#include "harness/experiments/gameday/planted_run.h"

namespace rharness {
namespace {

std::vector<Fault> FaultsOf(const Manifest& run, const std::vector<Fault>& given, bool only_given) {
  std::vector<Fault> faults = only_given ? std::vector<Fault>() : DefaultFaults(run);
  for (const Fault& one : given) {
    const auto same = std::ranges::find(faults, one.name, &Fault::name);
    if (same != faults.end()) {
      *same = one;
    } else {
      faults.push_back(one);
    }
  }
  // By kind and subject, the smallest first.
  std::ranges::stable_sort(faults, {}, [](const Fault& fault) {
    const bool scaled = fault.kind == FaultKind::kHyperparameter || fault.kind == FaultKind::kCurve;
    return std::tuple(fault.kind, fault.subject, scaled ? std::abs(fault.size - 1.0) : fault.size);
  });
  return faults;
}

// Why a fault that is rerun cannot be planted in this run; empty: it can be.
std::string WhyNot(const Fault& fault, const Manifest& run) {
  if (!fault.IsRerun()) return "";
  DataItem item;
  if (fault.kind == FaultKind::kDataRow || fault.kind == FaultKind::kDataOrder) {
    const auto data = DataOf(fault, run);
    if (!data.ok()) return data.error().message;
    item = *data;
  }
  const auto planted = PlantInRun(fault, run, item);
  return planted.ok() ? "" : planted.error().message;
}

void NameApart(std::vector<Ground>* grounds) {
  std::map<std::string, int> configurations;
  for (const Ground& one : *grounds) ++configurations[one.family];
  for (Ground& one : *grounds) {
    if (configurations[one.family] < 2) continue;
    one.name = fmt::format("{} (as {})", one.family, one.run_ids.front());
  }
}

}  // namespace

std::vector<std::string> ChooseRuns(const std::vector<HistoryEntry>& entries, int most) {
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> by_configuration;
  for (const HistoryEntry& entry : entries) {
    by_configuration[entry.configuration].emplace_back(Sha256HexOf(entry.run_id), entry.run_id);
  }
  std::set<std::string> chosen;
  for (auto& [configuration, hashed] : by_configuration) {
    std::ranges::sort(hashed);
    if (hashed.size() > static_cast<std::size_t>(most)) {
      hashed.resize(static_cast<std::size_t>(most));
    }
    for (const auto& [hash, run_id] : hashed) chosen.insert(run_id);
  }
  std::vector<std::string> run_ids;
  for (const HistoryEntry& entry : entries) {
    if (chosen.contains(entry.run_id)) run_ids.push_back(entry.run_id);
  }
  return run_ids;
}

std::vector<Ground> GroundsOf(const std::vector<Manifest>& runs, const std::vector<Fault>& given,
                              bool only_given) {
  std::vector<Ground> grounds;
  std::map<std::string, const Manifest*> by_id;
  for (const Manifest& run : runs) {
    by_id[run.run_id] = &run;
    const std::string configuration = ConfigurationKey(run);
    auto ground = std::ranges::find(grounds, configuration, &Ground::configuration);
    if (ground == grounds.end()) {
      grounds.push_back({.name = run.family.empty() ? run.run_id : run.family,
                         .family = run.family,
                         .configuration = configuration});
      ground = grounds.end() - 1;
    }
    ground->run_ids.push_back(run.run_id);
  }
  for (Ground& ground : grounds) {
    const Manifest& first = *by_id.at(ground.run_ids.front());
    int index = 0;
    for (const Fault& fault : FaultsOf(first, given, only_given)) {
      GroundFault one{.fault = fault, .index = -1, .cannot = WhyNot(fault, first)};
      if (fault.IsRerun() && one.cannot.empty()) one.index = index++;
      ground.faults.push_back(std::move(one));
    }
  }
  NameApart(&grounds);
  return grounds;
}

GamedayPlan PlanReruns(const std::vector<Ground>& grounds,
                       const std::map<std::string, Manifest>& manifests,
                       const PlanOptions& options) {
  GamedayPlan plan;
  const auto add = [&](const std::string& run_id, int number) {
    PlannedRerun rerun = PlanRerun(manifests.at(run_id), number, options);
    const double seconds = plan.run_seconds + rerun.expected_seconds;
    if (options.budget_seconds > 0 && seconds > options.budget_seconds) {
      ++plan.left_out;
      return;
    }
    plan.run_seconds = seconds;
    plan.reruns.push_back(std::move(rerun));
  };
  for (const Ground& ground : grounds) {
    for (const std::string& run_id : ground.run_ids) {
      add(run_id, 1);
      add(run_id, 2);
    }
  }
  std::size_t most = 0;
  for (const Ground& ground : grounds) most = std::max(most, ground.run_ids.size());
  for (std::size_t run = 0; run < most; ++run) {
    for (const Ground& ground : grounds) {
      if (run >= ground.run_ids.size()) continue;
      for (const GroundFault& fault : ground.faults) {
        if (fault.index >= 0 && fault.cannot.empty())
          add(ground.run_ids[run], FirstRerun(fault.index));
      }
    }
  }
  return plan;
}

}  // namespace rharness
