// comparison.json: read back whole, and refused where it contradicts itself.
#include <gtest/gtest.h>

#include <cmath>

#include "reports/comparison_report.h"
#include "tests/reports/hostile.h"
#include "tests/reports/sample_comparison.h"

namespace rharness {
namespace {

Result<ComparisonSet> Reparsed(const ComparisonSet& set) {
  const std::string text = ToJson(set).Dump(2);
  const Result<Json> json = ParseJson(text, "comparison.json");
  if (!json.ok()) return json.error();
  return ParseComparisonSet(*json, "comparison.json");
}

std::string ErrorOf(const Json& json) {
  const Result<ComparisonSet> set = ParseComparisonSet(json, "comparison.json");
  return set.ok() ? "no error" : set.error().ToString();
}

std::vector<std::string> KeysOf(const Json& json) {
  std::vector<std::string> keys;
  for (const auto& [key, member] : json.AsObject()) keys.push_back(key);
  return keys;
}

TEST(ComparisonJson, EveryFormReadsBackToWhatWasWritten) {
  for (const ComparisonSet& set : {RichComparison(), IdenticalComparison(), EmptyComparison(),
                                   InconclusiveComparison(), PairsComparison(95)}) {
    const Result<ComparisonSet> back = Reparsed(set);
    ASSERT_TRUE(back.ok()) << back.error().ToString();
    EXPECT_EQ(ToJson(*back).Dump(), ToJson(set).Dump());
  }
}

TEST(ComparisonJson, KeepsTheFieldsOfTheSetAndOfItsSides) {
  const Result<ComparisonSet> back = Reparsed(RichComparison());
  ASSERT_TRUE(back.ok()) << back.error().ToString();
  EXPECT_EQ(back->title, "runs/2026-08-14/seed-3 against runs/2026-11-20/seed-3");
  EXPECT_EQ(back->version, "0.1.0");
  EXPECT_EQ(FormatTime(back->made), "2026-11-20T01:00:04.250Z");
  EXPECT_EQ(back->exit_code, 1);
  EXPECT_EQ(back->counts.at("drifted"), 1);
  EXPECT_EQ(back->counts.size(), 7U);
  EXPECT_EQ(back->notes.size(), 1U);
  const Comparison& pair = back->comparisons.at(0);
  EXPECT_EQ(pair.b.path, "runs/2026-11-20/seed-3");
  EXPECT_EQ(pair.a.kind, SideKind::kEvidence);
  EXPECT_EQ(pair.a.detail, "safetensors, 290 tensors, 2.2 GB");
  EXPECT_TRUE(pair.expect_bitwise);
  EXPECT_EQ(pair.causes.at(0).evidence.size(), 3U);
  EXPECT_EQ(pair.causes.at(1).layer, Layer::kRandomness);
  EXPECT_EQ(pair.findings.at(0).layer, std::nullopt);
  EXPECT_EQ(pair.layers[4].differences.at(0).observed, std::nullopt);
  EXPECT_EQ(pair.layers[1].only_recorded, 2);
  EXPECT_FALSE(pair.metrics.at(0).primary);
  EXPECT_TRUE(std::isnan(pair.metrics.at(1).reruns.back()));
}

TEST(ComparisonJson, KeepsCurvesWithTheirNonFiniteValues) {
  const Result<ComparisonSet> back = Reparsed(RichComparison());
  ASSERT_TRUE(back.ok()) << back.error().ToString();
  const std::vector<CurveComparison>& curves = back->comparisons.at(0).curves;
  ASSERT_EQ(curves.size(), 5U);
  EXPECT_TRUE(std::isnan(curves[0].b.at(40)));
  EXPECT_EQ(curves[0].b.at(41), INFINITY);
  EXPECT_EQ(curves[0].first_non_finite, 400);
  EXPECT_EQ(curves[0].kind, CurveKind::kMetric);
  EXPECT_EQ(curves[2].vacuity, "constant");
  EXPECT_EQ(curves[2].band.at(0), INFINITY);
  EXPECT_EQ(curves[3].state, CurveState::kMissing);
  EXPECT_EQ(curves[3].only_a, 20U);
  EXPECT_EQ(curves[4].first_beyond, RichComparison().comparisons[0].curves[4].first_beyond);
  EXPECT_EQ(curves[4].max_step, 1990);
  EXPECT_EQ(curves[4].statistic, 37.4);
  EXPECT_EQ(curves[4].false_alarm, 0.01);
  EXPECT_EQ(curves[4].a, RichComparison().comparisons[0].curves[4].a);
}

TEST(ComparisonJson, KeepsCheckpointsWithHistogramsAndNorms) {
  const Result<ComparisonSet> back = Reparsed(RichComparison());
  ASSERT_TRUE(back.ok()) << back.error().ToString();
  const ComparisonSet sample = RichComparison();
  const CheckpointComparison& expected = sample.comparisons[0].checkpoints[0];
  const CheckpointComparison& weights = back->comparisons.at(0).checkpoints.at(0);
  EXPECT_EQ(weights.digest_b, expected.digest_b);
  EXPECT_EQ(weights.metadata, expected.metadata);
  const TensorDifference& tensor = weights.difference.differing.at(2);
  EXPECT_EQ(tensor.ulp_histogram, expected.difference.differing[2].ulp_histogram);
  EXPECT_EQ(tensor.dtype, DType::kBF16);
  EXPECT_EQ(tensor.nan_changes, 2U);
  EXPECT_EQ(tensor.zero_sign_changes, 1U);
  EXPECT_EQ(tensor.norm_b, expected.difference.differing[2].norm_b);
  EXPECT_TRUE(std::isnan(weights.difference.differing.at(1).max_rel));
  EXPECT_TRUE(std::isnan(weights.difference.differing.at(3).cosine));
  EXPECT_EQ(weights.difference.groups.at(8).relative_norm,
            expected.difference.groups[8].relative_norm);
  EXPECT_TRUE(back->comparisons.at(0).checkpoints.at(1).from_digests);
  EXPECT_FALSE(back->comparisons.at(0).checkpoints.at(1).weights);
}

TEST(ComparisonJson, ASingleComparisonHasItsVerdictAtTheTop) {
  const std::vector<std::string> expected = {
      "schema", "title",       "version",        "made",    "exit_code", "set_notes", "name",
      "a",      "b",           "expect_bitwise", "verdict", "headline",  "findings",  "causes",
      "layers", "checkpoints", "curves",         "metrics", "notes"};
  const Json json = ToJson(RichComparison());
  EXPECT_EQ(KeysOf(json), expected);
  EXPECT_EQ(json.Find("schema")->AsString(), "rharness.comparison/v1");
  EXPECT_EQ(json.Find("verdict")->AsString(), "drifted");
}

TEST(ComparisonJson, ASetHasCountsAndComparisons) {
  const std::vector<std::string> expected = {"schema",    "title",  "version", "made",
                                             "exit_code", "counts", "notes",   "comparisons"};
  EXPECT_EQ(KeysOf(ToJson(PairsComparison(3))), expected);
  ComparisonSet one = RichComparison();
  one.comparisons[0].name = "only";
  EXPECT_NE(ToJson(one).Find("comparisons"), nullptr);
}

TEST(ComparisonJson, LongCurvesAreWrittenWhole) {
  ComparisonSet set = InconclusiveComparison();
  CurveComparison& curve = set.comparisons[0].curves[0];
  curve.steps.resize(100'000);
  for (std::size_t i = 0; i < curve.steps.size(); ++i) curve.steps[i] = static_cast<int>(i);
  curve.a.resize(curve.steps.size(), 1.5);
  curve.b.resize(curve.steps.size(), 2.5);
  const Result<ComparisonSet> back = Reparsed(set);
  ASSERT_TRUE(back.ok()) << back.error().ToString();
  EXPECT_EQ(back->comparisons[0].curves[0].steps, curve.steps);
}

TEST(ComparisonJson, HostileTextReadsBack) {
  for (const std::string& text : HostileTexts()) {
    EXPECT_TRUE(Reparsed(HostileComparison(text.substr(0, 10'000))).ok());
  }
}

TEST(ComparisonJson, RefusesWhatContradictsItself) {
  Json json = ToJson(RichComparison());
  json.Set("exit_code", 0);
  EXPECT_NE(ErrorOf(json).find("does not follow from the verdicts"), std::string::npos);

  ComparisonSet pairs = PairsComparison(95);
  pairs.counts["drifted"] = 0;
  EXPECT_NE(ErrorOf(ToJson(pairs)).find("$.counts"), std::string::npos);

  ComparisonSet rich = RichComparison();
  rich.comparisons[0].curves[1].a.pop_back();
  EXPECT_NE(ErrorOf(ToJson(rich)).find("$.curves[1].a"), std::string::npos);

  rich = RichComparison();
  rich.comparisons[0].curves[4].band.pop_back();
  EXPECT_NE(ErrorOf(ToJson(rich)).find("$.curves[4].band"), std::string::npos);
}

TEST(ComparisonJson, RefusesNewerSchemasAndUnknownNames) {
  Json json = ToJson(RichComparison());
  json.Set("schema", "rharness.comparison/v2");
  EXPECT_NE(ErrorOf(json).find("rharness.comparison/v2"), std::string::npos);
  json = ToJson(RichComparison());
  json.Set("verdict", "fine");
  EXPECT_NE(ErrorOf(json).find("fine"), std::string::npos);
  EXPECT_NE(ErrorOf(*ParseJson(R"({"schema": "rharness.comparison/v1", "exit_code": 3})", "f"))
                .find("$.verdict"),
            std::string::npos);
}

TEST(ComparisonJson, RefusesAHistogramOfMoreThanSixtyFourCounts) {
  std::string counts = "[1";
  for (int i = 0; i < 64; ++i) counts += ",1";
  std::string text = ToJson(RichComparison()).Dump();
  const std::string key = "\"ulp_histogram\":";
  const std::size_t at = text.find(key) + key.size();
  text.replace(at, text.find(']', at) + 1 - at, counts + "]");
  EXPECT_NE(ErrorOf(*ParseJson(text, "f")).find("ulp_histogram"), std::string::npos);
}

}  // namespace
}  // namespace rharness
