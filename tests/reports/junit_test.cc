// JUnit output: what each verdict becomes, and what XML forbids.
#include <gtest/gtest.h>

#include <pugixml.hpp>
#include <set>

#include "reports/model.h"
#include "tests/reports/hostile.h"
#include "tests/reports/sample_report.h"
#include "tests/reports/text_parts.h"

namespace rharness {
namespace {

// Parses, and fails on the character references that XML 1.0 forbids and pugixml lets through.
pugi::xml_document ParsedReport(const std::string& xml) {
  pugi::xml_document document;
  const pugi::xml_parse_result result = document.load_buffer(xml.data(), xml.size());
  EXPECT_TRUE(result) << result.description() << " at byte " << result.offset;
  for (std::size_t at = 0; (at = xml.find("&#", at)) != std::string::npos; ++at) {
    const int code = std::atoi(xml.c_str() + at + 2);
    EXPECT_TRUE(code == 9 || code == 10 || code >= 32) << xml.substr(at, 8);
  }
  for (const char c : xml) {
    EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') << int{c};
    if (testing::Test::HasFailure()) break;
  }
  return document;
}

pugi::xml_node ReportCaseOf(const pugi::xml_document& document, const char* name) {
  return document.first_child().first_child().find_child_by_attribute("testcase", "name", name);
}

TEST(Junit, MapsVerdictsToElementsWithTheReasonsInTheBody) {
  const pugi::xml_document document = ParsedReport(WriteJunit(DocumentOf(SampleReport())));
  const auto body = [&](const char* run, const char* element) {
    return std::string(ReportCaseOf(document, run).child(element).text().get());
  };
  const std::string drifted = body("digits-mlp/2026-08-14/seed-3", "failure");
  EXPECT_TRUE(drifted.starts_with("drifted: Declared bitwise"));
  EXPECT_NE(drifted.find("88,213 of 100,352"), std::string::npos);
  EXPECT_NE(drifted.find("driver.version: 580.65.06 → 590.12.01"), std::string::npos);
  EXPECT_NE(body("lm-small/2026-09-21/seed-2", "error").find("no kernel image"), std::string::npos);
  EXPECT_NE(body("vision-vit/2026-06-01/seed-1", "error"), "");
  EXPECT_NE(body("digits-cnn/2026-09-02/seed-11", "skipped"), "");
  EXPECT_NE(body("tabular-gbdt/2026-07-30", "skipped"), "");
  EXPECT_TRUE(ReportCaseOf(document, "order-stats/2026-10-01").child("failure").empty());
}

TEST(Junit, CountsWhatItHolds) {
  const pugi::xml_document document = ParsedReport(WriteJunit(DocumentOf(SampleReport())));
  for (const pugi::xml_node node :
       {document.child("testsuites"), document.child("testsuites").child("testsuite")}) {
    EXPECT_EQ(node.attribute("tests").as_int(), 12);
    EXPECT_EQ(node.attribute("failures").as_int(), 3);
    EXPECT_EQ(node.attribute("errors").as_int(), 2);
    EXPECT_EQ(node.attribute("skipped").as_int(), 2);
    EXPECT_STREQ(node.attribute("time").value(), "20493.650");
    EXPECT_STREQ(node.attribute("timestamp").value(), "2026-11-20T01:00:04");
  }
}

TEST(Junit, NamesAreTheFamilyAndTheRunAlone) {
  const pugi::xml_document document = ParsedReport(WriteJunit(DocumentOf(SampleReport())));
  const pugi::xml_node test = ReportCaseOf(document, "tabular-gbdt/2026-07-30");
  EXPECT_STREQ(test.attribute("classname").value(), "tabular-gbdt");
}

TEST(Junit, AnUndecidedDrillHasAFailingCaseOfItsOwn) {
  Report report = SampleReport();
  std::erase_if(report.runs, [](const ReportRun& run) {
    return run.verdict != Verdict::kInconclusive && run.verdict != Verdict::kIdentical;
  });
  Tally(&report);
  const pugi::xml_document document = ParsedReport(WriteJunit(DocumentOf(report)));
  EXPECT_EQ(document.child("testsuites").attribute("failures").as_int(), 1);
  EXPECT_NE(std::string(ReportCaseOf(document, "the drill reached a verdict on every run")
                            .child("failure")
                            .text()
                            .get())
                .find("could not be decided"),
            std::string::npos);
}

TEST(Junit, APassingDrillHasNoCaseOfItsOwn) {
  const pugi::xml_document document = ParsedReport(WriteJunit(DocumentOf(LargeReport(3, 0))));
  EXPECT_EQ(document.child("testsuites").attribute("tests").as_int(), 3);
  EXPECT_EQ(document.child("testsuites").attribute("failures").as_int(), 0);
}

TEST(Junit, AnEmptyDrillFails) {
  const std::string xml = WriteJunit(DocumentOf(EmptyReport()));
  const pugi::xml_document document = ParsedReport(xml);
  EXPECT_EQ(document.child("testsuites").attribute("failures").as_int(), 1);
  EXPECT_NE(xml.find("No runs were selected"), std::string::npos);
}

TEST(Junit, HostileTextStaysInsideItsElementAndNamesStayUnique) {
  for (const std::string& text : HostileTexts()) {
    const pugi::xml_document document = ParsedReport(WriteJunit(DocumentOf(HostileReport(text))));
    const pugi::xml_node suite = document.child("testsuites").child("testsuite");
    std::set<std::string> names;
    int cases = 0;
    for (const pugi::xml_node test : suite.children("testcase")) {
      ++cases;
      names.insert(test.attribute("name").value());
      for (const pugi::xml_node child : test.children()) {
        EXPECT_LE(std::string(child.text().get()).size(), 1'000'000U);
      }
    }
    EXPECT_EQ(cases, 12);
    EXPECT_EQ(names.size(), 12U);
  }
}

TEST(Junit, TwentyThousandRunsStayWithinTheLimitsOfTheViewers) {
  const std::string xml = WriteJunit(DocumentOf(LargeReport(20'000, 3)));
  EXPECT_LE(xml.size(), 20'000'000U);
  const pugi::xml_document document = ParsedReport(xml);
  const pugi::xml_node suite = document.child("testsuites").child("testsuite");
  EXPECT_EQ(suite.attribute("tests").as_int(), 10'000);
  EXPECT_EQ(suite.attribute("failures").as_int(), 6'667);  // all of them: the worst come first
  EXPECT_STREQ(suite.child("properties")
                   .find_child_by_attribute("name", "rharness.cases_left_out")
                   .attribute("value")
                   .value(),
               "10,000 cases, the least severe; see report.json");
}

TEST(Junit, CountsRunsForWhichNoFormatHasRoom) {
  const Report report = LargeReport(30'000, 3);
  const Document document = DocumentOf(report);
  std::size_t rows = 0;
  for (const DocumentSection& section : document.sections) rows += section.rows.size();
  EXPECT_LE(rows, 16'000U) << "the others would only take memory";
  EXPECT_TRUE(Contains(WriteJunit(document), "20,000 cases, the least severe; see report.json"));
  EXPECT_TRUE(Contains(WriteTerminal(document, 100, false),
                       "and 29,800 more (20,000 identical, 9,800 drifted), in report.json\n"));
  EXPECT_TRUE(Contains(WriteMarkdown(document), "more rows are in report.json"));
}

TEST(Junit, KeepsTheFirstRunOfEachVerdictWhereItsCountLeads) {
  Report report = LargeReport(21'000, 1);
  report.runs[7] = LargeReport(1, 0).runs[0];
  Tally(&report);
  const std::string page = WriteHtml(DocumentOf(report));
  EXPECT_LE(page.size(), 5'000'000U);
  EXPECT_TRUE(Contains(page, "id=\"first-identical\""));
}

}  // namespace
}  // namespace rharness
