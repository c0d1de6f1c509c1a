// Reading one MLPerf log: what it says, and what it may not say.
#include "compare/results/mllog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>

#include "tests/compare/results/result_log.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::string ErrorOf(const std::string& log) {
  const auto run = ParseMllog(log, "log.txt");
  return run.ok() ? "accepted" : run.error().ToString();
}

TEST(Mllog, ReadsConfigurationEvaluationsAndEnd) {
  const MllogRun run = MakeRun({.seed = 42});
  EXPECT_EQ(run.benchmark, "retinanet");
  EXPECT_EQ(run.organisation, "Org");
  EXPECT_EQ(run.platform, "Box");
  EXPECT_EQ(run.global_batch_size, 256);
  EXPECT_THAT(run.seeds, ElementsAre("42"));
  EXPECT_THAT(run.hyperparameters, ElementsAre(Pair("opt_base_learning_rate", "0.0001")));
  EXPECT_THAT(run.context, ElementsAre(Pair("gradient_accumulation_steps", "1")));
  ASSERT_EQ(run.curves.size(), 1u);
  EXPECT_EQ(run.curves[0].name, "eval_accuracy");
  ASSERT_EQ(run.curves[0].evaluations.size(), 3u);
  EXPECT_EQ(run.curves[0].evaluations[1].position, 2.0);
  EXPECT_EQ(run.curves[0].evaluations[1].value, 0.3);
  EXPECT_EQ(run.curves[0].evaluations[1].line, 11);
  EXPECT_EQ(run.status, MllogStatus::kSuccess);
  EXPECT_EQ(run.converged_at, 3.0);
  EXPECT_EQ(run.run_seconds, 600.0);
  EXPECT_TRUE(run.missing.empty());
}

TEST(Mllog, CountsSamplesWhereTheRulesOfTheBenchmarkDo) {
  LogSpec spec{.benchmark = "llama31_8b", .position_key = "samples_count"};
  spec.evaluations = {{12256, 5.6}, {24544, 3.2}};
  const MllogRun run = MakeRun(spec);
  EXPECT_EQ(run.unit, ConvergenceUnit::kSamples);
  EXPECT_EQ(run.converged_at, 24544.0);
  spec.position_key = "epoch_num";
  EXPECT_THAT(ErrorOf(WriteLog(spec)),
              HasSubstr("log.txt: line 10: eval_accuracy: no metadata.samples_count"));
}

TEST(Mllog, TakesSeveralAccuraciesOfOneEvaluationByName) {
  std::string log = WriteLog({.benchmark = "maskrcnn", .evaluations = {}, .status = ""});
  log += EvalLine(1, R"({"BBOX": 0.36, "SEGM": 0.33})");
  log += EvalLine(2, R"({"BBOX": 0.378, "SEGM": 0.343, "note": "best"})");
  log += LogLine("run_stop", "null", R"({"status": "success"})", 660'000);
  const auto run = ParseMllog(log, "log.txt");
  ASSERT_TRUE(run.ok()) << run.error().ToString();
  ASSERT_EQ(run->curves.size(), 2u);
  EXPECT_EQ(run->curves[0].name, "eval_accuracy/BBOX");
  EXPECT_EQ(run->curves[1].evaluations[1].value, 0.343);
  EXPECT_EQ(run->converged_at, 2.0);
  EXPECT_THAT(ErrorOf(log + ""), "accepted");
  const std::string none =
      WriteLog({.evaluations = {}, .status = ""}) + EvalLine(1, R"({"a": "b"})");
  EXPECT_THAT(ErrorOf(none),
              HasSubstr("eval_accuracy: expected a number, or an object of numbers"));
}

TEST(Mllog, TakesTheTrainingBatchWhereNoGlobalOneIsLogged) {
  std::string log = WriteLog({});
  const std::string global = LogLine("global_batch_size", "256");
  const auto at = log.find(global);
  ASSERT_NE(at, log.npos);
  EXPECT_EQ(ParseMllog(log + LogLine("train_batch_size", "9"), "f")->global_batch_size, 256);
  log.replace(at, global.size(), LogLine("train_batch_size", "4096"));
  EXPECT_EQ(ParseMllog(log, "f")->global_batch_size, 4096);
  log.replace(log.find("4096"), 4, "-4");
  EXPECT_THAT(ErrorOf(log), HasSubstr("no global_batch_size"));
}

TEST(Mllog, TakesASeedOfEachRank) {
  std::string log = WriteLog({.seed = 0});
  for (int rank = 1; rank < 1500; ++rank) log += LogLine("seed", fmt::format("{}", rank));
  const auto run = ParseMllog(log, "f");
  ASSERT_TRUE(run.ok()) << run.error().ToString();
  EXPECT_EQ(run->seeds.size(), 1500u);
}

TEST(Mllog, TakesTimesInSeconds) {
  std::string log = WriteLog({});
  for (auto at = log.find("\"time_ms\": 60000"); at != log.npos;
       at = log.find("\"time_ms\": 60000")) {
    log.replace(at, 16, "\"time_s\": 60.25");
  }
  EXPECT_EQ(ParseMllog(log, "f")->run_seconds, 599.75);
}

TEST(Mllog, KeepsFractionsOfEpochsAndSamplesAsTheyAreLogged) {
  LogSpec spec;
  spec.evaluations = {{0.0502, 0.1}, {0.0504, 0.2}, {0.80005, 0.3}};
  const MllogRun run = MakeRun(spec);
  ASSERT_EQ(run.curves[0].evaluations.size(), 3u) << "0.050 twice, were they rounded";
  EXPECT_EQ(run.curves[0].evaluations[0].position, 0.0502);
  EXPECT_EQ(run.curves[0].evaluations[1].position, 0.0504);
  EXPECT_EQ(run.converged_at, 0.80005);
  spec.benchmark = "llama31_8b";
  spec.position_key = "samples_count";
  spec.evaluations = {{12288.5, 5.6}, {24576.25, 3.2}};
  EXPECT_EQ(MakeRun(spec).converged_at, 24576.25);
}

TEST(Mllog, ASecondEvaluationAtOneEpochIsOfASecondCurve) {
  const auto run = ParseMllog(WriteLog({.evaluations = {{1, 0.25}}, .status = ""}) +
                                  EvalLine(1, "0.5") + EvalLine(1, "0.25") + EvalLine(2, "0.75"),
                              "log.txt");
  ASSERT_TRUE(run.ok()) << run.error().ToString();
  ASSERT_EQ(run->curves.size(), 2u);
  EXPECT_EQ(run->curves[0].name, "eval_accuracy");
  ASSERT_EQ(run->curves[0].evaluations.size(), 2u);
  EXPECT_EQ(run->curves[0].evaluations[0].value, 0.25);
  EXPECT_EQ(run->curves[0].evaluations[1].value, 0.75);
  EXPECT_EQ(run->curves[1].name, "eval_accuracy #2");
  ASSERT_EQ(run->curves[1].evaluations.size(), 1u);
  EXPECT_EQ(run->curves[1].evaluations[0].value, 0.5);
  std::string many = WriteLog({.status = ""});
  for (int i = 0; i < 17; ++i) many += EvalLine(9, fmt::format("0.{}", i + 10));
  EXPECT_THAT(ErrorOf(many), HasSubstr("line 29: eval_accuracy: more than 16 evaluations at 9"));
}

TEST(Mllog, TakesTheLastTokenOfALineAndIgnoresOtherLines) {
  const std::string log = "noise \xff\xfe without the token\n0: :::MLLOG {broken " +
                          LogLine("seed", "7") + WriteLog({.seed = 7});
  EXPECT_EQ(ErrorOf(log), "accepted");
}

TEST(Mllog, EvaluationsAfterTheEndDoNotCount) {
  const std::string log = WriteLog({}) + EvalLine(9, "0.9");
  const auto run = ParseMllog(log, "log.txt");
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->converged_at, 3.0);
  EXPECT_EQ(run->curves[0].evaluations.size(), 3u);
}

TEST(Mllog, RunsThatDoNotReachTheTargetAreCensored) {
  const MllogRun aborted = MakeRun({.status = "aborted"});
  EXPECT_EQ(aborted.status, MllogStatus::kAborted);
  EXPECT_FALSE(aborted.converged_at.has_value());
  const MllogRun killed = MakeRun({.status = ""});
  EXPECT_EQ(killed.status, MllogStatus::kIncomplete);
  EXPECT_FALSE(killed.converged_at.has_value());
  EXPECT_THAT(killed.missing, ElementsAre("run_stop"));
}

TEST(Mllog, KeepsNonFiniteEvaluationsAsTheyAreWrittenByPython) {
  const std::string log = WriteLog({.evaluations = {{1, 0.2}}, .status = ""}) + EvalLine(2, "NaN") +
                          EvalLine(3, "-Infinity") + EvalLine(4, "Infinity") +
                          LogLine("note", "\"NaN and \\\" Infinity stay words in strings\"");
  const auto run = ParseMllog(log, "log.txt");
  ASSERT_TRUE(run.ok()) << run.error().ToString();
  const auto& evaluations = run->curves[0].evaluations;
  ASSERT_EQ(evaluations.size(), 4u);
  EXPECT_TRUE(std::isnan(evaluations[1].value));
  EXPECT_EQ(evaluations[2].value, -HUGE_VAL);
  EXPECT_EQ(evaluations[3].value, HUGE_VAL);
}

TEST(Mllog, SpellsEqualNumbersAlike) {
  EXPECT_EQ(MakeRun({.learning_rate = "1.0"}).hyperparameters,
            MakeRun({.learning_rate = "1"}).hyperparameters);
  EXPECT_EQ(MakeRun({.learning_rate = "8.5e-05"}).hyperparameters,
            MakeRun({.learning_rate = "0.000085"}).hyperparameters);
}

TEST(Mllog, StableDiffusionConvergesWhereBothMetricsPassFirst) {
  const auto eval = [](int samples, std::string_view metric, double value) {
    return LogLine("eval_error", fmt::format("{}", value),
                   fmt::format("{{\"samples_count\": {}, \"metric\": \"{}\"}}", samples, metric));
  };
  const std::string start =
      WriteLog({.benchmark = "stable_diffusion", .evaluations = {}, .status = ""});
  const std::string stop = LogLine("run_stop", "null", "{\"status\": \"success\"}");
  const std::string evals = eval(512, "FID", 95) + eval(1024, "FID", 90) + eval(512, "CLIP", 0.2) +
                            eval(1536, "FID", 80) + eval(1536, "CLIP", 0.15) +
                            eval(1024, "CLIP", 0.1);
  const auto run = ParseMllog(start + evals + stop, "log.txt");
  ASSERT_TRUE(run.ok()) << run.error().ToString();
  EXPECT_EQ(run->converged_at, 1536.0);
  ASSERT_EQ(run->curves.size(), 2u);
  EXPECT_EQ(run->curves[0].name, "eval_error/CLIP");
  EXPECT_EQ(run->curves[0].evaluations.size(), 3u) << "sorted, though logged out of order";
  EXPECT_THAT(ErrorOf(start + eval(512, "FID", 95) + stop), HasSubstr("FID and CLIP"));
  // The checker keeps the last of two.
  const auto again =
      ParseMllog(start + eval(512, "FID", 80) + eval(512, "CLIP", 0.2) + eval(512, "FID", 95) +
                     eval(1024, "CLIP", 0.2) + eval(1024, "FID", 80) + stop,
                 "log.txt");
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  EXPECT_EQ(again->converged_at, 1024.0);
}

TEST(Mllog, StableDiffusionCountsStepsWhereItsLogHasNothingElse) {
  const auto eval = [](std::string_view metric, double value, std::string_view position) {
    return LogLine("eval_error", fmt::format("{}", value),
                   fmt::format("{{{}, \"metric\": \"{}\"}}", position, metric));
  };
  const std::string start =
      WriteLog({.benchmark = "stable_diffusion", .evaluations = {}, .status = ""});
  const std::string stop = LogLine("run_stop", "null", "{\"status\": \"success\"}");
  const std::string_view step = "\"step_num\": 5000";
  const std::string_view both = "\"step_num\": 5000, \"samples_count\": 2560000";
  const auto steps =
      ParseMllog(start + eval("FID", 80, step) + eval("CLIP", 0.2, step) + stop, "log.txt");
  ASSERT_TRUE(steps.ok()) << steps.error().ToString();
  EXPECT_EQ(steps->unit, ConvergenceUnit::kSteps);
  EXPECT_EQ(steps->converged_at, 5000.0);
  EXPECT_EQ(steps->converged_at_step, 5000.0);
  const auto samples =
      ParseMllog(start + eval("FID", 80, both) + eval("CLIP", 0.2, both) + stop, "log.txt");
  ASSERT_TRUE(samples.ok()) << samples.error().ToString();
  EXPECT_EQ(samples->unit, ConvergenceUnit::kSamples);
  EXPECT_EQ(samples->converged_at, 2560000.0);
  EXPECT_EQ(samples->converged_at_step, 5000.0);
}

TEST(Mllog, NamesEveryMissingRequiredKey) {
  EXPECT_THAT(ErrorOf("nothing here\n"),
              HasSubstr("no submission_benchmark, no global_batch_size, no run_start"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("not an MLPerf result"));
}

TEST(Mllog, ListsKeysThatAResultShouldHave) {
  const auto run = ParseMllog(LogLine("submission_benchmark", "\"ssd\"") +
                                  LogLine("global_batch_size", "8") + LogLine("run_start", "null"),
                              "log.txt");
  ASSERT_TRUE(run.ok()) << run.error().ToString();
  EXPECT_THAT(run->missing, ElementsAre("seed", "submission_org", "submission_platform", "opt_*",
                                        "run_stop", "eval_accuracy or eval_error"));
}

TEST(Mllog, RefusesTwoRunsInOneFile) {
  EXPECT_THAT(ErrorOf(WriteLog({}) + WriteLog({})),
              HasSubstr("log.txt: line 22: a second run_start"));
  EXPECT_THAT(ErrorOf(WriteLog({}) + LogLine("run_stop", "null", "{\"status\": \"success\"}")),
              HasSubstr("a second run_stop"));
}

TEST(Mllog, RefusesAFileThatContradictsItself) {
  const std::string log = WriteLog({.status = ""});
  EXPECT_THAT(ErrorOf(log + LogLine("global_batch_size", "512")),
              HasSubstr("line 13: global_batch_size is 512 here and was 256 before"));
  EXPECT_THAT(ErrorOf(log + LogLine("opt_base_learning_rate", "0.1")), HasSubstr("another value"));
  EXPECT_THAT(ErrorOf(log + LogLine("submission_benchmark", "\"bert\"")), HasSubstr("line 13"));
}

TEST(Mllog, RefusesValuesThatCannotBe) {
  const std::string log = WriteLog({.status = ""});
  for (const std::string_view size : {"0", "-8", "1.5", "1000000000", "1e300", "\"x\"", "null"}) {
    EXPECT_THAT(ErrorOf(LogLine("global_batch_size", size)), HasSubstr("line 1: global_batch_size"))
        << size;
  }
  for (const std::string_view position : {"-1", "NaN", "Infinity", "1e16", "\"x\"", "[1]"}) {
    const std::string metadata = fmt::format("{{\"epoch_num\": {}}}", position);
    EXPECT_THAT(ErrorOf(log + LogLine("eval_accuracy", "0.5", metadata)),
                HasSubstr("line 13: metadata.epoch_num"))
        << position;
  }
  EXPECT_THAT(ErrorOf(log + EvalLine(4, "\"good\"")), HasSubstr("expected a number"));
  EXPECT_THAT(ErrorOf(log + LogLine("run_stop", "null")), HasSubstr("metadata.status"));
  EXPECT_THAT(ErrorOf(LogLine("run_stop", "null", "{\"status\": \"success\"}")),
              HasSubstr("run_stop before run_start"));
  EXPECT_THAT(ErrorOf(WriteLog({.evaluations = {}})), HasSubstr("no evaluation"));
  EXPECT_THAT(ErrorOf(WriteLog({.evaluations = {{0, 0.5}}})), HasSubstr("before any training"));
}

TEST(Mllog, RefusesWhatIsNoEvent) {
  EXPECT_THAT(ErrorOf(":::MLLOG {\"key\": \n"), HasSubstr("log.txt: line 1"));
  EXPECT_THAT(ErrorOf("x\n:::MLLOG 7\n"), HasSubstr("log.txt: line 2"));
  EXPECT_THAT(ErrorOf(":::MLLOG {\"key\": 1}\n"), HasSubstr("string \"key\""));
  EXPECT_THAT(ErrorOf(":::MLLOG {\"key\": \"seed\", \"metadata\": 3}\n"), HasSubstr("metadata"));
  EXPECT_THAT(ErrorOf(":::MLLOG {\"key\": \"" + std::string(2 << 20, 'x') + "\"}\n"),
              HasSubstr("at most 1048576"));
}

}  // namespace
}  // namespace rharness
