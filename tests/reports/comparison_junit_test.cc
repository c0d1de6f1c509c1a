// JUnit of comparisons: what each state becomes, its limits, and what XML forbids.
#include <gtest/gtest.h>

#include <pugixml.hpp>
#include <set>

#include "reports/comparison_report.h"
#include "tests/reports/hostile.h"
#include "tests/reports/sample_comparison.h"

namespace rharness {
namespace {

pugi::xml_document Parsed(const std::string& xml) {
  pugi::xml_document document;
  const pugi::xml_parse_result result = document.load_buffer(xml.data(), xml.size());
  EXPECT_TRUE(result) << result.description() << " at byte " << result.offset;
  return document;
}

pugi::xml_node CaseOf(const pugi::xml_document& document, const char* name) {
  return document.first_child().first_child().find_child_by_attribute("testcase", "name", name);
}

// The name of the element that says how a case ended; "" when there is no such case.
std::string ResultOf(const pugi::xml_document& document, const char* name) {
  return CaseOf(document, name).last_child().name();
}

std::string BodyOf(const pugi::xml_document& document, const char* name) {
  return CaseOf(document, name).last_child().text().get();
}

TEST(ComparisonJunit, ASingleComparisonHasOneCaseASubject) {
  const pugi::xml_document document = Parsed(WriteJunit(DocumentOf(RichComparison())));
  EXPECT_EQ(ResultOf(document, "verdict"), "failure");
  EXPECT_EQ(ResultOf(document, "layer data"), "skipped");
  EXPECT_EQ(ResultOf(document, "layer code"), "system-out");
  EXPECT_EQ(ResultOf(document, "layer environment"), "system-out");
  EXPECT_EQ(ResultOf(document, "weights model.safetensors"), "failure");
  EXPECT_EQ(ResultOf(document, "optimizer state"), "system-out");
  EXPECT_EQ(ResultOf(document, "curve lm loss"), "failure");
  EXPECT_EQ(ResultOf(document, "curve val loss"), "skipped");
  EXPECT_EQ(ResultOf(document, "curve grad norm"), "");
  EXPECT_EQ(ResultOf(document, "metric val_loss"), "failure");
  EXPECT_EQ(ResultOf(document, "metric tokens_per_second"), "system-out");
}

TEST(ComparisonJunit, BodiesHoldTheVerdictWithItsReasons) {
  const pugi::xml_document document = Parsed(WriteJunit(DocumentOf(RichComparison())));
  const std::string verdict = BodyOf(document, "verdict");
  EXPECT_TRUE(verdict.starts_with("drifted: lm loss leaves its band"));
  EXPECT_NE(verdict.find("confirm: rharness probe diff"), std::string::npos);
  EXPECT_NE(verdict.find("observed 37.4 times the band; limit 1"), std::string::npos);
  const std::string weights = BodyOf(document, "weights model.safetensors");
  EXPECT_NE(weights.find("model.layers.4.mlp.up_proj.weight: BF16 [1024, 64]"), std::string::npos);
  EXPECT_NE(weights.find("The 28 tensors that differ:"), std::string::npos);
  EXPECT_NE(BodyOf(document, "layer data").find("nothing was recorded"), std::string::npos);
}

TEST(ComparisonJunit, AFactThatExplainsFailsNothing) {
  ComparisonSet set = IdenticalComparison();
  LayerComparison& layer = set.comparisons[0].layers[2];
  layer.state = LayerState::kDiffers;
  layer.differences = {{Layer::kEnvironment, "driver", FactWeight::kContext, "1", "2"}};
  pugi::xml_document document = Parsed(WriteJunit(DocumentOf(set)));
  EXPECT_EQ(ResultOf(document, "layer environment"), "system-out");
  layer.differences[0].weight = FactWeight::kIdentity;
  document = Parsed(WriteJunit(DocumentOf(set)));
  EXPECT_EQ(ResultOf(document, "layer environment"), "skipped");
}

TEST(ComparisonJunit, NoFailingCaseAndNoSuccessIsOneFailingCaseMore) {
  pugi::xml_document document = Parsed(WriteJunit(DocumentOf(InconclusiveComparison())));
  EXPECT_EQ(ResultOf(document, "verdict"), "skipped");
  EXPECT_EQ(ResultOf(document, "the comparison reached a verdict"), "failure");
  document = Parsed(WriteJunit(DocumentOf(EmptyComparison())));
  EXPECT_EQ(ResultOf(document, "the comparison reached a verdict"), "failure");
  document = Parsed(WriteJunit(DocumentOf(IdenticalComparison())));
  EXPECT_EQ(ResultOf(document, "the comparison reached a verdict"), "");
  EXPECT_EQ(document.first_child().attribute("failures").as_int(), 0);
}

TEST(ComparisonJunit, ASetHasOneCaseAPair) {
  ComparisonSet set = PairsComparison(95);
  set.comparisons[60].verdict = Verdict::kFailed;
  set.comparisons[61].verdict = Verdict::kInfra;
  TallySample(&set);
  const pugi::xml_document document = Parsed(WriteJunit(DocumentOf(set)));
  const pugi::xml_node suites = document.first_child();
  EXPECT_EQ(suites.attribute("tests").as_int(), 95);
  EXPECT_EQ(suites.attribute("failures").as_int(), 2);
  EXPECT_EQ(suites.attribute("errors").as_int(), 2);
  EXPECT_EQ(suites.attribute("skipped").as_int(), 6);
  EXPECT_EQ(ResultOf(document, "gpt3-weekly-dgx-h100-40"), "failure");
  EXPECT_EQ(ResultOf(document, "gpt3-weekly-dgx-h100-60"), "error");
  EXPECT_EQ(ResultOf(document, "gpt3-weekly-dgx-h100-50"), "skipped");
}

TEST(ComparisonJunit, StaysWithinTheLimitsOfItsReaders) {
  ComparisonSet set = PairsComparison(12'000);
  for (Comparison& comparison : set.comparisons) comparison.headline = std::string(3'000, 'x');
  const std::string xml = WriteJunit(DocumentOf(set));
  EXPECT_LE(xml.size(), 20'000'000U);
  const pugi::xml_document document = Parsed(xml);
  EXPECT_LE(document.first_child().attribute("tests").as_int(), 10'000);
  EXPECT_NE(xml.find("2,000 cases, the least severe; see comparison.json"), std::string::npos);
  EXPECT_EQ(ResultOf(document, "gpt3-weekly-dgx-h100-41"), "failure");
}

TEST(ComparisonJunit, HostileTextKeepsItWellFormedWithUniqueNames) {
  for (const std::string& text : HostileTexts()) {
    for (const ComparisonSet& set : {HostileComparison(text), HostilePairs(text)}) {
      const std::string xml = WriteJunit(DocumentOf(set));
      const pugi::xml_document document = Parsed(xml);
      std::set<std::string> names;
      for (pugi::xml_node test : document.first_child().first_child().children("testcase")) {
        EXPECT_TRUE(names.insert(test.attribute("name").value()).second);
        EXPECT_LE(std::string(test.last_child().text().get()).size(), 100'000U);
      }
      for (const char c : xml) {
        ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') << int{c};
      }
    }
  }
}

}  // namespace
}  // namespace rharness
