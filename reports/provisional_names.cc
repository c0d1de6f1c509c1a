// Names of the compare types, until the folder that owns them brings its own.
#include <algorithm>
#include <string>

#include "compare/verdict.h"

namespace rharness {
namespace {
constexpr std::string_view kVerdictNames[] = {
    "identical", "equivalent", "drifted", "inconclusive", "not_comparable", "failed", "infra"};
constexpr std::string_view kLayerNames[] = {"data", "code", "environment", "hardware",
                                            "randomness"};
constexpr std::string_view kDTypeNames[] = {
    "BOOL",    "F4",          "F6_E2M3",     "F6_E3M2", "U8",  "I8",  "F8_E5M2", "F8_E4M3",
    "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "I16",     "U16", "F16", "BF16",    "I32",
    "U32",     "F32",         "C64",         "F64",     "I64", "U64"};
}  // namespace

std::string_view VerdictName(Verdict verdict) { return kVerdictNames[static_cast<int>(verdict)]; }
Result<Verdict> ParseVerdict(std::string_view name) {
  for (const Verdict verdict : kVerdicts) {
    if (VerdictName(verdict) == name) return verdict;
  }
  return InvalidInput("unknown verdict '" + std::string(name) + "'");
}
int ExitCodeOf(const std::vector<Verdict>& verdicts) {
  const auto any = [&](Verdict a, Verdict b) {
    return std::any_of(verdicts.begin(), verdicts.end(),
                       [&](Verdict v) { return v == a || v == b; });
  };
  if (any(Verdict::kDrifted, Verdict::kDrifted)) return 1;
  if (any(Verdict::kFailed, Verdict::kInfra)) return 4;
  return verdicts.empty() || any(Verdict::kInconclusive, Verdict::kNotComparable) ? 3 : 0;
}
std::string_view LayerName(Layer layer) { return kLayerNames[static_cast<int>(layer)]; }
Result<Layer> ParseLayer(std::string_view name) {
  for (const Layer layer : kLayers) {
    if (LayerName(layer) == name) return layer;
  }
  return InvalidInput("unknown layer '" + std::string(name) + "'");
}
std::string_view LayerStateName(LayerState state) {
  return state == LayerState::kSame      ? "same"
         : state == LayerState::kDiffers ? "differs"
                                         : "unknown";
}
std::string_view MetricVerdictName(MetricVerdict verdict) {
  constexpr std::string_view kNames[] = {"within", "drifted", "needs_confirmation", "inconclusive"};
  return kNames[static_cast<int>(verdict)];
}
std::string_view DTypeName(DType dtype) { return kDTypeNames[static_cast<int>(dtype)]; }
Result<DType> ParseDType(std::string_view name) {
  for (int i = 0; i < static_cast<int>(std::size(kDTypeNames)); ++i) {
    if (kDTypeNames[i] == name) return static_cast<DType>(i);
  }
  return InvalidInput("unknown dtype '" + std::string(name) + "'");
}

}  // namespace rharness
