// Traces of which a part is missing: what cannot be told is no cause.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/compare/traces/training.h"

namespace rharness {
namespace {

using testing::HasSubstr;

// What is missing may have stood in a line that could not be read.
TEST(DamagedTrace, IsNoStructure) {
  const Trace a = Training({0, 1});
  Trace b = a;
  std::erase_if(b.records, [](const TraceRecord& record) { return record.name == "norm"; });
  b.bad_lines = 2;
  EXPECT_NE(Between(a, b).end, "parts");
  EXPECT_NE(Between(b, a).end, "parts");
  Trace planted = PlantedAt(a, 1, TraceKind::kOutput, "fc2");
  EXPECT_FALSE(Between(a, planted).damaged);
  planted.bad_lines = 1;
  EXPECT_TRUE(Between(a, planted).damaged);
  EXPECT_THAT(Between(a, planted).headline, HasSubstr("as far as the traces can be read"));
  Trace bare = a;
  for (TraceRecord& record : bare.records) {
    record.digest.clear();
    record.value.clear();
  }
  std::erase_if(bare.records,
                [](const TraceRecord& one) { return one.kind == TraceKind::kSetting; });
  EXPECT_EQ(Between(bare, bare).end, "nothing_compared");
  EXPECT_THAT(Between(bare, bare).headline, HasSubstr("no record of the traces has a digest"));
  Trace twice = a;
  twice.records.insert(twice.records.end(), a.records.end() - 20, a.records.end());
  EXPECT_NE(Between(a, twice).end, "parts");
  EXPECT_NE(Between(twice, a).end, "parts");
  Trace fewer = Training({0, 1, 3});
  EXPECT_THAT(Between(Training({0, 1, 2, 3}), fewer).notes,
              testing::Contains(HasSubstr("1 is in A alone: 2")));
}

TEST(DamagedTrace, ThatIsCutOffIsNoStructure) {
  const Trace a = Training({0, 1});
  Trace b = a;
  b.ended = false;
  b.records.resize(b.records.size() - 12);
  const Onset onset = Between(a, b);
  EXPECT_EQ(onset.end, "equal") << onset.headline;
  EXPECT_THAT(onset.notes, testing::Contains(HasSubstr("has no end")));
  b.ended = true;  // it says that this is all
  EXPECT_EQ(Between(a, b).what, "structure");
}

}  // namespace
}  // namespace rharness
