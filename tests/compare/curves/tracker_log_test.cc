// Curves from the local records of trackers: of one run, of several, and damaged ones.
#include "compare/curves/tracker_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <random>

#include "compare/curves/curve_files.h"
#include "harness/base/files.h"
#include "tests/compare/curves/build_tracker_log.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

const std::string kA = kMlflowRunA, kB = kMlflowRunB;

std::string TwoRuns() {
  return kMlflowSchema + MlflowRunRow(kA) + MlflowRunRow(kB) + MlflowMetricRow(kA, "loss", "2", 1) +
         MlflowMetricRow(kA, "loss", "1", 2) + MlflowMetricRow(kB, "loss", "9", 1);
}

const CurveSeries* Find(const std::vector<CurveSeries>& curves, std::string_view name) {
  for (const CurveSeries& curve : curves) {
    if (curve.name == name) return &curve;
  }
  return nullptr;
}

TEST(MlflowLog, OfADatabaseIsThatOfTheRunThatCounts) {
  const std::string bytes = SqliteBytes(TwoRuns());
  const auto log = ReadMlflowDatabase(bytes, "x.db", [](const auto& run) { return run == kA; });
  ASSERT_TRUE(log.ok()) << log.error().ToString();
  ASSERT_THAT(log->curves, SizeIs(1));
  EXPECT_THAT(log->curves[0].steps, ElementsAre(1, 2));
  EXPECT_THAT(log->curves[0].values, ElementsAre(2.0, 1.0));
  EXPECT_EQ(log->curves[0].quantum, 0.0);
  const auto both = ReadMlflowDatabase(bytes, "x.db");
  EXPECT_THAT(both.error().ToString(),
              HasSubstr("x.db: holds several runs (" + kA + ", " + kB + ")"));
  const auto none = ReadMlflowDatabase(bytes, "x.db", [](const auto&) { return false; });
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(*MlflowRunsIn(bytes, "x.db"), ElementsAre(kA, kB));
}

TEST(MlflowLog, CountsNeitherDeletedRunsNorThoseWithoutMetrics) {
  const std::string deleted =
      TwoRuns() + "UPDATE runs SET lifecycle_stage = 'deleted' WHERE run_uuid = '" + kB + "';";
  EXPECT_THAT(*MlflowRunsIn(SqliteBytes(deleted), "x.db"), ElementsAre(kA));
  const std::string moved =
      TwoRuns() + "UPDATE runs SET experiment_id = 1 WHERE run_uuid = '" + kB + "';";
  EXPECT_THAT(*MlflowRunsIn(SqliteBytes(moved), "x.db"), ElementsAre(kA));
  const std::string machine =
      TwoRuns() + "UPDATE metrics SET key = 'system/cpu' WHERE run_uuid = '" + kB + "';";
  EXPECT_THAT(*MlflowRunsIn(SqliteBytes(machine), "x.db"), ElementsAre(kA));
}

TEST(MlflowLog, HasTheValuesThatADatabaseKeepsOtherwise) {
  const auto log = ReadMlflowDatabase(
      SqliteBytes(kMlflowSchema + MlflowRunRow(kA) + MlflowMetricRow(kA, "odd", "0", 1, 1) +
                  MlflowMetricRow(kA, "odd", "-1.7976931348623157e308", 2) +
                  MlflowMetricRow(kA, "system/gpu", "5", 1) + MlflowMetricRow(kA, "once", "3", 0)),
      "x.db");
  ASSERT_TRUE(log.ok()) << log.error().ToString();
  EXPECT_THAT(log->curves, SizeIs(2));
  const CurveSeries* odd = Find(log->curves, "odd");
  ASSERT_NE(odd, nullptr);
  EXPECT_TRUE(std::isnan(odd->values[0]));
  EXPECT_EQ(odd->values[1], -std::numeric_limits<double>::infinity());
}

TEST(MlflowLog, OfADatabaseIsNoneWithoutItsTables) {
  EXPECT_THAT(ReadMlflowDatabase(SqliteBytes("CREATE TABLE a (b INT);"), "x.db").error().message,
              HasSubstr("without MLflow's tables"));
  // A view may compute for ever.
  const std::string view = TwoRuns() +
                           "ALTER TABLE params RENAME TO p;"
                           "CREATE VIEW params AS SELECT * FROM p;";
  EXPECT_FALSE(ReadMlflowDatabase(SqliteBytes(view), "x.db").ok());
  EXPECT_FALSE(ReadMlflowDatabase(SqliteBytes(kMlflowSchema), "x.db").ok());
}

TEST(MlflowLog, OfACutOffOrDamagedDatabaseIsAnErrorOrTheLog) {
  const std::string whole =
      SqliteBytes(kMlflowSchema + MlflowRunRow(kA) + MlflowMetricRow(kA, "loss", "2", 1));
  for (std::size_t size = 0; size < whole.size(); size += 256) {
    const auto log = ReadMlflowDatabase(whole.substr(0, size), "x.db");
    ASSERT_FALSE(log.ok()) << size;
    EXPECT_EQ(log.error().code, ErrorCode::kInvalidInput) << size;
  }
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    std::string changed = whole;
    for (int k = 0; k < 4; ++k) changed[random() % changed.size()] = static_cast<char>(random());
    const auto log = ReadMlflowDatabase(changed, "x.db");
    if (!log.ok()) {
      EXPECT_THAT(log.error().where, HasSubstr("x.db"));
    }
  }
}

class TrackerFolder : public testing::Test {
 protected:
  void Put(const std::string& name, std::string_view content) {
    ASSERT_TRUE(WriteFileAtomic(root() / name, content).ok());
  }
  fs::path root() const { return folder_.path() / "logs"; }

 private:
  ScopedTempDir folder_ = ScopedTempDir::Make().value();
};

TEST_F(TrackerFolder, OfMlflowsFileStoreHasTheMetricsOfItsRun) {
  const std::string run = "mlruns/0/" + kA;
  Put(run + "/metrics/train/loss", "3 1.0 2\n1 4.0 1\n2 2.0 1\nno point\n");
  Put(run + "/metrics/epoch", "1 0 0\n2 1 0\n3 2 0\n");
  Put(run + "/metrics/system/cpu", "1 50 0\n");
  Put(run + "/params/metrics", "x");
  Put("mlruns/0/models/metrics/x", "1 1 1\n");
  for (const fs::path& folder : {root(), root() / "mlruns", root() / run}) {
    ASSERT_TRUE(HoldsTrackerLog(folder));
    std::vector<std::string> remarks;
    const auto curves = LoadCurves(folder, &remarks);
    ASSERT_TRUE(curves.ok()) << curves.error().ToString();
    ASSERT_THAT(*curves, SizeIs(2)) << folder;
    const CurveSeries* loss = Find(*curves, "train/loss");
    ASSERT_NE(loss, nullptr);
    EXPECT_THAT(loss->steps, ElementsAre(1, 2));
    EXPECT_THAT(loss->values, ElementsAre(2.0, 1.0));  // the later one at step 1
    EXPECT_THAT(Find(*curves, "epoch")->steps, ElementsAre(0, 1, 2)) << "counted";
    EXPECT_THAT(remarks, ElementsAre(HasSubstr("train/loss: line 4"),
                                     HasSubstr("'train/loss' goes back to step 1")));
  }
  Put("mlruns/0/" + kB + "/metrics/loss", "1 1 1\n");
  EXPECT_THAT(LoadCurves(root()).error().message, HasSubstr("several runs"));
}

TEST_F(TrackerFolder, OfMoreMetricsThanAreReadIsAnErrorWithItsPlace) {
  const std::string run = "mlruns/0/" + kA;
  Put(run + "/metrics/loss", "1 1.0 1\n");
  for (int i = 0; i < 10'000; ++i) {
    std::ofstream(root() / run / "metrics" / std::to_string(i)) << "1 1.0 1\n";
  }
  const auto curves = LoadCurves(root() / "mlruns");
  ASSERT_FALSE(curves.ok());
  EXPECT_EQ(curves.error().where, (root() / "mlruns").string());
  EXPECT_THAT(curves.error().message, HasSubstr("more than 10000 curves"));
}

TEST(MlflowLog, IsInTheFilesOfARunAlone) {
  const auto of = [](const std::string& file) {
    const auto found = MlflowMetricFileOf(file);
    return found ? found->run.string() + " " + found->metric : "";
  };
  EXPECT_EQ(of("mlruns/0/" + kA + "/metrics/a/b"), "mlruns/0/" + kA + " a/b");
  EXPECT_EQ(of(kA + "/metrics/metrics"), kA + " metrics");
  EXPECT_EQ(of("metrics/a"), "");
  EXPECT_EQ(of("0/run/metrics/a"), "");
  EXPECT_EQ(of("0/" + kA + "/metrics"), "");
  EXPECT_EQ(of("0/" + kA + "/artifacts/metrics/a"), "");
}

TEST_F(TrackerFolder, OfWandbHasHistoryAndSummary) {
  const std::string log = WandbLogOf(
      {WandbHistoryRecord(0, {{"loss", "2"}, {"text", "\"a\""}}),
       WandbHistoryRecord(1, {{"loss", "1.5"}, {"d", "{\"e\":3}"}}),
       WandbHistoryRecord(2, {{"loss", "NaN"}}),
       WandbSummaryRecord({{"best", "{\"min\":1.5}"}, {"loss", "1"}, {"_runtime", "12"}})});
  const auto read = ReadWandbRunLog(log, "x");
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  ASSERT_THAT(read->curves, SizeIs(2));
  EXPECT_THAT(Find(read->curves, "d.e")->values, ElementsAre(3.0));
  EXPECT_THAT(Find(read->curves, "loss")->steps, ElementsAre(0, 1, 2));
  EXPECT_THAT(read->summary, ElementsAre(Pair("best.min", 1.5), Pair("loss", 1.0)));
  EXPECT_THAT(read->remarks, ElementsAre(HasSubstr("no numbers (texts, pictures, tables)")));
  Put("wandb/offline-run-20261129_094054-m8pbmrvo/run-m8pbmrvo.wandb", log);
  EXPECT_THAT(*LoadCurves(root()), SizeIs(2));
  Put("wandb/offline-run-20261129_094055-other/run-other.wandb", log);
  EXPECT_THAT(LoadCurves(root()).error().message, HasSubstr("several runs"));
}

TEST(WandbRunLog, OfASummaryAloneHasNoCurve) {
  const auto read = ReadWandbRunLog(WandbLogOf({WandbSummaryRecord({{"acc", "0.5"}})}), "x");
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_THAT(read->curves, IsEmpty());
  EXPECT_FALSE(ReadWandbRunLog(WandbLogOf({}), "x").ok());
  const auto curves = ParseCurves(WandbLogOf({WandbSummaryRecord({{"acc", "0.5"}})}), "x");
  ASSERT_FALSE(curves.ok());
  EXPECT_EQ(curves.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(curves.error().where, "x");
  EXPECT_THAT(curves.error().message, HasSubstr("no curve"));
}

TEST(WandbRunLog, GoesOnAfterDamageAndEndsWhereItIsCutOff) {
  const std::string log =
      WandbLogOf({WandbHistoryRecord(0, {{"loss", "2"}}), WandbHistoryRecord(1, {{"loss", "1"}})});
  for (std::size_t size = 0; size < log.size(); ++size) {
    const auto read = ReadWandbRunLog(log.substr(0, size), "x");
    if (read.ok()) {
      EXPECT_THAT(read->curves[0].values, ElementsAre(2.0)) << size;
    } else {
      EXPECT_EQ(read.error().code, ErrorCode::kInvalidInput) << size;
    }
  }
  std::mt19937 random(7);
  for (int i = 0; i < 500; ++i) {
    std::string changed = log;
    changed[7 + random() % (changed.size() - 7)] = static_cast<char>(random());
    (void)ReadWandbRunLog(changed, "x");
  }
}

}  // namespace
}  // namespace rharness
