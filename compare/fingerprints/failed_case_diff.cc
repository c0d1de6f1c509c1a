// From failed cases to a kind of change and its sentence.
#include "compare/fingerprints/failed_case_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "compare/fingerprints/probe_diff.h"

namespace rharness {
namespace {

std::string CasesInWords(const std::vector<std::string>& cases) {
  return fmt::format("{} case{}", cases.size(), cases.size() == 1 ? "" : "s");
}

}  // namespace

void AddFailedCases(const FingerprintProbe& before, const FingerprintProbe& after,
                    ProbeDifference* out) {
  std::vector<std::string> newly, both, added;
  const std::set<std::string> worked = CasesOf(before);
  for (const auto& [name, why] : after.failed) {
    // Cases of identity are facts of the stack by now.
    const bool worked_before = worked.contains(name) || before.family == kIdentityFamily;
    (before.failed.contains(name) ? both : worked_before ? newly : added).push_back(name);
  }
  const auto add = [out](std::string words) {
    out->sentence = out->sentence.empty() ? fmt::format("{}: {}", out->probe, words)
                                          : fmt::format("{}; {}", out->sentence, words);
  };
  if (!newly.empty()) {
    std::erase_if(out->gone_cases, [&](const std::string& name) {
      return std::ranges::find(newly, name) != newly.end();
    });
    if (out->change == BehaviourChange::kGone && out->gone_cases.empty()) out->sentence.clear();
    out->change = BehaviourChange::kNewlyWrong;
    add(fmt::format("{} that worked before failed (first: {}: {})", CasesInWords(newly),
                    newly.front(), after.failed.at(newly.front())));
  }
  if (!added.empty()) {
    if (out->change == BehaviourChange::kNone) out->change = BehaviourChange::kAppeared;
    add(fmt::format("{} that the baseline does not have failed (first: {}: {})",
                    CasesInWords(added), added.front(), after.failed.at(added.front())));
  }
  if (both.empty()) return;
  const bool is_no_fault = out->change == BehaviourChange::kNone ||
                           out->change == BehaviourChange::kAppeared ||
                           out->change == BehaviourChange::kNonDeterminismLost;
  if (is_no_fault) out->change = BehaviourChange::kFailsOnBoth;
  add(fmt::format("{} failed on both sides and show{} nothing (first: {}: {})", CasesInWords(both),
                  both.size() == 1 ? "s" : "", both.front(), after.failed.at(both.front())));
}

}  // namespace rharness
