// Verdicts counted by week, once each, whatever comes later.
#include "harness/insight/serve/weeks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "harness/insight/serve/counts.h"
#include "harness/insight/trends/trends.h"
#include "tests/history/raw_history.h"
#include "tests/insight/serve/serve_world.h"

namespace rharness {
namespace {

class Weeks : public ServeWorld {
 protected:
  void SetUp() override {
    AddRun("a", kDay1, "one");
    AddRun("b", kDay1, "two");
    browser_ = *HistoryBrowser::Open(Path().string());
  }
  bool Count(std::int64_t drills = 100, WallTime oldest = {}) {
    const auto any = CountNewVerdicts(browser_.get(), oldest, drills, &totals_);
    EXPECT_TRUE(any.ok()) << any.error().ToString();
    return any.ok() && *any;
  }
  std::int64_t At(const std::string& monday, Verdict verdict) {
    return totals_.all[rharness::At(monday + "T00:00:00Z")][static_cast<std::size_t>(verdict)];
  }

  std::unique_ptr<HistoryBrowser> browser_;
  WeekTotals totals_;
};

TEST_F(Weeks, BeginOnMondays) {
  AddVerdict("d1", "a", "identical", "2026-01-11T23:59:59.999Z");  // a Sunday
  AddVerdict("d2", "a", "identical", "2026-01-12T00:00:00Z");
  EXPECT_TRUE(Count());
  EXPECT_EQ(At("2026-01-05", Verdict::kIdentical), 1);
  EXPECT_EQ(At("2026-01-12", Verdict::kIdentical), 1);
}

TEST_F(Weeks, CountEachDrillOnce) {
  EXPECT_FALSE(Count());
  for (int i = 0; i < 7; ++i) {
    AddVerdict("d" + std::to_string(i), "a", "drifted", "2026-01-13T00:00:00Z");
  }
  EXPECT_TRUE(Count(3));
  EXPECT_EQ(At("2026-01-12", Verdict::kDrifted), 3);
  EXPECT_TRUE(Count(3));
  EXPECT_TRUE(Count(3));
  EXPECT_FALSE(Count(3));
  EXPECT_EQ(At("2026-01-12", Verdict::kDrifted), 7);
  AddVerdict("later", "b", "identical", "2026-01-13T00:00:00Z");
  EXPECT_TRUE(Count());
  EXPECT_EQ(At("2026-01-12", Verdict::kDrifted), 7);
  EXPECT_EQ(At("2026-01-12", Verdict::kIdentical), 1);
  EXPECT_EQ(totals_.families.size(), 2U);
}

TEST_F(Weeks, TakeBackWhatWasSuperseded) {
  AddVerdict("d", "a", "infra", "2026-01-13T00:00:00Z");
  EXPECT_TRUE(Count());
  AddVerdict("d", "a", "identical", "2026-01-14T00:00:00Z");  // resumed: entered as d.2
  EXPECT_TRUE(Count());
  EXPECT_EQ(At("2026-01-12", Verdict::kInfra), 0);
  EXPECT_EQ(At("2026-01-12", Verdict::kIdentical), 1);
}

TEST_F(Weeks, LeaveOutWhatIsTooOld) {
  AddVerdict("d1", "a", "identical", "2025-12-01T00:00:00Z");
  AddVerdict("d2", "a", "identical", "2026-01-13T00:00:00Z");
  EXPECT_TRUE(Count(100, rharness::At("2026-01-05T00:00:00Z")));
  EXPECT_EQ(totals_.all.size(), 1U);
  EXPECT_EQ(totals_.families["one"].judged, rharness::At("2026-01-13T00:00:00Z"));
}

// Trends that cannot be measured, here of an environment that is gone, are not tried again at once,
// and weeks are counted on.
TEST_F(Weeks, AreCountedOnWhileTrendsCannotBeMeasured) {
  const auto drill = [&](const std::string& id) {
    const RerunRecord rerun{
        .drill_id = id,
        .run_id = "a",
        .rerun = 1,
        .outcome = "exited with 0",
        .wall_seconds = 1.0,
        .evidence_sha256 = "e",
        .surroundings = [id] {
          return id == "d1" ? Surroundings{{"environment.hardware", "{}"}} : Surroundings();
        }};
    const WallTime day = rharness::At(kDay1);
    const Status added = store_->AddDrill(DrillRecord{id, day, day, 0}, {rerun},
                                          {MakeVerdict(id, "a", "identical", kDay1)});
    ASSERT_TRUE(added.ok()) << added.error().ToString();
  };
  drill("d1");
  ASSERT_EQ(RawDatabase(Path()).RunPastTriggers("DELETE FROM surroundings"), "");
  const auto trends =
      MeasureTrends(store_.get(), {.weeks = 52, .gone = {}}, rharness::At("2026-01-20T12:00:00Z"));
  ASSERT_FALSE(trends.ok());
  EXPECT_EQ(trends.error().code, ErrorCode::kIntegrity) << trends.error().ToString();
  SiteCounter counter(Path().string(), {},
                      {.every = std::chrono::milliseconds(1), .trends = std::chrono::hours(1)});
  const auto await = [&](const std::function<bool(const SiteCounted&)>& so) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!so(*counter.Current())) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      std::this_thread::yield();
    }
  };
  await([](const SiteCounted& now) { return now.trends_failed.has_value(); });
  EXPECT_EQ(counter.Current()->trends, nullptr);
  // That the next drill is counted shows that the round before it, with its attempt, has ended.
  for (int i = 2; i <= 4; ++i) {
    drill("d" + std::to_string(i));
    await([&](const SiteCounted& now) { return now.weeks.sequence == i; });
  }
  EXPECT_EQ(counter.Current()->measurements, 1);
}

}  // namespace
}  // namespace rharness
