// What changed between two stacks, behaviour by behaviour, and what kind of change it is.
#ifndef RHARNESS_COMPARE_FINGERPRINTS_FINGERPRINT_DIFF_H_
#define RHARNESS_COMPARE_FINGERPRINTS_FINGERPRINT_DIFF_H_

#include <string>
#include <string_view>
#include <vector>

#include "compare/facts.h"
#include "compare/fingerprints/fingerprint.h"

namespace rharness {

// In the order of the search for a cause: identity, compiler output, choice, tree, bits.
enum class BehaviourChange {
  kNone,
  kNewlyWrong,  // ok before; failed, crashed or timed out now, as a whole or in a case
  kGone,        // ok before; absent or not probed now
  kAppeared,    // not ok before; ok now
  // Ok on both sides, but with other parameters, or with another order because of another number of
  // threads: no conclusion.
  kAskedOtherwise,
  kFailsOnBoth,  // all that could be compared is the same, and a case failed on both sides
  kNonDeterminismGained,
  kNonDeterminismLost,
  kCompilerOutput,   // other code from the same source or PTX
  kOtherAnswers,     // a served model answers otherwise
  kHeuristicDrift,   // another algorithm was chosen
  kKernelRewritten,  // the same choice adds in another order
  kHardwarePath,     // another width of fused addition: another instruction
  kRounding,         // same choice and order, other bits: rounding, epilogue or math
};
// Whether it says nothing of the stack.
inline bool ShowsNothing(BehaviourChange change) {
  return change == BehaviourChange::kAskedOtherwise || change == BehaviourChange::kFailsOnBoth;
}
std::string_view BehaviourChangeName(BehaviourChange change);  // "heuristic_drift", ...

struct ProbeDifference {
  std::string probe;
  std::string family;
  BehaviourChange change = BehaviourChange::kNone;
  std::string sentence;                   // "gemm_tree_fp32: was ..., is ... in 3 of 8 cases"
  std::vector<std::string> choice_cases;  // cases whose choice, tree, bits differ
  std::vector<std::string> tree_cases;
  std::vector<std::string> bits_cases;
  std::string choice_sentence;  // of that layer alone; empty if no case differs in it
  std::string tree_sentence;
  std::string bits_sentence;
  std::vector<std::string> gone_cases;  // in the baseline only, and not for lack of repeatability
  int cases = 0;                        // cases of both sides that repeat on both
  int revealed_anew = 0;  // trees with arithmetic or regions on one side only: not compared
  // Kernels for another processor with the same order and bits, which is no change: "core Haswell →
  // Zen". Empty: none.
  std::string other_processor;
};

struct FingerprintDifference {
  // At least one probe is ok on both sides and has a case in common that repeats on both.
  bool comparable = false;
  std::string why;                      // why not comparable: one sentence
  std::string_view silent;              // "baseline", "candidate": the side that shows nothing
  std::vector<FactDifference> stack;    // identity, the most telling first, digests last
  std::vector<ProbeDifference> probes;  // those that changed, by name
  int same = 0;                         // probes that are the same
  int compared = 0;                     // probes ok on both sides with a case in common
  int revealed_anew = 0;                // trees, of all probes
  int other_processor = 0;              // probes that are the same by another processor's kernels
  std::string processors;               // processors of the first of them: "core Haswell → Zen"
  std::string summary;  // "nothing changed", "everything changed: ...", "3 of 12 probes changed"
};

// Pure. A suite that reports itself broken on either side is not comparable; an unreadable file has
// an unknown stack, and no fact of it differs. Cases that do not repeat are compared in that alone.
// The first layer that changed names the kind, in the order of the localisation: status,
// determinism, compiler output, choice, tree, bits.
FingerprintDifference DiffFingerprints(const Fingerprint& before, const Fingerprint& after);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_FINGERPRINTS_FINGERPRINT_DIFF_H_
