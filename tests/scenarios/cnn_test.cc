// The convolutional network without a GPU: its shapes, its gradients against finite differences,
// what it learns, and its switches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "scenarios/digits_cnn_cuda/agreement.h"
#include "scenarios/digits_cnn_cuda/cpu_cnn.h"
#include "scenarios/digits_cnn_cuda/digits_cnn.h"
#include "scenarios/digits_cnn_cuda/versions.h"
#include "tests/scenarios/run_program.h"

namespace rharness::scenarios {
namespace {

constexpr CnnShape kSmall{2, 5};

const Split& Images() {
  static const Split split = [] {
    Digits digits;
    std::string error;
    EXPECT_TRUE(LoadDigits(DigitsCsv(), ShardOrder::kSorted, &digits, &error)) << error;
    return SplitByIndex(digits);
  }();
  return split;
}

Batch FirstImages(std::size_t count) {
  const Digits& train = Images().train;
  return Batch{std::span(train.pixels).first(count * kPixels),
               std::span(train.labels).first(count)};
}

// The trainer in this process, without a GPU.
int RunCnn(std::vector<std::string> words) {
  words.insert(words.begin(), "digits_cnn");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  return RunDigitsCnn(static_cast<int>(arguments.size()), arguments.data(), {});
}

int Train(const RunFolder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> words = {
      "--device",   "cpu", "--data", DigitsCsv(), "--out", folder.path().string(),
      "--channels", "8",   "--lr",   "0.02"};
  words.insert(words.end(), more.begin(), more.end());
  return RunCnn(words);
}

TEST(CnnLayout, HoldsEveryParameterOnceInTheOrderOfNames) {
  const CnnLayout layout = LayoutOf(CnnShape{16, 64});
  // 16 + 16*9, 32 + 32*16*9, 64 + 64*512, 10 + 10*64
  EXPECT_EQ(layout.total, 160U + 4640U + 32832U + 650U);
  std::size_t next = 0;
  for (const TensorSpec& spec : layout.tensors) {
    EXPECT_EQ(spec.offset, next) << spec.name;
    next += spec.size;
  }
  EXPECT_EQ(next, layout.total);
  EXPECT_TRUE(std::is_sorted(layout.tensors.begin(), layout.tensors.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
}

TEST(CnnLayout, DrawsWithinTheBoundOfEachLayer) {
  const CnnLayout layout = LayoutOf(CnnShape{16, 64});
  const std::vector<float> flat = InitialCnn(layout, 1);
  ASSERT_EQ(flat.size(), layout.total);
  for (const TensorSpec& spec : layout.tensors) {
    const double bound = 1 / std::sqrt(static_cast<double>(spec.inputs));
    double largest = 0;
    for (std::size_t i = 0; i < spec.size; ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(flat[spec.offset + i])));
    }
    EXPECT_LE(largest, bound * 1.000001) << spec.name;
    EXPECT_GT(largest, bound * 0.5) << spec.name;
  }
  EXPECT_EQ(flat, InitialCnn(layout, 1));
  EXPECT_NE(flat, InitialCnn(layout, 2));
}

TEST(CnnBatches, AreCutIntoPartsThatDifferByOneImageAtMost) {
  const Batch batch = FirstImages(10);
  std::vector<std::uint8_t> joined;
  std::vector<std::size_t> sizes;
  for (std::size_t part = 0; part < 4; ++part) {
    const Batch cut = PartOf(batch, 4, part);
    ASSERT_EQ(cut.pixels.size(), cut.size() * kPixels);
    sizes.push_back(cut.size());
    joined.insert(joined.end(), cut.labels.begin(), cut.labels.end());
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 3, 2, 2}));
  EXPECT_EQ(joined, std::vector<std::uint8_t>(batch.labels.begin(), batch.labels.end()));
  EXPECT_EQ(PartOf(FirstImages(1), 2, 1).size(), 0U);
}

// Every class is as likely as every other where all parameters are zero.
TEST(CpuCnn, HasTheLossOfAGuessWithoutParameters) {
  CpuCnn<double> network(kSmall, std::vector<float>(LayoutOf(kSmall).total));
  EXPECT_NEAR(network.Evaluate(FirstImages(7)).loss_sum, 7 * std::log(10.0), 1e-12);
}

// With the first layers passing a pixel through, the logits are sums that can be written down.
TEST(CpuCnn, ComputesWhatItsDefinitionSays) {
  const CnnShape shape{1, 1};
  const CnnLayout layout = LayoutOf(shape);
  std::vector<float> flat(layout.total);
  const auto at = [&](CnnTensor tensor, std::size_t i) -> float& {
    return flat[layout.tensors[tensor].offset + i];
  };
  at(kConv1Weight, 5) = 1;  // row 1, column 2: the pixel to the right
  at(kConv2Weight, 1) = 2;  // row 0, column 1: twice the pixel above
  at(kFc1Weight, 5) = 1;    // pooled row 1, column 1: rows 2 and 3, columns 2 and 3
  at(kFc2Weight, 3) = 1;    // to the logit of class 3
  std::vector<float> image(kArea);
  image[1 * kSide + 4] = 0.75f;  // right of and above row 2, column 3
  image[2 * kSide + 2] = 9.0f;   // seen at row 3, column 1, which is outside of that cell
  const std::vector<std::uint8_t> label = {3};
  CpuCnn<double> network(shape, flat);
  const Score score = network.Evaluate(Batch{image, label});
  // -log(e^1.5 / (e^1.5 + 9))
  EXPECT_NEAR(score.loss_sum, std::log(std::exp(1.5) + 9) - 1.5, 1e-12);
  EXPECT_EQ(score.correct, 1U);
}

TEST(CpuCnn, HasTheGradientThatFiniteDifferencesGive) {
  const Batch batch = FirstImages(6);
  CpuCnn<double> network(kSmall, InitialCnn(LayoutOf(kSmall), 3));
  network.Differentiate(batch);
  const std::vector<double> gradient = network.gradient();
  const auto mean_loss = [&] { return network.Evaluate(batch).loss_sum / 6; };
  constexpr double kStep = 1e-6;
  double largest = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    double& parameter = network.parameters()[i];
    const double kept = parameter;
    parameter = kept + kStep;
    const double above = mean_loss();
    parameter = kept - kStep;
    const double below = mean_loss();
    parameter = kept;
    ASSERT_NEAR(gradient[i], (above - below) / (2 * kStep), 1e-8) << "parameter " << i;
    largest = std::max(largest, std::abs(gradient[i]));
  }
  EXPECT_GT(largest, 1e-2);
}

TEST(CpuCnn, StepsAlongTheGradientWithMomentum) {
  const CnnLayout layout = LayoutOf(kSmall);
  const std::vector<float> initial = InitialCnn(layout, 1);
  CpuCnn<double> network(kSmall, initial);
  network.Differentiate(FirstImages(4));
  const double first = network.gradient()[0];
  const SgdStep step{0.5f, 0.25f};
  network.TrainBatch(FirstImages(4), step);
  EXPECT_NEAR(network.parameters()[0], static_cast<double>(initial[0]) - 0.5 * first, 1e-15);
  const double before = network.parameters()[0];
  network.Differentiate(FirstImages(4));
  const double second = network.gradient()[0];
  network.TrainBatch(FirstImages(4), step);
  EXPECT_NEAR(network.parameters()[0], before - 0.5 * (0.25 * first + second), 1e-15);
}

TEST(CnnAgreement, FindsFloatWithinRoundingOfDoubleAndAWrongStepBeyondIt) {
  const std::vector<float> initial = InitialCnn(LayoutOf(kSmall), 1);
  const auto worst = [&](const SgdStep& step) {
    CpuCnn<double> reference(kSmall, initial);
    CpuCnn<float> tested(kSmall, initial);
    const std::vector<Tensor> before = reference.Export();
    reference.TrainBatch(FirstImages(32), {0.1f, 0.9f});
    tested.TrainBatch(FirstImages(32), step);
    double error = 0;
    for (const Disagreement& one : CompareSteps(before, tested.Export(), reference.Export())) {
      error = std::max(error, one.error);
    }
    return error;
  };
  EXPECT_LT(worst({0.1f, 0.9f}), 1e-3);
  EXPECT_NEAR(worst({0.11f, 0.9f}), 0.1, 1e-3);
}

TEST(CnnAgreement, IsInfiniteWhereNothingMovedOrAValueIsNotFinite) {
  const std::vector<Tensor> still = {{"a", {2}, {1, 2}}};
  EXPECT_TRUE(std::isinf(CompareSteps(still, still, still)[0].error));
  const std::vector<Tensor> moved = {{"a", {2}, {1, 3}}};
  EXPECT_EQ(CompareSteps(still, moved, moved)[0].error, 0);
  EXPECT_EQ(CompareSteps(still, still, moved)[0].error, 1);
  const std::vector<Tensor> nan = {{"a", {2}, {1, std::numeric_limits<float>::quiet_NaN()}}};
  EXPECT_TRUE(std::isinf(CompareSteps(still, nan, moved)[0].error));
}

TEST(DigitsCnn, LearnsTheDigitsAndWritesTheSameBytesTwice) {
  const RunFolder first;
  ASSERT_EQ(Train(first, {"--epochs", "6"}), 0);
  const std::string metrics = first.Read("metrics.json");
  EXPECT_GT(MetricNamed(metrics, "test_accuracy"), 0.95);
  EXPECT_LT(MetricNamed(metrics, "test_loss"), 0.2);
  const RunFolder second;
  ASSERT_EQ(Train(second, {"--epochs", "6"}), 0);
  EXPECT_EQ(first.Read("model.safetensors"), second.Read("model.safetensors"));
  EXPECT_EQ(metrics, second.Read("metrics.json"));
  EXPECT_EQ(TensorBytes(first.Read("model.safetensors")).size(),
            LayoutOf(CnnShape{8, 64}).total * sizeof(float));
}

TEST(DigitsCnn, PlantsTheFaultsOfItsSiblings) {
  const RunFolder plain;
  const RunFolder flipped;
  ASSERT_EQ(Train(plain, {"--epochs", "1"}), 0);
  ASSERT_EQ(Train(flipped, {"--epochs", "1", "--plant", "flip-bit"}), 0);
  const std::string a = plain.Read("model.safetensors");
  const std::string b = flipped.Read("model.safetensors");
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::inner_product(a.begin(), a.end(), b.begin(), 0, std::plus<>(),
                               [](char x, char y) { return x == y ? 0 : 1; }),
            1);
}

TEST(DigitsCnn, SaysThatItWasBuiltWithoutCuda) {
  const RunFolder folder;
  testing::internal::CaptureStderr();
  EXPECT_EQ(RunCnn({"--data", DigitsCsv(), "--out", folder.path().string()}), 1);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("built without CUDA"), std::string::npos);
  EXPECT_EQ(folder.Read("metrics.json"), "");
}

TEST(DigitsCnn, RefusesSwitchesThatDoNotExist) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--tf32", "maybe"},
                                             {"--streams", "3"},
                                             {"--channels", "0"},
                                             {"--channels", "257"},
                                             {"--cublas-workspace", "1:1"},
                                             {"--device", "tpu"},
                                             {"--autotune"}}) {
    testing::internal::CaptureStderr();
    std::vector<std::string> all = {"--data", DigitsCsv()};
    all.insert(all.end(), words.begin(), words.end());
    EXPECT_EQ(RunCnn(all), 2) << words[0];
    EXPECT_NE(testing::internal::GetCapturedStderr().find(words[0] + ": expected"),
              std::string::npos);
  }
}

CnnSwitches Parse(std::vector<std::string> words) {
  CnnSwitches switches;
  Options options;
  std::string error;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  EXPECT_TRUE(ParseOptions(arguments, FlagsOf(&switches), &options, &error)) << error;
  return switches;
}

TEST(CnnSwitches, MakeEverythingDeterministicAtOnceAndOneLooseAfterwards) {
  const CnnSwitches loose = Parse({"--data", "d"});
  EXPECT_FALSE(loose.deterministic_convolutions);
  EXPECT_FALSE(loose.tree_reduction);
  EXPECT_TRUE(loose.tf32);
  const CnnSwitches fixed =
      Parse({"--autotune", "on", "--streams", "2", "--deterministic", "--data", "d"});
  EXPECT_TRUE(fixed.deterministic_convolutions);
  EXPECT_FALSE(fixed.autotune);
  EXPECT_TRUE(fixed.tree_reduction);
  EXPECT_FALSE(fixed.tf32);
  EXPECT_EQ(fixed.cublas_workspace, ":4096:8");
  EXPECT_FALSE(fixed.two_streams);
  const CnnSwitches mixed =
      Parse({"--data", "d", "--deterministic", "--tf32", "on", "--cublas-workspace", "16:8"});
  EXPECT_TRUE(mixed.tf32);
  EXPECT_EQ(mixed.cublas_workspace, ":16:8");
  EXPECT_TRUE(mixed.tree_reduction);
}

TEST(CnnVersions, AreSpelledAsTheirOwnersSpellThem) {
  EXPECT_EQ(LibraryVersion(91900), "9.19.0");
  EXPECT_EQ(LibraryVersion(130100), "13.1.0");
  EXPECT_EQ(LibraryVersion(22809), "2.28.9");
  EXPECT_EQ(CudaVersion(13000), "13.0");
  EXPECT_EQ(CudaVersion(12080), "12.8");
  EXPECT_EQ(DriverVersion("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  "
                          "Release Build\nGCC version:  gcc version 12.2.0\n"),
            "580.65.06");
  EXPECT_EQ(DriverVersion(""), "");
}

}  // namespace
}  // namespace rharness::scenarios
