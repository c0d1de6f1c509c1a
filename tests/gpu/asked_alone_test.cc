// A batch whose rows add in different orders is asked again one row at a time.
#include "probes/gpu/asked_alone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "probes/gpu/reduce_tree.h"
#include "probes/order/tree_name.h"

namespace rharness {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// Row 0 adds in order; the others backwards when `mixed`; every other launch backwards when
// `varies`.
class Rows final : public MaskedSum {
 public:
  Rows(bool mixed, bool varies) : mixed_(mixed), varies_(varies) {}
  int size() const override { return 24; }
  int max_batch() const override { return 8; }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    ++launches_;
    for (std::size_t row = 0; row < pairs.size(); ++row) {
      std::vector<float> terms(24, 0.0F);
      std::fill(terms.begin() + units.begin, terms.begin() + units.end, 1.0F);
      terms[static_cast<std::size_t>(pairs[row].plus)] = std::ldexp(1.0F, 100);
      terms[static_cast<std::size_t>(pairs[row].minus)] = -std::ldexp(1.0F, 100);
      const bool backwards = (mixed_ && row > 0) || (varies_ && launches_ % 2 == 0);
      if (backwards) std::reverse(terms.begin(), terms.end());
      float sum = 0.0F;
      for (const float term : terms) sum += term;
      counts[row] = static_cast<double>(sum);
    }
    return {};
  }

 private:
  bool mixed_, varies_;
  int launches_ = 0;
};

ProbeResult Record(Rows rows) {
  ProbeResult result;
  const Status done = RecordTreeOfRows({.repeats = 3}, "rows", rows, &result);
  EXPECT_TRUE(done.ok());
  return result;
}

TEST(RecordTreeOfRows, TakesABatchWhoseRowsAgree) {
  const ProbeResult result = Record(Rows(false, false));
  ASSERT_TRUE(result.trees.contains("rows"));
  EXPECT_EQ(result.trees.at("rows"), *SerialTree(24));
  EXPECT_TRUE(result.notes.empty());
}

TEST(RecordTreeOfRows, GivesTheFirstRowsTreeWhereRowsDiffer) {
  const ProbeResult result = Record(Rows(true, false));
  ASSERT_TRUE(result.trees.contains("rows")) << ::testing::PrintToString(result.notes);
  EXPECT_EQ(result.trees.at("rows"), *SerialTree(24));
  EXPECT_THAT(result.notes, Contains(HasSubstr("the tree is the first row's: rows: ")));
  EXPECT_TRUE(result.unstable.empty());
}

TEST(RecordTreeOfRows, GivesNoTreeWhereTheOrderVaries) {
  const ProbeResult result = Record(Rows(false, true));
  EXPECT_TRUE(result.trees.empty());
  EXPECT_EQ(result.unstable, std::vector<std::string>{"rows"});
}

}  // namespace
}  // namespace rharness
