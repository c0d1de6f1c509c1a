// Objectives as a page, on a terminal, as JSON and for Prometheus.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "reports/objectives_report.h"
#include "reports/schemas.h"
#include "reports/text.h"
#include "tests/reports/html_checker.h"
#include "tests/reports/schema_validator.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

ObjectivesReport Rich() {
  ObjectivesReport report{.version = "1",
                          .history = "runs.db",
                          .policy = "p.yaml",
                          .headline = "what it says",
                          .next = "what to do",
                          .exit_code = 1};
  FamilyObjectives family{.family = "a<b>\x1b[31m\"&",
                          .owner = "ada<script>",
                          .where = "p.yaml:3",
                          .good = 36,
                          .bad = 3,
                          .open = 1,
                          .rate = 36.0 / 39,
                          .rate_low = 0.79,
                          .rate_high = 0.97,
                          .worst_case = 0.9,
                          .budget_left = -0.5,
                          .checked_twice = 5,
                          .flipped = 1,
                          .flakes = {1, 20, 0.0089, 0.236},
                          .attested = {38, 40, 0.835, 0.986},
                          .runs = 40,
                          .oldest_days = 12.4,
                          .had = 3,
                          .gone = 1,
                          .reruns = 40,
                          .mean_seconds = 2.0,
                          .mean_ratio = 1.02,
                          .ratio_sd = 0.05,
                          .ratio_sd_low = 0.041,
                          .ratio_sd_high = 0.064,
                          .rollbacks = 4,
                          .rollbacks_held = 3,
                          .rollbacks_open = 1,
                          .rollback_rate = 0.75,
                          .rollback_low = 0.3,
                          .rollback_high = 0.95};
  family.alarms = {{.name = "fast",
                    .long_hours = 24,
                    .short_hours = 6,
                    .threshold = 2.8,
                    .long_burn = 4,
                    .short_burn = 5,
                    .long_checks = 9,
                    .page = true,
                    .fires = true}};
  family.checks = {{.name = "reproducible",
                    .limit = 0.95,
                    .value = 36.0 / 39,
                    .state = ObjectiveState::kBurning,
                    .words = "why <not>"},
                   {.name = "flaky",
                    .limit = 0.1,
                    .state = ObjectiveState::kUnknown,
                    .words = "no run was judged twice"}};
  report.families = {family, {.family = "plain", .runs = 2}};
  return report;
}

// The lines that begin so.
std::string LinesOf(const std::string& text, std::string_view start) {
  std::istringstream lines(text);
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(start)) found += line + "\n";
  }
  return found;
}

TEST(ObjectivesPage, IsWellFormedAndHasNoMarkupOfStrangers) {
  for (const ObjectivesReport& report : {Rich(), ObjectivesReport()}) {
    const std::string page = WriteHtml(DocumentOf(report));
    EXPECT_EQ(CheckHtml(page).error, "");
    EXPECT_THAT(page, Not(HasSubstr("<script")));
  }
  EXPECT_THAT(WriteHtml(DocumentOf(Rich())), HasSubstr("why &lt;not&gt;"));
  EXPECT_THAT(WriteHtml(DocumentOf(Rich())), HasSubstr("! burning"));
  EXPECT_THAT(WriteHtml(DocumentOf(Rich())), HasSubstr("50 % over"));
  EXPECT_THAT(WriteHtml(DocumentOf(Rich())), HasSubstr("38 of 40 (83.5 to 98.6 %)"));
  EXPECT_THAT(WriteHtml(DocumentOf(Rich())), HasSubstr("75 % of 4 (30 to 95), 1 open"));
}

TEST(ObjectivesTerminal, KeepsToItsColumnsAndEscapes) {
  for (const int columns : {40, 80, 200}) {
    const std::string text = WriteTerminal(DocumentOf(Rich()), columns, false);
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(ElideEnd(line, columns), line) << line;
      EXPECT_EQ(ElideEnd(line, columns), line) << "too wide at " << columns;
    }
  }
  const std::string text = WriteTerminal(DocumentOf(Rich()), 80, false);
  EXPECT_THAT(text, HasSubstr("92.31 % (79 to 97)"));
  EXPECT_THAT(text, HasSubstr("40 of 40"));
  EXPECT_THAT(text, HasSubstr("! burning  ada<script>  why <not>\n"));
  EXPECT_THAT(text, HasSubstr("Owner: ada<script>"));
  EXPECT_THAT(text, HasSubstr("? unknown  ada<script>  no run was judged twice\n"));
  const std::string wide = WriteTerminal(DocumentOf(Rich()), 400, false);
  EXPECT_THAT(wide, HasSubstr("flaky with nothing changed 1 of 20 (0.89 to 23.6 %); signed 38 of "
                              "40 (83.5 to 98.6 %); a rerun takes 1.02 times the recorded time "
                              "(standard deviation 0.05, which lies between 0.041 and 0.064)\n"));
}

TEST(ObjectivesTerminal, LeavesTheFactsOfAFamilyToThePageAndSaysSo) {
  const Document document = DocumentOf(Rich());
  const std::string text = WriteTerminal(document, 100, false);
  EXPECT_THAT(text, Not(HasSubstr("Checkpoints equal to the bit")));
  EXPECT_THAT(text, HasSubstr("plain"));
  EXPECT_THAT(text, HasSubstr("In the other formats, too: a<b>\"&; a<b>\"&: how fast"));
  for (const std::string& format : {WriteHtml(document), WriteMarkdown(document)}) {
    for (const char* part : {"Checkpoints equal to the bit", "how fast the budget goes", "p.yaml:3",
                             "4 and 5", "24 h and 6 h", "fires", "2 runs, over 28 days"}) {
      EXPECT_THAT(format, HasSubstr(part));
    }
  }
}

TEST(ObjectivesJunit, HasACaseAnObjective) {
  const std::string junit = WriteJunit(DocumentOf(Rich()));
  EXPECT_THAT(junit, HasSubstr("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"1\""));
  EXPECT_THAT(junit, HasSubstr("name=\"reproducible\""));
  EXPECT_THAT(junit, HasSubstr("why &lt;not&gt;"));
  ObjectivesReport unknown{.headline = "nothing to say", .exit_code = 3};
  EXPECT_THAT(WriteJunit(DocumentOf(unknown)), HasSubstr("failures=\"1\""));
}

TEST(ObjectivesPage, IsNotGreenWithoutAnObjective) {
  ObjectivesReport report{.version = "1", .headline = "1 family, and no objective for it."};
  report.families.push_back({.family = "a"});
  EXPECT_EQ(DocumentOf(report).tone, Verdict::kInfra);
}

TEST(ObjectivesSchema, DescribesExactlyWhatIsWritten) {
  const Json schema = ObjectivesSchema();
  for (const ObjectivesReport& report : {Rich(), ObjectivesReport()}) {
    Validator(schema).Check(ToJson(report), schema, "$");
  }
}

TEST(ObjectivesMetrics, AreOfAHundredFamiliesAndHaveNoLabelOfStrangersUnescaped) {
  ObjectivesReport report = Rich();
  const std::string text = WriteMetrics(report);
  EXPECT_THAT(text, HasSubstr("state=\"burning\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("alarm=\"fast\",severity=\"page\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("indicator=\"unchanged_flaky\",bound=\"high\"} 0.236\n"));
  EXPECT_THAT(text, HasSubstr("indicator=\"runtime_sd\",bound=\"low\"} 0.041\n"));
  EXPECT_THAT(text, HasSubstr("\\\"& #"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("rharness_slo_budget_left_ratio{history=\"runs.db\",family=\"plain\","
                              "owner=\"\"} NaN\n"));
  for (int i = 0; i < 300; ++i) {
    report.families.push_back({.family = "family-" + std::to_string(i)});
  }
  const std::string many = LinesOf(WriteMetrics(report), "rharness_slo_never_verified{");
  EXPECT_THAT(many, HasSubstr("family-97\""));
  EXPECT_THAT(many, Not(HasSubstr("family-98\"")));
}

// What is true of all must not be that of the worst hundred.
TEST(ObjectivesMetrics, HaveTheTotalsOfAllFamilies) {
  ObjectivesReport report{.history = "h"};
  const ObjectiveCheck missed{.name = "stale", .state = ObjectiveState::kMissed};
  const ObjectiveCheck met{.name = "stale", .state = ObjectiveState::kMet};
  for (int i = 0; i < 63; ++i) {
    report.families.push_back({.family = "bad-" + std::to_string(i), .bad = 1, .checks = {missed}});
  }
  for (int i = 0; i < 100; ++i) {
    report.families.push_back(
        {.family = "good-" + std::to_string(i), .good = 2, .open = 1, .checks = {met}});
  }
  report.families.push_back({.family = "idle", .oldest_days = 2.0});
  const std::string text = WriteMetrics(report);
  EXPECT_EQ(LinesOf(text, "rharness_slo_all_"),
            "rharness_slo_all_runs{history=\"h\",state=\"good\"} 200\n"
            "rharness_slo_all_runs{history=\"h\",state=\"bad\"} 63\n"
            "rharness_slo_all_runs{history=\"h\",state=\"open\"} 100\n"
            "rharness_slo_all_families{history=\"h\",state=\"met\"} 100\n"
            "rharness_slo_all_families{history=\"h\",state=\"missed\"} 63\n"
            "rharness_slo_all_families{history=\"h\",state=\"burning\"} 0\n"
            "rharness_slo_all_families{history=\"h\",state=\"unknown\"} 0\n"
            "rharness_slo_all_families{history=\"h\",state=\"none\"} 1\n"
            "rharness_slo_all_oldest_seconds{history=\"h\"} 172800\n");
}

// A family that comes among the first hundred must not seem to have violations since then.
TEST(ObjectivesMetrics, HaveViolationsOfFamiliesBeyondTheFirstHundredToo) {
  ObjectivesReport report{.history = "h"};
  for (int i = 0; i < 1500; ++i) {
    report.families.push_back({.family = "f" + std::to_string(i)});
    if (i == 1400) report.families.back().violations = 3;
  }
  const std::string text = LinesOf(WriteMetrics(report), "rharness_slo_determinism_violations{");
  EXPECT_THAT(text, HasSubstr("family=\"f1400\",owner=\"\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("family=\"f99\",owner=\"\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("family=\"f998\",owner=\"\"} 0\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1000);
}

// Prometheus takes one of two samples with the same labels.
TEST(ObjectivesMetrics, TellFamiliesApartWhoseNamesAreCut) {
  const std::string same(200, 'x');
  ObjectivesReport report{.history = "h"};
  for (const std::string& family : {same, same + "a", same + "b", std::string("\x1b"),
                                    std::string("\\x1b"), same + "a\x1b[0m"}) {
    report.families.push_back({.family = family});
  }
  std::istringstream lines(LinesOf(WriteMetrics(report), "rharness_slo_never_verified{"));
  std::set<std::string> different;
  for (std::string line; std::getline(lines, line);) {
    different.insert(line);
    EXPECT_LE(line.size(), 300U) << line;
  }
  EXPECT_EQ(different.size(), 6U);
}

}  // namespace
}  // namespace rharness
