// Shared by the CPU probes: adds trees and bits of one case to a result.
//
// Role: from a routine to the entries of ProbeResult; a probe's file only names its calls.
#ifndef RHARNESS_PROBES_CPU_REVEAL_CASE_H_
#define RHARNESS_PROBES_CPU_REVEAL_CASE_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/base/digest.h"
#include "probes/cpu/matrix_product.h"
#include "probes/cpu/random_numbers.h"
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

// The same for a sum that answers several questions.
template <class T>
void FillPacked(std::span<const MaskPair> pairs, std::span<const std::int64_t> units,
                std::span<T> data) {
  std::ranges::transform(units, data.begin(),
                         [](std::int64_t unit) { return static_cast<T>(unit); });
  for (const MaskPair& pair : pairs) {
    data[static_cast<std::size_t>(pair.plus)] = kMask<T>;
    data[static_cast<std::size_t>(pair.minus)] = -kMask<T>;
  }
}

// A function over contiguous summands. Between questions only differences are written, since
// rewriting would cost more than many sums.
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
    for (std::size_t k = 0; k < pairs.size(); ++k) counts[k] = Sum(pairs.subspan(k, 1));
    return {};
  }
  std::int64_t packed_count() const override {
    return std::int64_t{1} << std::numeric_limits<T>::digits;
  }
  Status CountPacked(std::span<const std::int64_t> units,
                     std::span<const std::vector<MaskPair>> sums,
                     std::span<double> totals) override {
    std::ranges::transform(units, data_.begin(),
                           [](std::int64_t unit) { return static_cast<T>(unit); });
    filled_ = {};
    for (std::size_t k = 0; k < sums.size(); ++k) totals[k] = Sum(sums[k]);
    return {};
  }

 private:
  double Sum(std::span<const MaskPair> masks) {
    const auto at = [&](int i) -> T& { return data_[static_cast<std::size_t>(i)]; };
    stood_.clear();
    for (const MaskPair& pair : masks) {
      stood_.push_back(std::exchange(at(pair.plus), kMask<T>));
      stood_.push_back(std::exchange(at(pair.minus), -kMask<T>));
    }
    const auto total = static_cast<double>(function_(data_));
    auto was = stood_.begin();
    for (const MaskPair& pair : masks) {
      at(pair.plus) = *was++;
      at(pair.minus) = *was++;
    }
    return total;
  }

  Function function_;
  std::vector<T> data_;  // between questions: units in filled_ and zeros elsewhere, or packed units
  UnitRange filled_;     // empty: packed units
  std::vector<T> stood_;  // places of this sum's masks
};

// Reveals the order. None: a note on `label` says why, and a case, `name`, without a fixed order is
// listed as unstable. Rows of a batch that differ: the tree is the first row's, with a note.
// Questions of a batch are repeated only if the answers fit no tree. Counts "masked sums" and
// "launches" grow. An error fails the probe.
std::optional<SumTree> RevealCase(const ProbeContext& context, const std::string& name,
                                  const std::string& label, MaskedSum& sum, ProbeResult* result,
                                  int validate_pairs = 200);
// The same, and adds the tree.
void AddTree(const ProbeContext& context, const std::string& name, MaskedSum& sum,
             ProbeResult* result, int validate_pairs = 200);
// Of a function over contiguous summands: as AddProduct does.
template <class T>
void AddTree(const ProbeContext& context, const std::string& name, int n,
             typename FunctionSum<T>::Function function, ProbeResult* result) {
  std::vector<T> terms(static_cast<std::size_t>(n));
  const auto run = [&](const T* a, const T* b, T* c) {
    std::transform(a, a + n, b, terms.begin(), std::multiplies<>());
    *c = function(terms);
  };
  AddProduct<T>(context, name, {.shape = {1, 1, n}, .plain = true, .run = run}, result);
}

// SHA-256 of the bytes, hex.
template <class T>
std::string DigestOf(const std::vector<T>& values) {
  return ToHex(Sha256Of(std::as_bytes(std::span(values))));
}

// Calls `run` context.repeats times; the first run's SHA-256 is the case's, and a repeat that
// differs makes the case unstable.
template <class T = float>
void AddBits(const ProbeContext& context, const std::string& name,
             const std::function<std::vector<std::type_identity_t<T>>()>& run,
             ProbeResult* result) {
  const std::string first = DigestOf<T>(run());
  bool stable = true;
  for (int repeat = 1; repeat < context.repeats; ++repeat) stable &= DigestOf<T>(run()) == first;
  result->bits[name] = first;
  if (!stable) result->unstable.push_back(name);
}

}  // namespace rharness

#endif  // RHARNESS_PROBES_CPU_REVEAL_CASE_H_
