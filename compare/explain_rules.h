// The rules behind Explain, private to it: one function a cause, and the place of each.
#ifndef RHARNESS_COMPARE_EXPLAIN_RULES_H_
#define RHARNESS_COMPARE_EXPLAIN_RULES_H_

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/comparison.h"

namespace rharness {

// The place of a cause; explain.h has the table with their order.
enum class CausePlace {
  kDamage,          // the recorded run itself lost a process
  kInput,           // must be equal and is not, by a hash or a stated value
  kSeen,            // seen to differ between the sides: seeds as set, the order of files
  kBits,            // a mechanism that the bits show
  kVariable,        // a variable that the run reads, or that was named
  kSchedule,        // a curve of settings that differs: more an effect than a cause
  kUnseeded,        // the run's own code draws from an unseeded generator
  kUnordered,       // its own code depends on an order left to chance
  kArithmetic,      // libraries, drivers, hardware, variables and switches that change rounding
  kNondeterminism,  // on both sides: switches and operators that leave the order of sums open
  kSetting,         // command, family, commit, variables of a locale
  kChance,          // on both sides, and not known to reach the result
  kPattern,         // suggested by the shape of a difference
  kUnused,          // changed, and nothing of the run is known to use it
};

struct PlacedCause {
  CausePlace place;
  Cause cause;
};

class CauseList {
 public:
  void Add(CausePlace place, Cause cause) { list_.push_back({place, std::move(cause)}); }
  bool Has(std::string_view code) const {
    return std::ranges::any_of(list_, [&](const auto& one) { return one.cause.code == code; });
  }
  std::vector<PlacedCause>* list() { return &list_; }

 private:
  std::vector<PlacedCause> list_;
};

// How the difference begins.
enum class DifferenceOnset { kNotKnown, kRounding, kBeyondRounding };

// Facts known to be equal, so that no cause contradicts them.
struct KnownEqual {
  bool data = false;  // its hashes, or a rerun that declares no data and has equal code
  bool code = false;  // and, of a rerun, the command with it
};

struct ExplainInput {
  const Comparison& comparison;
  const std::vector<Fact>& facts_a;
  const std::vector<Fact>& facts_b;
  KnownEqual equal;
};

// Adds its cause when it finds evidence for it.
using ExplainRule = void (*)(const ExplainInput& in, CauseList* out);

// Unequal inputs of the run: data, seeds, hyperparameters, code, command.
const std::vector<ExplainRule>& InputRules();
// The shape of the difference: from which step and how far; in which tensors.
const std::vector<ExplainRule>& PatternRules();
const std::vector<ExplainRule>& TensorRules();
const std::vector<ExplainRule>& LogprobRules();
// Hazards seen on both sides that leave the result to chance; and damage to the recorded run.
const std::vector<ExplainRule>& HazardRules();

// A value in short, "absent" without one; a difference in words; the layer's differences whose keys
// begin with one of these, in words.
std::string Shown(const std::optional<std::string>& value);
std::string Change(const FactDifference& difference);
bool StartsWithAny(std::string_view key, std::initializer_list<std::string_view> prefixes);
std::vector<std::string> Changes(const Comparison& comparison, Layer layer,
                                 std::initializer_list<std::string_view> prefixes);

const LayerComparison& LayerOf(const Comparison& comparison, Layer layer);

// Above this relative difference a first logged loss is not rounding in any precision used for
// training: bf16 rounds at 2^-9, and a loss averages thousands of such errors.
inline constexpr double kBeyondRounding = 1e-3;
// The first loss that differs, which is where a training run shows when it parted.
const CurveComparison* DifferingLoss(const Comparison& comparison);
double RelativeAt(const CurveComparison& curve, std::int64_t step);

KnownEqual KnownEqualOf(const Comparison& comparison);
DifferenceOnset OnsetOf(const Comparison& comparison);
// Sorts by the table, and keeps "likely" only for a cause that is alone in front.
std::vector<Cause> InOrder(DifferenceOnset onset, std::vector<PlacedCause> causes);

// The difference is within what further runs of the same configuration do, and more than rounding;
// or within what runs do that differ by rounding alone.
void AnotherSeed(const ExplainInput& in, CauseList* out);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_EXPLAIN_RULES_H_
