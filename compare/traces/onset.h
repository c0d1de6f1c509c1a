// Where two runs part: the first operator whose output differs on equal inputs.
//
// Role: pure, from the traces of two runs to the record at which they part, its kind, and the
// growth of the difference afterwards. A differing record whose sources are all equal is an origin;
// one with a differing source before it has the difference handed on. Sources of an operator: its
// inputs of the same call, and the parameters and buffers below its name; RelateRecords (relate.h)
// lists the others.
#ifndef RHARNESS_COMPARE_TRACES_ONSET_H_
#define RHARNESS_COMPARE_TRACES_ONSET_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/curves/curve_comparison.h"
#include "compare/facts.h"
#include "compare/traces/trace.h"

namespace rharness {

enum class RecordState {
  kEqual,
  kOrigin,    // differs on equal inputs
  kHandedOn,  // differs, and so does a source of it
  kOnlyA,     // the other side has no such record in a step that it traced
  kOnlyB,
  kUnknown,  // no digest, or digests of two methods
};
std::string_view RecordStateName(RecordState state);  // "equal", "origin", "handed_on", ...

// The size of a difference beside the effect of arithmetic. Measured as the distance of both over
// the larger norm (Euclidean). For sums of n products in a format of unit roundoff u, rounding
// causes up to 5 sqrt(n) u on either side except with a probability of 2 n exp(-12.5) (Higham and
// Mary 2019, SIAM J. Sci. Comput. 41(5), theorem 3.1, lambda = 5), so 10 sqrt(n) u between two. n:
// for a layer with weights the product of all their dimensions but the first, else the elements of
// the largest tensor involved, 16,384 at most. Reduced precision, up to 2^-7: the effect of a
// bfloat16, TF32 or fp16 product in a larger format.
enum class DifferenceSize { kNone, kRounding, kReducedPrecision, kLarge, kNotMeasured };
std::string_view DifferenceSizeName(DifferenceSize size);  // "rounding", "reduced_precision", ...

struct OnsetRecord {
  TraceRecord a;  // of kOnlyB: B's
  TraceRecord b;  // of kOnlyA: A's
  RecordState state = RecordState::kEqual;
  DifferenceSize size = DifferenceSize::kNone;
  // Estimated from the sketches; else the difference of the norms, which is at most that. NaN: not
  // known. 0: nothing differs, or only signs of zeros and the like.
  double distance = 0.0;
  bool from_norms = false;  // the distance is at least that
  double rounding = 0.0;    // upper limit of rounding
};

struct OnsetStep {
  std::int64_t step = 0;
  std::size_t compared = 0;
  std::size_t differing = 0;
  // Of all parameters together at the start of the step, as the distance of a record. NaN: no
  // record.
  double parameters = std::numeric_limits<double>::quiet_NaN();
  double outputs = std::numeric_limits<double>::quiet_NaN();  // of the whole network
  double loss = std::numeric_limits<double>::quiet_NaN();     // |a - b| / |a|
};

struct Onset {
  // "equal", "parts" (a record is named), "between_steps" (before the first traced step that
  // differs), "nothing_compared".
  std::string end = "nothing_compared";
  // Of "parts": "batch", "batch_order", "initial_weights", "initial_state", "outside_of_steps",
  // "operator", "random_operator", "between_operators", "loss", "backward", "gradient",
  // "settings", "optimizer", "calls", "structure". Else empty.
  std::string what;
  Layer layer = Layer::kEnvironment;  // of `what`
  int rank = 0;                       // of the trace that the members below describe
  std::optional<OnsetRecord> origin;
  std::optional<std::int64_t> equal_until;  // last compared step before it, which is equal
  std::vector<OnsetRecord> strip;           // all records of the origin's step, in network order
  std::vector<OnsetRecord> origins;         // the others of that step, at most kMostOrigins
  std::vector<OnsetStep> steps;
  // "none", "rounding_grows" (begins as rounding does, and no step jumps), "rounding_jumps" (begins
  // so, and at `jump` something larger joins), "change" (begins larger than rounding), "unknown".
  std::string growth = "none";
  std::optional<std::int64_t> jump;
  std::vector<CurveComparison> curves;  // of the traces, judged by those of further runs if given
  std::string headline;                 // one sentence
  std::string next;                     // what to do now
  std::vector<std::string> reasons;     // evidence for `what`, a sentence each
  std::vector<std::string> notes;
  bool damaged =
      false;  // lines of the two could not be read: what stood there may be where they part
};

inline constexpr std::size_t kMostOrigins = 100;
// Growth from one compared step to the next, for differences beyond rounding.
inline constexpr double kJumpFactor = 1000.0;

// Uses every rank that both sides have, and reports the earliest record. `replicates`: traces of
// further runs that differ from A by rounding alone (RHARNESS_REPLICATE); the curves are judged by
// them.
Onset FindOnset(const std::vector<Trace>& a, const std::vector<Trace>& b,
                const std::vector<std::vector<Trace>>& replicates = {});

// The relative distance of two records, as in OnsetRecord, and the rounding of `terms` products in
// this format. 0 for a format without rounding, such as integers.
double DistanceOf(const TraceRecord& a, const TraceRecord& b, bool* from_norms);
double RoundingOf(std::string_view dtype, double terms);

// "layer1.0.conv1 (Conv2d)", "the batch", "the whole network".
std::string NameOfRecord(const TraceRecord& record);
// Fills headline, next and reasons from the rest.
void DescribeOnset(Onset* onset);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TRACES_ONSET_H_
