// Whole-document formats, the choice of a reader, and what holds for every format.
#include "compare/curves/curve_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "harness/base/files.h"

namespace rharness {
namespace {

using Steps = std::vector<std::int64_t>;
using Values = std::vector<double>;

std::vector<CurveSeries> Parsed(std::string_view text) {
  auto curves = ParseCurves(text, "f");
  EXPECT_TRUE(curves.ok()) << curves.error().ToString();
  return curves.ok() ? *curves : std::vector<CurveSeries>();
}

std::string ErrorOf(std::string_view text) {
  const auto curves = ParseCurves(text, "f");
  if (curves.ok()) return "no error";
  EXPECT_EQ(curves.error().code, ErrorCode::kInvalidInput);
  return curves.error().ToString();
}

TEST(CurveFiles, ReadMegatronGoldenValuesInOrderOfStepsWithTheirPrintedPlace) {
  const auto curves = Parsed(R"({
    "lm loss": {"start_step": 1, "end_step": 10, "step_interval": 5,
                "values": {"1": 10.49689, "10": 10.5, "5": 10.48165}},
    "iteration-time": {"start_step": 1, "end_step": 5, "step_interval": 4,
                       "values": {"1": "nan", "5": 2071.0}}})");
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[0].name, "lm loss");
  EXPECT_EQ(curves[0].steps, (Steps{1, 5, 10}));
  EXPECT_EQ(curves[0].values, (Values{10.49689, 10.48165, 10.5}));
  EXPECT_EQ(curves[0].quantum, 1e-5);
  EXPECT_TRUE(std::isnan(curves[1].values[0]));
  EXPECT_EQ(curves[1].values[1], 2071.0);
  EXPECT_EQ(curves[1].quantum, 1.0);
}

TEST(CurveFiles, ReadMegatronGoldenValuesThatAreAnArray) {
  const auto curves = Parsed(
      R"({"lm loss": {"start_step": 0, "end_step": 15, "step_interval": 5, "values": [3, 2.5, 2]}})");
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_EQ(curves[0].steps, (Steps{0, 5, 10}));
  EXPECT_EQ(curves[0].values, (Values{3, 2.5, 2}));
}

TEST(CurveFiles, RefuseGoldenValuesWithThePathOfWhatIsWrong) {
  EXPECT_EQ(ErrorOf(R"({"a": {"values": {"1": 2, "01": 3}}})"),
            "f: $.a.values: step 1 of 'a' is there twice; steps must increase");
  EXPECT_EQ(ErrorOf(R"({"a": {"values": {"1.5": 2}}})"),
            "f: $.a.values.1.5: expected a step (an integer) as the key");
  EXPECT_EQ(ErrorOf(R"({"a": {"values": {"1": "fast"}}})"),
            "f: $.a.values.1: expected a number, null, \"nan\", \"inf\" or \"-inf\"");
  EXPECT_EQ(ErrorOf(R"({"a": {"start_step": 1, "values": [1]}})"),
            "f: $.a.step_interval: expected an integer from 1 to 274877906944");
  EXPECT_EQ(ErrorOf(R"({"a": {"values": {"1": 2}}, "b": {"start_step": 1}})"),
            "f: $.b.values: expected the values: an object by step, or an array with start_step "
            "and step_interval");
}

TEST(CurveFiles, PassOverMembersOfGoldenValuesThatAreNoObjects) {
  const auto curves = Parsed(
      R"({"lm loss": {"start_step": 0, "end_step": 5, "step_interval": 5, "values": [3, 2]},
          "iteration_timing_avg": 0.119, "note": "nightly", "mem": [1, 2]})");
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_EQ(curves[0].name, "lm loss");
}

TEST(CurveFiles, ReadTheHistoryOfATrainersState) {
  const auto curves = Parsed(R"({"best_metric": null, "global_step": 20, "log_history": [
    {"epoch": 0.5, "loss": 2.5, "step": 10}, {"epoch": 0.5, "eval_loss": 2.25, "step": 10},
    {"epoch": 1.0, "loss": NaN, "step": 20}, {"epoch": 0.5, "loss": 2.0, "step": 10},
    {"epoch": 1.0, "train_runtime": 3.5, "train_loss": 2.0, "step": 20}]})");
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[0].name, "eval_loss");
  EXPECT_EQ(curves[1].name, "loss");
  EXPECT_EQ(curves[1].steps, (Steps{10, 20}));
  EXPECT_EQ(curves[1].values[0], 2.0) << "of one step the later entry counts";
  EXPECT_TRUE(std::isnan(curves[1].values[1]));
  EXPECT_EQ(ErrorOf(R"({"log_history": [{"loss": 1}]})"),
            "f: $.log_history[0]: expected an object with an integer \"step\"");
}

TEST(CurveFiles, ReadTheCurvesThatARunWrote) {
  const auto curves = Parsed(R"({"metrics": {"acc": 0.5}, "curves": {
    "loss": {"steps": [0, 10, 20], "values": [2.30258509299404568, "nan", "-inf"]}}})");
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_EQ(curves[0].steps, (Steps{0, 10, 20}));
  EXPECT_EQ(curves[0].values[0], std::log(10.0));
  EXPECT_TRUE(std::isnan(curves[0].values[1]));
  EXPECT_EQ(curves[0].values[2], -HUGE_VAL);
  EXPECT_EQ(curves[0].quantum, 0.0);  // 16 digits and more: all that a double has
}

TEST(CurveFiles, RefuseRunCurvesWithThePathOfWhatIsWrong) {
  EXPECT_EQ(ErrorOf(R"({"curves": {"l": {"steps": [1, 3, 3], "values": [1, 2, 3]}}})"),
            "f: $.curves.l.steps[2]: step 3 of 'l' is there twice; steps must increase");
  EXPECT_EQ(ErrorOf(R"({"curves": {"l": {"steps": [5, 3], "values": [1, 2]}}})"),
            "f: $.curves.l.steps[1]: step 3 of 'l' comes after step 5; steps must increase");
  EXPECT_EQ(ErrorOf(R"({"curves": {"l": {"steps": [1, 2], "values": [1]}}})"),
            "f: $.curves.l: 2 steps and 1 values; expected as many of one as of the other");
  EXPECT_EQ(ErrorOf(R"({"curves": {"l": {"steps": [1.5], "values": [1]}}})"),
            "f: $.curves.l.steps[0]: expected an integer");
  EXPECT_EQ(ErrorOf(R"({"curves": {"l": {"steps": [1], "values": [true]}}})"),
            "f: $.curves.l.values[0]: expected a number, null, \"nan\", \"inf\" or \"-inf\"");
  EXPECT_EQ(ErrorOf(R"({"curves": {"l": [1, 2]}})"),
            "f: $.curves.l: expected {\"steps\": [integers], \"values\": [numbers]}");
  EXPECT_EQ(ErrorOf(R"({"curves": {}})"), "f: no curve; expected numbers by step");
}

TEST(CurveFiles, ReadPlainArraysByIndexAndPassOverWhatIsNone) {
  const auto curves = Parsed(R"({"name": "run 7", "loss": [2.5, null, 2.25], "tags": ["a", "b"]})");
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_EQ(curves[0].name, "loss");
  EXPECT_EQ(curves[0].steps, (Steps{0, 1, 2}));
  EXPECT_TRUE(std::isnan(curves[0].values[1]));
  EXPECT_EQ(curves[0].quantum, 0.01);
  EXPECT_EQ(ErrorOf(R"({"loss": [2.5, "x"]})"),
            "f: $.loss[1]: expected a number, null, \"nan\", \"inf\" or \"-inf\"");
}

TEST(CurveFiles, ReadOneNumberBesideArraysAndNameWhatIsNone) {
  std::vector<std::string> remarks;
  const auto curves =
      ParseCurves(R"({"name": "run 7", "loss": [2.5, 2.25], "accuracy": 0.5, "best": {"loss": 1}})",
                  "f", &remarks);
  ASSERT_TRUE(curves.ok());
  ASSERT_EQ(curves->size(), 2u);
  EXPECT_EQ((*curves)[1].name, "accuracy");
  EXPECT_EQ((*curves)[1].values, (Values{0.5}));
  EXPECT_EQ(remarks, std::vector<std::string>{"f: what is no number is not compared: 'best' "
                                              "(object), 'name' (text)"});
}

// Python's json module writes them so.
TEST(CurveFiles, ReadBareNanAndInfinityWithTrueByteOffsetsInErrors) {
  const auto curves = Parsed(R"({"loss": [NaN, -Infinity, Infinity, 1.5], "NaN": [0.5]})");
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_TRUE(std::isnan(curves[0].values[0]));
  EXPECT_EQ(curves[0].values[1], -HUGE_VAL);
  EXPECT_EQ(curves[0].values[2], HUGE_VAL);
  EXPECT_EQ(curves[1].name, "NaN");
  EXPECT_NE(ErrorOf(R"({"loss": [NaN, oops]})").find("f: byte 16"), std::string::npos)
      << ErrorOf(R"({"loss": [NaN, oops]})");
}

TEST(CurveFiles, AreKnownByTheirContent) {
  const auto format = [](std::string_view text) {
    const auto found = DetectCurveFormat(text);
    return found ? std::string(CurveFormatName(*found)) : "none";
  };
  EXPECT_EQ(format(R"({"lm loss": {"start_step": 1, "end)"), "Megatron golden values");
  EXPECT_EQ(format(R"({"metrics": {"a": 1}, "curves": {)"), "run metrics");
  EXPECT_EQ(format("  {\"loss\": [1.5, 2"), "JSON arrays");
  EXPECT_EQ(format(R"({"loss": 1, "step": 4})"), "JSON Lines");
  EXPECT_EQ(format("{\"note\": \"start\"}\n{\"step\": 1, \"loss\": 2}\n"), "JSON Lines");
  EXPECT_EQ(format("epoch,loss\n1,2.5\n"), "CSV");
  EXPECT_EQ(format("\"epoch\",\"a,b\"\n1,2.5"), "CSV");
  EXPECT_EQ(format("loss\n2.5\n"), "CSV");
  EXPECT_EQ(format("NCCL version 2\n0: :::MLLOG {\"key\": \"eval_accuracy\"}\n"), "MLPerf log");
  for (const char* other :
       {"", " \n", "{}", "[1, 2, 3]", "\"a text\"", "\"a\nb\"", "hello world\nsecond line\n",
        "1,2\n3,4\n", R"({"schema": "rharness-evidence/v1", "curves": {}})",
        R"({"weight_map": {"a": "b"}})", R"({"tags": ["a"]})", "a,b\n1\n"}) {
    EXPECT_EQ(format(other), "none") << other;
  }
}

TEST(CurveFiles, SayWhatTheyExpectedOfATextThatIsNone) {
  EXPECT_EQ(ErrorOf(""), "f: empty; expected curves as JSON, JSON Lines, CSV or an MLPerf log");
  EXPECT_EQ(ErrorOf("\xef\xbb\xbf\r\n"),
            "f: empty; expected curves as JSON, JSON Lines, CSV or an MLPerf log");
  EXPECT_TRUE(ErrorOf("\"{}\"").starts_with("f: expected curves: Megatron golden values"));
  EXPECT_TRUE(ErrorOf("{\"lm loss\": ").starts_with("f: byte 13: not valid JSON"))
      << ErrorOf("{\"lm loss\": ");
}

TEST(CurveFiles, RefuseMoreThanTheyWillHold) {
  std::string header = "step";
  std::string row = "1";
  for (int i = 0; i < 10'000; ++i) {
    header += fmt::format(",a{}", i);
    row += ",1";
  }
  EXPECT_EQ(ErrorOf(header + "\n" + row + "\n"), "f: line 1: more than 10000 columns");
  EXPECT_EQ(ErrorOf("{\"" + std::string(1025, 'x') + "\": [1]}"),
            "f: $." + std::string(40, 'x') +
                "...: the name of a curve has 1025 bytes; at most 1024 are read");
  std::string object = "{\"step\": 1";
  for (int i = 0; i <= 10'000; ++i) object += fmt::format(", \"a{}\": 1", i);
  EXPECT_EQ(ErrorOf(object + "}"), "f: line 1: more than 10000 curves");
}

TEST(CurveFiles, AreReadFromDiskUnderTheirName) {
  auto folder = ScopedTempDir::Make();
  ASSERT_TRUE(folder.ok());
  const auto path = folder->path() / "loss.csv";
  ASSERT_TRUE(WriteFileAtomic(path, "step,loss\n1,2.5\n2,bad\n").ok());
  const auto curves = LoadCurves(path);
  ASSERT_FALSE(curves.ok());
  EXPECT_EQ(curves.error().where, path.string() + ": line 3");
  EXPECT_EQ(LoadCurves(folder->path() / "none").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace rharness
