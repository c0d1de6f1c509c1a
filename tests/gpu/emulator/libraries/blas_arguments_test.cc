// Wrong arguments of cuBLAS and cuBLASLt: the documented status of each, or a fault of the device.
#include <functional>

#include "probes/gpu/gemm.h"
#include "tests/gpu/emulator/libraries/checked.h"

namespace rharness {
namespace {

// `check` has the libraries opened.
using Check = std::function<void(const BlasContext& blas, ProbeResult* result)>;
void ExpectOfBlas(const Check& check, const Changes& changes = {}) {
  const auto with_blas = [&](const ProbeContext& context, ProbeResult* result) -> Status {
    ASSIGN_OR_RETURN(const BlasContext blas, BlasContext::Open(context));
    check(blas, result);
    return {};
  };
  ExpectAsDocumented(with_blas, changes);
}

// cublasGemmEx of 4 by 8 by 16, A transposed.
struct GemmCall {
  cublasHandle_t handle = nullptr;
  cublasOperation_t a_op = CUBLAS_OP_T;
  int m = 4, n = 8, k = 16, lda = 16, ldb = 16, ldc = 4;
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  cudaDataType a_type = CUDA_R_32F, b_type = CUDA_R_32F, c_type = CUDA_R_32F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  bool has_alpha = true;
  int algo = CUBLAS_GEMM_DEFAULT;
};
cublasStatus_t RunGemm(const Cublas& blas, const GemmCall& call) {
  const float one = 1, zero = 0;
  return blas.f.cublasGemmEx(call.handle, call.a_op, CUBLAS_OP_N, call.m, call.n, call.k,
                             call.has_alpha ? &one : nullptr, call.a, call.a_type, call.lda, call.b,
                             call.b_type, call.ldb, &zero, call.c, call.c_type, call.ldc,
                             call.compute, Numbered<cublasGemmAlgo_t>(call.algo));
}

struct GemmBuffers {
  DeviceBuffer a, b, c, big;
  GemmCall call;
};
GemmBuffers MakeBuffers(const BlasContext& blas) {
  GemmBuffers made;
  made.a = std::move(*blas.device->Upload(std::vector<float>(64, 1.0F)));
  made.b = std::move(*blas.device->Upload(std::vector<float>(128, 1.0F)));
  made.c = std::move(*blas.device->Allocate(128));
  made.big = std::move(*blas.device->Allocate(4096));
  made.call.handle = blas.blas->handle();
  made.call.a = made.a.pointer(), made.call.b = made.b.pointer(), made.call.c = made.c.pointer();
  return made;
}

TEST(EmulatedBlasArguments, OfAProductHaveTheirStatus) {
  using Change = std::function<void(GemmCall*)>;
  const auto check = [](const BlasContext& blas, ProbeResult* result) {
    const GemmBuffers made = MakeBuffers(blas);
    const auto expect = [&](std::string_view what, cublasStatus_t wanted, const Change& change) {
      GemmCall call = made.call;
      change(&call);
      ExpectStatus(what, RunGemm(*blas.blas, call), wanted, result);
    };
    constexpr auto kInvalid = CUBLAS_STATUS_INVALID_VALUE;
    expect("right", CUBLAS_STATUS_SUCCESS, [](GemmCall*) {});
    expect("m", kInvalid, [](GemmCall* call) { call->m = -1; });
    expect("n", kInvalid, [](GemmCall* call) { call->n = -1; });
    expect("k", kInvalid, [](GemmCall* call) { call->k = -1; });
    expect("operation", kInvalid,
           [](GemmCall* call) { call->a_op = Numbered<cublasOperation_t>(9); });
    expect("lda", kInvalid, [](GemmCall* call) { call->lda = 15; });
    expect("lda as stored", CUBLAS_STATUS_SUCCESS,
           [](GemmCall* call) { call->a_op = CUBLAS_OP_N, call->lda = 4; });
    expect("ldb", kInvalid, [](GemmCall* call) { call->ldb = 15; });
    expect("ldc", kInvalid, [](GemmCall* call) { call->ldc = 3; });
    expect("alpha", kInvalid, [](GemmCall* call) { call->has_alpha = false; });
    expect("algo", kInvalid, [](GemmCall* call) { call->algo = 77; });
    expect("types of A and B", CUBLAS_STATUS_NOT_SUPPORTED,
           [](GemmCall* call) { call->b_type = CUDA_R_16BF; });
    expect("type of C", CUBLAS_STATUS_NOT_SUPPORTED,
           [](GemmCall* call) { call->c_type = CUDA_R_16F; });
    expect("compute type", CUBLAS_STATUS_NOT_SUPPORTED,
           [](GemmCall* call) { call->compute = CUBLAS_COMPUTE_64F; });
    expect("fp8", CUBLAS_STATUS_NOT_SUPPORTED,
           [](GemmCall* call) { call->a_type = call->b_type = CUDA_R_8F_E4M3; });
    expect("whole numbers, lda", CUBLAS_STATUS_NOT_SUPPORTED, [](GemmCall* call) {
      call->a_type = call->b_type = CUDA_R_8I, call->c_type = CUDA_R_32I;
      call->compute = CUBLAS_COMPUTE_32I, call->lda = 17;
    });
    expect("no handle", CUBLAS_STATUS_NOT_INITIALIZED, [](GemmCall* call) { call->handle = {}; });
    ExpectStatus("still alive", blas.device->Synchronize().ok(), true, result);
  };
  ExpectOfBlas(check);
}

// Each in a process of its own, since the error stays.
TEST(EmulatedBlasArguments, ThatAreNoMemoryAreFaultsOfTheDevice) {
  const auto expect_fault = [](std::string_view wanted, const auto& change) {
    ExpectOfBlas([&](const BlasContext& blas, ProbeResult* result) {
      GemmBuffers made = MakeBuffers(blas);
      change(&made);
      ExpectStatus("asynchronous", RunGemm(*blas.blas, made.call), CUBLAS_STATUS_SUCCESS, result);
      const Status waited = blas.device->Synchronize();
      const std::string text = waited.ok() ? "no fault" : waited.error().ToString();
      if (text.find(wanted) == std::string::npos) result->notes.push_back(text);
      ExpectStatus("dead", RunGemm(*blas.blas, made.call), CUBLAS_STATUS_EXECUTION_FAILED, result);
    });
  };
  expect_fault("A: 64 bytes at", [](GemmBuffers* made) {
    made->call.a = static_cast<const std::byte*>(made->call.a) + 64;
  });
  expect_fault("out of bounds",
               [](GemmBuffers* made) { made->call.k = made->call.lda = made->call.ldb = 17; });
  expect_fault("misaligned", [](GemmBuffers* made) {
    made->call.b = static_cast<const std::byte*>(made->call.b) + 2;
  });
  expect_fault("D: 16 bytes", [](GemmBuffers* made) { made->call.n = 8, made->call.ldc = 16; });
  expect_fault("A: ", [](GemmBuffers* made) { made->a = DeviceBuffer(); });
}

TEST(EmulatedBlasArguments, OfAHandleHaveTheirStatus) {
  ExpectOfBlas([](const BlasContext& blas, ProbeResult* result) {
    const auto& f = blas.blas->f;
    const cublasHandle_t handle = blas.blas->handle();
    const GemmBuffers made = MakeBuffers(blas);
    constexpr auto kInvalid = CUBLAS_STATUS_INVALID_VALUE;
    ExpectStatus("workspace",
                 f.cublasSetWorkspace(handle, static_cast<char*>(made.big.pointer()) + 128, 64),
                 kInvalid, result);
    ExpectStatus("atomics", f.cublasSetAtomicsMode(handle, Numbered<cublasAtomicsMode_t>(2)),
                 kInvalid, result);
    ExpectStatus("math", f.cublasSetMathMode(handle, Numbered<cublasMath_t>(77)), kInvalid, result);
    int version = 0;
    ExpectStatus("version", f.cublasGetVersion(handle, nullptr), kInvalid, result);
    ExpectStatus("version", f.cublasGetVersion(handle, &version), CUBLAS_STATUS_SUCCESS, result);
    const float one = 1;
    auto* x = static_cast<float*>(made.big.pointer());
    const auto symv = [&](cublasFillMode_t fill, int n, int lda, int step) {
      return f.cublasSsymv(handle, fill, n, &one, x, lda, x, step, &one, x + 512, 1);
    };
    ExpectStatus("symv", symv(CUBLAS_FILL_MODE_UPPER, 4, 4, 1), CUBLAS_STATUS_SUCCESS, result);
    ExpectStatus("symv n", symv(CUBLAS_FILL_MODE_UPPER, -1, 4, 1), kInvalid, result);
    ExpectStatus("symv lda", symv(CUBLAS_FILL_MODE_UPPER, 4, 3, 1), kInvalid, result);
    ExpectStatus("symv step", symv(CUBLAS_FILL_MODE_UPPER, 4, 4, 0), kInvalid, result);
    ExpectStatus("symv fill", symv(CUBLAS_FILL_MODE_FULL, 4, 4, 1), kInvalid, result);
    CUstream stream = nullptr;
    blas.device->driver().f.cuStreamCreate(&stream, 0);
    blas.device->driver().f.cuStreamDestroy(stream);
    ExpectStatus("stream", f.cublasSetStream(handle, stream), CUBLAS_STATUS_SUCCESS, result);
    ExpectStatus("dead stream", RunGemm(*blas.blas, made.call), CUBLAS_STATUS_EXECUTION_FAILED,
                 result);
    cublasHandle_t second = nullptr;
    f.cublasCreate(&second);
    f.cublasDestroy(second);
    ExpectStatus("destroyed", f.cublasDestroy(second), CUBLAS_STATUS_NOT_INITIALIZED, result);
    ExpectStatus("destroyed", f.cublasSetStream(second, nullptr), CUBLAS_STATUS_NOT_INITIALIZED,
                 result);
  });
}

// cublasLtMatmul of 16 by 16 by 2048 bf16, which is split in four.
struct LtCall {
  std::unique_ptr<LtProduct> product;
  cublasLtMatmulHeuristicResult_t first{};
  DeviceBuffer a, b, d, workspace;
};
LtCall MakeLtCall(const BlasContext& blas) {
  LtCall made;
  const DeviceGemmShape shape{16, 16, 2048, NumberType::kBf16, NumberType::kFp32};
  made.product = std::move(*LtProduct::Create(blas.lt, ToLtShape(shape)));
  made.first = made.product->Heuristic({}, 1)->front();
  made.a = std::move(*blas.device->Allocate(shape.a_size() * 2));
  made.b = std::move(*blas.device->Allocate(shape.b_size() * 2));
  made.d = std::move(*blas.device->Allocate(shape.c_size() * 4));
  made.workspace = std::move(*blas.device->Allocate(made.first.workspaceSize));
  return made;
}

TEST(EmulatedLtArguments, OfAProductHaveTheirStatus) {
  ExpectOfBlas([](const BlasContext& blas, ProbeResult* result) {
    const LtCall made = MakeLtCall(blas);
    const auto run = [&](std::size_t a_offset, std::size_t offset, std::size_t bytes,
                         const cublasLtMatmulAlgo_t& algo) {
      const Status done =
          made.product->Run(algo, static_cast<std::byte*>(made.a.pointer()) + a_offset,
                            made.b.pointer(), made.d.pointer(), made.d.pointer(), 0.0F,
                            static_cast<std::byte*>(made.workspace.pointer()) + offset, bytes);
      return done.ok() ? std::string("done") : done.error().message.substr(0, 45);
    };
    const auto expect = [&](std::string_view what, const std::string& got,
                            const std::string& wanted) {
      ExpectStatus(what, got.find(wanted) != std::string::npos, true, result);
      if (got.find(wanted) == std::string::npos) result->notes.push_back(got);
    };
    const std::size_t bytes = made.first.workspaceSize;
    expect("right", run(0, 0, bytes, made.first.algo), "done");
    expect("workspace too small", run(0, 0, bytes - 1, made.first.algo), "INVALID_VALUE");
    expect("workspace misaligned", run(0, 16, bytes, made.first.algo), "INVALID_VALUE");
    expect("A misaligned", run(2, 0, bytes, made.first.algo), "INVALID_VALUE");
    expect("no algorithm", run(0, 0, bytes, {}), "NOT_SUPPORTED");
    expect("alive", blas.device->Synchronize().ok() ? "done" : "dead", "done");
  });
}

TEST(EmulatedLtArguments, OfDescriptorsAndAlgorithmsHaveTheirStatus) {
  ExpectOfBlas([](const BlasContext& blas, ProbeResult* result) {
    const auto& f = blas.lt->f;
    const cublasLtHandle_t handle = blas.lt->handle();
    constexpr auto kInvalid = CUBLAS_STATUS_INVALID_VALUE;
    constexpr auto kUnsupported = CUBLAS_STATUS_NOT_SUPPORTED;
    LtCall made = MakeLtCall(blas);
    cublasLtMatmulAlgo_t algo{};
    const auto init = [&](int id, cudaDataType in) {
      return f.cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, in, in, CUDA_R_32F,
                                      CUDA_R_32F, id, &algo);
    };
    ExpectStatus("id", init(1000, CUDA_R_16BF), kInvalid, result);
    ExpectStatus("types", init(66, CUDA_R_32F), kUnsupported, result);
    ExpectStatus("right", init(66, CUDA_R_16BF), CUBLAS_STATUS_SUCCESS, result);
    const std::uint32_t number = 1;
    const auto set = [&](cublasLtMatmulAlgoConfigAttributes_t attribute, std::size_t bytes) {
      return f.cublasLtMatmulAlgoConfigSetAttribute(&algo, attribute, &number, bytes);
    };
    ExpectStatus("setting the id", set(CUBLASLT_ALGO_CONFIG_ID, 4), kInvalid, result);
    ExpectStatus("size", set(CUBLASLT_ALGO_CONFIG_TILE_ID, 2), kInvalid, result);
    ExpectStatus("size", set(CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 4), kInvalid, result);
    ExpectStatus("attribute", set(Numbered<cublasLtMatmulAlgoConfigAttributes_t>(99), 4), kInvalid,
                 result);
    std::uint64_t flags = 0;
    std::size_t written = 0;
    ExpectStatus("capability's size",
                 f.cublasLtMatmulAlgoCapGetAttribute(&algo, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS,
                                                     &flags, 4, &written),
                 kInvalid, result);
    cublasLtMatmulPreference_t preference = nullptr;
    f.cublasLtMatmulPreferenceCreate(&preference);
    ExpectStatus("preference's size",
                 f.cublasLtMatmulPreferenceSetAttribute(
                     preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &number, 4),
                 kInvalid, result);
    ExpectStatus("no results wanted",
                 f.cublasLtMatmulAlgoGetHeuristic(handle, nullptr, nullptr, nullptr, nullptr,
                                                  nullptr, preference, 0, nullptr, nullptr),
                 kInvalid, result);
    ExpectStatus("no handle", f.cublasLtDestroy(nullptr), CUBLAS_STATUS_NOT_INITIALIZED, result);
    // Shapes that tensor cores of fp8 do not take, and a type that no product has.
    for (const auto& [m, in] : {std::pair{24, NumberType::kE4m3}, {16, NumberType::kE5m2}}) {
      const auto product =
          LtProduct::Create(blas.lt, ToLtShape({m, 16, 32, in, NumberType::kFp32}));
      const auto found = (*product)->Heuristic({}, 4);
      ExpectStatus("no fp8", found.ok() && found->empty(), true, result);
    }
    cublasLtMatmulDesc_t desc = nullptr;
    f.cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    const cublasOperation_t wrong = Numbered<cublasOperation_t>(7);
    ExpectStatus("operation",
                 f.cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &wrong, 4),
                 kInvalid, result);
  });
}

// What probes/ makes of absent and refused configurations rests on these.
TEST(EmulatedLtArguments, TellADeviceThatIsTooOld) {
  const auto check = [](const BlasContext& blas, ProbeResult* result) {
    const DeviceGemmShape shape{16, 16, 32, NumberType::kE4m3, NumberType::kFp32};
    const auto product = LtProduct::Create(blas.lt, ToLtShape(shape));
    Json config = Json::MakeObject();
    config.Set("id", 66).Set("tile", 20).Set("split_k", 1).Set("reduction_scheme", 0);
    config.Set("cta_swizzling", 0).Set("custom_option", 0).Set("stages", 29);
    config.Set("inner_shape", 0).Set("cluster_shape", 0);
    const auto known = (*product)->Configure(config);
    const std::string text = known.ok() ? "configured" : known.error().ToString();
    ExpectStatus(
        "arch",
        text.find("cublasLtMatmulAlgoCheck: CUBLAS_STATUS_ARCH_MISMATCH") != std::string::npos,
        true, result);
  };
  ExpectOfBlas(check, {{"EMULATED_DEVICE", "A100"}});
}

}  // namespace
}  // namespace rharness
