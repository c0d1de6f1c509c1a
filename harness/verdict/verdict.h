// Verdicts, findings, and the exit codes of verdicts.
//
// Role: the words that everything which records, decides or reports has in common. The ladder that
// leads to a verdict is in compare/comparison.h.
#ifndef RHARNESS_HARNESS_VERDICT_VERDICT_H_
#define RHARNESS_HARNESS_VERDICT_VERDICT_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/verdict/facts.h"

namespace rharness {

enum class Verdict {
  kIdentical,
  kEquivalent,
  kDrifted,
  kInconclusive,
  kNotComparable,
  kFailed,
  kInfra,
};
inline constexpr std::array<Verdict, 7> kVerdicts = {
    Verdict::kIdentical,     Verdict::kEquivalent, Verdict::kDrifted, Verdict::kInconclusive,
    Verdict::kNotComparable, Verdict::kFailed,     Verdict::kInfra};
std::string_view VerdictName(Verdict verdict);  // "identical", ..., "not_comparable", ...
Result<Verdict> ParseVerdict(std::string_view name);

// What a verdict says of whether the run reproduces. An open one neither makes nor unmakes a good
// run: whoever follows verdicts over time passes it over.
enum class Standing {
  kGood,  // identical, equivalent
  kBad,   // drifted, failed
  kOpen,  // inconclusive, not comparable, infra
};
Standing StandingOf(Verdict verdict);
inline bool Reproduced(Verdict verdict) { return StandingOf(verdict) == Standing::kGood; }
inline bool IsConclusive(Verdict verdict) { return StandingOf(verdict) != Standing::kOpen; }

// Exit code of a set of verdicts: 0 all identical or equivalent; 1 any drifted; else 4 any
// failed or infra; else 3 any inconclusive or not comparable. An empty set is 3: nothing was shown.
int ExitCodeOf(const std::vector<Verdict>& verdicts);

// A reason, recorded at the point of decision.
struct Finding {
  std::string code;            // stable, for machines: "determinism_violation", "data_changed"
  std::optional<Layer> layer;  // the layer that it points at, if any
  std::string subject;         // its subject: "tensor fc1.weight", "metric test_accuracy"
  std::string observed;        // may be empty
  std::string limit;           // the recorded value, the margin or the bound
  std::string rule;            // the rule that decided, in words
  std::string message;         // one sentence for people
  bool decisive = false;       // this finding decided the verdict
};

// The code of a finding: a metric that decides was measured on other data, so no conclusion is
// possible.
inline constexpr std::string_view kOtherEvalSet = "other_eval_set";
// The code of a finding: what a recorded run began from is in no record, so that bits that differ
// show nothing.
inline constexpr std::string_view kStartNotRecorded = "start_not_recorded";
// The end of a reason for not rerunning: the "--map FROM=TO" before it is all that is missing.
inline constexpr std::string_view kDeclaresFolder = " declares its folder";

}  // namespace rharness

#endif  // RHARNESS_HARNESS_VERDICT_VERDICT_H_
