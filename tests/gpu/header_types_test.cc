// Types and numbers that are written out by hand, held against the vendors' headers where these are
// there: a change of an interface then fails to compile, not on a device.
#include <cublasLt.h>
#include <driver_types.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "probes/library/cublas.h"
#include "probes/library/cublaslt.h"
#include "probes/library/cuda_driver.h"
#include "probes/library/nvjitlink.h"
#include "probes/library/nvrtc.h"
#include "tests/bench/gpu/bench_device.h"
#if __has_include(<nccl.h>)
#include "probes/library/nccl.h"
#endif
#ifdef RHARNESS_CUDNN_PROBES
#include "probes/library/cudnn.h"
#endif

namespace rharness {
namespace {

// Tables take their members' types from the headers, but for those that a header renames, overloads
// or may not have.
template <class Member, class Declared>
constexpr bool kSame = std::is_same_v<Member, Declared*>;

using GemmEx = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                              const void*, const void*, cudaDataType, int, const void*,
                              cudaDataType, int, const void*, void*, cudaDataType, int,
                              cublasComputeType_t, cublasGemmAlgo_t);
// The one of the overloads that the library exports.
static_assert(std::is_same_v<decltype(static_cast<GemmEx*>(&::cublasGemmEx)), GemmEx*>);
static_assert(kSame<decltype(CublasFunctions::cublasGemmEx), GemmEx>);

// cuEventElapsedTime is renamed by newer headers; its parameters have stayed.
static_assert(kSame<decltype(bench::BenchDriverFunctions::cuEventElapsedTime),
                    CUresult(float*, CUevent, CUevent)>);
static_assert(std::is_same_v<decltype(::cuEventElapsedTime), CUresult(float*, CUevent, CUevent)>);
static_assert(std::is_same_v<decltype(::cuDeviceTotalMem), CUresult(std::size_t*, CUdevice)>);
static_assert(cudaDevAttrComputeCapabilityMajor == 75 && cudaDevAttrComputeCapabilityMinor == 76,
              "env_ident_cuda asks the runtime for these by number");

// What is written down of a configuration, and how many bytes each attribute has.
static_assert(CUBLASLT_ALGO_CONFIG_ID == 0 && CUBLASLT_ALGO_CONFIG_TILE_ID == 1 &&
              CUBLASLT_ALGO_CONFIG_SPLITK_NUM == 2 && CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME == 3 &&
              CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING == 4 && CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION == 5 &&
              CUBLASLT_ALGO_CONFIG_STAGES_ID == 6 && CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID == 7 &&
              CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID == 8);
static_assert(sizeof(cublasLtMatmulAlgo_t) == 64 && sizeof(cublasLtMatmulHeuristicResult_t) == 96);
// Attributes are handed over by their enumeration's size.
static_assert(sizeof(cublasOperation_t) == 4 && sizeof(cublasStatus_t) == 4);

#if __has_include(<nccl.h>)
static_assert(std::is_same_v<decltype(NcclFunctions::ncclGetLastError),
                             std::add_pointer_t<decltype(::ncclGetLastError)>>);
// Its last argument, a ncclConfig_t*, is always null here.
static_assert(std::is_same_v<decltype(::ncclCommSplit),
                             ncclResult_t(ncclComm_t, int, int, ncclComm_t*, ncclConfig_t*)>);
static_assert(sizeof(ncclUniqueId) == 128, "passed by value");
#endif

#ifdef RHARNESS_CUDNN_PROBES
// Names are found by these numbers.
static_assert(CUDNN_HEUR_MODE_INSTANT == 0 && CUDNN_HEUR_MODE_B == 1 &&
              CUDNN_HEUR_MODE_FALLBACK == 2 && CUDNN_HEUR_MODE_A == 3);
static_assert(CUDNN_NUMERICAL_NOTE_TENSOR_CORE == 0 && CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC == 4 &&
              CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13 == 8);
static_assert(CUDNN_KNOB_TYPE_SPLIT_K == 0 && CUDNN_KNOB_TYPE_TILEK == 13 &&
              CUDNN_KNOB_TYPE_STAGES == 14 && CUDNN_KNOB_TYPE_KERNEL_CFG == 24 &&
              CUDNN_KNOB_TYPE_STREAM_K == 38 && CUDNN_KNOB_TYPE_TILE_M == 40);
static_assert(CUDNN_DEFAULT_MATH == 0 && CUDNN_TENSOR_OP_MATH == 1 && CUDNN_FMA_MATH == 3);
static_assert(CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED == 7 &&
              CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED == 5 &&
              CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING == 6);
// Attributes are handed over as the types of their values.
static_assert(sizeof(cudnnDataType_t) == 4 && sizeof(cudnnBackendHeurMode_t) == 4 &&
              sizeof(cudnnBackendNormMode_t) == 4 && sizeof(bool) == 1);
static_assert(CUDNN_STATUS_NOT_SUPPORTED == 3000 && CUDNN_STATUS_INTERNAL_ERROR == 4000);
#endif

// Says on stderr which of `names` the library lacks; true if there is no such library.
bool HasAll(const std::vector<std::string>& sonames, const std::vector<std::string_view>& names) {
  const auto library =
      Library::Open(sonames, {"/usr/local/cuda/lib64", "/usr/local/cuda/lib64/stubs"});
  if (!library.ok()) return true;
  bool all = true;
  for (const std::string_view name : names) {
    if ((*library)->Find(name) != nullptr) continue;
    fmt::print(stderr, "{} lacks {}\n", sonames.front(), name);
    all = false;
  }
  return all;
}

bool LibrariesHaveAll() {
#define NAME_OF(name) RHARNESS_SYMBOL_TEXT(name),
  bool all =
      HasAll({"libcuda.so.1", "libcuda.so"},
             {RHARNESS_CUDA_DRIVER(NAME_OF) RHARNESS_BENCH_DRIVER(NAME_OF) "cuEventElapsedTime",
              "cuDeviceTotalMem_v2"});
  all &= HasAll({"libcublas.so.13", "libcublas.so.12"},
                {RHARNESS_CUBLAS(NAME_OF) "cublasGemmEx", "cublasGetProperty"});
  all &= HasAll({"libcublasLt.so.13", "libcublasLt.so.12"},
                {RHARNESS_CUBLASLT(NAME_OF) "cublasLtGetProperty"});
  all &= HasAll({"libnvrtc.so.13", "libnvrtc.so.12"}, {RHARNESS_NVRTC(NAME_OF)});
  all &= HasAll({"libnvJitLink.so.13", "libnvJitLink.so.12"}, {RHARNESS_NVJITLINK(NAME_OF)});
#if __has_include(<nccl.h>)
  all &= HasAll({"libnccl.so.2"}, {RHARNESS_NCCL(NAME_OF) "ncclGetLastError", "ncclCommSplit"});
#endif
#ifdef RHARNESS_CUDNN_PROBES
  all &= HasAll({"libcudnn.so.9"},
                {RHARNESS_CUDNN(NAME_OF) RHARNESS_CUDNN_OPTIONAL(NAME_OF) "cudnnGetProperty"});
#endif
#undef NAME_OF
  return all;
}

// In a process of its own: the toolkit's stub would be the driver of every test after it.
TEST(Symbols, AreAllInTheLibrariesOfThisMachine) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(::_exit(LibrariesHaveAll() ? 0 : 1), testing::ExitedWithCode(0), "");
}

// The plain name in a list is the renamed function in the library.
TEST(Symbols, AreLookedUpByTheNamesThatHeadersRenameThemTo) {
  EXPECT_STREQ(RHARNESS_SYMBOL_TEXT(cublasCreate), "cublasCreate");
#define TEXT_OF(name) RHARNESS_SYMBOL_TEXT(name)
  EXPECT_STREQ(TEXT_OF(cublasCreate), "cublasCreate_v2");
  EXPECT_STREQ(TEXT_OF(cublasSsymv), "cublasSsymv_v2");
  EXPECT_STREQ(TEXT_OF(cuMemAlloc), "cuMemAlloc_v2");
  EXPECT_STREQ(TEXT_OF(cuMemcpyHtoD), "cuMemcpyHtoD_v2");
  EXPECT_STREQ(TEXT_OF(cuMemsetD8), "cuMemsetD8_v2");
  EXPECT_STREQ(TEXT_OF(cuStreamDestroy), "cuStreamDestroy_v2");
  EXPECT_STREQ(TEXT_OF(cuEventDestroy), "cuEventDestroy_v2");
  EXPECT_STREQ(TEXT_OF(cuLinkAddData), "cuLinkAddData_v2");
  EXPECT_STREQ(TEXT_OF(cuLaunchKernel), "cuLaunchKernel");
#undef TEXT_OF
}

}  // namespace
}  // namespace rharness
