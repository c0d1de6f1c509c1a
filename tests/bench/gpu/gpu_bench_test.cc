// The program from its command line to its JSON, on a false driver that runs our kernels on the
// host and a false cuBLAS of known order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/base/subprocess.h"

namespace rharness {
namespace {

using ::testing::HasSubstr;

struct BenchRun {
  int exit_code = -1;
  std::string text;
  Json report;  // null without one

  const Json& Row(std::string_view id) const {
    for (const Json& row : report.Find("rows")->AsArray()) {
      if (row.Find("id")->AsString() == id) return row;
    }
    Abort("no such row");
  }
  std::string Status(std::string_view id) const { return Row(id).Find("status")->AsString(); }
  double Figure(std::string_view id, std::string_view name) const {
    for (const Json& figure : Row(id).Find("figures")->AsArray()) {
      if (figure.Find("name")->AsString() == name) return *figure.Find("value")->ToDouble();
    }
    Abort("no such figure");
  }
};

BenchRun RunBench(const std::string& machine, std::vector<std::string> arguments,
                  std::map<std::string, std::string> environment = {}) {
  const ScopedTempDir folder = ScopedTempDir::Make("gpu-bench-").value();
  const auto json = folder.path() / "report.json";
  arguments.insert(arguments.begin(), {std::string(RHARNESS_BIN_DIR) + "/rharness-gpu-bench",
                                       "--library-path", machine, "--json", json.string()});
  environment["FAKE_MULTIPROCESSORS"] = "1";
  const ProcessResult result = RunProcess({.argv = arguments, .environment = environment});
  BenchRun run{result.outcome.exit_code, result.stdout_text + result.stderr_text, {}};
  const auto text = ReadFile(json);
  if (text.ok()) run.report = ParseJson(*text, "report.json").value();
  return run;
}

const std::string kWorking = FAKE_BENCH_DIR;
const std::vector<std::string> kSmall = {"--rounds", "2", "--mebibytes", "1", "--terms", "64"};

TEST(GpuBench, SaysThatThereIsNoDeviceAndExitsWithThree) {
  const BenchRun run = RunBench(FAKE_CUDA_DIR "/no_device", kSmall);
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_TRUE(run.text.starts_with("no device: ")) << run.text;
  EXPECT_TRUE(run.report.IsNull());
}

TEST(GpuBench, DoesNotTakeABrokenDriverForNone) {
  EXPECT_EQ(RunBench(FAKE_CUDA_DIR "/broken", kSmall).exit_code, 4);
  const BenchRun lacking = RunBench(FAKE_CUDA_DIR "/working", kSmall);
  EXPECT_EQ(lacking.exit_code, 4);
  EXPECT_THAT(lacking.text, HasSubstr("cuEventElapsedTime"));
}

TEST(GpuBench, MeasuresEveryRowAndChecksWhatWasComputed) {
  const BenchRun run = RunBench(kWorking, kSmall);
  ASSERT_EQ(run.exit_code, 0) << run.text;
  for (const char* id : {"G1", "G2", "G3", "G4 fp32", "G4 bf16", "G5"}) {
    ASSERT_EQ(run.Status(id), "measured") << run.text;
    EXPECT_GT(*run.Row(id).Find("value")->ToDouble(), 0.0) << id;
    EXPECT_NE(run.Row(id).Find("of")->AsString(), "") << id;
  }
  EXPECT_EQ(run.report.Find("rows")->AsArray().size(), 6U);
  EXPECT_EQ(run.report.Find("device")->Find("name")->AsString(), "Test GPU");
  EXPECT_EQ(run.report.Find("driver_cuda")->AsString(), "13.0");
  const Json& blas = *run.report.Find("libraries")->Find("libcublas.so.13");
  EXPECT_EQ(blas.Find("version")->AsString(), "13.1.0");
  const Json& driver = *run.report.Find("libraries")->Find("libcuda.so.1");
  EXPECT_EQ(driver.Find("path")->AsString(), "libcuda.so.1");
}

TEST(GpuBench, RevealsTheOrderOfTheProductWithinTheBoundOfLaunches) {
  const BenchRun run = RunBench(kWorking, {"--rounds", "1", "--terms", "64", "--only", "G1"});
  ASSERT_EQ(run.exit_code, 0) << run.text;
  EXPECT_EQ(run.report.Find("rows")->AsArray().size(), 1U);
  EXPECT_EQ(run.Row("G1").Find("note")->AsString(), "256x128x64: sequential");
  // (2 * 6 + 4) * 1: 64 questions a level fit one launch of 256.
  EXPECT_EQ(run.Figure("G1", "bound"), 16.0);
  EXPECT_EQ(run.Figure("G1", "launches"), run.Figure("G1", "levels"));
  EXPECT_EQ(*run.Row("G1").Find("value")->ToDouble(), run.Figure("G1", "launches") / 16.0);
}

TEST(GpuBench, AsksEachQuestionAloneOrSaysThatItDidNot) {
  const BenchRun run = RunBench(kWorking, {"--rounds", "1", "--terms", "64", "--only", "G2"});
  ASSERT_EQ(run.exit_code, 0) << run.text;
  EXPECT_EQ(run.Figure("G2", "questions"), run.Figure("G2", "questions asked a round"));
  EXPECT_EQ(run.Row("G2").Find("note")->AsString(), "every question asked");
  const BenchRun sampled = RunBench(
      kWorking, {"--rounds", "1", "--terms", "64", "--only", "G2", "--limit-seconds", "0"});
  ASSERT_EQ(sampled.exit_code, 0) << sampled.text;
  EXPECT_EQ(sampled.Figure("G2", "questions asked a round"), 8.0);
  EXPECT_EQ(sampled.Figure("G2", "time"),
            sampled.Figure("G2", "time of these") / 8.0 * sampled.Figure("G2", "questions"));
  EXPECT_THAT(sampled.Row("G2").Find("note")->AsString(), HasSubstr("extrapolated"));
}

TEST(GpuBench, FailsARowWhoseStatisticsAreWrong) {
  const BenchRun run = RunBench(kWorking, {"--rounds", "1", "--mebibytes", "1", "--only", "G4"},
                                {{"FAKE_WRONG_KERNEL", "measure_bf16"}});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.Status("G4 fp32"), "measured");
  ASSERT_EQ(run.Status("G4 bf16"), "failed");
  EXPECT_THAT(run.Row("G4 bf16").Find("why")->AsString(), HasSubstr("ulp_histogram[0] is "));
  const BenchRun bits = RunBench(kWorking, {"--rounds", "1", "--mebibytes", "1", "--only", "G3"},
                                 {{"FAKE_WRONG_KERNEL", "compare_bits_32"}});
  EXPECT_EQ(bits.exit_code, 1);
  EXPECT_THAT(bits.Row("G3").Find("why")->AsString(), HasSubstr("differ from"));
}

TEST(GpuBench, RefusesOptionsThatItDoesNotHave) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"--rounds", "0"},
                                                                     {"--rounds", "100"},
                                                                     {"--rounds"},
                                                                     {"--terms", "8193"},
                                                                     {"--x", "1"}}) {
    const BenchRun run = RunBench(kWorking, arguments);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.text, HasSubstr("usage: rharness-gpu-bench"));
  }
}

}  // namespace
}  // namespace rharness
