// The report as JSON and back: what round-trips and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "reports/model.h"
#include "reports/report_pieces.h"
#include "tests/reports/hostile.h"
#include "tests/reports/sample_report.h"

namespace rharness {
namespace {

Result<Report> Reparsed(const Report& report) {
  const Result<Json> json = ParseJson(ToJson(report).Dump(2), "report.json");
  if (!json.ok()) return json.error();
  return ParseReport(*json, "report.json");
}

// report.json of the sample with one piece of its text replaced.
Result<Report> ParsedWith(const std::string& from, const std::string& to) {
  std::string text = ToJson(SampleReport()).Dump();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  return ParseReport(*ParseJson(text, "report.json"), "report.json");
}

TEST(ReportJson, RoundTripsByteForByte) {
  const Result<Report> again = Reparsed(SampleReport());
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  EXPECT_EQ(ToJson(*again).Dump(), ToJson(SampleReport()).Dump());
}

// Written in pieces; `runs`: the text of each run.
std::string InPieces(const Report& report, std::vector<std::string>* runs) {
  std::string text;
  const Status status = WriteJson(
      report,
      [&](std::string_view piece) {
        text += piece;
        return Status();
      },
      [&](std::string_view one) { runs->emplace_back(one); });
  EXPECT_TRUE(status.ok());
  return text;
}

TEST(ReportJson, InPiecesIsTheTextOfTheWhole) {
  for (const Report& report : {EmptyReport(), LargeReport(1, 0), LargeReport(30, 3),
                               HostileReport("a\nb\",\n  \"runs\": []")}) {
    std::vector<std::string> runs;
    EXPECT_EQ(InPieces(report, &runs), ToJson(report).Dump(2) + "\n");
    const Json json = ToJson(report);
    const Json::Array& whole = json.Find("runs")->AsArray();
    ASSERT_EQ(runs.size(), whole.size());
    for (std::size_t i = 0; i < runs.size(); ++i) EXPECT_EQ(runs[i], whole[i].Dump());
  }
}

TEST(ReportJson, InPiecesHasALineForEachOfVeryManyRuns) {
  const Report report = LargeReport(static_cast<int>(kMostIndentedRuns) + 1, 0);
  std::vector<std::string> runs;
  const std::string text = InPieces(report, &runs);
  EXPECT_NE(text.find("\n    " + runs[1] + ",\n    " + runs[2]), std::string::npos);
  const auto again = ParseJson(text, "report.json");
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  EXPECT_EQ(again->Dump(), ToJson(report).Dump());
}

TEST(ReportJson, InPiecesEndsAtTheFirstPieceThatCannotBeWritten) {
  for (int fails = 0; fails < 6; ++fails) {
    int pieces = 0;
    const Status status = WriteJson(
        LargeReport(2, 0),
        [&](std::string_view) {
          return pieces++ == fails ? Status(IoError("full", "disk")) : Status();
        },
        [](std::string_view) {});
    EXPECT_FALSE(status.ok()) << fails;
    EXPECT_EQ(pieces, fails + 1);
  }
}

TEST(ReportJson, RoundTripsFieldsAndNotOnlyText) {
  Report report = SampleReport();
  ReportRun& run = report.runs[5];
  run.metrics[0].reruns = {std::numeric_limits<double>::quiet_NaN(), -0.0, 0.1 + 0.2,
                           std::numeric_limits<double>::infinity(), 5e-324};
  run.reruns[0].peak_memory_bytes = std::numeric_limits<std::uint64_t>::max();
  const Result<Report> again = Reparsed(report);
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  const ReportRun& read = again->runs[5];
  ASSERT_EQ(read.metrics[0].reruns.size(), 5U);
  EXPECT_TRUE(std::isnan(read.metrics[0].reruns[0]));
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(read.metrics[0].reruns[i]),
              std::bit_cast<std::uint64_t>(run.metrics[0].reruns[i]));
  }
  EXPECT_EQ(read.reruns[0].peak_memory_bytes, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(read.verdict, Verdict::kDrifted);
  EXPECT_EQ(read.layers[4].state, LayerState::kUnknown);
  EXPECT_EQ(read.recorded, run.recorded);
  const ExactComparison& exact = again->runs[2].exact[0];
  ASSERT_NE(exact.tensor, nullptr);
  EXPECT_EQ(exact.tensor->shape, (std::vector<std::uint64_t>{128, 784}));
  EXPECT_EQ(exact.tensor->dtype, DType::kF32);
}

TEST(ReportJson, TellsAbsentValuesFromEmptyOnes) {
  Report report = SampleReport();
  FactDifference& difference = report.runs[2].layers[2].differences[0];
  difference.recorded = std::nullopt;
  difference.observed = "";
  const Result<Report> again = Reparsed(report);
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(again->runs[2].layers[2].differences[0].recorded.has_value());
  EXPECT_EQ(again->runs[2].layers[2].differences[0].observed, "");
}

TEST(ReportJson, HasTheTopLevelOfItsContract) {
  const Json json = ToJson(SampleReport());
  EXPECT_EQ(json.AsObject().front().first, "schema");
  EXPECT_EQ(json.Find("schema")->AsString(), "rharness.report/v1");
  EXPECT_EQ(json.Find("exit_code")->ToInt64(), 1);
  EXPECT_EQ(json.Find("counts")->AsObject().size(), 7U);
  EXPECT_EQ(json.Find("counts")->Find("drifted")->ToInt64(), 3);
  const Json& run = json.Find("runs")->AsArray().front();
  for (const char* key : {"run_id", "family", "verdict", "reasons", "reruns"}) {
    EXPECT_NE(run.Find(key), nullptr) << key;
  }
}

TEST(ReportJson, RefusesNewerSchemasByName) {
  const Result<Report> report = ParsedWith("rharness.report/v1", "rharness.report/v2");
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().message.find("rharness.report/v2"), std::string::npos);
}

TEST(ReportJson, RefusesCountsThatTheRunsDoNotBear) {
  const Result<Report> report = ParsedWith("\"drifted\":3", "\"drifted\":0");
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(report.error().where, "report.json: $.counts");
  EXPECT_FALSE(ParsedWith("\"exit_code\":1", "\"exit_code\":0").ok());
  EXPECT_FALSE(ParsedWith("\"exit_code\":1", "\"exit_code\":77").ok());
}

TEST(ReportJson, ErrorsNameThePath) {
  const Result<Report> verdict =
      ParsedWith("\"verdict\":\"drifted\",\"declared\"", "\"verdict\":\"fine\",\"declared\"");
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(verdict.error().where, "report.json: $.runs[2].verdict");
  const Result<Report> runs = ParsedWith("\"runs\":[", "\"ruins\":[");
  ASSERT_FALSE(runs.ok());
  EXPECT_EQ(runs.error().where, "report.json: $.runs");
  const Result<Report> rerun = ParsedWith("\"state\":\"compared\"", "\"state\":\"lost\"");
  ASSERT_FALSE(rerun.ok());
  EXPECT_THAT(rerun.error().where, testing::EndsWith(".state"));
  EXPECT_EQ(rerun.error().message,
            "unknown name 'lost'; expected one of compared, not_comparable, failed, infra");
  const Result<Report> cause = ParsedWith("\"strength\":\"likely\"", "\"strength\":\"sure\"");
  ASSERT_FALSE(cause.ok());
  EXPECT_THAT(cause.error().where, testing::EndsWith(".strength"));
}

TEST(ReportJson, TakesACauseWithoutAStrengthForAPossibleOne) {
  const Result<Report> report = ParsedWith("\"strength\":\"likely\",", "");
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  std::vector<Strength> strengths;
  for (const ReportRun& run : report->runs) {
    for (const Cause& cause : run.causes) strengths.push_back(cause.strength);
  }
  EXPECT_THAT(strengths, testing::Contains(Strength::kPossible));
}

TEST(ReportJson, HostileTextSurvivesAsText) {
  for (const std::string& whole : HostileTexts()) {
    const std::string text = whole.substr(0, 10'000);  // it is in the report a thousand times
    const Result<Report> again = Reparsed(HostileReport(text));
    ASSERT_TRUE(again.ok()) << again.error().ToString();
    EXPECT_EQ(again->runs.size(), 12U);
    if (text.find_first_of("\xff\xed") == std::string::npos) {
      EXPECT_EQ(again->runs[0].headline, text);
    }
  }
}

TEST(ReportJson, KeepsTheLastSuccessOfItsHistory) {
  EXPECT_FALSE(Reparsed(SampleReport())->last_success.has_value());
  Report report = SampleReport();
  report.last_success = ParseTime("2026-11-19T02:00:00Z").value();
  EXPECT_EQ(Reparsed(report)->last_success, report.last_success);
}

TEST(Tally, CountsEveryVerdictAndTakesTheExitCode) {
  const Report empty = EmptyReport();
  EXPECT_EQ(empty.exit_code, 3);
  EXPECT_EQ(empty.counts.size(), 7U);
  EXPECT_EQ(empty.counts.at("identical"), 0);
  EXPECT_EQ(LargeReport(4, 0).exit_code, 0);
  EXPECT_EQ(SampleReport().exit_code, 1);
}

}  // namespace
}  // namespace rharness
