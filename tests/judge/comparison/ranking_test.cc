// A sweep ranked twice: from manifests, from the reruns of a drill, and what cannot be ranked.
#include "harness/judge/comparison/ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/base/files.h"
#include "tests/records/manifest/example.h"

namespace rharness {
namespace {

using testing::HasSubstr;

class Rankings : public testing::Test {
 protected:
  std::string At(const std::string& name) const { return (folder_.path() / name).string(); }
  // Run k of the sweep got values[k] of the example's metric, of which more is better.
  void WriteManifests(const std::string& folder, const std::vector<double>& values) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      Manifest manifest = ExampleManifest();
      manifest.run_id = "run-" + std::to_string(i);
      manifest.metrics = {{.name = "score",
                           .value = values[i],
                           .unit = "1",
                           .direction = MetricDirection::kHigher}};
      const std::string path = At(folder + "/" + manifest.run_id + ".json");
      ASSERT_TRUE(WriteJsonFile(path, ToJson(manifest)).ok());
    }
  }
  void WriteEvidence(const std::string& path, const std::string& run, double value) const {
    Evidence evidence = ExampleEvidence();
    evidence.run_id = run;
    evidence.metrics.metrics = {{"score", value}};
    ASSERT_TRUE(WriteJsonFile(At(path), ToJson(evidence)).ok());
  }
  Result<RankingComparison> Compare(double least = 0.8) const {
    return CompareRankings(At("a"), At("b"), "score", least);
  }

  ScopedTempDir folder_ = std::move(ScopedTempDir::Make()).value();
};

TEST_F(Rankings, OfTwoNeighboursThatChangedPlacesAreKept) {
  WriteManifests("a", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  WriteManifests("b", {1, 2, 3, 5, 4, 6, 7, 8, 9, 10, 11, 12.5});
  const auto ranking = Compare();
  ASSERT_TRUE(ranking.ok()) << ranking.error().ToString();
  EXPECT_EQ(ranking->verdict, "kept") << ranking->headline;
  EXPECT_EQ(ranking->exit_code, 0);
  EXPECT_NEAR(ranking->agreement.tau, 64.0 / 66, 1e-12);
  EXPECT_EQ(ranking->runs.front().run_id, "run-11");
  EXPECT_THAT(ranking->headline, HasSubstr("the best 3 are the same"));
  EXPECT_THAT(WriteTerminal(*ranking), HasSubstr("     9    8  run-3  4, 5\n"));
  EXPECT_EQ(Compare(0.95)->verdict, "open");
}

TEST_F(Rankings, ThatAreTurnedRoundAreLost) {
  WriteManifests("a", {1, 2, 3, 4, 5, 6, 7, 8});
  WriteManifests("b", {8, 7, 6, 5, 4, 3, 2, std::nan("")});
  const auto ranking = Compare();
  ASSERT_TRUE(ranking.ok()) << ranking.error().ToString();
  EXPECT_EQ(ranking->verdict, "lost");
  EXPECT_EQ(ranking->exit_code, 1);
  EXPECT_EQ(ranking->agreement.tau, -1.0);
  EXPECT_EQ(ranking->runs.front().place_b, 8) << "what is not finite is the last";
  EXPECT_EQ(ranking->best_again, 0);
  EXPECT_THAT(ToJson(*ranking).Dump(), HasSubstr("\"verdict\":\"lost\""));
}

TEST_F(Rankings, OfFewRunsAreOpen) {
  WriteManifests("a", {1, 2, 3, 4});
  WriteManifests("b", {1, 2, 3, 4});
  EXPECT_EQ(Compare()->verdict, "open");
  EXPECT_THAT(Compare()->headline, HasSubstr("tau 1.00 of 4 runs, five at least are needed"));
}

TEST_F(Rankings, TakeTheMeanOfADrillsRerunsAndNameWhatIsOnOneSideAlone) {
  WriteManifests("a", {1, 2, 3, 4, 5, 6, 7, 8, 9});
  ASSERT_TRUE(WriteFileAtomic(At("b/report.json"), "{}").ok());
  for (int run = 0; run < 8; ++run) {
    const std::string name = "run-" + std::to_string(run);
    WriteEvidence("b/runs/" + name + "/1/evidence.json", name, run + 2);
    WriteEvidence("b/runs/" + name + "/2/evidence.json", name, run);
  }
  const auto ranking = Compare();
  ASSERT_TRUE(ranking.ok()) << ranking.error().ToString();
  EXPECT_EQ(ranking->verdict, "kept");
  EXPECT_DOUBLE_EQ(ranking->runs.front().b, 8.0);
  EXPECT_THAT(ranking->unpaired, testing::ElementsAre("run-8 is in A alone"));
}

TEST_F(Rankings, SayWhatIsMissing) {
  WriteManifests("a", {1, 2, 3});
  EXPECT_EQ(Compare().error().code, ErrorCode::kNotFound);
  WriteEvidence("b/evidence.json", "elsewhere", 1.0);
  EXPECT_THAT(Compare().error().ToString(), HasSubstr("0 runs have 'score' on both sides"));
  const auto other = CompareRankings(At("a"), At("b"), "loss", 0.8);
  EXPECT_THAT(other.error().ToString(), HasSubstr("has the metric 'loss'"));
  const auto no_way = CompareRankings(At("b"), At("b"), "score", 0.8);
  EXPECT_THAT(no_way.error().ToString(), HasSubstr("no manifest on either side says"));
  ASSERT_TRUE(WriteFileAtomic(At("b/broken.json"), "{").ok());
  EXPECT_THAT(Compare().error().ToString(), HasSubstr("broken.json"));
}

}  // namespace
}  // namespace rharness
