// Metrics on other eval sets, and data of other makers, side by side.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/judge/comparison/compare_subjects.h"
#include "harness/judge/facts_of.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kCommitA(40, 'a'), kCommitB(40, 'b');

// A run on three sets, whose accuracy is of `on`.
Subject On(const std::string& on, double accuracy, bool primary = true) {
  Subject subject;
  subject.side = {"run.json", SideKind::kManifest, ""};
  Manifest& manifest = subject.manifest;
  manifest.run_id = "run";
  for (const char* name : {"train", "val", "test"}) {
    DataItem& item = manifest.data.emplace_back();
    item.name = name;
    item.path = std::string(name) + ".csv";
    item.sha256 = std::string(63, '0') + name[0];
  }
  for (DataItem& item : manifest.data) item.sha256.back() = item.name == "val" ? '1' : '2';
  manifest.data[0].sha256.back() = '3';
  manifest.metrics = {{.name = "accuracy",
                       .value = accuracy,
                       .unit = "1",
                       .direction = MetricDirection::kHigher,
                       .primary = primary,
                       .margin = 0.05,
                       .evaluated_on = on}};
  return subject;
}

Subject WithFacts(Subject subject) {
  subject.facts = FactsOf(subject.manifest);
  return subject;
}

Comparison Compare(const Subject& a, const Subject& b, const std::vector<Subject>& more = {}) {
  auto comparison = CompareSubjects(WithFacts(a), WithFacts(b), more, {});
  EXPECT_TRUE(comparison.ok()) << comparison.error().ToString();
  return *comparison;
}

const Finding* Find(const Comparison& comparison, std::string_view code) {
  const auto found = std::ranges::find(comparison.findings, code, &Finding::code);
  return found == comparison.findings.end() ? nullptr : &*found;
}

TEST(EvalSets, OfOneContentAreCompared) {
  EXPECT_EQ(Compare(On("test", 0.9), On("test", 0.9)).verdict, Verdict::kIdentical);
  Subject renamed = On("test", 0.9);
  renamed.manifest.data[2].name = renamed.manifest.metrics[0].evaluated_on = "holdout";
  EXPECT_EQ(CompareMetrics(On("test", 0.9), renamed, {}).size(), 1u) << "another name alone";
}

TEST(EvalSets, ThatDifferMakeNothingComparableWhateverTheValues) {
  for (const double value : {0.9, 0.1}) {
    const Comparison comparison = Compare(On("val", 0.9), On("test", value));
    EXPECT_EQ(comparison.verdict, Verdict::kNotComparable);
    EXPECT_TRUE(comparison.metrics.empty());
    const Finding* finding = Find(comparison, kOtherEvalSet);
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding->layer, Layer::kData);
    EXPECT_TRUE(finding->decisive);
    EXPECT_THAT(finding->message, HasSubstr("'val' (sha256:000000000000...) in A"));
    EXPECT_THAT(finding->message, HasSubstr("'test' (sha256:000000000000...) in B"));
  }
}

TEST(EvalSets, OfAMetricThatDoesNotDecideKeepItOpen) {
  const Comparison comparison = Compare(On("val", 0.9, false), On("test", 0.9, false));
  EXPECT_EQ(comparison.verdict, Verdict::kInconclusive);
  EXPECT_NE(Find(comparison, "not_compared"), nullptr);
}

TEST(EvalSets, OfOtherKindsOfDigestsStayOpen) {
  Subject imported = On("test", 0.9);
  imported.manifest.data[2].sha256.clear();
  imported.manifest.data[2].other_digest = "md5:0123";
  const Comparison comparison = Compare(On("test", 0.9), imported);
  const Finding* finding = Find(comparison, "not_compared");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->message, HasSubstr("cannot be compared"));
  EXPECT_NE(comparison.verdict, Verdict::kIdentical);
  EXPECT_NE(comparison.verdict, Verdict::kEquivalent);
}

TEST(EvalSets, ThatOneSideDoesNotNameAreNoted) {
  const Comparison comparison = Compare(On("test", 0.9), On("", 0.9));
  EXPECT_EQ(comparison.verdict, Verdict::kIdentical);
  EXPECT_THAT(comparison.notes,
              testing::Contains("B does not say on what accuracy was measured, and A does"));
}

TEST(EvalSets, OfFurtherRunsOnOtherSetsCountForNothing) {
  const std::vector<Subject> same = {On("test", 0.91), On("test", 0.89)};
  std::vector<Subject> mixed = same;
  mixed.push_back(On("val", 0.2));
  const auto alone = CompareMetrics(On("test", 0.9), On("test", 0.93), same);
  const auto beside = CompareMetrics(On("test", 0.9), On("test", 0.93), mixed);
  EXPECT_EQ(alone[0].history, beside[0].history);
  EXPECT_EQ(alone[0].standard_error, beside[0].standard_error);
}

TEST(Makers, OfDataOfOneContentAreARemark) {
  Subject a = On("test", 0.9), b = a;
  a.manifest.data[0].made_by = MadeBy{"etl", kCommitA, ""};
  b.manifest.data[0].made_by = MadeBy{"etl", kCommitB, ""};
  const Comparison comparison = Compare(a, b);
  EXPECT_EQ(comparison.verdict, Verdict::kIdentical);
  EXPECT_EQ(comparison.layers[0].state, LayerState::kSame);
  const Finding* finding = Find(comparison, "made_by_differs");
  ASSERT_NE(finding, nullptr);
  EXPECT_FALSE(finding->decisive);
  EXPECT_THAT(finding->message, HasSubstr("etl at " + kCommitA + " -> etl at " + kCommitB));
}

TEST(Makers, OfDataThatDifferAreTheFirstCause) {
  Subject a = On("", 0.9), b = On("", 0.5);
  a.manifest.data[0].made_by = MadeBy{"etl", kCommitA, ""};
  b.manifest.data[0].made_by = MadeBy{"etl", kCommitB, "2"};
  b.manifest.data[0].sha256 = std::string(64, 'f');
  a.manifest.hyperparameters["lr"] = 1;
  const Comparison comparison = Compare(a, b);
  EXPECT_EQ(comparison.verdict, Verdict::kNotComparable);
  ASSERT_FALSE(comparison.causes.empty());
  EXPECT_EQ(comparison.causes[0].code, "data_made_otherwise");
  EXPECT_EQ(comparison.causes[0].statement,
            "The data 'train' was made by another version of the transform: etl at " + kCommitA +
                " -> etl at " + kCommitB + ", version 2.");
  EXPECT_EQ(std::ranges::count(comparison.causes, "data_changed", &Cause::code), 0);
}

TEST(Makers, OfOneSideAloneStandBesideTheHashes) {
  Subject a = On("", 0.9), b = On("", 0.5);
  a.manifest.data[0].made_by = MadeBy{"etl", kCommitA, ""};
  b.manifest.data[0].sha256 = std::string(64, 'f');
  const Comparison comparison = Compare(a, b);
  ASSERT_FALSE(comparison.causes.empty());
  EXPECT_EQ(comparison.causes[0].code, "data_changed");
  EXPECT_THAT(comparison.causes[0].evidence,
              testing::Contains("it was made by etl at " + kCommitA + " in A"));
  EXPECT_THAT(comparison.causes[0].statement, Not(HasSubstr("transform")));
}

}  // namespace
}  // namespace rharness
