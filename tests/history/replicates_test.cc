// Envelopes in the history: kept once, found by configuration, and noticed where they were changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/history/store_fixture.h"

namespace rharness {
namespace {

class ReplicatesTest : public HistoryTest {
 protected:
  void SetUp() override {
    HistoryTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_TRUE(OpenStore()->Add(MakeManifest("a", kDay1), At(kDay1)).ok());
  }
  static ReplicateRecord Of(const std::string& stack, int replicate, const std::string& body) {
    return {"c", stack, "a", replicate, At(kDay2), "evidence", body};
  }
};

TEST_P(ReplicatesTest, AreFoundByConfigurationInTheirOrder) {
  const auto store = OpenStore();
  ASSERT_TRUE(
      store->AddReplicates({Of("t", 0, "{}"), Of("s", 1, "{\"x\": 1}"), Of("s", 0, "{}")}).ok());
  const auto found = store->Replicates("c").value();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].stack + std::to_string(found[0].replicate), "s0");
  EXPECT_EQ(found[1].body, "{\"x\": 1}");
  EXPECT_EQ(found[1].made, At(kDay2));
  EXPECT_EQ(found[1].evidence_sha256, "evidence");
  EXPECT_EQ(found[2].stack, "t");
  EXPECT_TRUE(store->Replicates("other")->empty());
}

TEST_P(ReplicatesTest, StayAsTheyWereFirstEntered) {
  const auto store = OpenStore();
  ASSERT_TRUE(store->AddReplicates({Of("s", 1, "first")}).ok());
  ASSERT_TRUE(store->AddReplicates({Of("s", 1, "second"), Of("s", 2, "third")}).ok());
  const auto found = store->Replicates("c").value();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].body, "first");
  EXPECT_EQ(found[1].body, "third");
}

TEST_P(ReplicatesTest, OfARunThatIsNotThereAreRefusedAndNoneIsEntered) {
  const auto store = OpenStore();
  ReplicateRecord stranger = Of("s", 2, "{}");
  stranger.run_id = "nobody";
  const Status status = store->AddReplicates({Of("s", 1, "{}"), stranger});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(store->Replicates("c")->empty());
}

TEST_P(ReplicatesTest, ThatWereChangedByForceAreNoticed) {
  ASSERT_TRUE(OpenStore()->AddReplicates({Of("s", 1, "{}")}).ok());
  ASSERT_EQ(Raw().RunPastTriggers("UPDATE replicates SET body = '[]'"), "");
  const auto found = OpenStore()->Replicates("c");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kIntegrity);
  EXPECT_THAT(found.error().ToString(), testing::HasSubstr("replicate 1 was changed"));
}

INSTANTIATE_TEST_SUITE_P(Both, ReplicatesTest, BothDatabases(), DatabaseName);

}  // namespace
}  // namespace rharness
