// What the CPU probes share: trees and bits of one case, put into a result.
//
// Role: from a routine to the entries of ProbeResult; every probe's file says only what it calls.
#ifndef RHARNESS_PROBES_CPU_REVEAL_CASE_H_
#define RHARNESS_PROBES_CPU_REVEAL_CASE_H_

#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "probes/order/reveal.h"
#include "probes/probe.h"

namespace rharness {

// A mask swallows any count of units: the largest power of two of the type.
template <class T>
constexpr T kMask = std::numeric_limits<T>::max() / 2 + 1;

// Writes one question's summands: units in the range, then the masks. With a zero elsewhere.
template <class T>
void FillMasked(MaskPair pair, UnitRange units, std::span<T> data) {
  std::fill(data.begin(), data.end(), T(0));
  std::fill(data.begin() + units.begin, data.begin() + units.end, T(1));
  data[static_cast<std::size_t>(pair.plus)] = kMask<T>;
  data[static_cast<std::size_t>(pair.minus)] = -kMask<T>;
}

// A function over contiguous summands. Between questions only what differs is written, since that
// would cost more than many a sum.
template <class T>
class FunctionSum final : public MaskedSum {
 public:
  using Function = std::function<T(std::span<const T>)>;
  FunctionSum(int n, Function function)
      : function_(std::move(function)), data_(static_cast<std::size_t>(n)) {}

  int size() const override { return static_cast<int>(data_.size()); }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    if (units.begin != filled_.begin || units.end != filled_.end) {
      std::fill(data_.begin(), data_.end(), T(0));
      std::fill(data_.begin() + units.begin, data_.begin() + units.end, T(1));
      filled_ = units;
    }
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      T& plus = data_[static_cast<std::size_t>(pairs[k].plus)];
      T& minus = data_[static_cast<std::size_t>(pairs[k].minus)];
      const T plus_was = std::exchange(plus, kMask<T>), minus_was = std::exchange(minus, -kMask<T>);
      counts[k] = static_cast<double>(function_(data_));
      minus = minus_was;
      plus = plus_was;
    }
    return {};
  }

 private:
  Function function_;
  std::vector<T> data_;  // outside of Count: units in filled_, zeros elsewhere
  UnitRange filled_;
};

// Reveals the order and adds the tree, or a note why there is none; a case without a fixed order is
// listed as unstable. Rows of a batch that differ: the tree is the first row's, with a note. Counts
// "masked sums" and "launches" grow. An error fails the probe.
void AddTree(const ProbeContext& context, const std::string& name, MaskedSum& sum,
             ProbeResult* result, int validate_pairs = 200);
template <class T>
void AddTree(const ProbeContext& context, const std::string& name, int n,
             typename FunctionSum<T>::Function function, ProbeResult* result) {
  FunctionSum<T> sum(n, std::move(function));
  AddTree(context, name, sum, result);
}

// Calls `run` context.repeats times; the first run's SHA-256 is the case's, and a repeat that
// differs makes the case unstable.
void AddBits(const ProbeContext& context, const std::string& name,
             const std::function<std::vector<float>()>& run, ProbeResult* result);
std::string BitsOf(std::span<const float> values);  // SHA-256 of the bytes, hex

// Uniform in [-1, 1), the same everywhere for a seed: multiples of 2^-23.
std::vector<float> RandomFloats(std::uint64_t seed, std::size_t count);

}  // namespace rharness

#endif  // RHARNESS_PROBES_CPU_REVEAL_CASE_H_
