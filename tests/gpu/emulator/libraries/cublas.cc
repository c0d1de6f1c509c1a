// libcublas: the functions that probes/library/cublas.h binds.
//
// Statuses: cuBLAS documentation, "cublasCreate" and the section of each function. Where it says
// nothing of a pointer that is wrong, the device faults, as it would.
#include <cublas_v2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>

#include "tests/gpu/emulator/libraries/machine.h"
#include "tests/gpu/emulator/libraries/matmul.h"

struct cublasContext {
  int device = -1;
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;  // null: the library's own, big enough
  std::size_t workspace_bytes = 0;
  bool has_config = false;  // CUBLAS_WORKSPACE_CONFIG has one of the documented values
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  std::set<cudaStream_t> streams;  // with work on the library's own workspace
  unsigned calls = 0;
};

namespace {

using rharness::EmulatedMachine;
using rharness::TheMachine;

constexpr int kVersion = 130100;
constexpr std::size_t kOwnWorkspace = std::size_t{32} << 20;

std::set<cublasHandle_t>& Handles() {
  static std::set<cublasHandle_t> handles;
  return handles;
}
bool IsAlive(cublasHandle_t handle) { return Handles().contains(handle); }

cublasStatus_t Enter(std::string_view call, bool needs_device) {
  const EmulatedMachine::Entry entry = TheMachine().EnterLibrary(call);
  const bool failed = entry == EmulatedMachine::Entry::kInjected ||
                      (needs_device && entry == EmulatedMachine::Entry::kDeadDevice);
  return failed ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

// That the handle can work: in the context of its device, on a stream of it that lives.
cublasStatus_t CheckReady(cublasHandle_t handle) {
  if (!IsAlive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  const bool ready = TheMachine().CurrentDevice() == handle->device &&
                     TheMachine().DeviceOfStream(handle->stream) == handle->device;
  return ready ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

bool IsOperation(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N || operation == CUBLAS_OP_T || operation == CUBLAS_OP_C;
}

std::uint64_t AlignmentOfAll(std::initializer_list<const void*> pointers) {
  std::uint64_t bits = 256;
  for (const void* pointer : pointers) bits |= reinterpret_cast<std::uint64_t>(pointer);
  return bits & (~bits + 1);
}

double ScaleOf(rharness::Factor factor, const void* value) {
  if (factor == rharness::Factor::kF64) return *static_cast<const double*>(value);
  if (factor == rharness::Factor::kI8) return *static_cast<const int*>(value);
  return static_cast<double>(*static_cast<const float*>(value));
}

// "cublasGemmEx", whole numbers: A and B aligned to 4 bytes, lda and ldb multiples of 4.
bool WholeNumbersFit(const void* a, int lda, const void* b, int ldb) {
  const auto at = [](const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); };
  return at(a) % 4 == 0 && at(b) % 4 == 0 && lda % 4 == 0 && ldb % 4 == 0;
}

// Results Reproducibility: a handle on several streams repeats only with a workspace a stream, or
// with a documented CUBLAS_WORKSPACE_CONFIG. Without, every fourth product adds in another order.
unsigned TurnOf(cublasHandle_t handle) {
  if (handle->workspace != nullptr || handle->has_config) return 0;
  handle->streams.insert(handle->stream);
  return handle->streams.size() > 1 && handle->calls % 4 == 3 ? 1 : 0;
}

}  // namespace

#define ENTER(name) \
  if (const cublasStatus_t entered = Enter(#name, false)) return entered
#define ENTER_WITH_DEVICE(name) \
  if (const cublasStatus_t entered = Enter(#name, true)) return entered
#define NEED_HANDLE(handle) \
  if (!IsAlive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED

extern "C" {
const char* cublasGetStatusName(cublasStatus_t status) {
  if (TheMachine().EnterLibrary("cublasGetStatusName") == EmulatedMachine::Entry::kInjected) {
    return nullptr;
  }
  switch (status) {
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    default:
      return "CUBLAS_STATUS_OF_THE_EMULATOR";
  }
}
const char* cublasGetStatusString(cublasStatus_t) {
  const bool fails =
      TheMachine().EnterLibrary("cublasGetStatusString") == EmulatedMachine::Entry::kInjected;
  return fails ? nullptr : "refused by the emulated cuBLAS";
}
cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  ENTER_WITH_DEVICE(cublasCreate);
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (TheMachine().CurrentDevice() < 0) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = new cublasContext{.device = TheMachine().CurrentDevice()};
  const char* config = std::getenv("CUBLAS_WORKSPACE_CONFIG");
  const std::string_view text = config == nullptr ? "" : config;
  (*handle)->has_config = text == ":4096:8" || text == ":16:8";
  Handles().insert(*handle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  ENTER(cublasDestroy);
  NEED_HANDLE(handle);
  Handles().erase(handle);
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  ENTER(cublasGetVersion);
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *version = kVersion;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetProperty(libraryPropertyType property, int* value) {
  ENTER(cublasGetProperty);
  if (value == nullptr || property < MAJOR_VERSION || property > PATCH_LEVEL) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *value = property == MAJOR_VERSION ? kVersion / 10000 : property == MINOR_VERSION ? 1 : 0;
  return CUBLAS_STATUS_SUCCESS;
}
// Gives up the workspace that was set.
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  ENTER(cublasSetStream);
  NEED_HANDLE(handle);
  handle->stream = stream;
  handle->workspace = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, std::size_t bytes) {
  ENTER(cublasSetWorkspace);
  NEED_HANDLE(handle);
  if (reinterpret_cast<std::uint64_t>(workspace) % 256 != 0) return CUBLAS_STATUS_INVALID_VALUE;
  handle->workspace = workspace;
  handle->workspace_bytes = bytes;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  ENTER(cublasSetMathMode);
  NEED_HANDLE(handle);
  constexpr std::array kModes = {CUBLAS_DEFAULT_MATH, CUBLAS_PEDANTIC_MATH,
                                 CUBLAS_TF32_TENSOR_OP_MATH};
  const auto without =
      static_cast<cublasMath_t>(mode & ~CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  if (std::ranges::count(kModes, without) == 0) return CUBLAS_STATUS_INVALID_VALUE;
  handle->math = without;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  ENTER(cublasSetAtomicsMode);
  NEED_HANDLE(handle);
  if (mode != CUBLAS_ATOMICS_ALLOWED && mode != CUBLAS_ATOMICS_NOT_ALLOWED) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  handle->atomics = mode;
  return CUBLAS_STATUS_SUCCESS;
}

// The lower or upper triangle alone is read. Rows add rising columns; with atomics each call
// begins at a different column.
cublasStatus_t cublasSsymv(cublasHandle_t handle, cublasFillMode_t uplo, int n, const float* alpha,
                           const float* a, int lda, const float* x, int incx, const float* beta,
                           float* y, int incy) {
  ENTER_WITH_DEVICE(cublasSsymv);
  NEED_HANDLE(handle);
  const bool lower = uplo == CUBLAS_FILL_MODE_LOWER;
  if ((!lower && uplo != CUBLAS_FILL_MODE_UPPER) || n < 0 || incx == 0 || incy == 0 ||
      alpha == nullptr || beta == nullptr || lda < std::max(1, n)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (const cublasStatus_t ready = CheckReady(handle)) return ready;
  if (incx != 1 || incy != 1) return CUBLAS_STATUS_NOT_SUPPORTED;
  const auto size = static_cast<std::size_t>(n), ld = static_cast<std::size_t>(lda);
  std::vector<float> matrix(size * size);
  for (std::size_t j = 0; j < size; ++j) {
    const std::size_t first = lower ? j : 0, count = lower ? size - j : j + 1;
    const std::byte* column = rharness::ReadFrom(a + j * ld + first, count * sizeof(float),
                                                 sizeof(float), handle->device, "cublasSsymv: A");
    if (column == nullptr) return CUBLAS_STATUS_SUCCESS;
    for (std::size_t i = 0; i < count; ++i) {
      const auto value =
          static_cast<float>(Load(rharness::Element::kF32, column + i * sizeof(float)));
      matrix[(first + i) * size + j] = matrix[j * size + first + i] = value;
    }
  }
  const std::byte* vector =
      rharness::ReadFrom(x, size * sizeof(float), sizeof(float), handle->device, "cublasSsymv: x");
  std::byte* out =
      rharness::WriteTo(y, size * sizeof(float), sizeof(float), handle->device, "cublasSsymv: y");
  if (vector == nullptr || out == nullptr) return CUBLAS_STATUS_SUCCESS;
  const std::vector<double> factors = LoadAll(rharness::Element::kF32, vector, size);
  const bool varies = handle->atomics == CUBLAS_ATOMICS_ALLOWED;
  const std::size_t begin = varies ? 97 * ++handle->calls % std::max<std::size_t>(1, size) : 0;
  for (std::size_t i = 0; i < size; ++i) {
    float sum = 0;
    for (std::size_t step = 0; step < size; ++step) {
      const std::size_t j = (begin + step) % size;
      sum += matrix[i * size + j] * static_cast<float>(factors[j]);
    }
    float result = *alpha * sum;
    if (*beta != 0) {
      result += *beta * static_cast<float>(Load(rharness::Element::kF32, out + i * sizeof(float)));
    }
    Store(rharness::Element::kF32, static_cast<double>(result), out + i * sizeof(float));
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void* alpha,
                            const void* a, cudaDataType a_type, int lda, const void* b,
                            cudaDataType b_type, int ldb, const void* beta, void* c,
                            cudaDataType c_type, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algo) {
  ENTER_WITH_DEVICE(cublasGemmEx);
  NEED_HANDLE(handle);
  if (m < 0 || n < 0 || k < 0 || !IsOperation(transa) || !IsOperation(transb)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const bool a_t = transa != CUBLAS_OP_N, b_t = transb != CUBLAS_OP_N;
  if (lda < std::max(1, a_t ? k : m) || ldb < std::max(1, b_t ? n : k) || ldc < std::max(1, m) ||
      alpha == nullptr || beta == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (algo != CUBLAS_GEMM_DEFAULT && algo != CUBLAS_GEMM_DEFAULT_TENSOR_OP) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  auto factor = rharness::FactorOf(a_type, c_type, compute);
  if (a_type != b_type || !factor || *factor == rharness::Factor::kFp8) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (handle->math == CUBLAS_TF32_TENSOR_OP_MATH && *factor == rharness::Factor::kF32) {
    factor = rharness::Factor::kTf32;
  }
  if (*factor == rharness::Factor::kI8 && !WholeNumbersFit(a, lda, b, ldb)) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (const cublasStatus_t ready = CheckReady(handle)) return ready;
  rharness::MatmulCall call{.name = "cublasGemmEx", .device = handle->device, .factor = *factor};
  call.turn = TurnOf(handle);
  ++handle->calls;
  const auto u = [](int value) { return static_cast<std::uint64_t>(value); };
  call.size = {u(m), u(n), u(k)};
  const std::size_t workspace =
      handle->workspace != nullptr ? handle->workspace_bytes : kOwnWorkspace;
  const auto ranked = RankKernels(*factor, call.size, AlignmentOfAll({a, b, c}), workspace);
  if (ranked.empty()) return CUBLAS_STATUS_ARCH_MISMATCH;
  call.kernel = ranked[0];
  // A race on one workspace shows in what is split.
  if (call.turn != 0 && call.kernel.slices == 1 && rharness::CanSplit(call.kernel.id)) {
    call.kernel.slices = 2;
  }
  if (handle->workspace != nullptr && WorkspaceOf(call.kernel, call.size) > 0 &&
      !rharness::IsOnDevice(handle->workspace, handle->workspace_bytes, handle->device)) {
    TheMachine().Fault("cublasGemmEx: the workspace is no memory of the device");
    return CUBLAS_STATUS_SUCCESS;
  }
  call.input = *rharness::ElementOf(a_type);
  call.output = *rharness::ElementOf(c_type);
  call.a = a, call.b = b, call.c = c, call.d = c;
  call.lda = u(lda), call.ldb = u(ldb), call.ldc = u(ldc), call.ldd = u(ldc);
  call.transpose_a = a_t, call.transpose_b = b_t;
  call.alpha = ScaleOf(*factor, alpha), call.beta = ScaleOf(*factor, beta);
  RunMatmul(call);  // a fault shows when the device is next waited for
  return CUBLAS_STATUS_SUCCESS;
}
}
