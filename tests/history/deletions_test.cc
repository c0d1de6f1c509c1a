// A file is about to go only while nobody and nothing of the history keeps it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/history/store_fixture.h"

namespace rharness {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class DeletionSteps : public HistoryTest {
 protected:
  void SetUp() override {
    HistoryTest::SetUp();
    if (IsSkipped()) return;
    store_ = OpenStore();
    for (const char* id : {"a", "b"}) {
      ASSERT_TRUE(store_->Add(MakeManifest(id, kDay1), At(kDay1)).ok());
    }
    ASSERT_TRUE(store_->BeginDeletion({"list", At(kDay1), "Ada", "Bob", "{}"}).ok());
    mark_ = *store_->Mark();
  }
  MayGo About(const std::vector<std::string>& runs = {"a"}) {
    const auto may = store_->AddAboutToGo(
        {{"list", 0, DeletionStep::kAbout, At(kDay2), 7}, "statement", runs, mark_});
    EXPECT_TRUE(may.ok()) << may.error().ToString();
    return may.ok() ? *may : MayGo::kTakenBack;
  }
  std::vector<DeletedItem> Steps() { return *store_->DeletedItems("list"); }

  std::unique_ptr<HistoryStore> store_;
  HistoryMark mark_;
};

TEST_P(DeletionSteps, AreEnteredOnce) {
  EXPECT_EQ(About(), MayGo::kYes);
  EXPECT_EQ(About(), MayGo::kYes);
  EXPECT_THAT(Steps(), SizeIs(1));
  const auto unknown = store_->AddAboutToGo(
      {{"other", 0, DeletionStep::kAbout, At(kDay2), 7}, "statement", {"a"}, mark_});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
}

TEST_P(DeletionSteps, AreNotEnteredOnceTheRequestIsTakenBack) {
  const auto back = [&](const std::string& statement) {
    return store_->AddWithdrawal(
        {"back of " + statement, "key", "withdrawal", statement, "Bob", At(kDay2), "{}"});
  };
  ASSERT_TRUE(back("another statement").ok());
  EXPECT_EQ(About(), MayGo::kYes);
  ASSERT_TRUE(back("statement").ok());
  EXPECT_EQ(About(), MayGo::kTakenBack);
  EXPECT_THAT(Steps(), SizeIs(1));
}

TEST_P(DeletionSteps, AreNotEnteredWhileADrillHasOneOfTheRuns) {
  const Claimant drill{"night", "host", 1, "process", std::chrono::minutes(10)};
  ASSERT_TRUE(store_->TakeClaims(drill, {"b"}, 1).ok());
  EXPECT_EQ(About({"a", "b"}), MayGo::kClaimed);
  EXPECT_THAT(Steps(), IsEmpty());
  EXPECT_EQ(About({"a"}), MayGo::kYes);
  ASSERT_EQ(Raw().Run("UPDATE leases SET until_ms = 1"), "");
  EXPECT_EQ(About({"a", "b"}), MayGo::kYes) << "its lease is over";
}

TEST_P(DeletionSteps, AreNotEnteredOnceThereIsMoreInTheHistory) {
  ASSERT_TRUE(store_->Add(MakeManifest("c", kDay2), At(kDay2)).ok());
  EXPECT_EQ(About(), MayGo::kHistoryGrew);
  mark_ = *store_->Mark();
  ASSERT_TRUE(store_->AddDrill("d", At(kDay2), {}, {MakeVerdict("d", "a", "drifted", kDay2)}).ok());
  EXPECT_EQ(About(), MayGo::kHistoryGrew);
  EXPECT_THAT(Steps(), IsEmpty());
  mark_ = *store_->Mark();
  EXPECT_EQ(About(), MayGo::kYes);
}

INSTANTIATE_TEST_SUITE_P(Both, DeletionSteps, BothDatabases(), DatabaseName);

}  // namespace
}  // namespace rharness
