// What a comparison of two things found, and its verdict: "rharness.comparison/v1".
//
// Role: links comparing and reporting, for a drill (a record and its reruns) as for any two things.
// The composition fills it, JudgeComparison and Explain add verdict and causes; reports/ lay it
// out.
#ifndef RHARNESS_COMPARE_COMPARISON_H_
#define RHARNESS_COMPARE_COMPARISON_H_

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compare/compared_side.h"
#include "compare/curves/curve_comparison.h"
#include "compare/facts.h"
#include "compare/metrics/decision.h"
#include "compare/tokens/token_difference.h"
#include "compare/weights/tensor_diff.h"
#include "harness/base/clock.h"
#include "harness/verdict/verdict.h"

namespace rharness {

// How sure a cause is, the surest first: "shown", "likely", "possible".
enum class Strength { kShown, kLikely, kPossible };
std::string_view StrengthName(Strength strength);

// A possible reason for a difference; ranked by Explain.
struct Cause {
  std::string code;  // stable, for machines: "data_changed", "seed_missing"
  Layer layer = Layer::kEnvironment;
  Strength strength = Strength::kPossible;
  std::string statement;              // one sentence
  std::vector<std::string> evidence;  // the evidence for it, with its values
  std::string confirm;                // the command that would confirm it, or what to do
};

// A tensor on one side alone, bit-equal there to a tensor of both sides that is equal.
struct TiedTensor {
  std::string name;
  std::string same_as;
  bool in_a = true;
};

// A checkpoint of one role on both sides.
struct CheckpointComparison {
  std::string subject;  // "weights model.safetensors", "optimizer state"
  bool weights = true;  // false: optimizer state and the rest, which only explain
  CheckpointDifference difference;
  // Canonical tensor digest; of a file that is not read, that of its bytes; empty: not computed.
  std::string digest_a;
  std::string digest_b;
  bool from_digests = false;  // no bytes at hand: only the names of differing tensors are known
  bool is_file = false;       // no reader opens it: only the SHA-256 of its bytes is known
  bool matters = true;        // false: its role allows it to differ, as a log; never identical then
  std::vector<std::string> metadata;  // differs, as "epoch: 3 in A, 4 in B"; never decisive
  // Files beside the tensors that differ although they are loaded with them or not read, a sentence
  // each: with any of these the comparison never passes.
  std::vector<std::string> not_compared;
  // The same for files whose name shows no part of a checkpoint, such as a log: never decisive.
  std::vector<std::string> asides;
  // Set if values are not finite that should be, equal or not: never passes. Empty: all are finite.
  std::string non_finite;
  // Differing tensors whose bytes do not match the checksum that their file states.
  std::vector<std::string> damaged;
  std::vector<TiedTensor> tied;       // of difference.only_a and only_b; see tied_weights.h
  std::string first_shape_or_dtype;   // "fc1.weight: F32 [64, 64] in A, BF16 [64, 64] in B"
  std::vector<std::string> prefixes;  // that would make the names of both sides agree
};

// One rerun of a record, as far as it came.
struct RerunEnd {
  enum class State { kCompared, kNotComparable, kFailed, kInfra };
  int index = 0;  // 1, 2, ...
  State state = State::kInfra;
  std::string reason;          // of a state other than kCompared: one sentence
  std::optional<Layer> layer;  // of kNotComparable
};

struct Comparison {
  std::string name;  // of the pair; "" for a single one
  ComparedSide a;
  ComparedSide b;
  bool expect_bitwise = true;     // bits were promised, or asked for
  bool declared_bitwise = false;  // promised: the record says that it is deterministic
  bool is_rerun = false;          // b stands for the reruns of the record a
  std::vector<RerunEnd> ends;     // how each rerun ended; else those that ended badly
  Verdict verdict = Verdict::kInconclusive;
  std::string headline;           // one sentence: the verdict and why
  std::vector<Finding> findings;  // the decisive ones first
  std::vector<Cause> causes;      // most suspicious first
  std::array<LayerComparison, 5> layers{};
  std::vector<CheckpointComparison> checkpoints;
  std::vector<CurveComparison> curves;
  std::vector<MetricDecision> metrics;
  std::optional<TokenDifference> tokens;  // of two programs that scored the same tokens
  std::vector<std::string> notes;         // what was left out, and why
  // Further reruns that would decide, by the metric that needs most; 0: none would or needed.
  int more_reruns = 0;
  int more_runs = 0;                // likewise, further runs of other seeds
  bool needs_confirmation = false;  // a drift was seen in one rerun or pair: one more is needed
};

// What one call of `rharness compare` made: one comparison, or one per pair.
struct ComparisonSet {
  std::string title;    // "A against B", "95 pairs of DIR"
  std::string version;  // of rharness
  WallTime made{};
  int exit_code = 3;
  std::map<std::string, int> counts;  // by verdict name, all seven present
  std::vector<std::string> notes;     // about the set as a whole
  std::vector<Comparison> comparisons;
};

// Fills verdict, headline, more_reruns, needs_confirmation and findings (those already there stay)
// from the parts. The ladder, first match wins:
//   infra           no rerun could be carried out
//   not_comparable  an identity fact differs (data, code, image), a metric that decides was
//                   measured on another set, or there is nothing in common
//   failed          a rerun crashed, hung or ended at a limit
//   drifted         a value stopped being finite
//   not_comparable  bits differ on another hardware class than the recorded one
//   drifted         bits differ where they were promised or asked for; a metric's shift is shown,
//                   or a curve that decides is beyond its band (of a run seen in two reruns)
//   identical       something was compared, and all is bit-equal, times and memory left out
//   equivalent      every primary metric is shown to be within its margin, or equal; if none was
//                   tested, every loss within its band. Or only files differ whose role allows it
//   inconclusive    none of these was shown; also where something is loaded with the tensors, or
//                   was not read, and differs, or weights are not finite; and in place of
//                   equivalent where a curve is beyond its band, or a metric that is not primary
//                   differs beside equal bits or is shown to have moved (false discovery rate 5 %)
// A loss decides by its band; another curve only by a band from further runs or replicates. If the
// band rests on no further run and has no stated rate (accepted upgrades, a margin), and each
// primary metric is within its declared margin, the curve is no drift, and no pass, until siblings
// or replicates explain it. If a metric was tested, curves that allow no conclusion only advise.
// Bit-equal values never drift; a bit-equal single value beside other weights shows nothing.
void JudgeComparison(Comparison* comparison);

// Fills counts and exit_code.
void Tally(ComparisonSet* set);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_COMPARISON_H_
