// Trends of a history with planted changes.
#include "harness/trends/trends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/trends/coincidences.h"
#include "tests/manifest/example.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const WallTime kNow = ParseTime("2026-03-04T12:00:00.000Z").value();  // a Wednesday

WallTime WeeksAgo(int weeks) { return kNow - std::chrono::hours(weeks * 7 * 24); }

// One GPU of this model and driver, in this image, with numpy.
Surroundings Environment(const std::string& gpu, const std::string& driver,
                         const std::string& image, const std::string& numpy) {
  return {{"environment.hardware", R"({"cpu": {"architecture": "x86_64", "model": "EPYC"}, "gpus":
           [{"model": ")" + gpu + R"("}], "gpu_driver": ")" +
                                       driver + R"("})"},
          {"environment.software", R"({"os": "Debian 12", "kernel": "6.1"})"},
          {"environment.packages",
           R"({"python": {"used": {"numpy": ")" + numpy + R"(", "torch": "2.4.0"}}})"},
          {"image_digest", "\"" + image + "\""}};
}

class Trends : public testing::Test {
 protected:
  Trends() { history_ = std::move(*HistoryStore::Open((folder_.path() / "runs.db").string())); }
  void AddRuns(const std::string& family, int runs) {
    for (int i = 0; i < runs; ++i) {
      Manifest run = *ParseManifestText(kExampleManifest);
      run.run_id = family + "-" + std::to_string(i);
      run.family = family;
      run.started = WeeksAgo(60);
      ASSERT_TRUE(history_->Add(run, WeeksAgo(60)).ok());
    }
  }
  // Of the first runs of the family one verdict each, all in one environment.
  void AddDrill(const std::string& family, int weeks_ago, int good, int bad,
                const Surroundings& environment, const std::string& node = "n1") {
    const std::string drill = "drill-" + std::to_string(++drills_);
    std::vector<RerunRecord> reruns;
    std::vector<VerdictRecord> verdicts;
    for (int i = 0; i < good + bad; ++i) {
      const std::string run = family + "-" + std::to_string(i);
      reruns.push_back(
          {drill, run, 1, "exited with 0", 11.0, "e", [environment] { return environment; }});
      verdicts.push_back(
          {drill, run, i < good ? "identical" : "drifted", WeeksAgo(weeks_ago), 1, "[]"});
      verdicts.back().measures = VerdictMeasures{.node = node};
    }
    const auto added = history_->AddDrill(drill, WeeksAgo(weeks_ago), reruns, verdicts);
    ASSERT_TRUE(added.ok()) << added.error().ToString();
  }
  TrendsReport Measure(const std::vector<std::string>& gone = {}, int weeks = 52) {
    TrendsAsked asked{.weeks = weeks, .gone = {}};
    for (const std::string& text : gone) asked.gone.push_back(Gone::Parse(text).value());
    auto report = MeasureTrends(history_.get(), asked, kNow);
    EXPECT_TRUE(report.ok()) << report.error().ToString();
    return report.ok() ? *report : TrendsReport();
  }
  static const TrendSeries& Find(const TrendsReport& report, const std::string& by,
                                 const std::string& value) {
    for (const TrendSeries& one : report.series) {
      if (one.by == by && one.value == value) return one;
    }
    ADD_FAILURE() << "no series of " << by << " " << value;
    return report.series.front();
  }

  ScopedTempDir folder_ = std::move(ScopedTempDir::Make()).value();
  std::unique_ptr<HistoryStore> history_;
  int drills_ = 0;
};

const Surroundings kOld = Environment("H100", "550.54", "sha256:aa", "1.26.0");
const Surroundings kNew = Environment("H100", "560.28", "sha256:aa", "2.0.1");

TEST_F(Trends, SayACommandThatAShellTakesAsItIsMeant) {
  for (int i = 0; i < 20; ++i) {
    Manifest run = *ParseManifestText(kExampleManifest);
    run.run_id = "odd-" + std::to_string(i);
    run.family = "x'; touch pwn; '";
    run.started = WeeksAgo(60);
    ASSERT_TRUE(history_->Add(run, WeeksAgo(60)).ok());
  }
  for (int week = 12; week > 5; --week) AddDrill("odd", week, 20, 0, kOld);
  for (int week = 5; week > 0; --week) AddDrill("odd", week, 5, 15, kNew);
  EXPECT_THAT(Measure().next,
              HasSubstr(R"(rharness history show 'x'\''; touch pwn; '\''': which runs broke)"));
}

TEST_F(Trends, NameTheUpgradeThatCoincidesWithAChange) {
  AddRuns("mlp", 20);
  AddRuns("cnn", 20);
  for (int week = 12; week > 5; --week) AddDrill("mlp", week, 20, 0, kOld);
  for (int week = 5; week > 0; --week) AddDrill("mlp", week, 10, 10, kNew);
  for (int week = 12; week > 0; --week) AddDrill("cnn", week, 19, 1, week > 5 ? kOld : kNew);
  const TrendsReport report = Measure();
  const TrendSeries& mlp = Find(report, "family", "mlp");
  ASSERT_THAT(mlp.changes, SizeIs(1));
  const TrendChange& change = mlp.changes.front();
  EXPECT_EQ(FormatTime(change.week), "2026-01-26T00:00:00.000Z");
  EXPECT_DOUBLE_EQ(change.before, 1.0);
  EXPECT_DOUBLE_EQ(change.after, 0.5);
  ASSERT_THAT(change.coincidences, SizeIs(2));
  EXPECT_EQ(change.coincidences[0].what, "driver");
  EXPECT_EQ(change.coincidences[0].before, "550.54");
  EXPECT_EQ(change.coincidences[0].after, "560.28");
  EXPECT_EQ(change.coincidences[0].before_runs, 0);
  EXPECT_EQ(change.coincidences[0].before_all, 140);
  EXPECT_EQ(change.coincidences[0].after_runs, 100);
  EXPECT_EQ(change.coincidences[0].after_all, 100);
  EXPECT_EQ(change.coincidences[1].what, "packages");
  EXPECT_EQ(change.coincidences[1].detail, "python numpy 1.26.0 -> 2.0.1");
  EXPECT_THAT(Find(report, "family", "cnn").changes, IsEmpty()) << "the same upgrade, unharmed";
  EXPECT_EQ(report.headline,
            "72.5 % of 40 runs reproduced in 52 weeks (57.17 to 83.89 %). The rate of 1 of 2 "
            "families changed: mlp.");
  EXPECT_EQ(report.exit_code, 0);
}

TEST_F(Trends, CountARunOnceAWeekAndOnceInAll) {
  AddRuns("mlp", 10);
  AddDrill("mlp", 3, 0, 10, kOld);
  AddDrill("mlp", 3, 9, 1, kOld);
  AddDrill("mlp", 1, 8, 2, kNew);
  const TrendsReport report = Measure();
  const TrendSeries& all = report.series.front();
  EXPECT_EQ(all.by, "all");
  ASSERT_THAT(all.weeks, SizeIs(2));
  EXPECT_EQ(all.weeks[0].counts.good, 9);
  EXPECT_EQ(all.weeks[0].counts.bad, 1);
  EXPECT_EQ(FormatTime(all.weeks[0].start), "2026-02-09T00:00:00.000Z");
  EXPECT_EQ(all.counts.good, 8);
  EXPECT_EQ(all.counts.bad, 2);
  // Wilson 1927 of 8 of 10 at 95 %.
  EXPECT_NEAR(all.counts.low, 0.4901, 1e-4);
  EXPECT_NEAR(all.counts.high, 0.9433, 1e-4);
  EXPECT_EQ(Find(report, "driver", "560.28").counts.good, 8);
  EXPECT_THAT(Find(report, "driver", "550.54").weeks, SizeIs(1));
  EXPECT_EQ(report.verdicts, 30);
  EXPECT_THAT(Measure({}, 2).series.front().weeks, SizeIs(1)) << "no more than was asked for";
}

// Started 60 weeks ago; a run that came back has not ended.
TEST_F(Trends, FollowRunsToTheirLastGoodVerdict) {
  AddRuns("mlp", 4);
  AddDrill("mlp", 50, 3, 1, kOld);  // the last one ends after 10 weeks
  AddDrill("mlp", 40, 2, 0, kOld);
  AddDrill("mlp", 30, 1, 1, kOld);  // mlp-1 ends after 30
  AddDrill("mlp", 20, 0, 1, kOld);  // mlp-0 was bad
  AddDrill("mlp", 10, 1, 0, kOld);  // and came back
  const TrendSurvival all = Measure().survival.front();
  EXPECT_EQ(all.runs, 4);
  EXPECT_EQ(all.ended, 2);
  ASSERT_THAT(all.steps, SizeIs(2));
  EXPECT_DOUBLE_EQ(all.steps[0].days, 70.0);
  EXPECT_EQ(all.steps[0].at_risk, 4);
  EXPECT_DOUBLE_EQ(all.steps[0].share, 0.75);
  EXPECT_DOUBLE_EQ(all.steps[1].days, 210.0);
  EXPECT_EQ(all.steps[1].at_risk, 2) << "mlp-2 was seen for 10 weeks only";
  EXPECT_DOUBLE_EQ(all.steps[1].share, 0.375);
}

TEST_F(Trends, ListWhatCannotBeRerunWithoutSomething) {
  AddRuns("mlp", 5);
  AddDrill("mlp", 5, 3, 0, kOld);
  AddDrill("mlp", 4, 1, 0, kNew, "n2");
  AddDrill("mlp", 3, 0, 4, kNew, "n3");  // no run is shown there any more
  AddDrill("mlp", 2, 1, 0, kNew, "n2");
  const auto ids = [](const TrendsReport& report) {
    std::vector<std::string> list;
    const LastChance& all = *report.last_chance;
    EXPECT_EQ(all.lost + all.kept + all.unproven + all.elsewhere + all.unknown, all.runs);
    for (const LastChanceRun& one : all.list) {
      if (one.shown) list.push_back(one.run_id);
    }
    return list;
  };
  const TrendsReport driver = Measure({"driver=550.*"});
  EXPECT_EQ(driver.exit_code, 1);
  EXPECT_EQ(driver.last_chance->runs, 5);
  EXPECT_THAT(ids(driver), ElementsAre("mlp-1", "mlp-2"));
  EXPECT_EQ(driver.last_chance->kept, 1);
  EXPECT_THAT(ids(Measure({"package=numpy=1.*"})), ElementsAre("mlp-1", "mlp-2"));
  EXPECT_THAT(ids(Measure({"package=numpy=3.*"})), IsEmpty());
  EXPECT_THAT(ids(Measure({"gpu=*H100*"})), ElementsAre("mlp-0", "mlp-1", "mlp-2"));
  EXPECT_THAT(ids(Measure({"image=sha256:a?"})), ElementsAre("mlp-0", "mlp-1", "mlp-2"));
  EXPECT_THAT(ids(Measure({"node=n1"})), ElementsAre("mlp-1", "mlp-2"));
  EXPECT_THAT(ids(Measure({"node=n1", "node=n2"})), ElementsAre("mlp-0", "mlp-1", "mlp-2"));
  EXPECT_EQ(Measure({"node=n9"}).exit_code, 0);
  std::vector<std::string> only;
  for (const TrendOnly& one : driver.only) {
    only.push_back(one.by + " " + one.value + " " + std::to_string(one.runs));
  }
  EXPECT_THAT(only, ElementsAre("image sha256:aa 3", "gpu H100 3", "driver 550.54 2", "node n1 2"));
}

TEST_F(Trends, AreNoneOfAHistoryWithoutVerdicts) {
  AddRuns("mlp", 1);
  const TrendsReport report = Measure({"image=*"});
  EXPECT_THAT(report.headline, HasSubstr("no verdicts"));
  EXPECT_EQ(report.last_chance->unproven, 1) << "recorded on the host, never shown";
  EXPECT_EQ(report.exit_code, 0);
}

TEST(Gone, RefusesWhatNamesNothing) {
  for (const char* text : {"", "image", "image=", "disk=3", "packages=x", "=x"}) {
    const auto gone = Gone::Parse(text);
    ASSERT_FALSE(gone.ok()) << text;
    EXPECT_EQ(gone.error().where, "--if-gone");
  }
}

TEST(Weeks, BeginOnMonday) {
  const auto start = [](const char* time) {
    return FormatTime(StartOf(WeekOf(ParseTime(time).value())));
  };
  EXPECT_EQ(start("2026-03-02T00:00:00.000Z"), "2026-03-02T00:00:00.000Z");
  EXPECT_EQ(start("2026-03-08T23:59:59.999Z"), "2026-03-02T00:00:00.000Z");
  EXPECT_EQ(start("1970-01-05T00:00:00.000Z"), "1970-01-05T00:00:00.000Z");
}

}  // namespace
}  // namespace rharness
