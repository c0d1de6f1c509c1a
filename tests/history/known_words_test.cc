// Words that a newer version may have written into a history.
#include "harness/history/known_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/history/browser.h"
#include "harness/history/untouched.h"
#include "tests/history/store_fixture.h"

namespace rharness {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class KnownWordsTest : public HistoryTest {
 protected:
  void SetUp() override {
    HistoryTest::SetUp();
    if (IsSkipped()) return;
    const auto store = OpenStore();
    ASSERT_TRUE(store->Add(MakeManifest("a", kDay1), At(kDay1)).ok());
    ASSERT_TRUE(
        store->AddDrill("d1", At(kDay2), {}, {MakeVerdict("d1", "a", "identical", kDay2)}).ok());
    ASSERT_TRUE(store->AddDrill("d2", At(kDay3), {}, {}).ok());
  }
  void Insert(const std::string& statement) const { ASSERT_EQ(Raw().Run(statement), ""); }
  // What every way of opening it says: the same.
  void ExpectRefused(const std::string& words) const {
    const auto store = TryOpen();
    ASSERT_FALSE(store.ok());
    EXPECT_EQ(store.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(store.error().message, AllOf(HasSubstr(words), HasSubstr("a newer rharness")));
    const auto browser = HistoryBrowser::Open(Url());
    ASSERT_FALSE(browser.ok());
    EXPECT_EQ(browser.error().message, store.error().message);
    const auto untouched = OpenUntouchedHistory(Url());
    ASSERT_FALSE(untouched.ok());
    EXPECT_EQ(untouched.error().message, store.error().message);
  }
};

TEST_P(KnownWordsTest, OfAVerdictAreSaidByEveryWayOfOpeningAHistory) {
  Insert("INSERT INTO verdicts VALUES ('d2', 'a', 'reproduced', 5, 1, '[]')");
  ExpectRefused(
      "run 'a' has the verdict 'reproduced', a word that this version does not know (it knows "
      "identical, equivalent, ");
}

TEST_P(KnownWordsTest, AreHeldToTheirCase) {
  Insert("INSERT INTO verdicts VALUES ('d2', 'a', 'Identical', 5, 1, '[]')");
  ExpectRefused("run 'a' has the verdict 'Identical', ");
}

TEST_P(KnownWordsTest, AreNotEmptyAsThatOfARunThatWasNeverDrilled) {
  Insert("INSERT INTO verdicts VALUES ('d2', 'a', '', 5, 1, '[]')");
  ExpectRefused("run 'a' has the verdict '', ");
}

TEST_P(KnownWordsTest, OfOtherColumnsAreHeldToTheirOwnLists) {
  Insert("INSERT INTO property_verdicts VALUES ('d1', 'a', 'repeated', 'held_loosely', 5, '', 1)");
  ExpectRefused("run 'a' has the state of a property 'held_loosely'");
}

TEST_P(KnownWordsTest, OfAnAnswerOfRebuildAreHeldToThoseOfRebuild) {
  Insert("INSERT INTO rebuild_answers VALUES ('a', 5, 'identical', '[]')");
  ExpectRefused("run 'a' has the answer of rebuild 'identical'");
}

TEST_P(KnownWordsTest, OfAFamilyNameTheFamily) {
  Insert(
      "INSERT INTO family_verdicts (drill_id, family, configuration, name, verdict, decided_ms, "
      "runs, reasons) VALUES ('d1', 'mlp', 'c', 'mlp', 'settled', 5, 2, '[]')");
  ExpectRefused("family 'mlp' has the verdict 'settled'");
}

TEST_P(KnownWordsTest, ThatComeWhileItIsOpenAreNoDefectOfThisProgram) {
  const auto store = OpenStore();
  Insert("INSERT INTO verdicts VALUES ('d2', 'a', 'reproduced', 5, 1, '[]')");
  const auto verdicts = store->Verdicts("a");
  ASSERT_FALSE(verdicts.ok());
  EXPECT_EQ(verdicts.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(verdicts.error().message, HasSubstr("run 'a' has the verdict 'reproduced', "));
  const auto entry = store->Find("a");
  ASSERT_FALSE(entry.ok());
  EXPECT_EQ(entry.error().message, verdicts.error().message);
}

TEST_P(KnownWordsTest, ThatComeWhileItIsBrowsedAreSeenWhenAskedFor) {
  const auto browser = HistoryBrowser::Open(Url());
  ASSERT_TRUE(browser.ok()) << browser.error().ToString();
  EXPECT_TRUE((*browser)->CheckWords().ok());
  Insert("INSERT INTO verdicts VALUES ('d2', 'a', 'reproduced', 5, 1, '[]')");
  const Status words = (*browser)->CheckWords();
  ASSERT_FALSE(words.ok());
  EXPECT_THAT(words.error().message, HasSubstr("run 'a' has the verdict 'reproduced'"));
  const auto counted = (*browser)->store().TallyVerdicts(WallTime{}, At(kDay3));
  ASSERT_FALSE(counted.ok());
  EXPECT_EQ(counted.error().message, words.error().message);
}

INSTANTIATE_TEST_SUITE_P(Histories, KnownWordsTest, BothDatabases(), DatabaseName);

// However many rows it has: only the index of other words is read.
TEST(KnownWordsQuery, ReadsAnIndexThatIsEmpty) {
  const ScopedTempDir folder = std::move(ScopedTempDir::Make()).value();
  const std::filesystem::path path = folder.path() / "history.db";
  OpenStoreAt(path).reset();
  RawDatabase raw(path);
  for (const KnownWords& known : kKnownWords) {
    const auto plan = raw.Rows("EXPLAIN QUERY PLAN " + UnknownWordQuery(known));
    ASSERT_EQ(plan.size(), 1U) << UnknownWordQuery(known);
    EXPECT_THAT(plan[0], HasSubstr(std::string(known.table) + "_unknown"));
  }
}

}  // namespace
}  // namespace rharness
