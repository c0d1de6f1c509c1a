// The words for verdicts, and their exit codes.
#include "harness/verdict/verdict.h"

#include <fmt/format.h>

#include <algorithm>

namespace rharness {

std::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kIdentical:
      return "identical";
    case Verdict::kEquivalent:
      return "equivalent";
    case Verdict::kDrifted:
      return "drifted";
    case Verdict::kInconclusive:
      return "inconclusive";
    case Verdict::kNotComparable:
      return "not_comparable";
    case Verdict::kFailed:
      return "failed";
    case Verdict::kInfra:
      return "infra";
  }
  Abort("unknown Verdict");
}

Result<Verdict> ParseVerdict(std::string_view name) {
  std::string choices;
  for (const Verdict verdict : kVerdicts) {
    if (VerdictName(verdict) == name) return verdict;
    choices += fmt::format("{}{}", choices.empty() ? "" : ", ", VerdictName(verdict));
  }
  return InvalidInput(
      fmt::format("'{}' is no verdict; expected one of {}", name.substr(0, 40), choices));
}

Standing StandingOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kIdentical:
    case Verdict::kEquivalent:
      return Standing::kGood;
    case Verdict::kDrifted:
    case Verdict::kFailed:
      return Standing::kBad;
    case Verdict::kInconclusive:
    case Verdict::kNotComparable:
    case Verdict::kInfra:
      return Standing::kOpen;
  }
  Abort("unknown Verdict");
}

int ExitCodeOf(const std::vector<Verdict>& verdicts) {
  const auto any = [&](Verdict verdict) {
    return std::find(verdicts.begin(), verdicts.end(), verdict) != verdicts.end();
  };
  if (any(Verdict::kDrifted)) return 1;
  if (any(Verdict::kFailed) || any(Verdict::kInfra)) return 4;
  if (any(Verdict::kInconclusive) || any(Verdict::kNotComparable)) return 3;
  return verdicts.empty() ? 3 : 0;
}

}  // namespace rharness
