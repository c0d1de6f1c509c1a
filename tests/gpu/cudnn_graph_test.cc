// cuDNN's wrapper, graphs and engines, on libraries that are false, and on the machine's own where
// it has one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probes/gpu/convolution.h"
#include "probes/gpu/cudnn_operations.h"
#include "probes/library/cudnn_legacy.h"
#include "tests/gpu/cudnn_fakes.h"

namespace rharness {
namespace {

using ::testing::HasSubstr;

Result<std::shared_ptr<Cudnn>> Load(const std::string& kind) {
  return Cudnn::Load({FakeCudnnDir(kind)});
}

const ConvolutionShape kSmall{.n = 2, .c = 3, .k = 4, .side = 5, .filter = 3, .padding = 1};

int LiveDescriptors(const Cudnn& cudnn) { return cudnn.library().Get<int()>("fake_cudnn_live")(); }

TEST(Cudnn, NamesTheFunctionThatTheLibraryLacks) {
  const auto cudnn = Load("incomplete");
  ASSERT_FALSE(cudnn.ok());
  EXPECT_EQ(cudnn.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(cudnn.error().ToString(), "libcudnn.so.9: the library lacks cudnnBackendExecute");
}

TEST(Cudnn, FailsWithTheLibrarysOwnTextInOneLine) {
  const auto cudnn = Cudnn::Open({FakeCudnnDir("broken")});
  ASSERT_FALSE(cudnn.ok());
  EXPECT_EQ(cudnn.error().code, ErrorCode::kInternal);
  EXPECT_EQ(cudnn.error().message, "cudnnCreate: CUDNN_STATUS_BAD_PARAM: the handle is broken");
}

TEST(Cudnn, TakesVersion8WithoutWhatCameLater) {
  const auto cudnn = Cudnn::Open({FakeCudnnDir("eight")});
  ASSERT_TRUE(cudnn.ok()) << cudnn.error().ToString();
  EXPECT_EQ((*cudnn)->VersionText(), "8.9.7");
  EXPECT_EQ((*cudnn)->f.cudnnGetLastErrorString, nullptr);
  const auto graph = CudnnGraph::Create(*cudnn, ToCudnn(kSmall, ConvolutionPass::kForward));
  ASSERT_TRUE(graph.ok()) << graph.error().ToString();
  const auto ranked = (*graph)->Rank(CUDNN_HEUR_MODE_A, 1);
  ASSERT_TRUE(ranked.ok()) << ranked.error().ToString();
  EXPECT_TRUE(ranked->front().behavior.empty());
}

TEST(Cudnn, NamesAnOlderFunctionThatTheLibraryHasNoMore) {
  const auto cudnn = Load("wrong");
  ASSERT_TRUE(cudnn.ok());
  const auto tensor = LegacyTensor(*cudnn, CUDNN_DATA_FLOAT, TensorLayout::kNchw, {1, 1, 1, 1});
  ASSERT_FALSE(tensor.ok());
  EXPECT_EQ(tensor.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(tensor.error().message, "the library lacks cudnnSetTensor4dDescriptor");
}

TEST(Cudnn, ReadsVersionsOfBothNumberings) {
  EXPECT_EQ(CudnnVersionText(91900), "9.19.0");
  EXPECT_EQ(CudnnVersionText(90101), "9.1.1");
  EXPECT_EQ(CudnnVersionText(8907), "8.9.7");
  EXPECT_EQ(CudnnVersionText(8204), "8.2.4");
}

TEST(Cudnn, KnowsWhatIsNotSupportedInBothNumberings) {
  const auto says = [](int status, std::uint64_t version) {
    return CudnnSaysNotSupported(static_cast<cudnnStatus_t>(status), version);
  };
  for (const int status : {3000, 3007, 3014}) EXPECT_TRUE(says(status, 91900)) << status;
  for (const int status : {0, 6, 9, 1001, 2000, 2001, 4000, 5000}) {
    EXPECT_FALSE(says(status, 91900)) << status;
  }
  for (const int status : {6, 9, 11}) EXPECT_TRUE(says(status, 8907)) << status;
  for (const int status : {0, 1, 3, 4, 5, 8}) EXPECT_FALSE(says(status, 8907)) << status;
}

TEST(CudnnGraph, NamesTheDescriptorThatTheLibraryRefuses) {
  const auto cudnn = Load("full");
  ASSERT_TRUE(cudnn.ok());
  CudnnConvolution convolution = ToCudnn(kSmall, ConvolutionPass::kForward);
  convolution.w.dims[0] = 0;
  const auto graph = CudnnGraph::Create(*cudnn, convolution);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().message,
            "cudnnBackendFinalize of tensor 2: CUDNN_STATUS_BAD_PARAM: dim < 1");
}

TEST(CudnnGraph, SaysThatAnOperationIsNotSupported) {
  const auto cudnn = Load("full");
  ASSERT_TRUE(cudnn.ok());
  const auto graph = CudnnGraph::Create(*cudnn, CudnnAttention());
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(graph.error().message, HasSubstr("attention: CUDNN_STATUS_NOT_SUPPORTED"));
}

TEST(CudnnGraph, DescribesEnginesByName) {
  const auto cudnn = Load("full");
  ASSERT_TRUE(cudnn.ok());
  const auto graph = CudnnGraph::Create(*cudnn, ToCudnn(kSmall, ConvolutionPass::kForward));
  ASSERT_TRUE(graph.ok()) << graph.error().ToString();
  const auto ranked = (*graph)->Rank(CUDNN_HEUR_MODE_A, 4);
  ASSERT_TRUE(ranked.ok()) << ranked.error().ToString();
  ASSERT_EQ(ranked->size(), 4U);
  EXPECT_EQ(DescribeConfig((*ranked)[3]).Dump(),
            R"({"engine":12,"knobs":{"split_k_slc":4,"knob 99":1},)"
            R"("notes":["nondeterministic","note 77"],"behavior":["cublaslt_dependency"],)"
            R"("workspace_bytes":4096})");
  EXPECT_EQ(NameOfConfig((*ranked)[3]), "engine 12 split_k_slc=4 knob 99=1");
  EXPECT_EQ(NameOfConfig((*ranked)[0]), "engine 11");
  const auto none = (*graph)->Rank(CUDNN_HEUR_MODE_B, 4);
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->empty());
}

TEST(CudnnGraph, TakesTheFirstConfigurationOfEachEngine) {
  const auto cudnn = Load("full");
  ASSERT_TRUE(cudnn.ok());
  const auto graph = CudnnGraph::Create(*cudnn, ToCudnn(kSmall, ConvolutionPass::kForward));
  ASSERT_TRUE(graph.ok());
  const auto engines = FirstOfEachEngine(**graph, 3);
  ASSERT_TRUE(engines.ok());
  std::vector<std::int64_t> numbers;
  for (const CudnnConfig& config : *engines) numbers.push_back(config.engine);
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{11, 14, 12, 20}));
}

TEST(CudnnGraph, LeavesNoDescriptorBehind) {
  const auto cudnn = Load("full");
  ASSERT_TRUE(cudnn.ok());
  const int before = LiveDescriptors(**cudnn);
  {
    const auto graph = CudnnGraph::Create(*cudnn, ToCudnn(kSmall, ConvolutionPass::kBackwardData));
    ASSERT_TRUE(graph.ok());
    const auto ranked = (*graph)->Rank(CUDNN_HEUR_MODE_A, 8);
    ASSERT_TRUE(ranked.ok());
    EXPECT_GT(LiveDescriptors(**cudnn), before);
  }
  EXPECT_EQ(LiveDescriptors(**cudnn), before);
}

TEST(CudnnGraph, GivesDenseStridesOfBothLayouts) {
  EXPECT_EQ(DenseStrides({2, 3, 4, 5}, TensorLayout::kNchw),
            (std::vector<std::int64_t>{60, 20, 5, 1}));
  EXPECT_EQ(DenseStrides({2, 3, 4, 5}, TensorLayout::kNhwc),
            (std::vector<std::int64_t>{60, 1, 15, 3}));
}

TEST(LegacyAlgorithm, IsNamedAsTheHeaderNamesIt) {
  using Pass = ConvolutionPass;
  EXPECT_EQ(LegacyAlgorithmName(Pass::kForward, CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED),
            "winograd_nonfused");
  EXPECT_EQ(LegacyAlgorithmName(Pass::kBackwardData, CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING),
            "fft_tiling");
  EXPECT_EQ(LegacyAlgorithmName(Pass::kBackwardFilter, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3), "3");
  EXPECT_EQ(
      LegacyAlgorithmName(Pass::kBackwardFilter, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING),
      "fft_tiling");
  EXPECT_EQ(LegacyAlgorithmName(Pass::kBackwardData, 6), "algorithm 6");
  EXPECT_EQ(LegacyAlgorithmName(Pass::kForward, -1), "algorithm -1");
}

class LegacyConvolutions : public ::testing::TestWithParam<ConvolutionPass> {};

TEST_P(LegacyConvolutions, ComputeWhatIsExact) {
  const ConvolutionPass pass = GetParam();
  const auto context = CudnnContext::Open(FakeContext("full"));
  ASSERT_TRUE(context.ok()) << context.error().ToString();
  // No two dimensions alike, so that none stands for another.
  const auto convolution =
      LegacyConvolution::Create(context->cudnn, CUDNN_DATA_FLOAT, TensorLayout::kNhwc, {2, 3, 5, 5},
                                {4, 3, 3, 3}, {2, 4, 5, 5}, 1, CUDNN_FMA_MATH);
  ASSERT_TRUE(convolution.ok()) << convolution.error().ToString();
  const auto memory = ConvolutionMemory::Create(context->device, kSmall);
  ASSERT_TRUE(memory.ok());
  const ConvolutionData data = IntegerData(kSmall, 3);
  ASSERT_TRUE(memory->Fill(pass, data).ok());
  const auto computed = memory->Compute(pass, [&] {
    return convolution->Run(pass, 1, memory->pointer(ConvolutionTensor::kX),
                            memory->pointer(ConvolutionTensor::kW),
                            memory->pointer(ConvolutionTensor::kY), nullptr, 0);
  });
  ASSERT_TRUE(computed.ok()) << computed.error().ToString();
  EXPECT_EQ(LargestError(NumberType::kFp32, *computed, ExactConvolution(kSmall, pass, data)), 0.0);
}

INSTANTIATE_TEST_SUITE_P(EveryPass, LegacyConvolutions,
                         ::testing::Values(ConvolutionPass::kForward,
                                           ConvolutionPass::kBackwardData,
                                           ConvolutionPass::kBackwardFilter));

// The machine's own cuDNN, without a device.
Result<std::shared_ptr<Cudnn>> OpenReal() {
  ASSIGN_OR_RETURN(const auto cudnn, Cudnn::Load({}));
  if (cudnn->version() < kCudnnWithDeviceProperties) return NotFound("cuDNN before 9.8");
  return cudnn;
}

TEST(RealCudnn, RanksConvolutionsForDevicesThatAreNotThere) {
  const auto cudnn = OpenReal();
  if (!cudnn.ok()) GTEST_SKIP() << cudnn.error().ToString();
  for (const NamedDevice& named : NamedDevices()) {
    const auto device = CudnnDevice(*cudnn, named.properties);
    ASSERT_TRUE(device.ok()) << named.name << ": " << device.error().ToString();
    for (const auto pass : {ConvolutionPass::kForward, ConvolutionPass::kBackwardData,
                            ConvolutionPass::kBackwardFilter}) {
      const ConvolutionShape shape = BitsShape(NumberType::kFp16, TensorLayout::kNhwc);
      const auto graph = CudnnGraph::Create(*cudnn, ToCudnn(shape, pass));
      ASSERT_TRUE(graph.ok()) << graph.error().ToString();
      for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
        const auto ranked = (*graph)->Rank(mode, 4, &*device);
        ASSERT_TRUE(ranked.ok()) << ranked.error().ToString();
        ASSERT_FALSE(ranked->empty()) << named.name << " " << ConvolutionPassName(pass);
        EXPECT_GE(ranked->front().engine, 0);
        EXPECT_TRUE(ranked->front().workspace_bytes.has_value());
      }
    }
  }
}

TEST(RealCudnn, KnowsAtomicBackwardEnginesByTheirNote) {
  const auto cudnn = OpenReal();
  if (!cudnn.ok()) GTEST_SKIP() << cudnn.error().ToString();
  const auto device = CudnnDevice(*cudnn, NamedDevices().front().properties);
  ASSERT_TRUE(device.ok());
  const ConvolutionShape shape = BitsShape(NumberType::kFp32, TensorLayout::kNchw);
  const auto graph = CudnnGraph::Create(*cudnn, ToCudnn(shape, ConvolutionPass::kBackwardFilter));
  ASSERT_TRUE(graph.ok());
  const auto ranked = (*graph)->Rank(CUDNN_HEUR_MODE_FALLBACK, 16, &*device);
  ASSERT_TRUE(ranked.ok());
  EXPECT_TRUE(std::ranges::any_of(*ranked, [](const CudnnConfig& config) {
    return config.Has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
  }));
}

TEST(RealCudnn, RefusesADeviceWithoutAMemberThatItNeeds) {
  const auto cudnn = OpenReal();
  if (!cudnn.ok()) GTEST_SKIP() << cudnn.error().ToString();
  const auto device = CudnnDevice(*cudnn, Json::MakeObject().Set("deviceVer", 900));
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(device.error().message, HasSubstr("cudnnBackendFinalize of device properties: "));
}

TEST(RealCudnn, TakesTheGraphOfALayerNormAndOfAnAttention) {
  const auto cudnn = OpenReal();
  if (!cudnn.ok()) GTEST_SKIP() << cudnn.error().ToString();
  for (const CudnnOperation& operation : ListedOperations()) {
    const auto graph = operation.build(*cudnn);
    EXPECT_TRUE(graph.ok()) << operation.name << ": " << graph.error().ToString();
  }
}

TEST(RealCudnn, MakesOlderDescriptorsWithoutADevice) {
  const auto cudnn = OpenReal();
  if (!cudnn.ok()) GTEST_SKIP() << cudnn.error().ToString();
  const auto said = [](const auto& made) {
    return made.ok() || made.error().code == ErrorCode::kUnsupported ? std::string()
                                                                     : made.error().ToString();
  };
  EXPECT_EQ(said(LegacyTensor(*cudnn, CUDNN_DATA_FLOAT, std::vector<int>{64, 16, 32})), "");
  EXPECT_EQ(said(LegacyPooling(*cudnn, CUDNN_POOLING_MAX_DETERMINISTIC, 5, 2, 1)), "");
  EXPECT_EQ(said(LegacyCtcLoss(*cudnn)), "");
  EXPECT_EQ(
      said(LegacyConvolution::Create(*cudnn, CUDNN_DATA_HALF, TensorLayout::kNhwc, {4, 64, 14, 14},
                                     {64, 64, 3, 3}, {4, 64, 14, 14}, 1, CUDNN_TENSOR_OP_MATH)),
      "");
}

}  // namespace
}  // namespace rharness
