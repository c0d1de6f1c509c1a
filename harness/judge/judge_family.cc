// Values of all runs first, then each verdict, then that of the family.
#include "harness/judge/judge_family.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "harness/judge/judge_run.h"

namespace rharness {
namespace {

// A rerun on other data, code or images says nothing about the family.
bool HasOtherIdentity(const Comparison& rerun) {
  return std::ranges::any_of(rerun.layers, [](const LayerComparison& layer) {
    return std::ranges::any_of(layer.differences, [](const FactDifference& difference) {
      return difference.weight == FactWeight::kIdentity;
    });
  });
}

// The reruns by which the run's metrics are decided; none of a run that is not comparable.
std::vector<Evidence> ComparedOf(const RunState& run) {
  std::vector<Evidence> compared;
  for (const auto& [rerun, comparison] : run.reruns) {
    if (comparison.ends.front().state == RerunEnd::State::kCompared) {
      compared.push_back(run.evidence.at(rerun));
    }
  }
  return compared;
}

bool IsOfFamily(const RunState& run) {
  return std::ranges::none_of(run.reruns,
                              [](const auto& rerun) { return HasOtherIdentity(rerun.second); });
}

void Judge(std::vector<MetricDecision> metrics, const Family& family, RunState* run) {
  std::vector<Evidence> evidence;
  std::vector<Comparison> reruns;
  for (const auto& [rerun, one] : run->evidence) {
    evidence.push_back(one);
    reruns.push_back(run->reruns.at(rerun));
  }
  run->comparison = JudgeRun(run->manifest, evidence, reruns, run->merged, std::move(metrics));
  std::ranges::move(TagFindings(run->manifest, family.tag_moves()),
                    std::back_inserter(run->comparison.findings));
}

// Whether a curve of the run is beyond what rounding explains, and whether it drifted by that.
bool HasDecisive(const Comparison& run, std::string_view code) {
  return std::ranges::any_of(run.findings, [&](const Finding& finding) {
    return finding.decisive && finding.code == code;
  });
}

void AddBeyond(const Comparison& run, const std::string& run_id, FamilyComparison* together) {
  const bool shown = HasDecisive(run, "curve_beyond_band");
  if (!shown && !HasDecisive(run, "curve_unexplained")) return;
  together->beyond.push_back(run_id);
  if (shown) ++together->beyond_shown;
}

// From those that moved with their family; one equal to its record has none.
std::vector<Cause> CausesOf(const std::vector<RunState*>& members,
                            const FamilyComparison& together) {
  std::vector<const Comparison*> moved;
  for (const RunState* member : members) {
    const std::string& run_id = member->manifest.run_id;
    const bool counts = std::ranges::find(together.runs, run_id) != together.runs.end() &&
                        std::ranges::find(together.apart, run_id) == together.apart.end();
    if (counts && member->comparison.verdict == Verdict::kDrifted) {
      moved.push_back(&member->comparison);
    }
  }
  return CommonCauses(moved);
}

}  // namespace

std::optional<FamilyComparison> JudgeTogether(const std::vector<RunState*>& runs,
                                              const Family& family) {
  std::vector<RunState*> members;
  std::vector<ComparedRun> compared;
  for (RunState* run : runs) {
    ComparedRun one = ComparedRunOf(run->manifest, ComparedOf(*run), run->envelope.get());
    if (!IsOfFamily(*run)) {
      Judge(DecideMetrics({one}, family).runs.front(), family, run);
      continue;
    }
    members.push_back(run);
    compared.push_back(std::move(one));
  }
  if (members.empty()) return std::nullopt;
  DecidedMetrics decided = DecideMetrics(compared, family);
  for (std::size_t i = 0; i < members.size(); ++i) {
    Judge(std::move(decided.runs[i]), family, members[i]);
  }
  const Manifest& first = members.front()->manifest;
  const bool primary = std::ranges::any_of(decided.family, &MetricDecision::primary);
  if (!primary || first.determinism.declared == "bitwise") return std::nullopt;
  FamilyComparison together{
      .name = first.family, .family = first.family, .configuration = ConfigurationKey(first)};
  bool identical = true;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (compared[i].reruns.empty() || compared[i].recorded.seeds.empty()) continue;
    together.runs.push_back(members[i]->manifest.run_id);
    identical &= members[i]->comparison.verdict == Verdict::kIdentical;
    AddBeyond(members[i]->comparison, together.runs.back(), &together);
  }
  for (const std::size_t i : decided.apart) {
    together.apart.push_back(members[i]->manifest.run_id);
  }
  together.metrics = std::move(decided.family);
  JudgeFamily(identical, &together);
  if (together.verdict == Verdict::kDrifted) together.causes = CausesOf(members, together);
  return together;
}

void NameApart(std::vector<FamilyComparison>* families) {
  std::map<std::string, int> configurations;
  for (const FamilyComparison& one : *families) ++configurations[one.family];
  for (FamilyComparison& one : *families) {
    if (configurations[one.family] < 2 || one.runs.empty()) continue;
    one.name = fmt::format("{} (as {})", one.family, one.runs.front());
  }
}

}  // namespace rharness
