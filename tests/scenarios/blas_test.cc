// digits_blas: another kernel gives other bits and the same result; digits_portable agrees with it
// up to rounding, which checks the arithmetic of both.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/scenarios/run_program.h"

namespace rharness::scenarios {
namespace {

// The scatter of the test loss over seeds is 0.015; rounding stays four orders below.
constexpr double kRounding = 1e-6;

struct Trained {
  std::string model;
  std::string metrics;
  std::string stdout_text;
};

Trained Train(const std::string& program, const std::vector<std::string>& environment = {}) {
  const RunFolder folder;
  const int status =
      RunProgram(folder, {BuiltProgram(program), "--data", DigitsCsv()}, environment);
  EXPECT_TRUE(Succeeded(status)) << folder.Read("stderr");
  return {folder.Read("model.safetensors"), folder.Read("metrics.json"), folder.Read("stdout")};
}

void ExpectSameUpToRounding(const Trained& a, const Trained& b) {
  EXPECT_EQ(MetricNamed(a.metrics, "test_accuracy"), MetricNamed(b.metrics, "test_accuracy"));
  for (const char* loss : {"test_loss", "train_loss"}) {
    EXPECT_NEAR(MetricNamed(a.metrics, loss), MetricNamed(b.metrics, loss), kRounding) << loss;
  }
}

TEST(DigitsBlas, WritesTheSameBytesTwice) {
  const Trained first = Train("digits_blas");
  ASSERT_FALSE(first.model.empty());
  EXPECT_EQ(first.model, Train("digits_blas").model);
}

TEST(DigitsBlas, GivesOtherBitsAndTheSameLossWithAnotherKernel) {
  const Trained prescott = Train("digits_blas", {"OPENBLAS_CORETYPE=Prescott"});
  const Trained nehalem = Train("digits_blas", {"OPENBLAS_CORETYPE=Nehalem"});
  if (prescott.stdout_text.find("blas_core Prescott") == std::string::npos ||
      nehalem.stdout_text.find("blas_core Nehalem") == std::string::npos) {
    GTEST_SKIP() << "this OpenBLAS has one kernel: " << prescott.stdout_text;
  }
  EXPECT_NE(prescott.model, nehalem.model);
  ExpectSameUpToRounding(prescott, nehalem);
}

TEST(DigitsBlas, AgreesWithThePlainLoopsUpToRounding) {
  ExpectSameUpToRounding(Train("digits_blas"), Train("digits_portable"));
}

}  // namespace
}  // namespace rharness::scenarios
