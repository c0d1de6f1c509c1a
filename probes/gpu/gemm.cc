// Matrix products of masks.
#include "probes/gpu/gemm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "probes/library/version_text.h"

namespace rharness {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

cudaDataType CudaType(NumberType type) {
  switch (type) {
    case NumberType::kFp64:
      return CUDA_R_64F;
    case NumberType::kBf16:
      return CUDA_R_16BF;
    case NumberType::kFp16:
      return CUDA_R_16F;
    case NumberType::kE4m3:
      return CUDA_R_8F_E4M3;
    case NumberType::kE5m2:
      return CUDA_R_8F_E5M2;
    case NumberType::kInt8:
      return CUDA_R_8I;
    case NumberType::kInt32:
      return CUDA_R_32I;
    default:
      return CUDA_R_32F;
  }
}

cublasComputeType_t ComputeOf(NumberType input) {
  switch (input) {
    case NumberType::kFp64:
      return CUBLAS_COMPUTE_64F;
    case NumberType::kTf32:
      return CUBLAS_COMPUTE_32F_FAST_TF32;
    case NumberType::kInt8:
      return CUBLAS_COMPUTE_32I;
    default:
      return CUBLAS_COMPUTE_32F;
  }
}

bool NeedsLt(NumberType type) { return type == NumberType::kE4m3 || type == NumberType::kE5m2; }

std::size_t At(int index) { return static_cast<std::size_t>(index); }

// A column of k values, as stored: units in the range, zeros elsewhere, the pair's masks.
class ColumnWriter {
 public:
  ColumnWriter(NumberType type, double mask, double unit)
      : bytes_(BytesOf(type)),
        plus_(Encode(type, mask)),
        minus_(Encode(type, -mask)),
        unit_(Encode(type, unit)) {}

  void WriteUnits(std::byte* column, int k, UnitRange units) const {
    for (int i = units.begin; i < std::min(units.end, k); ++i) Put(column, i, unit_);
  }
  void WriteMasks(std::byte* column, int k, MaskPair pair, bool positive) const {
    if (pair.plus < k) Put(column, pair.plus, plus_);
    if (pair.minus < k) Put(column, pair.minus, positive ? plus_ : minus_);
  }

 private:
  void Put(std::byte* column, int i, std::uint64_t bits) const {
    std::memcpy(column + At(i) * bytes_, &bits, bytes_);
  }
  std::size_t bytes_;
  std::uint64_t plus_, minus_, unit_;
};

// A vector has one row and many columns: asked one by one, its questions would take a launch each.
bool AsksColumns(const DeviceGemmShape& shape, const MaskScheme& scheme) {
  return !scheme.diagonal && shape.n > shape.m;
}

void WriteC(const DeviceGemmShape& shape, const MaskScheme& scheme, std::span<const MaskPair> pairs,
            UnitRange units, std::vector<std::byte>* c) {
  const std::size_t size = BytesOf(shape.output);
  c->assign(shape.c_size() * size, std::byte{0});
  for (std::size_t q = 0; q < pairs.size(); ++q) {
    double value = shape.k >= units.begin && shape.k < units.end ? scheme.unit() : 0.0;
    if (pairs[q].plus == shape.k) value = scheme.mask();
    if (pairs[q].minus == shape.k) value = -scheme.mask();
    const std::uint64_t bits = Encode(shape.output, value);
    std::memcpy(c->data() + ElementOf(shape, scheme, q) * size, &bits, size);
  }
}

}  // namespace

std::string DeviceGemmShape::Name() const {
  std::string name = fmt::format("{}x{}x{}", m, n, k);
  if (BytesOf(output) == 2) name += fmt::format(" to {}", NumberTypeName(output));
  return name;
}

LtShape ToLtShape(const DeviceGemmShape& shape) {
  LtShape lt{.m = shape.m, .n = shape.n, .k = shape.k};
  lt.input = CudaType(shape.input);
  lt.output = CudaType(shape.output);
  lt.compute = ComputeOf(shape.input);
  if (shape.input == NumberType::kFp64) lt.scale = CUDA_R_64F;
  if (shape.input == NumberType::kInt8) lt.scale = CUDA_R_32I;
  return lt;
}

Result<BlasContext> BlasContext::Open(const ProbeContext& context) {
  BlasContext blas;
  ASSIGN_OR_RETURN(blas.device, Device::Open(context));
  // cuBLAS needs cuBLASLt itself, and must find the same one as we do.
  ASSIGN_OR_RETURN(blas.lt, CublasLt::Open(context.library_paths));
  ASSIGN_OR_RETURN(blas.blas, Cublas::Open(context.library_paths));
  return blas;
}

void BlasContext::Describe(ProbeResult* result) const {
  const auto add = [&](const Library& library, const std::string& version) {
    result->libraries.emplace(library.soname(), DescribeLibrary(library, version));
  };
  add(blas->library(), CublasVersionText(static_cast<std::uint64_t>(blas->version())));
  add(lt->library(), CublasVersionText(lt->version()));
}

Result<std::unique_ptr<Gemm>> Gemm::Create(const BlasContext& context,
                                           const DeviceGemmShape& shape) {
  std::unique_ptr<Gemm> gemm(new Gemm(context, shape));
  const Device& device = *context.device;
  const std::size_t in = BytesOf(shape.input), out = BytesOf(shape.output);
  ASSIGN_OR_RETURN(gemm->a_, device.Allocate(shape.a_size() * in));
  ASSIGN_OR_RETURN(gemm->b_, device.Allocate(shape.b_size() * in));
  ASSIGN_OR_RETURN(gemm->c_, device.Allocate(shape.c_size() * out));
  ASSIGN_OR_RETURN(gemm->d_, device.Allocate(shape.c_size() * out));
  if (!NeedsLt(shape.input)) return gemm;
  ASSIGN_OR_RETURN(gemm->workspace_, device.Allocate(kWorkspaceBytes));
  ASSIGN_OR_RETURN(gemm->product_, LtProduct::Create(context.lt, ToLtShape(shape)));
  ASSIGN_OR_RETURN(const auto found, gemm->product_->Heuristic({kWorkspaceBytes, 256}, 1));
  if (found.empty()) {
    return NotFound(fmt::format("cuBLASLt has no {} product {} on {}", NumberTypeName(shape.input),
                                shape.Name(), device.name()));
  }
  gemm->algo_ = found.front().algo;
  return gemm;
}

Result<std::vector<std::byte>> Gemm::Run(std::span<const std::byte> a, std::span<const std::byte> b,
                                         std::span<const std::byte> c) const {
  const Device& device = *context_.device;
  RETURN_IF_ERROR(device.Write(a_, a));
  RETURN_IF_ERROR(device.Write(b_, b));
  RETURN_IF_ERROR(device.Write(c_, c));
  RETURN_IF_ERROR(Multiply(!c.empty()));
  RETURN_IF_ERROR(device.Synchronize());
  const DeviceBuffer& result = product_ != nullptr ? d_ : c_;
  return device.Read(result, shape_.c_size() * BytesOf(shape_.output));
}

Status Gemm::Multiply(bool with_c) const {
  if (product_ != nullptr) {
    return product_->Run(algo_, a_.pointer(), b_.pointer(), c_.pointer(), d_.pointer(),
                         with_c ? 1.0F : 0.0F, workspace_.pointer(), workspace_.bytes());
  }
  const float one = 1.0F, beta = with_c ? 1.0F : 0.0F;
  const double one_double = 1.0, beta_double = beta;
  const std::int32_t one_int = 1, beta_int = with_c ? 1 : 0;
  const void* alpha_at = &one;
  const void* beta_at = &beta;
  if (shape_.input == NumberType::kFp64) alpha_at = &one_double, beta_at = &beta_double;
  if (shape_.input == NumberType::kInt8) alpha_at = &one_int, beta_at = &beta_int;
  const Cublas& blas = *context_.blas;
  return blas.Check(blas.f.cublasGemmEx(blas.handle(), CUBLAS_OP_T, CUBLAS_OP_N, shape_.m, shape_.n,
                                        shape_.k, alpha_at, a_.pointer(), CudaType(shape_.input),
                                        shape_.k, b_.pointer(), CudaType(shape_.input), shape_.k,
                                        beta_at, c_.pointer(), CudaType(shape_.output), shape_.m,
                                        ComputeOf(shape_.input), CUBLAS_GEMM_DEFAULT),
                    fmt::format("cublasGemmEx {} {}", NumberTypeName(shape_.input), shape_.Name()));
}

int MostQuestions(const DeviceGemmShape& shape, const MaskScheme& scheme) {
  return scheme.diagonal ? std::min(shape.m, shape.n) : std::max(shape.m, shape.n);
}

std::size_t ElementOf(const DeviceGemmShape& shape, const MaskScheme& scheme,
                      std::size_t question) {
  const std::size_t column = scheme.diagonal || AsksColumns(shape, scheme) ? question : 0;
  const std::size_t row = AsksColumns(shape, scheme) ? 0 : question;
  return column * At(shape.m) + row;
}

MaskedMatrices BuildMasked(const DeviceGemmShape& shape, const MaskScheme& scheme, bool with_c,
                           std::span<const MaskPair> pairs, UnitRange units) {
  const std::size_t column = At(shape.k) * BytesOf(shape.input);
  MaskedMatrices matrices;
  matrices.a.resize(At(shape.m) * column);
  matrices.b.resize(At(shape.n) * column);
  const bool columns = AsksColumns(shape, scheme);
  std::vector<std::byte>& asked = columns ? matrices.b : matrices.a;
  std::vector<std::byte>& other = columns ? matrices.a : matrices.b;
  const ColumnWriter masks(shape.input, scheme.mask_a, scheme.unit_a);
  const ColumnWriter factors(shape.input, scheme.mask_b, scheme.unit_b);
  for (std::size_t q = 0; q * column < asked.size(); ++q) {
    std::byte* at = asked.data() + q * column;
    masks.WriteUnits(at, shape.k, units);
    if (q < pairs.size()) masks.WriteMasks(at, shape.k, pairs[q], false);
  }
  for (std::size_t q = 0; q * column < other.size(); ++q) {
    std::byte* at = other.data() + q * column;
    // Zeros in one matrix suffice to leave a summand out, and masks outside of the range need their
    // factor.
    factors.WriteUnits(at, shape.k, {0, shape.k});
    if (scheme.diagonal && q < pairs.size()) factors.WriteMasks(at, shape.k, pairs[q], true);
  }
  if (with_c) WriteC(shape, scheme, pairs, units, &matrices.c);
  return matrices;
}

int GemmSum::max_batch() const { return MostQuestions(gemm_.shape(), scheme_); }

Status GemmSum::Count(std::span<const MaskPair> pairs, UnitRange units, std::span<double> counts) {
  const DeviceGemmShape& shape = gemm_.shape();
  const MaskedMatrices matrices = BuildMasked(shape, scheme_, with_c_, pairs, units);
  ASSIGN_OR_RETURN(const std::vector<std::byte> d, gemm_.Run(matrices.a, matrices.b, matrices.c));
  for (std::size_t q = 0; q < pairs.size(); ++q) {
    counts[q] = ElementAt(shape.output, d, ElementOf(shape, scheme_, q)) / scheme_.unit();
  }
  return {};
}

}  // namespace rharness
