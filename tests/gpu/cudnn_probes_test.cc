// The probes of cuDNN on a false driver and a false cuDNN whose engines are known.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probes/gpu/cudnn_algorithms.h"
#include "probes/gpu/cudnn_convolution.h"
#include "probes/gpu/cudnn_norm.h"
#include "probes/gpu/reduce_tree.h"
#include "probes/order/tree_name.h"
#include "tests/gpu/cudnn_fakes.h"

namespace rharness {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr ConvolutionPass kPasses[] = {ConvolutionPass::kForward, ConvolutionPass::kBackwardData,
                                       ConvolutionPass::kBackwardFilter};

CudnnContext Open(const ProbeContext& context) {
  auto cudnn = CudnnContext::Open(context);
  EXPECT_TRUE(cudnn.ok()) << cudnn.error().ToString();
  return *cudnn;
}

ConvolutionShape Small(NumberType type, TensorLayout layout) {
  ConvolutionShape shape{.n = 2, .c = 3, .k = 4, .side = 5, .filter = 3, .padding = 1};
  shape.type = type;
  shape.layout = layout;
  return shape;
}

ProbeResult Bits(const std::string& kind, ConvolutionPass pass, const ConvolutionShape& shape) {
  const ProbeContext context = FakeContext(kind);
  ProbeResult result;
  const Status done = RecordConvolutionBits(context, Open(context), pass, shape, 8, &result);
  EXPECT_TRUE(done.ok()) << done.error().ToString();
  return result;
}

TEST(ConvolutionBits, TellsWhichEnginesRepeatAndWhichSaidTheyWould) {
  const ConvolutionShape shape = Small(NumberType::kFp32, TensorLayout::kNhwc);
  for (const auto pass : kPasses) {
    const ProbeResult result = Bits("full", pass, shape);
    const std::string name =
        fmt::format("{} fp32 nhwc 2x3x5x5 by 4x3x3 pad 1 engine ", ConvolutionPassName(pass));
    EXPECT_EQ(result.status, ProbeStatus::kOk) << result.message;
    EXPECT_EQ(result.unstable,
              (std::vector<std::string>{name + "12 split_k_slc=4 knob 99=1", name + "13"}));
    EXPECT_THAT(result.notes, Contains(AllOf(HasSubstr(name + "13: "), HasSubstr("not repeat"))));
    EXPECT_THAT(result.notes, Not(Contains(HasSubstr(name + "12"))));
    EXPECT_THAT(result.notes, Contains(AllOf(HasSubstr(name + "14: "), HasSubstr("not here"))));
    ASSERT_TRUE(result.bits.contains(name + "11"));
    EXPECT_EQ(result.bits.at(name + "11"), result.bits.at(name + "16"));
    EXPECT_NE(result.bits.at(name + "11"), result.bits.at(name + "20"));
    EXPECT_EQ(result.counts.at("engines"), 6U);
    const Json& winograd = result.choices.at(name + "15");
    EXPECT_EQ(winograd.Find("largest_error")->ToDouble(), 0.25);
    const Json& liar = result.choices.at(name + "13");
    EXPECT_FALSE(liar.Find("note_holds")->AsBool());
    EXPECT_FALSE(liar.Find("repeated")->AsBool());
  }
}

TEST(ConvolutionBits, AreRightInEveryTypeAndLayout) {
  for (const auto type : {NumberType::kFp32, NumberType::kFp16, NumberType::kBf16}) {
    for (const auto layout : {TensorLayout::kNchw, TensorLayout::kNhwc}) {
      for (const auto pass : kPasses) {
        const ProbeResult result = Bits("full", pass, Small(type, layout));
        EXPECT_EQ(result.status, ProbeStatus::kOk) << result.message;
        EXPECT_EQ(result.bits.size(), 6U);
      }
    }
  }
}

TEST(ConvolutionBits, FailWhenAnEngineComputesSomethingElse) {
  const ProbeResult result =
      Bits("wrong", ConvolutionPass::kForward, Small(NumberType::kFp32, TensorLayout::kNchw));
  EXPECT_EQ(result.status, ProbeStatus::kFailed);
  EXPECT_THAT(result.message, HasSubstr("engine 66 is off by 1 from the exact result"));
  EXPECT_THAT(result.message, Not(HasSubstr("engine 11")));
  EXPECT_TRUE(result.bits.contains("fprop fp32 nchw 2x3x5x5 by 4x3x3 pad 1 engine 20"));
}

ProbeResult Trees(NumberType type, TensorLayout layout, std::size_t orders) {
  const ProbeContext context = FakeContext("full", 2);
  ConvolutionShape shape{.n = 8, .c = 4, .k = 2, .side = 3, .filter = 3};
  shape.type = type;
  shape.layout = layout;
  ProbeResult result;
  const Status done = RecordConvolutionTrees(context, Open(context), ConvolutionPass::kForward,
                                             shape, orders, &result);
  EXPECT_TRUE(done.ok()) << done.error().ToString();
  return result;
}

TEST(ConvolutionTrees, AreThoseOfTheEngines) {
  for (const auto layout : {TensorLayout::kNchw, TensorLayout::kNhwc}) {
    const ProbeResult result = Trees(NumberType::kFp32, layout, 5);
    const std::string name = fmt::format("fprop fp32 {} 8x4x3x3 by 2x3x3 pad 0 choice ",
                                         layout == TensorLayout::kNhwc ? "nhwc" : "nchw");
    ASSERT_TRUE(result.trees.contains(name + "0")) << ::testing::PrintToString(result.notes);
    EXPECT_EQ(result.trees.at(name + "0"), *SerialTree(36));
    ASSERT_TRUE(result.trees.contains(name + "4")) << ::testing::PrintToString(result.notes);
    EXPECT_EQ(NameOf(result.trees.at(name + "4")), "reversed");
    EXPECT_THAT(result.unstable, Contains(name + "1"));
    EXPECT_THAT(result.unstable, Contains(name + "2"));
    EXPECT_EQ(result.choices.at(name + "3").Find("engine")->ToInt64(), 15);
    EXPECT_FALSE(result.trees.contains(name + "3"));
    EXPECT_THAT(result.notes, Contains(AllOf(HasSubstr(name + "3"), HasSubstr("a transform"))));
  }
}

TEST(ConvolutionTrees, AreRevealedInShortTypes) {
  for (const auto type : {NumberType::kFp16, NumberType::kBf16}) {
    const ProbeResult result = Trees(type, TensorLayout::kNhwc, 1);
    ASSERT_EQ(result.trees.size(), 1U) << ::testing::PrintToString(result.notes);
    EXPECT_EQ(result.trees.begin()->second, *SerialTree(36));
  }
}

TEST(ConvolutionTrees, AreThoseOfAFiltersGradient) {
  const ProbeContext context = FakeContext("full", 2);
  for (const auto layout : {TensorLayout::kNchw, TensorLayout::kNhwc}) {
    ConvolutionShape shape{.n = 3, .c = 4, .k = 2, .side = 4, .filter = 1};
    shape.layout = layout;
    ProbeResult result;
    const Status done = RecordConvolutionTrees(context, Open(context),
                                               ConvolutionPass::kBackwardFilter, shape, 1, &result);
    ASSERT_TRUE(done.ok()) << done.error().ToString();
    ASSERT_EQ(result.trees.size(), 1U) << ::testing::PrintToString(result.notes);
    // Image after image, row after row: as the summands are numbered.
    EXPECT_EQ(result.trees.begin()->second, *SerialTree(3 * 4 * 4));
  }
}

TEST(ConvolutionTrees, AskTensorCoresForTf32Alone) {
  const ProbeResult result = Trees(NumberType::kTf32, TensorLayout::kNhwc, 5);
  ASSERT_EQ(result.choices.size(), 1U);
  EXPECT_EQ(result.choices.begin()->second.Find("engine")->ToInt64(), 16);
  EXPECT_EQ(result.trees.size(), 1U);
}

TEST(LegacyAlgorithms, AreListedAndRunWithRepeats) {
  const ProbeContext context = FakeContext("full");
  const ConvolutionShape shape = Small(NumberType::kFp32, TensorLayout::kNchw);
  ProbeResult result;
  const Status done = RecordLegacyAlgorithms(context, Open(context), shape, CUDNN_DEFAULT_MATH,
                                             "default math", &result);
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  const std::string name = " fp32 nchw 2x3x5x5 by 4x3x3 pad 1 default math ";
  EXPECT_EQ(result.choices.at("wgrad" + name + "rank 0").Dump(),
            R"({"algorithm":"1","status":"CUDNN_STATUS_SUCCESS","deterministic":true,)"
            R"("math":"fma","workspace_bytes":24})");
  EXPECT_EQ(result.choices.at("fprop" + name + "rank 1").Find("status")->AsString(),
            "CUDNN_STATUS_NOT_SUPPORTED");
  EXPECT_THAT(result.notes,
              Contains(HasSubstr("lacks cudnnGetConvolutionBackwardDataAlgorithm_v7")));
  EXPECT_THAT(result.notes, Contains(AllOf(HasSubstr("wgrad" + name + "algorithm 3: "),
                                           HasSubstr("CUDNN_STATUS_NOT_SUPPORTED"))));
  EXPECT_EQ(result.unstable, (std::vector<std::string>{"dgrad" + name + "algorithm 0",
                                                       "wgrad" + name + "algorithm 0"}));
  EXPECT_EQ(result.bits.size(), 4U);
  EXPECT_THAT(result.notes, Not(Contains(HasSubstr("not documented to vary"))));
}

TEST(NormTrees, AreReadFromTheMean) {
  const ProbeContext context = FakeContext("full", 2);
  ProbeResult result;
  const Status done = RecordNormTrees(context, Open(context), 8, 64, 1, &result);
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  const std::string name = "cudnn layer norm fp32 8x64 engine ";
  ASSERT_TRUE(result.trees.contains(name + "11")) << ::testing::PrintToString(result.notes);
  EXPECT_EQ(result.trees.at(name + "11"), *SerialTree(64));
  ASSERT_TRUE(result.trees.contains(name + "20"));
  EXPECT_EQ(NameOf(result.trees.at(name + "20")), "reversed");
}

ProbeResult RunProbe(std::string_view name, const ProbeContext& context) {
  for (const Probe& probe : Probes()) {
    if (probe.name == name) return probe.run(context);
  }
  return FailedProbe("no probe of this name");
}

TEST(CudnnProbes, ListTheEnginesOfADevice) {
  const ProbeResult result = RunProbe("cudnn_engine_list", FakeContext("full"));
  ASSERT_EQ(result.status, ProbeStatus::kOk) << result.message;
  const Json& first = result.choices.at("layer norm bf16 4096x1024 mode FALLBACK rank 1");
  EXPECT_EQ(first.Find("engine")->ToInt64(), 20);
  EXPECT_THAT(result.notes, Contains(AllOf(HasSubstr("attention"), HasSubstr("no attention"))));
  EXPECT_THAT(result.notes, Contains(HasSubstr("mode B: no engine")));
  EXPECT_EQ(result.libraries.at("libcudnn.so.9").Find("version")->AsString(), "9.19.0");
}

TEST(CudnnProbes, ListTheEnginesOfNamedDevices) {
  const ProbeResult result = RunProbe("cudnn_engine_list_named", FakeContext("full"));
  ASSERT_EQ(result.status, ProbeStatus::kOk) << result.message;
  EXPECT_TRUE(result.choices.contains("H100 layer norm bf16 4096x1024 mode A rank 2"));
  EXPECT_TRUE(result.choices.at("runtime-compiled engines").Find("listed")->AsBool());
}

TEST(CudnnProbes, FailForNamedDevicesWhereNoRankingCanBeHad) {
  const ProbeResult result = RunProbe("cudnn_engine_list_named", FakeContext("unranked"));
  EXPECT_EQ(result.status, ProbeStatus::kFailed);
  EXPECT_THAT(result.message, HasSubstr("no heuristics today"));
}

TEST(CudnnProbes, AreAbsentForNamedDevicesInVersion8) {
  const ProbeResult result = RunProbe("cudnn_engine_list_named", FakeContext("eight"));
  EXPECT_EQ(result.status, ProbeStatus::kAbsent) << result.message;
  EXPECT_THAT(result.message, HasSubstr("8.9.7"));
}

TEST(CudnnProbes, NameTheOlderFunctionsThatAreGone) {
  for (const std::string_view name : {"cudnn_legacy_algo", "pool_ctc_nd"}) {
    const ProbeResult result = RunProbe(name, FakeContext("wrong"));
    EXPECT_EQ(result.status, ProbeStatus::kAbsent) << name << ": " << result.message;
    EXPECT_THAT(result.message, HasSubstr("the library lacks cudnn")) << name;
    EXPECT_TRUE(result.bits.empty());
  }
}

TEST(CudnnProbes, FailWithTheTextOfALibraryThatDoesNotOpen) {
  for (const std::string_view name :
       {"cudnn_engine_list", "cudnn_conv_bits", "cudnn_conv_tree", "cudnn_legacy_algo",
        "pool_ctc_nd", "softmax_norm_tree_cuda"}) {
    const ProbeResult result = RunProbe(name, FakeContext("broken"));
    EXPECT_EQ(result.status, ProbeStatus::kFailed) << name;
    EXPECT_THAT(result.message, HasSubstr("cudnnCreate: CUDNN_STATUS_BAD_PARAM")) << name;
  }
}

}  // namespace
}  // namespace rharness
