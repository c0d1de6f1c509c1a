// Eval sets of a record and of a rerun side by side.
#include "harness/judge/eval_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "compare/comparison.h"
#include "harness/base/files.h"

namespace rharness {

Finding EvalSetFinding(const OtherEvalSet& other, bool decides,
                       const std::array<std::string_view, 2>& sides) {
  const std::string a = InWords(other.a), b = InWords(other.b);
  return {
      .code = decides && other.is_known ? std::string(kOtherEvalSet) : "not_compared",
      .layer = Layer::kData,
      .subject = "metric " + other.metric,
      .observed = b,
      .limit = a,
      .rule = "a metric is compared where both were measured on one set",
      .message = TerminalSafe(fmt::format("{} is not comparable: measured on {} {}, on {} {}{}",
                                          other.metric, a, sides[0], b, sides[1],
                                          other.is_known ? ", which are not the same data"
                                                         : ", whose digests cannot be compared"))};
}

std::vector<Finding> EvalSetFindings(const Manifest& manifest, const Evidence& evidence) {
  Manifest seen;
  seen.data = evidence.data;
  seen.metrics = manifest.metrics;
  std::vector<Finding> findings;
  for (const OtherEvalSet& other : FindOtherEvalSets(manifest, seen)) {
    // What an imported record has is no SHA-256, and a rerun's data have nothing else.
    if (!other.is_known) continue;
    const auto metric = std::ranges::find(manifest.metrics, other.metric, &Metric::name);
    const bool decides =
        DecidesVerdict(*metric, manifest.metrics) || manifest.determinism.declared == "bitwise";
    findings.push_back(EvalSetFinding(other, decides, {"recorded", "in the rerun"}));
  }
  return findings;
}

}  // namespace rharness
