// The tally of a set of comparisons.
#include "compare/comparison.h"

namespace rharness {

std::string_view StrengthName(Strength strength) {
  switch (strength) {
    case Strength::kShown:
      return "shown";
    case Strength::kLikely:
      return "likely";
    case Strength::kPossible:
      return "possible";
  }
  return "";
}

void Tally(ComparisonSet* set) {
  set->counts.clear();
  for (const Verdict verdict : kVerdicts) set->counts[std::string(VerdictName(verdict))] = 0;
  std::vector<Verdict> verdicts;
  for (const Comparison& comparison : set->comparisons) {
    verdicts.push_back(comparison.verdict);
    ++set->counts[std::string(VerdictName(comparison.verdict))];
  }
  set->exit_code = ExitCodeOf(verdicts);
}

}  // namespace rharness
