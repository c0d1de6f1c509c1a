// Verdicts counted by week, once each, whatever comes later.
#include "harness/serve/weeks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/serve_world.h"

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

}  // namespace
}  // namespace rharness
