// A summation routine behind masks, as a black box that reveal.h asks.
#ifndef RHARNESS_TESTS_PROBES_ORDER_ROUTINE_SUM_H_
#define RHARNESS_TESTS_PROBES_ORDER_ROUTINE_SUM_H_

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "probes/order/reveal.h"
#include "tests/probes/order/routines.h"

namespace rharness::routines {

// A routine behind masks.
template <class T>
class RoutineSum final : public MaskedSum {
 public:
  using Function = std::function<T(std::span<const T>)>;
  RoutineSum(int n, Function function, T mask, T unit = T(1),
             std::int64_t exact = std::int64_t{1} << 24)
      : n_(n), function_(std::move(function)), mask_(mask), unit_(unit), exact_(exact) {}

  int size() const override { return n_; }
  std::int64_t exact_count() const override { return exact_; }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      std::vector<T> data(At(n_), T(0));
      for (int i = units.begin; i < units.end; ++i) data[At(i)] = unit_;
      counts[k] = Sum(pairs.subspan(k, 1), std::move(data));
    }
    return {};
  }
  // As many questions in a sum as its digits hold, unless that is turned off.
  std::int64_t packed_count() const override { return packs_ ? exact_ : 0; }
  Status CountPacked(std::span<const std::int64_t> units,
                     std::span<const std::vector<MaskPair>> sums,
                     std::span<double> totals) override {
    for (std::size_t k = 0; k < sums.size(); ++k) {
      std::vector<T> data;
      for (const std::int64_t unit : units) {
        data.push_back(T(static_cast<double>(unit_) * static_cast<double>(unit)));
      }
      totals[k] = Sum(sums[k], std::move(data));
    }
    return {};
  }
  RoutineSum& OneByOne() {
    packs_ = false;
    return *this;
  }

 private:
  double Sum(std::span<const MaskPair> masks, std::vector<T> data) const {
    for (const MaskPair& pair : masks) {
      data[At(pair.plus)] = mask_;
      data[At(pair.minus)] = T(-static_cast<double>(mask_));
    }
    return static_cast<double>(function_(data)) / static_cast<double>(unit_);
  }

  int n_;
  Function function_;
  T mask_, unit_;
  std::int64_t exact_;
  bool packs_ = true;
};

}  // namespace rharness::routines

#endif  // RHARNESS_TESTS_PROBES_ORDER_ROUTINE_SUM_H_
