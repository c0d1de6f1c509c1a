// Convolutions as values: masks, exact results, data; and notes against observations.
#include "probes/gpu/cudnn_observed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "probes/gpu/convolution.h"
#include "probes/gpu/cudnn_run.h"

namespace rharness {
namespace {

CudnnConfig ConfigWith(std::vector<std::int32_t> notes) {
  CudnnConfig config;
  config.engine = 5;
  config.notes = std::move(notes);
  return config;
}

TEST(EngineObserved, ComplainsOfAnEngineThatVariesWithoutSayingSo) {
  const EngineObserved varies{.repeated = false};
  EXPECT_EQ(NoteComplaint(ConfigWith({CUDNN_NUMERICAL_NOTE_TENSOR_CORE}), varies),
            "did not repeat, and does not carry the note that it is not deterministic");
  EXPECT_EQ(NoteComplaint(ConfigWith({CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}), varies),
            std::nullopt);
}

TEST(EngineObserved, DoesNotComplainOfAnEngineThatRepeatsAlthoughItMayVary) {
  const EngineObserved repeats;
  EXPECT_EQ(NoteComplaint(ConfigWith({}), repeats), std::nullopt);
  EXPECT_EQ(NoteComplaint(ConfigWith({CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}), repeats),
            std::nullopt);
}

TEST(EngineObserved, WantsExactIntegersOfAllButTransforms) {
  const EngineObserved off{.largest_error = 0.5}, far{.largest_error = 9.0};
  EXPECT_EQ(WrongAnswer(ConfigWith({}), off),
            "is off by 0.5 from the exact result; 0 is expected of it at most");
  EXPECT_EQ(WrongAnswer(ConfigWith({}), {}), std::nullopt);
  for (const std::int32_t note : {CUDNN_NUMERICAL_NOTE_FFT, CUDNN_NUMERICAL_NOTE_WINOGRAD,
                                  CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13}) {
    EXPECT_EQ(WrongAnswer(ConfigWith({note}), off), std::nullopt) << note;
    EXPECT_NE(WrongAnswer(ConfigWith({note}), far), std::nullopt) << note;
  }
}

TEST(EngineObserved, IsWrittenBesideTheConfiguration) {
  EXPECT_EQ(DescribeObserved(ConfigWith({}), {.repeated = false}).Dump(),
            R"({"engine":5,"knobs":{},"notes":[],"behavior":[],"repeated":false,)"
            R"("note_holds":false,"largest_error":0.0})");
}

TEST(EngineObserved, TellsTf32FromFp32ByTheNotes) {
  const CudnnConfig cores = ConfigWith({CUDNN_NUMERICAL_NOTE_TENSOR_CORE});
  EXPECT_TRUE(UsesTf32(NumberType::kFp32, cores));
  EXPECT_TRUE(UsesTf32(NumberType::kTf32, cores));
  EXPECT_FALSE(UsesTf32(NumberType::kFp16, cores));
  EXPECT_FALSE(UsesTf32(NumberType::kFp32, ConfigWith({})));
  EXPECT_TRUE(UsesTf32(NumberType::kFp32, ConfigWith({CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS})));
}

// Counts of what a 3 by 3 window sees of a 3 by 3 image with a border of zeros.
const std::vector<double> kSeen = {4, 6, 4, 6, 9, 6, 4, 6, 4};

TEST(ExactConvolution, CountsOnesInEveryDirection) {
  const ConvolutionShape shape{.side = 3, .filter = 3, .padding = 1};
  ConvolutionData ones;
  ones.x = ones.w = ones.y = std::vector<float>(9, 1.0F);
  for (const auto pass : {ConvolutionPass::kForward, ConvolutionPass::kBackwardData,
                          ConvolutionPass::kBackwardFilter}) {
    EXPECT_EQ(ExactConvolution(shape, pass, ones), kSeen) << ConvolutionPassName(pass);
  }
}

TEST(ExactConvolution, CorrelatesWithoutTurningTheFilter) {
  const ConvolutionShape shape{.side = 2, .filter = 2};
  ConvolutionData data{.x = {0, 1, 0, 0}, .w = {2, 3, 5, 7}, .y = {10}};
  EXPECT_EQ(ExactConvolution(shape, ConvolutionPass::kForward, data), std::vector<double>{3});
  EXPECT_EQ(ExactConvolution(shape, ConvolutionPass::kBackwardData, data),
            (std::vector<double>{20, 30, 50, 70}));
  EXPECT_EQ(ExactConvolution(shape, ConvolutionPass::kBackwardFilter, data),
            (std::vector<double>{0, 10, 0, 0}));
}

TEST(ExactConvolution, ReadsChannelsWhereTheLayoutHasThem) {
  // One pixel, two channels, two filters: a product of a 2 by 2 matrix with a vector.
  for (const auto layout : {TensorLayout::kNchw, TensorLayout::kNhwc}) {
    const ConvolutionShape shape{.c = 2, .k = 2, .layout = layout};
    const ConvolutionData data{.x = {1, 10}, .w = {2, 3, 5, 7}};
    EXPECT_EQ(ExactConvolution(shape, ConvolutionPass::kForward, data),
              (std::vector<double>{32, 75}));
  }
}

TEST(IntegerData, KeepsEverySumWithinWhatBf16HoldsExactly) {
  for (const auto layout : {TensorLayout::kNchw, TensorLayout::kNhwc}) {
    const ConvolutionShape shape = BitsShape(NumberType::kBf16, layout);
    for (const std::uint64_t seed : {1, 2}) {
      const ConvolutionData data = IntegerData(shape, seed);
      for (const auto pass : {ConvolutionPass::kForward, ConvolutionPass::kBackwardData,
                              ConvolutionPass::kBackwardFilter}) {
        double largest = 0;
        for (const double value : ExactConvolution(shape, pass, data)) {
          largest = std::max(largest, std::abs(value));
        }
        EXPECT_GT(largest, 16.0);
        EXPECT_LE(largest, 256.0);
      }
    }
  }
}

TEST(RoundingData, GivesOtherBitsInAnotherOrder) {
  const ConvolutionShape shape{.c = 64, .side = 3, .filter = 3};
  const ConvolutionData data = RoundingData(shape, 1);
  for (const auto type : {NumberType::kFp32, NumberType::kFp16, NumberType::kBf16}) {
    std::vector<float> products;
    for (std::size_t i = 0; i < data.x.size(); ++i) {
      const auto stored = [&](float value) {
        return static_cast<float>(Decode(type, Encode(type, static_cast<double>(value))));
      };
      products.push_back(stored(data.x[i]) * stored(data.w[i]));
    }
    const float forward = std::accumulate(products.begin(), products.end(), 0.0F);
    const float backward = std::accumulate(products.rbegin(), products.rend(), 0.0F);
    EXPECT_NE(forward, backward) << NumberTypeName(type);
  }
}

TEST(RoundingData, IsTheSameForASeedAndAnotherForAnother) {
  const ConvolutionShape shape{.c = 8, .side = 3, .filter = 3};
  EXPECT_EQ(RoundingData(shape, 1).x, RoundingData(shape, 1).x);
  EXPECT_NE(RoundingData(shape, 1).x, RoundingData(shape, 2).x);
  EXPECT_NE(RoundingData(shape, 1).x, RoundingData(shape, 1).w);
}

TEST(MaskedConvolution, PutsSummandsInOrderOfChannelRowColumn) {
  ConvolutionShape shape{.n = 2, .c = 2, .k = 1, .side = 2, .filter = 2};
  const MaskScheme scheme = SchemeOf(NumberType::kFp32, NumberType::kFp32);
  const float m = static_cast<float>(scheme.mask_a);
  const MaskPair pair{1, 4};
  shape.layout = TensorLayout::kNchw;
  // The second image has no question: units alone.
  EXPECT_EQ(MaskedConvolution(shape, ConvolutionPass::kForward, scheme, {&pair, 1}, {0, 6}).x,
            (std::vector<float>{1, m, 1, 1, -m, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0}));
  shape.layout = TensorLayout::kNhwc;
  EXPECT_EQ(MaskedConvolution(shape, ConvolutionPass::kForward, scheme, {&pair, 1}, {0, 6}).x,
            (std::vector<float>{1, -m, m, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0, 1, 0}));
}

TEST(MaskedConvolution, MultipliesByOnesAndReadsTheFirstFilter) {
  ConvolutionShape shape{.n = 4, .c = 2, .k = 3, .side = 2, .filter = 2};
  const auto data = MaskedConvolution(shape, ConvolutionPass::kForward,
                                      SchemeOf(NumberType::kFp16, NumberType::kFp16), {}, {0, 8});
  EXPECT_EQ(data.w, std::vector<float>(24, 1.0F));
  EXPECT_EQ(MaskedResultAt(shape, ConvolutionPass::kForward, 3), 9U);
}

TEST(MaskedConvolution, AsksChannelsOfAFiltersGradientOverImageRowColumn) {
  const ConvolutionPass pass = ConvolutionPass::kBackwardFilter;
  ConvolutionShape shape{.n = 2, .c = 2, .k = 1, .side = 2, .filter = 1};
  const MaskScheme scheme = SchemeOf(NumberType::kFp32, NumberType::kFp32);
  const float m = static_cast<float>(scheme.mask_a);
  EXPECT_EQ(MaskedTerms(shape, pass), 8);
  EXPECT_EQ(MaskedQuestions(shape, pass), 2);
  // The second question, of channel 1: +M at row 0, column 1 of image 0, -M at the same of image 1.
  const MaskPair pairs[] = {{0, 7}, {1, 5}};
  shape.layout = TensorLayout::kNhwc;
  const ConvolutionData data = MaskedConvolution(shape, pass, scheme, pairs, {0, 8});
  EXPECT_EQ(data.x, (std::vector<float>{m, 1, 1, m, 1, 1, 1, 1, 1, 1, 1, -m, 1, 1, -m, 1}));
  EXPECT_EQ(data.y, std::vector<float>(8, 1.0F));
  EXPECT_EQ(MaskedResultAt(shape, pass, 1), 1U);
}

TEST(LargestError, CountsNanAsInfinite) {
  const std::vector<float> values = {1.0F, std::numeric_limits<float>::quiet_NaN(), 2.0F};
  const auto bytes = EncodeAll(NumberType::kFp32, values);
  EXPECT_EQ(LargestError(NumberType::kFp32, bytes, {1.0, 0.0, 2.0}),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(
      LargestError(NumberType::kFp32, EncodeAll(NumberType::kFp32, {1.0F, -2.0F}), {1.0, 1.0}),
      3.0);
}

}  // namespace
}  // namespace rharness
