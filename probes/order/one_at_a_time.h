// The same routine, asked one question at a time: for a batch whose rows add in different orders,
// so that the first row is measured alone.
#ifndef RHARNESS_PROBES_ORDER_ONE_AT_A_TIME_H_
#define RHARNESS_PROBES_ORDER_ONE_AT_A_TIME_H_

#include <cstdint>
#include <span>

#include "probes/order/reveal.h"

namespace rharness {

class OneAtATime final : public MaskedSum {
 public:
  explicit OneAtATime(MaskedSum& sum) : sum_(sum) {}
  int size() const override { return sum_.size(); }
  std::int64_t exact_count() const override { return sum_.exact_count(); }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    return sum_.Count(pairs, units, counts);
  }

 private:
  MaskedSum& sum_;
};

}  // namespace rharness

#endif  // RHARNESS_PROBES_ORDER_ONE_AT_A_TIME_H_
