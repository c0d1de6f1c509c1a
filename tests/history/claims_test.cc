// Two drills never have the same run at the same time, and what a drill that died left is free
// again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <set>
#include <thread>

#include "tests/history/store_fixture.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ClaimsTest : public HistoryTest {
 protected:
  void SetUp() override {
    HistoryTest::SetUp();
    if (IsSkipped()) return;
    store_ = OpenStore();
    for (const char* id : {"a", "b", "c", "d"}) {
      ASSERT_TRUE(store_->Add(MakeManifest(id, kDay1), At(kDay1)).ok());
    }
  }
  static Claimant Who(const std::string& drill_id) {
    return {drill_id, "host-of-" + drill_id, 42, "process-of-" + drill_id,
            std::chrono::minutes(10)};
  }
  ClaimOutcome Take(const std::string& drill_id, const std::vector<std::string>& run_ids,
                    std::size_t most = 99) {
    const auto outcome = store_->TakeClaims(Who(drill_id), run_ids, most);
    EXPECT_TRUE(outcome.ok()) << outcome.error().ToString();
    return outcome.ok() ? *outcome : ClaimOutcome();
  }
  static std::vector<std::string> Told(const std::vector<Claim>& claims) {
    std::vector<std::string> told;
    for (const Claim& claim : claims) told.push_back(claim.run_id + " " + claim.drill_id);
    return told;
  }
  // As time does, of one drill.
  void EndLease(const std::string& drill_id) {
    ASSERT_EQ(Raw().Run("UPDATE leases SET until_ms = 1 WHERE drill_id = '" + drill_id + "'"), "");
  }

  std::unique_ptr<HistoryStore> store_;
};

TEST_P(ClaimsTest, AreOneDrillsUntilItGivesThemBack) {
  const ClaimOutcome first = Take("d1", {"b", "a"});
  EXPECT_THAT(first.taken, ElementsAre("b", "a"));
  EXPECT_THAT(first.held, IsEmpty());
  const ClaimOutcome second = Take("d2", {"a", "c", "nobody"});
  EXPECT_THAT(second.taken, ElementsAre("c"));
  ASSERT_THAT(Told(second.held), ElementsAre("a d1"));
  const Claim& claim = second.held.front();
  EXPECT_EQ(claim.host, "host-of-d1");
  EXPECT_EQ(claim.pid, 42);
  EXPECT_EQ(claim.until - claim.since, std::chrono::minutes(10));
  EXPECT_LT(std::chrono::abs(claim.since - SystemClock().Now()), std::chrono::minutes(5));
  ASSERT_TRUE(store_->ReleaseClaims("d1", "process-of-d1").ok());
  EXPECT_THAT(Take("d2", {"a", "c"}).taken, ElementsAre("a", "c"));
  EXPECT_THAT(Told(*store_->Claims()), ElementsAre("a d2", "c d2"));
}

TEST_P(ClaimsTest, OfADrillThatAnotherProcessWentOnWithAreNotGivenBackByTheFirst) {
  Take("d1", {"a"});
  Claimant later = Who("d1");
  later.process = "another";
  ASSERT_TRUE(store_->TakeClaims(later, {"a"}, 1).ok());
  ASSERT_TRUE(store_->ReleaseClaims("d1", "process-of-d1").ok());
  EXPECT_THAT(Told(*store_->Claims()), ElementsAre("a d1"));
}

TEST_P(ClaimsTest, AreAsManyAsWereAskedForPastThoseOfOthers) {
  Take("d1", {"a", "c"});
  EXPECT_THAT(Take("d2", {"a", "b", "c", "d"}, 1).taken, ElementsAre("b"));
  EXPECT_THAT(Take("d2", {"a", "b", "c", "d"}, 1).taken, ElementsAre("b")) << "has its one";
  EXPECT_THAT(Take("d2", {"a", "b", "c", "d"}, 2).taken, ElementsAre("b", "d"));
  EXPECT_THAT(Take("d3", {"a", "b", "c", "d"}).taken, IsEmpty());
}

TEST_P(ClaimsTest, OfADrillThatDiedAreFreeOnceItsLeaseIsOver) {
  Take("d1", {"a", "b"});
  EndLease("d1");
  EXPECT_THAT(*store_->Claims(), IsEmpty());
  EXPECT_THAT(Take("d2", {"a"}).taken, ElementsAre("a"));
  const auto late = store_->RenewClaims(Who("d1"), {"a", "b"}).value();
  EXPECT_THAT(late.taken, ElementsAre("b")) << "nobody took it";
  EXPECT_THAT(Told(late.held), ElementsAre("a d2"));
}

TEST_P(ClaimsTest, AreKeptByADrillThatRenewsThemInTimeOrLateButFirst) {
  Take("d1", {"a", "b"});
  EXPECT_THAT(store_->RenewClaims(Who("d1"), {"a", "b"})->taken, ElementsAre("a", "b"));
  EndLease("d1");
  EXPECT_THAT(store_->RenewClaims(Who("d1"), {"a", "b"})->taken, ElementsAre("a", "b"));
  EXPECT_THAT(Told(Take("d2", {"a", "b"}).held), ElementsAre("a d1", "b d1"));
}

TEST_P(ClaimsTest, ChangeNoVerdictAndStandInNobodysWay) {
  Take("d1", {"a"});
  ASSERT_TRUE(
      OpenStore()->AddDrill("d2", At(kDay1), {}, {MakeVerdict("d2", "a", "drifted", kDay1)}).ok());
  EXPECT_EQ(store_->Find("a")->last_verdict, Verdict::kDrifted);
  ASSERT_TRUE(store_->Retire("b", "why", At(kDay1)).ok());
}

// Eight processes at once take three of forty runs each, again and again, until none is left.
TEST_P(ClaimsTest, OfManyDrillsAtOnceShareTheRunsOut) {
  constexpr int kRuns = 40, kDrills = 8;
  std::vector<std::string> run_ids;
  for (int i = 0; i < kRuns; ++i) {
    run_ids.push_back("run-" + std::to_string(100 + i));
    ASSERT_TRUE(store_->Add(MakeManifest(run_ids.back(), kDay1), At(kDay1)).ok());
  }
  store_.reset();
  std::vector<pid_t> children;
  for (int drill = 0; drill < kDrills; ++drill) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto store = HistoryStore::Open(Url());
      if (!store.ok()) ::_exit(1);
      for (std::size_t most = 3;; most += 3) {
        const auto outcome = (*store)->TakeClaims(Who("d" + std::to_string(drill)), run_ids, most);
        if (!outcome.ok()) {
          ::dprintf(STDERR_FILENO, "%s\n", outcome.error().ToString().c_str());
          ::_exit(1);
        }
        if (outcome->taken.size() < most) ::_exit(0);
      }
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  std::map<std::string, std::set<std::string>> by_drill;
  std::set<std::string> claimed;
  const auto claims = OpenStore()->Claims().value();
  for (const Claim& claim : claims) {
    claimed.insert(claim.run_id);
    by_drill[claim.drill_id].insert(claim.run_id);
  }
  EXPECT_EQ(claimed, std::set<std::string>(run_ids.begin(), run_ids.end()));
}

TEST_P(ClaimsTest, AreNeverTwoOfOneRunWhateverSomebodyWrites) {
  Take("d1", {"a"});
  Take("d2", {"b"});
  EXPECT_NE(Raw().Run("INSERT INTO claims (run_id, drill_id) VALUES ('a', 'd2')"), "");
}

INSTANTIATE_TEST_SUITE_P(Both, ClaimsTest, BothDatabases(), DatabaseName);

}  // namespace
}  // namespace rharness
