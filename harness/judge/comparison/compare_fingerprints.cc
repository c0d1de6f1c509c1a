// Fingerprints decide by behaviour: the results of probes, whatever the versions of the stack.
#include <algorithm>

#include "compare/fingerprints/fingerprint_diff.h"
#include "harness/judge/comparison/compare_subjects.h"

namespace rharness {
namespace {

Layer LayerOf(BehaviourChange change) {
  switch (change) {
    case BehaviourChange::kNonDeterminismGained:
    case BehaviourChange::kNonDeterminismLost:
      return Layer::kRandomness;
    case BehaviourChange::kHardwarePath:
      return Layer::kHardware;
    default:
      return Layer::kEnvironment;
  }
}

Finding FindingOf(const ProbeDifference& probe) {
  return {.code = std::string(BehaviourChangeName(probe.change)),
          .layer = LayerOf(probe.change),
          .subject = "probe " + probe.probe,
          .observed = {},
          .limit = {},
          .rule = "what a probe sees must be the same",
          .message = probe.sentence,
          .decisive = true};
}

Finding AboutAll(std::string code, std::string rule, const std::string& message) {
  return {.code = std::move(code),
          .layer = {},
          .subject = "fingerprints",
          .observed = {},
          .limit = {},
          .rule = std::move(rule),
          .message = message,
          .decisive = true};
}

}  // namespace

void CompareFingerprints(const Fingerprint& a, const Fingerprint& b, Comparison* comparison) {
  const FingerprintDifference difference = DiffFingerprints(a, b);
  comparison->headline = difference.comparable ? difference.summary : difference.why;
  if (!difference.comparable) {
    comparison->verdict = Verdict::kNotComparable;
    comparison->findings.push_back(AboutAll(
        "nothing_compared", "a probe must have worked on both sides", comparison->headline));
    return;
  }
  const bool asked = std::ranges::all_of(
      difference.probes, [](const ProbeDifference& probe) { return ShowsNothing(probe.change); });
  // Answers to another question, or with another number of threads, show nothing of the stack; nor
  // does what failed on both sides.
  comparison->verdict = difference.probes.empty() ? Verdict::kIdentical
                        : asked                   ? Verdict::kInconclusive
                                                  : Verdict::kDrifted;
  std::ranges::transform(difference.probes, std::back_inserter(comparison->findings), FindingOf);
  const auto reordered = [](const ProbeDifference& probe) { return !probe.tree_cases.empty(); };
  if (std::ranges::any_of(difference.probes, reordered)) {
    comparison->notes.emplace_back(
        "rharness probe diff --html draws the orders of addition before and after");
  }
  if (difference.probes.empty()) {
    comparison->findings.push_back(
        AboutAll("same_behaviour", "what a probe sees must be the same", comparison->headline));
  }
}

}  // namespace rharness
