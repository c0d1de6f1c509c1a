// The GPU's path of the convolutional trainer on a false CUDA: every call, order between streams
// and pointer, but no real device. Where it is held to the CPU's path, cuBLAS and cuDNN are stood
// in for by their definitions and our kernels by their own bodies.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <set>
#include <string>
#include <vector>

#include "scenarios/digits_cnn_cuda/agreement.h"
#include "scenarios/digits_cnn_cuda/cpu_cnn.h"
#include "scenarios/digits_cnn_cuda/gpu/cuda_cnn.h"
#include "tests/scenarios/fake_cuda.h"
#include "tests/scenarios/run_program.h"

namespace rharness::scenarios {
namespace {

constexpr CnnShape kShape{2, 5};

const Split& Images() {
  static const Split split = [] {
    Digits digits;
    std::string error;
    EXPECT_TRUE(LoadDigits(DigitsCsv(), ShardOrder::kSorted, &digits, &error)) << error;
    return SplitByIndex(digits);
  }();
  return split;
}

Batch TakeImages(std::size_t begin, std::size_t count) {
  const Digits& train = Images().train;
  return Batch{std::span(train.pixels).subspan(begin * kPixels, count * kPixels),
               std::span(train.labels).subspan(begin, count)};
}

CnnSetup SetupOf(const CnnSwitches& switches) {
  return {kShape, switches, 8, InitialCnn(LayoutOf(kShape), 1)};
}

CnnSwitches Deterministic(std::size_t gpus) {
  CnnSwitches switches;
  MakeDeterministic(&switches);
  switches.gpus = gpus;
  return switches;
}

class CudaCnnOnAFalseMachine : public testing::Test {
 protected:
  void SetUp() override { ResetFake(); }
  void TearDown() override {
    EXPECT_EQ(Fake().mistakes, std::vector<std::string>());
    unsetenv("CUBLAS_WORKSPACE_CONFIG");
  }

  std::unique_ptr<Network> Make(const CnnSwitches& switches) {
    std::string error;
    std::unique_ptr<Network> network = MakeCudaCnn(SetupOf(switches), &error);
    EXPECT_EQ(error, "");
    return network;
  }

  // Three steps, the last one smaller, against double precision on the CPU; then the evaluation.
  void ExpectTheCpusSteps(const CnnSwitches& switches) {
    const auto network = Make(switches);
    ASSERT_NE(network, nullptr);
    CpuCnn<double> reference(kShape, SetupOf(switches).initial);
    for (const auto& [begin, count] : {std::pair{0, 8}, std::pair{8, 8}, std::pair{16, 3}}) {
      const Batch batch =
          TakeImages(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
      const std::vector<Tensor> before = reference.Export();
      const double loss = network->TrainBatch(batch, {0.1f, 0.9f});
      EXPECT_NEAR(loss, reference.TrainBatch(batch, {0.1f, 0.9f}), 1e-4);
      for (const auto& one : CompareSteps(before, network->Export(), reference.Export())) {
        EXPECT_LT(one.error, 1e-3) << one.tensor << " at image " << begin;
      }
    }
    const Batch test = TakeImages(100, 21);
    const Score score = network->Evaluate(test);
    const Score expected = reference.Evaluate(test);
    EXPECT_EQ(score.correct, expected.correct);
    EXPECT_NEAR(score.loss_sum, expected.loss_sum, 1e-3);
  }
};

TEST_F(CudaCnnOnAFalseMachine, TakesTheCpusStepsOnOneGpu) { ExpectTheCpusSteps(Deterministic(1)); }

TEST_F(CudaCnnOnAFalseMachine, TakesTheCpusStepsWithEverySwitchLoose) {
  CnnSwitches switches;
  switches.gpus = 1;
  switches.autotune = true;
  switches.two_streams = true;
  ExpectTheCpusSteps(switches);
}

TEST_F(CudaCnnOnAFalseMachine, OrdersItsStreamsWhicheverRunsFirst) {
  CnnSwitches switches = Deterministic(1);
  switches.two_streams = true;
  for (const bool last_first : {false, true}) {
    Fake().last_stream_first = last_first;
    ExpectTheCpusSteps(switches);
  }
}

TEST_F(CudaCnnOnAFalseMachine, SharesABatchBetweenTwoGpus) {
  for (const bool last_first : {false, true}) {
    Fake().last_stream_first = last_first;
    ExpectTheCpusSteps(Deterministic(0));
  }
}

TEST_F(CudaCnnOnAFalseMachine, LeavesAGpuOutThatHasNoImage) {
  const auto network = Make(Deterministic(2));
  CpuCnn<double> reference(kShape, SetupOf(Deterministic(2)).initial);
  const std::vector<Tensor> before = reference.Export();
  network->TrainBatch(TakeImages(0, 1), {0.1f, 0.9f});
  reference.TrainBatch(TakeImages(0, 1), {0.1f, 0.9f});
  for (const auto& one : CompareSteps(before, network->Export(), reference.Export())) {
    EXPECT_LT(one.error, 1e-3) << one.tensor;
  }
}

TEST_F(CudaCnnOnAFalseMachine, TakesTheAlgorithmsAndTheArithmeticThatItsSwitchesName) {
  const auto run = [this](const CnnSwitches& switches) {
    Fake().algorithms.clear();
    Fake().math_modes.clear();
    Make(switches)->TrainBatch(TakeImages(0, 8), {0.1f, 0.9f});
    return std::pair{std::set<std::string>(Fake().algorithms.begin(), Fake().algorithms.end()),
                     std::set<std::string>(Fake().math_modes.begin(), Fake().math_modes.end())};
  };
  using Names = std::set<std::string>;
  CnnSwitches fixed = Deterministic(1);
  // By the numbers of cudnn_ops.h; 3 is CUDNN_FMA_MATH, 0 and 3 CUBLAS_DEFAULT_MATH and TF32.
  EXPECT_EQ(run(fixed).first, (Names{"fwd 1", "filter 1", "data 1"}));
  EXPECT_EQ(run(fixed).second, (Names{"cublas 0", "cudnn 3"}));
  EXPECT_STREQ(getenv("CUBLAS_WORKSPACE_CONFIG"), ":4096:8");
  fixed.autotune = true;
  EXPECT_EQ(run(fixed).first, (Names{"fwd 0", "filter 1", "data 1"}));
  CnnSwitches loose;
  loose.gpus = 1;
  EXPECT_EQ(run(loose).first, (Names{"fwd 1", "filter 0", "data 0"}));
  EXPECT_EQ(run(loose).second, (Names{"cublas 3", "cudnn 0"}));
  loose.autotune = true;
  EXPECT_EQ(run(loose).first, (Names{"fwd 2", "filter 3", "data 0"}));
}

TEST_F(CudaCnnOnAFalseMachine, NamesWhatItRanOnAndWhatAStepTook) {
  const auto network = Make(Deterministic(2));
  for (int step = 0; step < 23; ++step) network->TrainBatch(TakeImages(0, 8), {0.1f, 0.9f});
  std::map<std::string, std::string> software = network->Software();
  EXPECT_EQ(software["cublas"], "13.1.0");
  EXPECT_EQ(software["cudnn"], "9.19.0");
  EXPECT_EQ(software["nccl"], "2.28.9");
  EXPECT_EQ(software["cuda_driver"], "13.0");
  EXPECT_EQ(software["gpus"], "False GPU sm_90, False GPU sm_90");
  EXPECT_EQ(software["cudnn_conv1"], "4: fwd 1 filter 1");
  EXPECT_EQ(software["cudnn_conv2"], "4: fwd 1 filter 1 data 1");
  const std::map<std::string, double> resources = network->Resources();
  EXPECT_EQ(resources.at("steps_timed"), 3);
  EXPECT_NEAR(resources.at("step_seconds_median"), 2e-3, 1e-9);
  // 1 GHz, twice a cycle, 512 bytes
  EXPECT_NEAR(resources.at("memory_bytes_per_second"), 1.024e12, 1);
  EXPECT_NEAR(resources.at("step_seconds_floor"), StepBytesFloor(kShape, 4) / 1.024e12, 1e-15);
}

TEST_F(CudaCnnOnAFalseMachine, SaysWhichGpusAreMissing) {
  std::string error;
  EXPECT_EQ(MakeCudaCnn(SetupOf(Deterministic(3)), &error), nullptr);
  EXPECT_EQ(error, "--gpus: 2 GPUs are visible, 3 are asked for");
  Fake().devices = 0;
  EXPECT_EQ(MakeCudaCnn(SetupOf(Deterministic(0)), &error), nullptr);
  EXPECT_EQ(error, "no GPU to train on: cudaErrorFake: no such device");
}

}  // namespace
}  // namespace rharness::scenarios
