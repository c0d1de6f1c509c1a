// Probes of the BLAS of this machine: what must hold for any of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "probes/cpu/blas.h"
#include "probes/cpu/convolution.h"
#include "tests/probes/cpu/probe_cases.h"

namespace rharness {
namespace {

class BlasProbes : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto blas = Blas::Open({}); !blas.ok()) GTEST_SKIP() << blas.error().ToString();
  }
  // Each probe is run once for all tests.
  static const ProbeResult& Result(const std::string& name) {
    static std::map<std::string, ProbeResult> results;
    if (!results.contains(name)) results.emplace(name, RunProbe(name));
    return results.at(name);
  }
  static void ExpectTrees(const std::string& probe, std::size_t cases) {
    const ProbeResult& result = Result(probe);
    ASSERT_EQ(result.status, ProbeStatus::kOk) << result.message;
    std::string notes;
    for (const std::string& note : result.notes) notes += note + "\n";
    EXPECT_EQ(result.trees.size(), cases) << probe << "\n" << notes;
    EXPECT_GT(result.counts.at("masked sums"), 0U);
    EXPECT_EQ(result.libraries.size(), 1U);
  }
};

TEST_F(BlasProbes, RevealProductsOfAllKinds) {
  ExpectTrees("blas_dot_tree", 7);
  ExpectTrees("blas_gemv_tree", 8);
  ExpectTrees("conv_tree", 1);
}

TEST_F(BlasProbes, RevealMatrixProducts) {
  ExpectTrees("gemm_tree_fp32", 7);
  ExpectTrees("gemm_tree_fp64", 7);
}

TEST_F(BlasProbes, PutTheOldValueOfTheOutputIntoTheTree) {
  const ProbeResult& result = Result("gemm_tree_fp32");
  const auto tree = result.trees.find("64x64x500 + C");
  if (tree == result.trees.end()) GTEST_SKIP() << "no tree of this case";
  EXPECT_EQ(tree->second.leaves(), 501);
}

// What is revealed of this machine's library, replayed on ordinary inputs: all of it, everywhere.
TEST_F(BlasProbes, PredictTheBitsOfEveryOutput) {
  for (const char* name : {"blas_dot_tree", "blas_gemv_tree", "gemm_tree_fp32", "gemm_tree_fp64"}) {
    const ProbeResult& result = Result(name);
    std::string notes;
    for (const std::string& note : result.notes) notes += note + "\n";
    EXPECT_EQ(result.counts.at("outputs covered"), result.counts.at("outputs")) << name << "\n"
                                                                                << notes;
    EXPECT_EQ(result.counts.at("inputs predicted"), result.counts.at("inputs replayed"))
        << name << "\n"
        << notes;
    EXPECT_GE(result.counts.at("inputs replayed"), 200 * result.trees.size());
  }
}

TEST_F(BlasProbes, AreRightAboutSmallIntegers) {
  const ProbeResult result = RunProbe("gemm_int8_exact");
  EXPECT_EQ(result.status, ProbeStatus::kOk) << result.message;
  EXPECT_EQ(result.counts.at("wrong elements"), 0U);
}

TEST_F(BlasProbes, HashEveryTileAndCountClassesOfBatchSizes) {
  // With the threads in force, and with one where the library can be told so.
  const Blas blas = Blas::Open({}).value();
  const std::size_t times = blas.SetThreads(blas.Threads()) ? 2 : 1;
  // 4 x 3 tiles, 2 x 2 with edges, and one.
  EXPECT_EQ(RunProbe("gemm_bits").bits.size(), times * 2 * 17);
  const ProbeResult batches = RunProbe("batch_invariance");
  EXPECT_EQ(batches.bits.size(), 64U);
  EXPECT_GE(batches.counts.at("classes"), 1U);
  EXPECT_EQ(batches.choices.at("rows of equal bits").Find("classes")->AsArray().size(),
            batches.counts.at("classes"));
  EXPECT_EQ(RunProbe("symv_bits").bits.size(), times * 3);
  EXPECT_EQ(RunProbe("conv_bits").bits.size(), 1U);
  EXPECT_GE(RunProbe("blas_bits").bits.size(), 20U);
}

TEST_F(BlasProbes, LeaveTheNumberOfThreadsAsItWas) {
  const Blas blas = Blas::Open({}).value();
  const int before = blas.Threads();
  if (before == 0) GTEST_SKIP() << "the library does not say its threads";
  const ProbeResult result = RunProbe("gemm_threads");
  EXPECT_EQ(result.bits.size(), 18U);
  EXPECT_EQ(blas.Threads(), before);
  // What ran with all of them says how many these were.
  EXPECT_EQ(result.choices.at("blas").Find("threads")->Dump(), fmt::format("{}", before));
  if (before <= 2) {
    EXPECT_EQ(result.bits.at("64x64x1000 threads all"),
              result.bits.at(fmt::format("64x64x1000 threads {}", before)));
  }
  RunProbe("gemm_bits");
  EXPECT_EQ(blas.Threads(), before);
}

TEST_F(BlasProbes, ConvolveAsADirectSumDoes) {
  using C = Convolution;
  const Blas blas = Blas::Open({}).value();
  const std::vector<float> image = RandomFloats(1, C::kChannels * C::kSide * C::kSide);
  const std::vector<float> filters = RandomFloats(2, C::kOutputs * C::kTerms);
  const std::vector<float> out = Convolve(blas, image, filters);
  for (const auto& [output, row, column] : {std::array{0, 0, 0}, {31, 9, 9}, {7, 3, 5}}) {
    double direct = 0.0;
    for (int c = 0; c < C::kChannels; ++c) {
      for (int i = 0; i < 9; ++i) {
        const int pixel = (c * C::kSide + row + i / 3) * C::kSide + column + i % 3;
        direct += static_cast<double>(image[static_cast<std::size_t>(pixel)]) *
                  static_cast<double>(
                      filters[static_cast<std::size_t>(output + (c * 9 + i) * C::kOutputs)]);
      }
    }
    const int at = output + (row * C::kOut + column) * C::kOutputs;
    EXPECT_NEAR(static_cast<double>(out[static_cast<std::size_t>(at)]), direct, 1e-4);
  }
}

}  // namespace
}  // namespace rharness
