// Trends of a history with planted changes.
#include "harness/insight/trends/trends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "harness/base/files.h"
#include "harness/insight/trends/coincidences.h"
#include "tests/records/manifest/example.h"

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
    AddDrillIn(family, weeks_ago, good, bad, {environment}, node);
  }
  // A rerun of each run in each of these.
  void AddDrillIn(const std::string& family, int weeks_ago, int good, int bad,
                  const std::vector<Surroundings>& environments, const std::string& node = "n1",
                  Verdict if_bad = Verdict::kDrifted) {
    const std::string drill = "drill-" + std::to_string(++drills_);
    std::vector<RerunRecord> reruns;
    std::vector<VerdictRecord> verdicts;
    for (int i = 0; i < good + bad; ++i) {
      const std::string run = family + "-" + std::to_string(i);
      for (std::size_t k = 0; k < environments.size(); ++k) {
        reruns.push_back({drill, run, static_cast<int>(k) + 1, "exited with 0", 11.0, "e",
                          [environment = environments[k]] { return environment; }});
      }
      verdicts.push_back(
          {drill, run, i < good ? Verdict::kIdentical : if_bad, WeeksAgo(weeks_ago), 1, "[]"});
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

// A run is followed from its first good verdict on; one that came back has not ended.
TEST_F(Trends, FollowRunsFromTheirFirstGoodVerdictToTheirLast) {
  AddRuns("mlp", 4);
  AddDrill("mlp", 52, 4, 0, kOld);
  AddDrill("mlp", 50, 3, 1, kOld);  // mlp-3 ends after 2 weeks
  AddDrill("mlp", 40, 2, 0, kOld);
  AddDrill("mlp", 30, 1, 1, kOld);  // mlp-1 ends after 22
  AddDrill("mlp", 20, 0, 1, kOld);  // mlp-0 was bad
  AddDrill("mlp", 10, 1, 0, kOld);  // and came back
  const TrendSurvival all = Measure().survival.front();
  EXPECT_EQ(all.runs, 4);
  EXPECT_EQ(all.ended, 2);
  EXPECT_DOUBLE_EQ(all.oldest_days, 294.0);
  ASSERT_THAT(all.steps, SizeIs(2));
  EXPECT_DOUBLE_EQ(all.steps[0].days, 14.0);
  EXPECT_EQ(all.steps[0].at_risk, 4);
  EXPECT_DOUBLE_EQ(all.steps[0].share, 0.75);
  EXPECT_DOUBLE_EQ(all.steps[1].days, 154.0);
  EXPECT_EQ(all.steps[1].at_risk, 2) << "mlp-2 was seen for 2 weeks only";
  EXPECT_DOUBLE_EQ(all.steps[1].share, 0.375);
}

// When such a run ceased to reproduce, or whether it ever did, nobody saw.
TEST_F(Trends, LeaveOutOfSurvivalWhatWasNeverSeenToReproduce) {
  AddRuns("mlp", 6);
  AddRuns("cnn", 2);
  AddDrill("mlp", 50, 2, 4, kOld);  // mlp-2 to mlp-5 are bad when they are looked at first
  AddDrill("mlp", 45, 1, 2, kOld);  // mlp-1 ends
  AddDrill("cnn", 45, 0, 2, kOld);
  AddDrill("cnn", 44, 1, 0, kOld);  // cnn-0 is followed from here on
  const auto survival = Measure().survival;
  EXPECT_EQ(survival.front().runs, 3);
  EXPECT_EQ(survival.front().ended, 1);
  EXPECT_EQ(survival.front().never_seen, 5);
  ASSERT_THAT(survival.front().steps, SizeIs(1));
  EXPECT_DOUBLE_EQ(survival.front().steps[0].days, 35.0);
  ASSERT_THAT(survival, SizeIs(3));
  EXPECT_EQ(survival[1].family, "mlp");
  EXPECT_EQ(survival[1].never_seen, 4);
  EXPECT_EQ(survival[2].family, "cnn");
  EXPECT_EQ(survival[2].never_seen, 1);
}

// Reruns of one verdict may have had several environments; the run is one run in each of them.
TEST_F(Trends, KnowAllEnvironmentsOfAVerdict) {
  AddRuns("mlp", 3);
  AddDrillIn("mlp", 5, 3, 0, {kOld, kNew});
  const TrendsReport report = Measure({"driver=550.*"});
  EXPECT_EQ(report.exit_code, 0) << report.headline;
  EXPECT_EQ(report.last_chance->kept, 3);
  EXPECT_EQ(Measure({"driver=5?0.*"}).last_chance->lost, 3);
  EXPECT_EQ(report.verdicts, 3);
  EXPECT_EQ(Find(report, "all", "").counts.good, 3);
  EXPECT_EQ(Find(report, "family", "mlp").weeks.front().counts.good, 3);
  for (const char* driver : {"550.54", "560.28"}) {
    EXPECT_EQ(Find(report, "driver", driver).counts.good, 3) << driver;
    EXPECT_EQ(Find(report, "driver", driver).weeks.front().counts.good, 3) << driver;
  }
  EXPECT_EQ(Find(report, "gpu", "H100").weeks.front().counts.good, 3) << "once, though in both";
  // A verdict speaks of all its reruns: none of its environments is one in which it reproduces.
  AddDrillIn("mlp", 4, 0, 3, {kNew, kOld});
  EXPECT_EQ(Measure({"driver=550.*"}).last_chance->unproven, 0);
  EXPECT_EQ(Measure({"driver=550.*"}).last_chance->elsewhere, 3);
}

TEST_F(Trends, NameTheUpgradeOfAnyOfTheMachinesThatRerunEachRun) {
  AddRuns("mlp", 20);
  const Surroundings same = Environment("H100", "535.10", "sha256:aa", "1.26.0");
  for (int week = 12; week > 5; --week) AddDrillIn("mlp", week, 20, 0, {same, kOld});
  for (int week = 5; week > 0; --week) AddDrillIn("mlp", week, 10, 10, {same, kNew});
  const TrendsReport report = Measure();
  const TrendSeries& mlp = Find(report, "family", "mlp");
  ASSERT_THAT(mlp.changes, SizeIs(1));
  const auto& coincidences = mlp.changes.front().coincidences;
  ASSERT_THAT(coincidences, SizeIs(2));
  EXPECT_EQ(coincidences[0].what, "driver");
  EXPECT_EQ(coincidences[0].before, "550.54");
  EXPECT_EQ(coincidences[0].after, "560.28");
  EXPECT_EQ(coincidences[0].before_runs, 0);
  EXPECT_EQ(coincidences[0].before_all, 140);
  EXPECT_EQ(coincidences[0].after_runs, 100);
  EXPECT_EQ(coincidences[0].after_all, 100);
  EXPECT_EQ(coincidences[1].detail, "python numpy 1.26.0 -> 2.0.1");
}

// "none" and "host" are not the names of something that could go.
TEST_F(Trends, LoseNothingThatARunDidNotHave) {
  AddRuns("mlp", 3);
  const Surroundings bare = {
      {"environment.hardware", R"({"cpu": {"architecture": "x86_64", "model": "EPYC"}})"}};
  AddDrill("mlp", 5, 3, 0, bare);
  for (const char* gone : {"gpu=*", "driver=*", "image=*", "gpu=n?ne", "driver=none"}) {
    const TrendsReport report = Measure({gone});
    EXPECT_EQ(report.last_chance->lost, 0) << gone;
    EXPECT_EQ(report.last_chance->kept, 3) << gone;
  }
  EXPECT_EQ(Measure({"cpu=*"}).last_chance->lost, 3);
  EXPECT_EQ(Measure({"image=host"}).last_chance->lost, 3) << "who names the host means it";
}

// Of a clock that is ahead nothing is believed, as `rharness slo` does not.
TEST_F(Trends, LeaveOutVerdictsOfTheFuture) {
  AddRuns("mlp", 4);
  AddDrill("mlp", 1, 4, 0, kOld);
  AddDrill("mlp", -3, 0, 4, kNew);
  const TrendsReport report = Measure();
  EXPECT_EQ(report.verdicts, 4);
  EXPECT_EQ(report.series.front().counts.good, 4);
  EXPECT_EQ(report.series.front().counts.bad, 0);
  EXPECT_EQ(report.survival.front().ended, 0);
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("4 verdicts were decided later than now")));
}

TEST_F(Trends, TellOfHowManyRunsNothingWasDecided) {
  AddRuns("mlp", 50);
  AddDrillIn("mlp", 2, 1, 49, {kOld}, "n1", Verdict::kInconclusive);
  EXPECT_THAT(Measure().headline,
              HasSubstr("100 % of 1 run reproduced in 52 weeks (20.65 to 100 %); 49 of 50 judged "
                        "were left open: with these as bad 2 %."));
}

// That nothing is lost without something which nothing had is no all-clear: it may be a slip.
TEST_F(Trends, TellWhatNoRunIsKnownToHaveHad) {
  AddRuns("mlp", 2);
  AddDrill("mlp", 2, 2, 0, kOld);
  const TrendsReport slip = Measure({"package=nunpy"});
  EXPECT_EQ(slip.exit_code, 3);
  EXPECT_THAT(slip.last_chance->nowhere, ElementsAre("package=nunpy; near is numpy"));
  EXPECT_THAT(slip.headline,
              HasSubstr("No run is known to have had package=nunpy; near is numpy."));
  const TrendsReport both = Measure({"gpu=H9000", "node=n1"});
  EXPECT_EQ(both.exit_code, 1) << "what is lost is lost";
  EXPECT_THAT(both.last_chance->nowhere, ElementsAre("gpu=H9000"));
  EXPECT_THAT(Measure({"node=n1"}).last_chance->nowhere, IsEmpty());
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
  EXPECT_EQ(Measure({"node=n3"}).exit_code, 0);
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
  EXPECT_EQ(report.last_chance->unproven, 1) << "recorded in an image, never shown";
  EXPECT_EQ(report.exit_code, 0);
}

// Lives that end at random, 100 days long in the mean, looked at first at an age of 0 to 200 days
// and then once a week: half of those that were seen to reproduce do no more 69.3 days later, told
// at the next look, up to a week late. Of some 1730 runs the standard error of the median is 2.4
// days.
TEST(Survival, IsNotLongerBecauseRunsWereLookedAtLate) {
  std::mt19937_64 random(20260304);
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  const auto day = [](double days) {
    return WallTime(std::chrono::milliseconds(static_cast<std::int64_t>(days * 86'400'000.0)));
  };
  Tracks tracks(0, day(20'000));
  VerdictStep step{.family = "mlp"};
  for (int i = 0; i < 4000; ++i) {
    step.run_id = std::to_string(i);
    step.started = day(10'000);
    const double life = -100.0 * std::log1p(-uniform());
    for (double age = 200.0 * uniform(); age < 600.0; age += 7.0) {
      step.verdict = age < life ? Verdict::kIdentical : Verdict::kDrifted;
      step.decided = day(10'000 + age);
      tracks.Take(step);
      if (age >= life) break;
    }
  }
  tracks.Finish();
  const TrendSurvival all = SurvivalOf(tracks).front();
  const double half = 100.0 * std::log(2.0);
  ASSERT_TRUE(all.median_days);
  EXPECT_GT(*all.median_days, half - 6.0);
  EXPECT_LT(*all.median_days, half + 7.0 + 6.0);
  EXPECT_GT(all.never_seen, 1500);  // 4000 (1 - (1 - exp(-2)) / 2) = 2271
  EXPECT_EQ(all.runs + all.never_seen, 4000);
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
