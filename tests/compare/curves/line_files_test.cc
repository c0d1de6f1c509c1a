// Formats of one record a line: JSON Lines, CSV, MLPerf logs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "compare/curves/curve_files.h"
#include "compare/curves/printed_number.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using Steps = std::vector<std::int64_t>;
using Values = std::vector<double>;

std::vector<CurveSeries> ParsedLines(std::string_view text) {
  auto curves = ParseCurves(text, "f");
  EXPECT_TRUE(curves.ok()) << curves.error().ToString();
  return curves.ok() ? *curves : std::vector<CurveSeries>();
}

std::string LineErrorOf(std::string_view text) {
  const auto curves = ParseCurves(text, "f");
  if (curves.ok()) return "no error";
  EXPECT_EQ(curves.error().code, ErrorCode::kInvalidInput);
  return curves.error().ToString();
}

TEST(PrintedNumber, HasThePlaceOfItsLastDigit) {
  const auto place = [](std::string_view text) { return ParsePrinted(text)->place; };
  EXPECT_EQ(place("10.49689"), -5);
  EXPECT_EQ(place("10.50000"), -5);
  EXPECT_EQ(place("-3"), 0);
  EXPECT_EQ(place("1.25e-3"), -5);
  EXPECT_EQ(place("1.25E+07"), 5);
  EXPECT_EQ(place("0.000"), -3);
  EXPECT_EQ(place(" +7.5 "), -1);
  EXPECT_EQ(place("2.302585092994046"), kFullPrecision);
  EXPECT_EQ(place("0e-2147483648"), -308);
  EXPECT_EQ(PrintedOf(Json(1e5))->place, 0);
  EXPECT_EQ(PrintedOf(Json(0.1 + 0.2))->place, kFullPrecision);
  for (const char* none : {"", " ", "1.2.3", "0x10", "1,5", "--1", "+-1", "1e999", "abc", "1 2"}) {
    EXPECT_FALSE(ParsePrinted(none)) << none;
  }
}

TEST(StatedStep, IsThatColumnOrMember) {
  const auto read = [](std::string_view text, std::string_view step) {
    const auto curves = ParseCurves(text, "x", nullptr, step);
    if (!curves.ok()) return curves.error().ToString();
    std::string told;
    for (const CurveSeries& curve : *curves) {
      told += fmt::format("{}:{} ", curve.name, fmt::join(curve.steps, ","));
    }
    return told;
  };
  const std::string table = "tokens,step,loss\n100,1,2\n200,2,1\n";
  EXPECT_EQ(read(table, ""), "tokens:1,2 loss:1,2 ");
  EXPECT_EQ(read(table, "tokens"), "loss:100,200 ");
  EXPECT_EQ(read("tokens\tloss\n1e2\t2\n200.0\t1\n", "tokens"), "loss:100,200 ");
  EXPECT_THAT(read(table, "token"),
              testing::HasSubstr("x: line 1: no column 'token', which is stated as the step"));
  EXPECT_THAT(read("at,loss\n0.5,2\n", "at"), testing::HasSubstr("expected an integer"));
  const std::string lines =
      "{\"seen\": 100, \"step\": 1, \"loss\": 2}\n{\"seen\": 200, \"step\": 2, \"loss\": 1}\n"
      "{\"wall\": 3.5}\n";
  EXPECT_EQ(read(lines, ""), "seen:1,2 loss:1,2 ") << "in another order: sorted by the reader";
  EXPECT_EQ(read(lines, "seen"), "loss:100,200 ");
  EXPECT_THAT(read(lines, "sean"),
              testing::HasSubstr("no line has 'sean', which is stated as the step"));
  EXPECT_THAT(read("{\"n\": 1, \"loss\": 2}\n{\"loss\": 1}\n", "n"),
              testing::HasSubstr("'loss' without a step; expected 'n'"));
}

TEST(JsonLines, BecomeCurvesByTheirStep) {
  const auto curves = ParsedLines(
      "{\"step\": 1, \"loss\": 2.5, \"epoch\": 0.1, \"phase\": \"train\", \"done\": false}\r\n"
      "\r\n"
      "{\"step\": 2, \"loss\": NaN, \"lr\": 0.001}\r\n"
      "{\"step\": 2, \"eval_loss\": null}\n"
      "{\"step\": 3, \"loss\": \"inf\", \"eval_loss\": 2.75}\n"
      "{\"wall\": 3.5}");
  ASSERT_EQ(curves.size(), 3u);
  EXPECT_EQ(curves[0].name, "loss");
  EXPECT_EQ(curves[0].steps, (Steps{1, 2, 3}));
  EXPECT_EQ(curves[0].values[0], 2.5);
  EXPECT_TRUE(std::isnan(curves[0].values[1]));
  EXPECT_EQ(curves[0].values[2], HUGE_VAL);
  EXPECT_EQ(curves[1].name, "lr");
  EXPECT_EQ(curves[1].quantum, 1e-3);
  EXPECT_EQ(curves[2].name, "eval_loss");
  EXPECT_EQ(curves[2].steps, (Steps{3}));
}

TEST(JsonLines, TakeTheOtherNamesOfAStep) {
  for (const char* name : {"iteration", "global_step", "epoch"}) {
    const auto curves = ParsedLines(fmt::format("{{\"{}\": 7, \"loss\": 1}}\n", name));
    ASSERT_EQ(curves.size(), 1u) << name;
    EXPECT_EQ(curves[0].steps, (Steps{7})) << name;
  }
}

TEST(JsonLines, AreRefusedWithTheLine) {
  EXPECT_EQ(LineErrorOf("{\"step\": 1, \"loss\": 2}\n{\"step\": 1, \"loss\": 3}\n"),
            "f: line 2: step 1 of 'loss' is there twice; steps must increase");
  EXPECT_EQ(LineErrorOf("{\"step\": 9, \"loss\": 2}\n\n{\"step\": 5, \"loss\": 3}\n"),
            "f: line 3: step 5 of 'loss' comes after step 9; steps must increase");
  EXPECT_EQ(
      LineErrorOf("{\"step\": 1, \"loss\": 2}\n{\"loss\": 3}\n"),
      "f: line 2: 'loss' without a step; expected \"step\", \"iteration\", \"global_step\" or "
      "\"epoch\"");
  EXPECT_EQ(LineErrorOf("{\"step\": 1, \"loss\": 2}\n{\"step\": 2, \"loss\": \"low\"}\n"),
            "f: line 2: 'loss': expected a number, found string");
  EXPECT_EQ(LineErrorOf("{\"step\": 1, \"loss\": 2}\n{\"step\": 1.5, \"loss\": 3}\n"),
            "f: line 2: expected an integer as the step, found '1.5'");
  EXPECT_EQ(LineErrorOf("{\"step\": 1, \"loss\": 2}\n[1]\n"),
            "f: line 2: expected an object, found array");
  EXPECT_TRUE(
      LineErrorOf("{\"step\": 1, \"loss\": 2}\n{\"step\"\n").starts_with("f: line 2: byte "))
      << LineErrorOf("{\"step\": 1, \"loss\": 2}\n{\"step\"\n");
  EXPECT_EQ(LineErrorOf("{\"step\": 1}\n"), "f: no curve; expected numbers by step");
}

TEST(JsonLines, RefuseOneHugeLine) {
  const std::string huge((std::size_t{16} << 20) + 1, ' ');
  EXPECT_EQ(LineErrorOf("{\"step\": 1, \"loss\": 2}\n{" + huge + "}\n"),
            "f: line 2: a line of 16777219 bytes; at most 16777216 are read");
}

TEST(Csv, BecomesCurvesByItsStepColumn) {
  const auto curves = ParsedLines(
      "\xef\xbb\xbf\"step\",\"loss, train\",note,\"a \"\"b\"\"\",epoch\r\n"
      "10,2.50,warm,1,1\r\n"
      "20.0,,\"x, y\",nan,1\r\n"
      "30,1.5,1,\"-3\",2\r\n");
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[0].name, "loss, train");
  EXPECT_EQ(curves[0].steps, (Steps{10, 30}));
  EXPECT_EQ(curves[0].values, (Values{2.5, 1.5}));
  EXPECT_EQ(curves[0].quantum, 0.01);
  EXPECT_EQ(curves[1].name, "a \"b\"");
  EXPECT_EQ(curves[1].steps, (Steps{10, 20, 30}));
  EXPECT_TRUE(std::isnan(curves[1].values[1]));
}

// What was read of a text with its remarks, by name, with its last value.
std::string ReadWithRemarks(std::string_view text) {
  std::vector<std::string> remarks;
  const auto curves = ParseCurves(text, "f", &remarks);
  if (!curves.ok()) return curves.error().ToString();
  std::string told;
  for (const CurveSeries& curve : *curves) {
    told += fmt::format("{}={:g} ", curve.name, curve.values.back());
  }
  return told + fmt::format("{}", fmt::join(remarks, "; "));
}

TEST(Csv, NamesColumnsOfText) {
  EXPECT_EQ(ReadWithRemarks("step,loss,phase,note\n1,\"0.5\",warm,\n2,\"0.25\",main,1\n"),
            "loss=0.25 note=1 f: what is no number is not compared: 'phase' (text)");
  EXPECT_EQ(ReadWithRemarks("step,loss,val,phase\n1,0.5,x,none\n2,0.25,3,b\n"),
            "loss=0.25 f: what is no number is not compared: 'phase' (text), 'val' (text and "
            "numbers)");
  EXPECT_EQ(ReadWithRemarks("step,score\n1,12.50%\n2,13.75 %\n"), "score=13.75 ");
  EXPECT_EQ(ReadWithRemarks("step,loss,val\n1,0.5,-\n2,-,3\n3,0.25,-\n"), "loss=0.25 val=3 ");
}

TEST(JsonLines, NameWhatIsNoNumberAndReadAllThatIsOne) {
  EXPECT_EQ(ReadWithRemarks(R"({"step": 1, "loss": "0.5", "best": true, "phase": "a", "b": [1]}
                               {"step": 2, "loss": "0.25", "best": false, "phase": "7", "b": []})"),
            "loss=0.25 f: what is no number is not compared: 'b' (array), 'best' (boolean), "
            "'phase' (text)");
  EXPECT_EQ(ReadWithRemarks(R"({"step": 1, "train": {"loss": 2, "by": {"head": 3}}, "id": "7"}
                               {"step": 2, "train": {"loss": 1, "by": {"head": 4}}, "id": "a7"})"),
            "train/loss=1 train/by/head=4 f: what is no number is not compared: 'id' (text)");
  EXPECT_EQ(ReadWithRemarks("{\"step\": 1, \"a\": \"\", \"b\": 1}\n{\"step\": 2, \"a\": 3}\n"),
            "b=1 a=3 ");
  EXPECT_EQ(ReadWithRemarks("{\"step\": 1, \"a\": \"x\"}\n"),
            "f: no curve; expected numbers by step, found 'a' (text)");
  EXPECT_EQ(ReadWithRemarks("{\"step\": \"7\", \"a\": 1}\n{\"step\": \"8.0\", \"a\": 2}\n"),
            "a=2 ");
  EXPECT_EQ(ReadWithRemarks("{\"step\": [7], \"a\": 1}\n{\"step\": 8, \"a\": 2}\n"),
            "f: line 1: expected an integer as the step, found array");
}

// As YOLOv5 and YOLOv8 write results.csv.
TEST(Csv, LeavesOutTheBlanksThatPadCells) {
  const auto curves = ParsedLines(
      "               epoch,      train/box_loss,  note\n"
      "                   0,            0.054321,  warm up\n"
      "                   1,                 nan,  \n");
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_EQ(curves[0].name, "train/box_loss");
  EXPECT_EQ(curves[0].steps, (Steps{0, 1}));
  EXPECT_EQ(curves[0].values[0], 0.054321);
}

// As write.csv2 of R, and spreadsheets where the comma is the decimal mark.
TEST(Csv, IsReadWithSemicolonsAndDecimalCommas) {
  EXPECT_EQ(ReadWithRemarks("\"step\";\"loss, all\";phase\n1,0;2,5;warm, up\n2,0;-1,25e-1;v1.2\n"),
            "loss, all=-0.125 f: what is no number is not compared: 'phase' (text)");
  EXPECT_EQ(ReadWithRemarks("loss;rate\n0,5;12,5 %\n0,25;7\n"), "loss=0.25 rate=7 ");
  EXPECT_EQ(ReadWithRemarks("step;loss;note\n1;0.5;a,b\n2;0.25;c\n"),
            "loss=0.25 f: what is no number is not compared: 'note' (text)");
  EXPECT_EQ(ReadWithRemarks("step,loss;raw,acc\n1,0.5,7\n"), "loss;raw=0.5 acc=7 ");
  const auto curves = ParsedLines("step;loss\n1;0,50\n");
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_EQ(curves[0].quantum, 0.01);
  EXPECT_EQ(LineErrorOf("step;loss;acc\n1;1,234;7\n2;2;0.5\n"),
            "f: line 3: '0.5', but '1,234' at line 2; expected one kind of decimal mark");
  EXPECT_EQ(LineErrorOf("step;loss\n1;2,5\n2;1.234,5\n"),
            "f: line 3: 'loss': expected a number, found '1.234,5'");
  EXPECT_EQ(LineErrorOf("step;loss\n1;2,5\n2;1,2,3\n"),
            "f: line 3: 'loss': expected a number, found '1,2,3'");
  EXPECT_EQ(LineErrorOf("step;loss\n1;2,5\n2;1;5\n"), "f: line 3: 3 cells; the header has 2");
}

TEST(Csv, CountsLinesWhereThereIsNoStep) {
  const auto curves = ParsedLines("loss\n2.5\n2.25\n");
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_EQ(curves[0].steps, (Steps{2, 3}));
}

TEST(Csv, IsRefusedWithTheLine) {
  EXPECT_EQ(LineErrorOf("step,loss\n1,2\n1,3\n"),
            "f: line 3: step 1 of 'loss' is there twice; steps must increase");
  EXPECT_EQ(LineErrorOf("step,loss\n1,2\n2,3,4\n"), "f: line 3: 3 cells; the header has 2");
  EXPECT_EQ(LineErrorOf("step,loss\n1,2\n2,high\n"),
            "f: line 3: 'loss': expected a number, found 'high'");
  EXPECT_EQ(LineErrorOf("step,loss\n1,2\ntwo,3\n"),
            "f: line 3: expected an integer as the step, found 'two'");
  EXPECT_EQ(LineErrorOf("step,loss,loss\n1,2,3\n"), "f: line 1: two columns 'loss'");
  EXPECT_EQ(LineErrorOf("step,loss\n1,2\n2,\"3\n"),
            "f: line 3: expected cells with quotes closed on their line and nothing after them but "
            "a separator");
  EXPECT_EQ(LineErrorOf("step,loss\n1,2\n2,1e999\n"),
            "f: line 3: 'loss': expected a number, found '1e999'");
  EXPECT_EQ(LineErrorOf("step,note\n1,a\n"),
            "f: no curve; expected numbers by step, found 'note' (text)");
}

TEST(Csv, RefusesOneHugeLine) {
  EXPECT_EQ(LineErrorOf("step,loss\n1,2\n2," + std::string(std::size_t{16} << 20, '1') + "\n"),
            "f: line 3: a line of 16777218 bytes; at most 16777216 are read");
}

constexpr std::string_view kMllog =
    "srun: job 7\n"
    ":::MLLOG {\"key\": \"run_start\", \"value\": null, \"metadata\": {\"lineno\": 1}}\n"
    "0: :::MLLOG {\"key\": \"eval_accuracy\", \"value\": 5.703125, \"metadata\": "
    "{\"epoch_num\": 12, \"samples_count\": 12256}}\n"
    "0: :::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"throughput\": 24.5}, \"metadata\": "
    "{\"step\": 12288}}\n"
    "0: :::MLLOG {\"key\": \"eval_accuracy\", \"value\": 4.25, \"metadata\": "
    "{\"epoch_num\": 24, \"samples_count\": 24512}}\n";

TEST(Mllog, BecomesCurvesBySamplesOrEpochs) {
  const auto curves = ParsedLines(kMllog);
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[0].name, "eval_accuracy");
  EXPECT_EQ(curves[0].steps, (Steps{12256, 24512}));
  EXPECT_EQ(curves[0].values, (Values{5.703125, 4.25}));
  EXPECT_EQ(curves[1].name, "throughput");
  EXPECT_EQ(curves[1].steps, (Steps{12288}));
}

TEST(Mllog, IsRefusedWithTheLine) {
  const std::string log(kMllog);
  EXPECT_EQ(LineErrorOf(log + ":::MLLOG {\"key\": \"eval_accuracy\", \"value\": 4, \"metadata\": "
                              "{\"samples_count\": 24511}}\n"),
            "f: line 6: step 24511 of 'eval_accuracy' comes after step 24512; steps must increase");
  EXPECT_EQ(LineErrorOf(log + ":::MLLOG {\"key\": \"eval_accuracy\", \"value\": 4, \"metadata\": "
                              "{\"epoch_num\": 3}}\n"),
            "f: line 6: 'eval_accuracy': expected a number of at most 1e+12 as "
            "metadata.samples_count");
  EXPECT_EQ(LineErrorOf(log + ":::MLLOG {\"value\": 4}\n"),
            "f: line 6: expected an object with \"key\" (a string) and \"value\"");
  EXPECT_TRUE(LineErrorOf(log + ":::MLLOG {\"key\": \n").starts_with("f: line 6: byte "));
}

std::string EpochLine(std::string_view epoch, double value) {
  return fmt::format(
      ":::MLLOG {{\"key\": \"eval_accuracy\", \"value\": {}, \"metadata\": {{\"epoch_num\": "
      "{}}}}}\n",
      value, epoch);
}

TEST(Mllog, FractionsOfAnEpochAreToldApart) {
  const auto curves = ParsedLines(EpochLine("0.05", 0.25) + EpochLine("0.1", 0.5) +
                                  EpochLine("0.1004", 0.625) + EpochLine("1", 0.75));
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_EQ(curves[0].name, "eval_accuracy, by millionths of epoch_num");
  EXPECT_EQ(curves[0].steps, (Steps{50'000, 100'000, 100'400, 1'000'000}));
  EXPECT_EQ(curves[0].values, (Values{0.25, 0.5, 0.625, 0.75}));
}

TEST(Mllog, ASecondEvaluationAtOneEpochIsOfASecondCurve) {
  const auto curves = ParsedLines(EpochLine("1", 0.25) + EpochLine("1", 0.5) + EpochLine("1", 0.5) +
                                  EpochLine("2", 0.75));
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[0].name, "eval_accuracy");
  EXPECT_EQ(curves[0].steps, (Steps{1, 2}));
  EXPECT_EQ(curves[0].values, (Values{0.25, 0.75}));
  EXPECT_EQ(curves[1].name, "eval_accuracy #2");
  EXPECT_EQ(curves[1].steps, (Steps{1}));
  EXPECT_EQ(curves[1].values, (Values{0.5}));
}

TEST(Mllog, OfPublishedResultsIsRead) {
  const char* folder = std::getenv("RHARNESS_SHARED_DATA");
  const fs::path root =
      (folder != nullptr ? fs::path(folder) : fs::path(RHARNESS_SOURCE_DIR) / "../shared/data") /
      "mlperf-v5.1";
  if (!fs::is_directory(root)) {
    GTEST_SKIP() << "no published logs in " << root << "; set RHARNESS_SHARED_DATA";
  }
  int logs = 0;
  std::size_t evaluations = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".txt") continue;
    const auto text = ReadFile(entry.path());
    ASSERT_TRUE(text.ok()) << text.error().ToString();
    EXPECT_EQ(DetectCurveFormat(text->substr(0, 4096)), CurveFormat::kMllog) << entry.path();
    const auto curves = ParseCurves(*text, entry.path().string());
    ASSERT_TRUE(curves.ok()) << curves.error().ToString();
    ++logs;
    for (const CurveSeries& curve : *curves) {
      if (curve.name == "eval_accuracy") evaluations += curve.steps.size();
    }
  }
  EXPECT_EQ(logs, 55);
  EXPECT_EQ(evaluations, 539u);  // counted with grep
}

}  // namespace
}  // namespace rharness
