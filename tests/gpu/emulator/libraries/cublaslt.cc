// libcublasLt: the functions that probes/library/cublaslt.h binds.
//
// Statuses: the comments of cublasLt.h 13.1, "retval", and cuBLAS documentation, "cublasLtMatmul"
// (a workspace aligned to 256 bytes; of fp8, A transposed and sizes that are multiples of 16).
#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include "tests/gpu/emulator/libraries/lt_algorithm.h"
#include "tests/gpu/emulator/libraries/machine.h"

struct cublasLtContext {
  int device = -1;
};

namespace {

using rharness::EmulatedMachine;
using rharness::Factor;
using rharness::LtAlgorithm;
using rharness::TheMachine;

struct Operation {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType scale = CUDA_R_32F;
  cublasOperation_t transa = CUBLAS_OP_N, transb = CUBLAS_OP_N;
};
struct Layout {
  cudaDataType type = CUDA_R_32F;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t ld = 0;
};
struct Preference {
  std::uint64_t workspace_bytes = 0;
  std::array<std::uint32_t, 4> alignments = {256, 256, 256, 256};  // A, B, C, D
};

struct Alive {
  std::set<cublasLtHandle_t> handles;
  std::map<const void*, Operation> operations;
  std::map<const void*, Layout> layouts;
  std::map<const void*, Preference> preferences;
};
Alive& All() {
  static Alive alive;
  return alive;
}
template <class Value>
Value* FindIn(std::map<const void*, Value>& values, const void* key) {
  const auto found = values.find(key);
  return found == values.end() ? nullptr : &found->second;
}

cublasStatus_t Enter(std::string_view call, bool needs_device) {
  const EmulatedMachine::Entry entry = TheMachine().EnterLibrary(call);
  const bool failed = entry == EmulatedMachine::Entry::kInjected ||
                      (needs_device && entry == EmulatedMachine::Entry::kDeadDevice);
  return failed ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

// A product as all its descriptors say, or why they say none.
struct Described {
  cublasStatus_t status = CUBLAS_STATUS_INVALID_VALUE;
  Factor factor = Factor::kF32;
  Operation operation;
  Layout a, b, c, d;
  rharness::MatmulSize size;
};

bool Fits(const Layout& layout) {
  return layout.ld >= static_cast<std::int64_t>(std::max<std::uint64_t>(1, layout.rows));
}

// Types of numbers that go with a compute type.
bool ScaleFits(const Operation& operation) {
  switch (operation.compute) {
    case CUBLAS_COMPUTE_64F:
      return operation.scale == CUDA_R_64F;
    case CUBLAS_COMPUTE_32I:
      return operation.scale == CUDA_R_32I;
    default:
      return operation.scale == CUDA_R_32F;
  }
}

bool ShapeIsSupported(const Described& one) {
  const auto multiple = [&](std::uint64_t of) {
    return one.size.m % of == 0 && one.size.n % of == 0 && one.size.k % of == 0;
  };
  const bool transposed =
      one.operation.transa == CUBLAS_OP_T && one.operation.transb == CUBLAS_OP_N;
  if (one.factor == Factor::kFp8) return transposed && multiple(16);
  if (one.factor == Factor::kI8) {
    return transposed && one.size.m % 4 == 0 && one.size.k % 4 == 0 && one.a.ld % 4 == 0 &&
           one.b.ld % 4 == 0;
  }
  return true;
}

Described Describe(const void* operation, const void* a, const void* b, const void* c,
                   const void* d) {
  Described one;
  const Operation* found = FindIn(All().operations, operation);
  const std::array layouts = {FindIn(All().layouts, a), FindIn(All().layouts, b),
                              FindIn(All().layouts, c), FindIn(All().layouts, d)};
  if (found == nullptr || std::ranges::count(layouts, nullptr) > 0) return one;
  one.operation = *found;
  one.a = *layouts[0], one.b = *layouts[1], one.c = *layouts[2], one.d = *layouts[3];
  const bool a_t = found->transa != CUBLAS_OP_N, b_t = found->transb != CUBLAS_OP_N;
  one.size = {one.d.rows, one.d.columns, a_t ? one.a.rows : one.a.columns};
  const bool agree = (a_t ? one.a.columns : one.a.rows) == one.size.m &&
                     (b_t ? one.b.rows : one.b.columns) == one.size.n &&
                     (b_t ? one.b.columns : one.b.rows) == one.size.k && one.c.rows == one.d.rows &&
                     one.c.columns == one.d.columns && one.a.type == one.b.type &&
                     one.c.type == one.d.type;
  if (!agree || !Fits(one.a) || !Fits(one.b) || !Fits(one.c) || !Fits(one.d)) return one;
  const auto factor = rharness::FactorOf(one.a.type, one.d.type, found->compute);
  one.status = CUBLAS_STATUS_NOT_SUPPORTED;
  if (!factor || !ScaleFits(*found)) return one;
  one.factor = *factor;
  if (ShapeIsSupported(one)) one.status = CUBLAS_STATUS_SUCCESS;
  return one;
}

double ScaleOf(cudaDataType type, const void* value) {
  return Load(*rharness::ElementOf(type), static_cast<const std::byte*>(value));
}

bool IsAligned(const void* pointer, std::uint64_t alignment) {
  return reinterpret_cast<std::uint64_t>(pointer) % alignment == 0;
}

}  // namespace

#define ENTER(name) \
  if (const cublasStatus_t entered = Enter(#name, false)) return entered
#define ENTER_WITH_DEVICE(name) \
  if (const cublasStatus_t entered = Enter(#name, true)) return entered
#define NEED_HANDLE(handle) \
  if (!All().handles.contains(handle)) return CUBLAS_STATUS_NOT_INITIALIZED

extern "C" {
const char* cublasLtGetStatusName(cublasStatus_t status) {
  const auto entry = TheMachine().EnterLibrary("cublasLtGetStatusName");
  if (entry == EmulatedMachine::Entry::kInjected) return nullptr;
  return status == CUBLAS_STATUS_NOT_SUPPORTED   ? "CUBLAS_STATUS_NOT_SUPPORTED"
         : status == CUBLAS_STATUS_INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE"
         : status == CUBLAS_STATUS_ARCH_MISMATCH ? "CUBLAS_STATUS_ARCH_MISMATCH"
                                                 : "CUBLAS_STATUS_OF_THE_EMULATOR";
}
const char* cublasLtGetStatusString(cublasStatus_t) {
  const auto entry = TheMachine().EnterLibrary("cublasLtGetStatusString");
  if (entry == EmulatedMachine::Entry::kInjected) return nullptr;
  return "refused by the emulated cuBLASLt";
}
std::size_t cublasLtGetVersion() { return 130100; }
cublasStatus_t cublasLtGetProperty(libraryPropertyType property, int* value) {
  ENTER(cublasLtGetProperty);
  if (value == nullptr || property > PATCH_LEVEL) return CUBLAS_STATUS_INVALID_VALUE;
  *value = property == MAJOR_VERSION ? 13 : property == MINOR_VERSION ? 1 : 0;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  ENTER_WITH_DEVICE(cublasLtCreate);
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (TheMachine().CurrentDevice() < 0) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = new cublasLtContext{TheMachine().CurrentDevice()};
  All().handles.insert(*handle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  ENTER(cublasLtDestroy);
  NEED_HANDLE(handle);
  All().handles.erase(handle);
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  ENTER(cublasLtMatmulDescCreate);
  if (desc == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *desc = new cublasLtMatmulDescOpaque_t{};
  All().operations[*desc] = {.compute = compute, .scale = scale};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  ENTER(cublasLtMatmulDescDestroy);
  if (All().operations.erase(desc) > 0) delete desc;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
  ENTER(cublasLtMatmulDescSetAttribute);
  Operation* operation = FindIn(All().operations, desc);
  const bool known =
      attribute == CUBLASLT_MATMUL_DESC_TRANSA || attribute == CUBLASLT_MATMUL_DESC_TRANSB;
  if (operation == nullptr || value == nullptr || !known || bytes != sizeof(std::int32_t)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const int number = *static_cast<const int*>(value);
  if (number < CUBLAS_OP_N || number > CUBLAS_OP_C) return CUBLAS_STATUS_INVALID_VALUE;
  (attribute == CUBLASLT_MATMUL_DESC_TRANSA ? operation->transa : operation->transb) =
      static_cast<cublasOperation_t>(number);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t ld) {
  ENTER(cublasLtMatrixLayoutCreate);
  if (layout == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *layout = new cublasLtMatrixLayoutOpaque_t{};
  All().layouts[*layout] = {type, rows, columns, ld};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  ENTER(cublasLtMatrixLayoutDestroy);
  if (All().layouts.erase(layout) > 0) delete layout;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  ENTER(cublasLtMatmulPreferenceCreate);
  if (preference == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *preference = new cublasLtMatmulPreferenceOpaque_t{};
  All().preferences[*preference] = {};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  ENTER(cublasLtMatmulPreferenceDestroy);
  if (All().preferences.erase(preference) > 0) delete preference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, std::size_t bytes) {
  ENTER(cublasLtMatmulPreferenceSetAttribute);
  Preference* found = FindIn(All().preferences, preference);
  if (found == nullptr || value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) {
    if (bytes != sizeof(std::uint64_t)) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&found->workspace_bytes, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  }
  const int of = attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES;
  std::uint32_t alignment = 0;
  if (of < 0 || of > 3 || bytes != sizeof(alignment)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&alignment, value, bytes);
  found->alignments[static_cast<std::size_t>(of)] = alignment;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle,
                                              cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* count) {
  ENTER(cublasLtMatmulAlgoGetHeuristic);
  NEED_HANDLE(handle);
  const Preference* limits = FindIn(All().preferences, preference);
  if (wanted <= 0 || limits == nullptr || results == nullptr || count == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *count = 0;
  const Described one = Describe(operation, a, b, c, d);
  if (one.status != CUBLAS_STATUS_SUCCESS) return one.status;
  const auto ranked = RankKernels(one.factor, one.size, std::ranges::min(limits->alignments),
                                  limits->workspace_bytes);
  if (ranked.empty()) return CUBLAS_STATUS_NOT_SUPPORTED;
  for (const rharness::MatmulKernel& kernel : ranked) {
    if (*count == wanted) break;
    cublasLtMatmulHeuristicResult_t result{};
    result.algo = rharness::FirstOf(kernel, one.factor).Pack();
    result.workspaceSize = WorkspaceOf(kernel, one.size);
    result.state = CUBLAS_STATUS_SUCCESS;
    results[(*count)++] = result;
  }
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle, cublasComputeType_t compute,
                                      cudaDataType_t scale, cudaDataType_t a, cudaDataType_t b,
                                      cudaDataType_t c, cudaDataType_t d, int id,
                                      cublasLtMatmulAlgo_t* algo) {
  ENTER(cublasLtMatmulAlgoInit);
  NEED_HANDLE(handle);
  if (algo == nullptr || !rharness::IsKernel(id)) return CUBLAS_STATUS_INVALID_VALUE;
  const auto factor = rharness::FactorOf(a, d, compute);
  const bool supported = factor && a == b && c == d && rharness::Takes(id, *factor) &&
                         ScaleFits({.compute = compute, .scale = scale});
  if (!supported) return CUBLAS_STATUS_NOT_SUPPORTED;
  *algo = LtAlgorithm{.kernel = {id, 1}, .factor = *factor}.Pack();
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algo,
                                       cublasLtMatmulHeuristicResult_t* result) {
  ENTER(cublasLtMatmulAlgoCheck);
  NEED_HANDLE(handle);
  const auto unpacked = algo == nullptr ? std::nullopt : LtAlgorithm::Unpack(*algo);
  if (!unpacked || result == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const Described one = Describe(operation, a, b, c, d);
  if (one.status != CUBLAS_STATUS_SUCCESS) return one.status;
  const cublasStatus_t status = unpacked->Check(one.factor);
  result->state = status;
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  result->algo = *algo;
  result->workspaceSize = WorkspaceOf(unpacked->kernel, one.size);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t* algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute,
                                                    const void* value, std::size_t bytes) {
  ENTER(cublasLtMatmulAlgoConfigSetAttribute);
  auto unpacked = algo == nullptr ? std::nullopt : LtAlgorithm::Unpack(*algo);
  if (!unpacked || value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const cublasStatus_t status = unpacked->Set(attribute, value, bytes);
  if (status == CUBLAS_STATUS_SUCCESS) *algo = unpacked->Pack();
  return status;
}
cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute,
                                                    void* value, std::size_t bytes,
                                                    std::size_t* written) {
  ENTER(cublasLtMatmulAlgoConfigGetAttribute);
  const auto unpacked = algo == nullptr ? std::nullopt : LtAlgorithm::Unpack(*algo);
  if (!unpacked || value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  return unpacked->Get(attribute, value, bytes, written);
}
cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t* algo,
                                                 cublasLtMatmulAlgoCapAttributes_t attribute,
                                                 void* value, std::size_t bytes,
                                                 std::size_t* written) {
  ENTER(cublasLtMatmulAlgoCapGetAttribute);
  const auto unpacked = algo == nullptr ? std::nullopt : LtAlgorithm::Unpack(*algo);
  const bool known = attribute == CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS;
  const std::uint64_t flags = unpacked ? unpacked->NumericalFlags() : 0;
  if (!unpacked || !known || value == nullptr || bytes != sizeof(flags)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::memcpy(value, &flags, bytes);
  if (written != nullptr) *written = bytes;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algo,
                              void* workspace, std::size_t workspace_bytes, cudaStream_t stream) {
  ENTER_WITH_DEVICE(cublasLtMatmul);
  NEED_HANDLE(handle);
  if (alpha == nullptr || beta == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const Described one = Describe(operation, a_layout, b_layout, c_layout, d_layout);
  if (one.status != CUBLAS_STATUS_SUCCESS) return one.status;
  std::optional<LtAlgorithm> chosen;
  if (algo == nullptr) {
    const auto ranked = RankKernels(one.factor, one.size, 256, workspace_bytes);
    if (!ranked.empty()) chosen = rharness::FirstOf(ranked[0], one.factor);
  } else {
    chosen = LtAlgorithm::Unpack(*algo);
  }
  if (!chosen) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (const cublasStatus_t status = chosen->Check(one.factor)) return status;
  const std::uint64_t needed = WorkspaceOf(chosen->kernel, one.size);
  if (needed > workspace_bytes || !IsAligned(workspace, 256)) return CUBLAS_STATUS_INVALID_VALUE;
  for (const void* pointer : {a, b, static_cast<const void*>(d)}) {
    if (!IsAligned(pointer, rharness::AlignmentOf(chosen->kernel.id))) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
  }
  if (TheMachine().CurrentDevice() != handle->device ||
      TheMachine().DeviceOfStream(stream) != handle->device) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  if (needed > 0 && !rharness::IsOnDevice(workspace, workspace_bytes, handle->device)) {
    TheMachine().Fault("cublasLtMatmul: the workspace is no memory of the device");
    return CUBLAS_STATUS_SUCCESS;
  }
  rharness::MatmulCall call{
      .name = "cublasLtMatmul", .device = handle->device, .kernel = chosen->kernel};
  call.factor = one.factor;
  call.size = one.size;
  call.input = *rharness::ElementOf(one.a.type);
  call.output = *rharness::ElementOf(one.d.type);
  call.a = a, call.b = b, call.c = c, call.d = d;
  const auto u = [](std::int64_t ld) { return static_cast<std::uint64_t>(ld); };
  call.lda = u(one.a.ld), call.ldb = u(one.b.ld), call.ldc = u(one.c.ld), call.ldd = u(one.d.ld);
  call.transpose_a = one.operation.transa != CUBLAS_OP_N;
  call.transpose_b = one.operation.transb != CUBLAS_OP_N;
  call.alpha = ScaleOf(one.operation.scale, alpha), call.beta = ScaleOf(one.operation.scale, beta);
  RunMatmul(call);
  return CUBLAS_STATUS_SUCCESS;
}
}
