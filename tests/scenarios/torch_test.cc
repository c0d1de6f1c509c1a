// digits_torch, where the distribution's PyTorch is installed.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <string>

#include "tests/scenarios/run_program.h"

namespace rharness::scenarios {
namespace {

constexpr char kPython[] = "/usr/bin/python3";

int Train(const RunFolder& folder, const std::string& data) {
  const std::string script = std::string(RHARNESS_SOURCE_DIR) + "/scenarios/digits_torch/train.py";
  return RunProgram(folder, {kPython, script, "--data", data});
}

bool Unavailable(int status) {
  return WIFEXITED(status) && (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127);
}

TEST(DigitsTorch, LearnsTheDigitsAndWritesTheSameBytesTwice) {
  const RunFolder first;
  const int status = Train(first, DigitsCsv());
  if (Unavailable(status)) GTEST_SKIP() << "no PyTorch in " << kPython;
  ASSERT_TRUE(Succeeded(status)) << first.Read("stderr");
  EXPECT_GT(MetricNamed(first.Read("metrics.json"), "test_accuracy"), 0.93);

  const RunFolder second;
  ASSERT_TRUE(Succeeded(Train(second, DigitsCsv())));
  EXPECT_EQ(first.Read("model.safetensors"), second.Read("model.safetensors"));
  EXPECT_EQ(first.Read("metrics.json"), second.Read("metrics.json"));
  // 64 * 64 + 64 + 10 * 64 + 10 parameters of four bytes.
  EXPECT_EQ(TensorBytes(first.Read("model.safetensors")).size(), 19240U);
}

TEST(DigitsTorch, NamesTheFileThatIsMissing) {
  const RunFolder folder;
  const int status = Train(folder, "missing.csv");
  if (Unavailable(status)) GTEST_SKIP() << "no PyTorch in " << kPython;
  EXPECT_EQ(status, 2 << 8);
  EXPECT_NE(folder.Read("stderr").find("missing.csv"), std::string::npos);
}

}  // namespace
}  // namespace rharness::scenarios
