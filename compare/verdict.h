// From what was compared to one word with its reasons: the verdict ladder.
//
// Role: pure decision over comparisons that others made. The ladder, first match wins:
//   infra           no rerun could be carried out
//   not_comparable  data, code, image or hardware class is not the recorded one
//   failed          the run itself crashed, hung or ended at a limit
//   drifted         a non-finite metric, a determinism violation, or a shift shown
//   identical       every declared tensor, metric and curve is equal bit for bit
//   equivalent      every primary metric is within its margin at the stated error rate
//   inconclusive    none of these could be shown
#ifndef RHARNESS_COMPARE_VERDICT_H_
#define RHARNESS_COMPARE_VERDICT_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/facts.h"
#include "compare/metrics/decision.h"
#include "compare/weights/tensor_diff.h"
#include "harness/base/result.h"

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

// Exit code of a set of verdicts: 0 all identical or equivalent; 1 any drifted; else 4 any
// failed or infra; else 3 any inconclusive or not comparable. An empty set is 3: nothing was shown.
int ExitCodeOf(const std::vector<Verdict>& verdicts);

// A reason, recorded where the decision was made.
struct Finding {
  std::string code;            // stable, for machines: "determinism_violation", "data_changed"
  std::optional<Layer> layer;  // the layer it points at, if any
  std::string subject;         // what it is about: "tensor fc1.weight", "metric test_accuracy"
  std::string observed;        // may be empty
  std::string limit;           // the recorded value, the margin or the bound
  std::string rule;            // the rule that decided, in words
  std::string message;         // one sentence for people
  bool decisive = false;       // this finding decided the verdict
};

// Something that must be equal bit for bit in an exact comparison: weights, a curve, a metric.
struct ExactComparison {
  enum class State { kEqual, kDiffers, kMissing, kVacuous };
  std::string subject;  // "weights model.safetensors", "curve train_loss", "metric test_accuracy"
  State state = State::kMissing;
  std::string first_difference;  // "tensor fc1.bias", "step 17"; empty if equal
  std::string detail;            // for people: max abs, max ULP, both values
  std::optional<TensorDifference>
      tensor;  // of the first differing tensor, if its bytes were at hand
};

// One rerun of one historical run, as far as it came.
struct RerunComparison {
  enum class State { kCompared, kNotComparable, kFailed, kInfra };
  int index = 0;  // 1, 2, ...
  State state = State::kInfra;
  std::string reason;          // of a state other than kCompared: one sentence
  std::optional<Layer> layer;  // of kNotComparable
  std::array<LayerComparison, 5> layers;
  std::vector<ExactComparison> exact;
  std::vector<Finding> findings;  // met on the way (input changed during the run, ...)
};

struct RunComparison {
  std::string run_id;
  std::string family;
  bool declared_bitwise = false;
  std::vector<RerunComparison> reruns;
  std::vector<MetricDecision> metrics;  // over all compared reruns
};

struct Judgement {
  Verdict verdict = Verdict::kInconclusive;
  std::vector<Finding> findings;  // the decisive ones first
  // How many more reruns would decide, by the metric that needs most; 0: none would or needed.
  int more_reruns = 0;
  bool needs_confirmation = false;  // one more rerun is due before a drift is claimed
};

Judgement Judge(const RunComparison& run);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_VERDICT_H_
