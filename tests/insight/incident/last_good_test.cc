// The choice of the run to go back to.
#include "harness/insight/incident/last_good.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rharness {
namespace {

using testing::HasSubstr;

WallTime Day(int day) { return WallTime{} + std::chrono::hours(24 * day); }

HistoryEntry Entry(const std::string& run_id, int day, const std::string& verdict = "identical") {
  HistoryEntry entry;
  entry.run_id = run_id;
  entry.family = "mlp";
  entry.started = Day(day);
  if (!verdict.empty()) entry.last_verdict = ParseVerdict(verdict).value();
  return entry;
}

VerdictRecord Said(const std::string& run_id, const std::string& verdict) {
  return {.drill_id = "d-" + run_id,
          .run_id = run_id,
          .verdict = ParseVerdict(verdict).value(),
          .decided = Day(50),
          .reruns = 1,
          .reasons = {}};
}

FamilyMember Good(const std::string& run_id, int day) {
  return {Entry(run_id, day), Said(run_id, "identical"), {}, {}};
}

FamilyMember Bad(const std::string& run_id, int day) {
  return {Entry(run_id, day, "drifted"), Said(run_id, "identical"), Said(run_id, "drifted"), {}};
}

std::string ChosenOf(const Result<LastGood>& found) {
  if (!found.ok()) return found.error().ToString();
  return found->chosen ? found->members.at(*found->chosen).entry.run_id : "none";
}

std::string WhyNot(const LastGood& found, const std::string& run_id) {
  for (const FamilyMember& one : found.members) {
    if (one.entry.run_id == run_id) return one.why_not;
  }
  return "not there";
}

TEST(LastGood, IsTheNewestThatWasRecordedBeforeAndStillReproduces) {
  const auto found = ChooseLastGood(
      Entry("x", 10),
      {Good("old", 1), Good("newer", 5), Bad("newest", 8), Good("later", 11), Good("x", 10)}, "");
  EXPECT_EQ(ChosenOf(found), "newer");
  EXPECT_EQ(found->members.size(), 4U);  // without the run itself
  EXPECT_EQ(found->members.front().entry.run_id, "later");
  EXPECT_THAT(WhyNot(*found, "newest"), HasSubstr("drill d-newest called it drifted"));
  EXPECT_THAT(WhyNot(*found, "later"), HasSubstr("not recorded before x"));
  EXPECT_THAT(WhyNot(*found, "old"), HasSubstr("an older one"));
  EXPECT_EQ(WhyNot(*found, "newer"), "");
  EXPECT_EQ(NewerGood(*found, Entry("x", 10)), 1U);
  EXPECT_EQ(NearestNewerGood(*found, Day(10))->entry.run_id, "later");
  EXPECT_EQ(NearestNewerGood(*found, Day(12)), nullptr);
}

TEST(LastGood, IsNoneOfRunsThatAreRetiredNeverDrilledOrUndecided) {
  FamilyMember retired = Good("retired", 1);
  retired.entry.retired = "no rights";
  FamilyMember never{Entry("never", 2, ""), {}, {}, {}};
  FamilyMember lost{Entry("lost", 3, "infra"), {}, {}, {}};
  FamilyMember other{Entry("other", 4, "not_comparable"), {}, {}, {}};
  const auto found = ChooseLastGood(Entry("x", 10), {retired, never, lost, other}, "");
  EXPECT_EQ(ChosenOf(found), "none");
  EXPECT_THAT(WhyNot(*found, "retired"), HasSubstr("no rights"));
  EXPECT_THAT(WhyNot(*found, "never"), HasSubstr("no drill has judged it"));
  EXPECT_THAT(WhyNot(*found, "lost"), HasSubstr("infra"));
  EXPECT_THAT(WhyNot(*found, "other"), HasSubstr("the last verdict is not comparable"));
  EXPECT_EQ(ChosenOf(ChooseLastGood(Entry("x", 10), {}, "")), "none");
}

TEST(LastGood, IsTheNamedOneWheneverItWasRecordedIfItIsGood) {
  const std::vector<FamilyMember> members = {Good("old", 1), Bad("bad", 2), Good("later", 11),
                                             Good("x", 10)};
  EXPECT_EQ(ChosenOf(ChooseLastGood(Entry("x", 10), members, "later")), "later");
  EXPECT_THAT(ChosenOf(ChooseLastGood(Entry("x", 10), members, "bad")), HasSubstr("drifted"));
  EXPECT_THAT(ChosenOf(ChooseLastGood(Entry("x", 10), members, "x")), HasSubstr("the run itself"));
  EXPECT_THAT(ChosenOf(ChooseLastGood(Entry("x", 10), members, "other")),
              HasSubstr("no run of the family"));
}

TEST(LastGood, IsTheNextOlderOneWhereItIsPassedOver) {
  auto found = ChooseLastGood(
      Entry("x", 10), {Good("old", 1), Bad("bad", 3), Good("newer", 5), Good("later", 11)}, "");
  ASSERT_TRUE(PassOver("its file is gone", &*found));
  EXPECT_EQ(ChosenOf(found), "old");
  EXPECT_EQ(WhyNot(*found, "newer"), "its file is gone");
  EXPECT_EQ(WhyNot(*found, "old"), "");
  EXPECT_FALSE(PassOver("its file is gone, too", &*found));
  EXPECT_EQ(ChosenOf(found), "old");
  EXPECT_EQ(WhyNot(*found, "old"), "");
}

TEST(LastGood, IsWhatAnIncidentBeganWithWhateverWasSaidOfItSince) {
  auto found = ChooseLastGood(Entry("x", 10), {Good("old", 1), Bad("newer", 5)}, "");
  EXPECT_EQ(ChosenOf(found), "old");
  EXPECT_TRUE(TakeAgain("newer", &*found).ok());
  EXPECT_EQ(ChosenOf(found), "newer");
  EXPECT_FALSE(TakeAgain("other", &*found).ok());
}

TEST(LastGood, IsNotWhatWasRetiredSinceTheIncidentBeganWithIt) {
  FamilyMember retired = Good("newer", 5);
  retired.entry.retired = "backdoored data";
  auto found = ChooseLastGood(Entry("x", 10), {Good("old", 1), retired}, "");
  const Status refused = TakeAgain("newer", &*found);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(refused.error().message, HasSubstr("retired meanwhile: backdoored data"));
  EXPECT_EQ(ChosenOf(found), "old");
}

}  // namespace
}  // namespace rharness
