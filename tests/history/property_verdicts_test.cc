// Verdicts on properties in the history: in the order in which they were entered, and never
// changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/history/store_fixture.h"

namespace rharness {
namespace {

class PropertyVerdicts : public HistoryTest {
 protected:
  void SetUp() override {
    HistoryTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_TRUE(OpenStore()->Add(MakeManifest("a", kDay1), At(kDay1)).ok());
  }
  static PropertyRecord Of(const std::string& drill, const std::string& state) {
    return {.drill_id = drill,
            .run_id = "a",
            .property = "resumed@4",
            .state = *ParsePropertyState(state),
            .decided = At(kDay2),
            .reason = "because"};
  }
};

TEST_P(PropertyVerdicts, ComeInTheOrderInWhichTheyWereEntered) {
  const auto store = OpenStore();
  EXPECT_TRUE(store->PropertyVerdicts("a")->empty());
  ASSERT_TRUE(store->AddPropertyVerdicts({Of("z", "held")}).ok());
  ASSERT_TRUE(store->AddPropertyVerdicts({Of("b", "lost")}).ok());
  const auto found = store->PropertyVerdicts("a").value();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].drill_id, "z");
  EXPECT_EQ(found[0].state, PropertyState::kHeld);
  EXPECT_EQ(found[0].property, "resumed@4");
  EXPECT_EQ(found[0].decided, At(kDay2));
  EXPECT_EQ(found[0].reason, "because");
  EXPECT_EQ(found[1].drill_id, "b");
  EXPECT_LT(found[0].sequence, found[1].sequence);
}

TEST_P(PropertyVerdicts, StayAsTheyWereFirstEntered) {
  const auto store = OpenStore();
  ASSERT_TRUE(store->AddPropertyVerdicts({Of("b", "held")}).ok());
  ASSERT_TRUE(store->AddPropertyVerdicts({Of("b", "lost"), Of("c", "lost")}).ok());
  const auto found = store->PropertyVerdicts("a").value();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].state, PropertyState::kHeld);
  EXPECT_NE(Raw().Run("UPDATE property_verdicts SET state = 'held'").find("append-only"),
            std::string::npos);
  EXPECT_NE(Raw().Run("DELETE FROM property_verdicts").find("append-only"), std::string::npos);
}

TEST_P(PropertyVerdicts, OfARunThatIsNotThereAreRefusedAndNoneIsEntered) {
  const auto store = OpenStore();
  PropertyRecord stranger = Of("b", "held");
  stranger.run_id = "nobody";
  const Status status = store->AddPropertyVerdicts({Of("b", "held"), stranger});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(store->PropertyVerdicts("a")->empty());
}

INSTANTIATE_TEST_SUITE_P(Both, PropertyVerdicts, BothDatabases(), DatabaseName);

}  // namespace
}  // namespace rharness
