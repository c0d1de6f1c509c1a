// Kernels of matrix products, and products on device memory.
#include "tests/gpu/emulator/libraries/matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <span>

#include "tests/gpu/emulator/libraries/kept_results.h"
#include "tests/gpu/emulator/libraries/machine.h"

namespace rharness {
namespace {

constexpr int kFma = 10, kLanes = 11, kVector = 12, kAmpere = 21, kHopper = 66, kWhole = 70;

int Slices() {
  const char* text = std::getenv("EMULATED_SPLIT");
  return text == nullptr ? 4 : std::clamp(std::atoi(text), 1, 64);
}

int GroupOf(int id, Factor factor) {
  if (id == kHopper) return factor == Factor::kFp8 ? 32 : factor == Factor::kTf32 ? 8 : 16;
  if (id == kAmpere) return factor == Factor::kTf32 ? 4 : 8;
  return 1;
}

// One matrix of the call as rows of k factors.
struct Stored {
  const void* pointer;
  Element element;
  std::uint64_t rows, columns, ld;  // as stored
  bool is_row_a_column;             // a row of factors is a stored column
};

// As tensor cores read fp32.
void CutToTf32(std::span<double> values) {
  for (double& value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    value = static_cast<double>(std::bit_cast<float>(bits & ~0x1fffU));
  }
}

// Every column, checked; of large products only hashed, in case the result is known.
bool HashColumns(const Stored& matrix, const MatmulCall& call, std::string_view which,
                 ResultKey* key) {
  const std::uint64_t size = SizeOf(matrix.element);
  for (std::uint64_t j = 0; j < matrix.columns; ++j) {
    const auto* column = static_cast<const std::byte*>(matrix.pointer) + j * matrix.ld * size;
    const std::byte* bytes = ReadFrom(column, matrix.rows * size, size, call.device,
                                      fmt::format("{}: {}", call.name, which));
    if (bytes == nullptr) return false;
    key->Add(bytes, matrix.rows * size);
  }
  return true;
}

bool ReadFactors(const Stored& matrix, const MatmulCall& call, std::string_view which,
                 std::vector<double>* factors) {
  const std::uint64_t size = SizeOf(matrix.element);
  const std::uint64_t k = matrix.is_row_a_column ? matrix.rows : matrix.columns;
  factors->resize(matrix.rows * matrix.columns);
  std::vector<double> stored(matrix.rows);
  for (std::uint64_t j = 0; j < matrix.columns; ++j) {
    const auto* column = static_cast<const std::byte*>(matrix.pointer) + j * matrix.ld * size;
    const std::byte* bytes = ReadFrom(column, matrix.rows * size, size, call.device,
                                      fmt::format("{}: {}", call.name, which));
    if (bytes == nullptr) return false;
    double* values = matrix.is_row_a_column ? factors->data() + j * k : stored.data();
    LoadRun(matrix.element, bytes, matrix.rows, values);
    if (call.factor == Factor::kTf32) CutToTf32({values, matrix.rows});
    if (matrix.is_row_a_column) continue;
    for (std::uint64_t i = 0; i < matrix.rows; ++i) (*factors)[i * k + j] = values[i];
  }
  return true;
}

double Scaled(Factor factor, double alpha, double sum, double beta, double c) {
  if (factor == Factor::kF64 || factor == Factor::kI8) return alpha * sum + beta * c;
  const float scaled = static_cast<float>(alpha) * static_cast<float>(sum);
  if (beta == 0) return static_cast<double>(scaled);
  return static_cast<double>(scaled + static_cast<float>(beta) * static_cast<float>(c));
}

bool WriteResult(const MatmulCall& call, const std::vector<double>& sums) {
  const std::uint64_t size = SizeOf(call.output), m = call.size.m;
  for (std::uint64_t j = 0; j < call.size.n; ++j) {
    const std::byte* c = nullptr;
    if (call.beta != 0) {
      c = ReadFrom(static_cast<const std::byte*>(call.c) + j * call.ldc * size, m * size, size,
                   call.device, fmt::format("{}: C", call.name));
      if (c == nullptr) return false;
    }
    std::byte* d = WriteTo(static_cast<std::byte*>(call.d) + j * call.ldd * size, m * size, size,
                           call.device, fmt::format("{}: D", call.name));
    if (d == nullptr) return false;
    for (std::uint64_t i = 0; i < m; ++i) {
      const double before = c == nullptr ? 0.0 : Load(call.output, c + i * size);
      Store(call.output, Scaled(call.factor, call.alpha, sums[j * m + i], call.beta, before),
            d + i * size);
    }
  }
  return true;
}

// Of everything but the factors.
ResultKey KeyOf(const MatmulCall& call) {
  ResultKey key;
  for (const auto number :
       {static_cast<std::uint64_t>(call.kernel.id), static_cast<std::uint64_t>(call.kernel.slices),
        static_cast<std::uint64_t>(call.factor), std::uint64_t{call.turn}, call.size.m, call.size.n,
        call.size.k, static_cast<std::uint64_t>(call.transpose_a),
        static_cast<std::uint64_t>(call.transpose_b)}) {
    key.Add(&number, sizeof(number));
  }
  return key;
}

}  // namespace

std::optional<Element> ElementOf(cudaDataType type) {
  switch (type) {
    case CUDA_R_64F:
      return Element::kF64;
    case CUDA_R_32F:
      return Element::kF32;
    case CUDA_R_16BF:
      return Element::kBf16;
    case CUDA_R_16F:
      return Element::kF16;
    case CUDA_R_8F_E4M3:
      return Element::kE4m3;
    case CUDA_R_8F_E5M2:
      return Element::kE5m2;
    case CUDA_R_8I:
      return Element::kI8;
    case CUDA_R_32I:
      return Element::kI32;
    default:
      return std::nullopt;
  }
}

std::optional<Factor> FactorOf(cudaDataType input, cudaDataType output,
                               cublasComputeType_t compute) {
  if (compute == CUBLAS_COMPUTE_64F) {
    return input == CUDA_R_64F && output == CUDA_R_64F ? std::optional(Factor::kF64) : std::nullopt;
  }
  if (compute == CUBLAS_COMPUTE_32I) {
    return input == CUDA_R_8I && output == CUDA_R_32I ? std::optional(Factor::kI8) : std::nullopt;
  }
  if (compute == CUBLAS_COMPUTE_32F_FAST_TF32) {
    return input == CUDA_R_32F && output == CUDA_R_32F ? std::optional(Factor::kTf32)
                                                       : std::nullopt;
  }
  if (compute != CUBLAS_COMPUTE_32F) return std::nullopt;
  if (input == CUDA_R_32F && output == CUDA_R_32F) return Factor::kF32;
  const bool wide = output == CUDA_R_32F;
  if (input == CUDA_R_16BF && (wide || output == input)) return Factor::kBf16;
  if (input == CUDA_R_16F && (wide || output == input)) return Factor::kF16;
  if (input == CUDA_R_8F_E4M3 && (wide || output == CUDA_R_16BF)) return Factor::kFp8;
  return std::nullopt;
}

bool IsKernel(int id) {
  return id == kFma || id == kLanes || id == kVector || id == kAmpere || id == kHopper ||
         id == kWhole;
}

bool Takes(int id, Factor factor) {
  const bool is_short = factor == Factor::kBf16 || factor == Factor::kF16;
  if (id == kFma || id == kVector) {
    return is_short || factor == Factor::kF32 || factor == Factor::kF64 || factor == Factor::kTf32;
  }
  if (id == kLanes) return factor == Factor::kF32;
  if (id == kAmpere) return is_short || factor == Factor::kTf32;
  if (id == kHopper) return is_short || factor == Factor::kTf32 || factor == Factor::kFp8;
  return id == kWhole && factor == Factor::kI8;
}

bool CanSplit(int id) { return id == kFma || id == kAmpere || id == kHopper; }

int LeastCompute(int id, Factor factor) {
  if (id == kHopper) return 90;
  if (id == kAmpere) return 80;
  return factor == Factor::kI8 ? 75 : 50;
}

std::uint64_t AlignmentOf(int id) {
  if (id == kAmpere || id == kHopper) return 16;
  return id == kWhole ? 4 : 1;
}

std::uint64_t WorkspaceOf(const MatmulKernel& kernel, const MatmulSize& size) {
  if (kernel.slices == 1) return 0;
  return static_cast<std::uint64_t>(kernel.slices) * size.m * size.n * sizeof(double);
}

SumOrder OrderOf(const MatmulKernel& kernel, Factor factor) {
  SumOrder order{.slices = kernel.slices, .group = GroupOf(kernel.id, factor)};
  if (kernel.id == kLanes) order.lanes = 2;
  if (kernel.id == kVector) order.lanes = 32;
  return order;
}

std::vector<MatmulKernel> RankKernels(Factor factor, const MatmulSize& size,
                                      std::uint64_t alignment, std::uint64_t workspace_bytes) {
  std::vector<MatmulKernel> ranked;
  const auto usable = [&](int id) {
    return Takes(id, factor) && TheMachine().compute() >= LeastCompute(id, factor) &&
           alignment % AlignmentOf(id) == 0;
  };
  const auto add = [&](const MatmulKernel& kernel) {
    if (!usable(kernel.id) || WorkspaceOf(kernel, size) > workspace_bytes) return;
    ranked.push_back(kernel);
  };
  if (size.m == 1 || size.n == 1) add({kVector, 1});
  const bool splits = size.m * size.n <= 1024 && size.k >= 2048;
  for (const int id : {kHopper, kAmpere, kFma, kLanes, kWhole}) {
    if (splits && CanSplit(id)) add({id, Slices()});
  }
  for (const int id : {kHopper, kAmpere, kFma, kLanes, kWhole}) add({id, 1});
  return ranked;
}

bool RunMatmul(const MatmulCall& call) {
  const MatmulSize& size = call.size;
  if (size.m == 0 || size.n == 0) return true;
  const Stored a{call.a,
                 call.input,
                 call.transpose_a ? size.k : size.m,
                 call.transpose_a ? size.m : size.k,
                 call.lda,
                 call.transpose_a};
  const Stored b{call.b,
                 call.input,
                 call.transpose_b ? size.n : size.k,
                 call.transpose_b ? size.k : size.n,
                 call.ldb,
                 !call.transpose_b};
  Product product;
  product.order = OrderOf(call.kernel, call.factor);
  product.order.turn = call.turn;
  product.arithmetic = product.order.group > 1       ? Arithmetic::kTensor
                       : call.factor == Factor::kF64 ? Arithmetic::kF64
                       : call.factor == Factor::kI8  ? Arithmetic::kI32
                                                     : Arithmetic::kF32;
  product.places = call.factor == Factor::kFp8 ? 13 : call.kernel.id == kAmpere ? 24 : 25;
  product.m = static_cast<int>(size.m);
  product.n = static_cast<int>(size.n);
  product.k = static_cast<int>(size.k);
  const bool is_large = size.m * size.n * size.k >= kWorthKeeping;
  ResultKey key = KeyOf(call);
  if (is_large) {
    if (!HashColumns(a, call, "A", &key) || !HashColumns(b, call, "B", &key)) return false;
    if (const auto kept = KeptResult(key)) return WriteResult(call, *kept);
  }
  if (!ReadFactors(a, call, "A", &product.a) || !ReadFactors(b, call, "B", &product.b)) {
    return false;
  }
  const std::vector<double> sums = Multiply(product);
  if (is_large) KeepResult(key, sums);
  return WriteResult(call, sums);
}

}  // namespace rharness
