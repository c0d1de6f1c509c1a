// libcublasLt: found, bound; one product described, its algorithms read, set and run.
#include "probes/library/cublaslt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "probes/library/version_text.h"

namespace rharness {
namespace {

struct ConfigAttribute {
  std::string_view name;
  cublasLtMatmulAlgoConfigAttributes_t id;
  std::size_t bytes;
};

// "id" picks the algorithm and cannot be set afterwards.
constexpr std::array<ConfigAttribute, 9> kConfig = {{
    {"id", CUBLASLT_ALGO_CONFIG_ID, 4},
    {"tile", CUBLASLT_ALGO_CONFIG_TILE_ID, 4},
    {"split_k", CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4},
    {"reduction_scheme", CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4},
    {"cta_swizzling", CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4},
    {"custom_option", CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4},
    {"stages", CUBLASLT_ALGO_CONFIG_STAGES_ID, 4},
    {"inner_shape", CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2},
    {"cluster_shape", CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2},
}};
constexpr std::array<std::string_view, 2> kOfEveryVersion = {"id", "tile"};

// That this library has no such algorithm or attribute, or not for this product on this device.
// Source: cuBLAS, "cublasLtMatmulAlgoInit", "...AlgoConfigSetAttribute", "...AlgoCheck", "Returns".
bool MeansAbsent(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE ||
         status == CUBLAS_STATUS_ARCH_MISMATCH;
}

}  // namespace

Result<std::shared_ptr<CublasLt>> CublasLt::Open(const std::vector<std::filesystem::path>& paths) {
  std::shared_ptr<CublasLt> lt(new CublasLt());
  ASSIGN_OR_RETURN(lt->library_, Library::Open({"libcublasLt.so.13", "libcublasLt.so.12"}, paths));
  Symbols symbols(*lt->library_);
  CublasLtFunctions& f = lt->f;
  RHARNESS_CUBLASLT(RHARNESS_BIND)
  RETURN_IF_ERROR(symbols.Check());
  RETURN_IF_ERROR(lt->Check(f.cublasLtCreate(&lt->handle_), "cublasLtCreate"));
  return lt;
}

CublasLt::~CublasLt() {
  if (handle_ != nullptr) f.cublasLtDestroy(handle_);
}

Status CublasLt::Check(cublasStatus_t status, std::string_view call) const {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  return InternalError(fmt::format("{}: {}: {}", call, OrUnknown(f.cublasLtGetStatusName(status)),
                                   OrUnknown(f.cublasLtGetStatusString(status))),
                       library_->soname());
}

Result<std::unique_ptr<LtProduct>> LtProduct::Create(std::shared_ptr<CublasLt> lt,
                                                     const LtShape& shape) {
  std::unique_ptr<LtProduct> product(new LtProduct(std::move(lt), shape));
  RETURN_IF_ERROR(product->Start());
  return product;
}

Status LtProduct::Start() {
  const CublasLtFunctions& f = lt_->f;
  const auto u = [](int value) { return static_cast<std::uint64_t>(value); };
  RETURN_IF_ERROR(lt_->Check(f.cublasLtMatmulDescCreate(&desc_, shape_.compute, shape_.scale),
                             "cublasLtMatmulDescCreate"));
  const cublasOperation_t transposed = CUBLAS_OP_T;
  RETURN_IF_ERROR(lt_->Check(f.cublasLtMatmulDescSetAttribute(desc_, CUBLASLT_MATMUL_DESC_TRANSA,
                                                              &transposed, sizeof(transposed)),
                             "cublasLtMatmulDescSetAttribute"));
  RETURN_IF_ERROR(lt_->Check(
      f.cublasLtMatrixLayoutCreate(&a_, shape_.input, u(shape_.k), u(shape_.m), shape_.k),
      "cublasLtMatrixLayoutCreate"));
  RETURN_IF_ERROR(lt_->Check(
      f.cublasLtMatrixLayoutCreate(&b_, shape_.input, u(shape_.k), u(shape_.n), shape_.k),
      "cublasLtMatrixLayoutCreate"));
  return lt_->Check(
      f.cublasLtMatrixLayoutCreate(&c_, shape_.output, u(shape_.m), u(shape_.n), shape_.m),
      "cublasLtMatrixLayoutCreate");
}

LtProduct::~LtProduct() {
  for (const cublasLtMatrixLayout_t layout : {a_, b_, c_}) {
    if (layout != nullptr) lt_->f.cublasLtMatrixLayoutDestroy(layout);
  }
  if (desc_ != nullptr) lt_->f.cublasLtMatmulDescDestroy(desc_);
}

Result<std::vector<cublasLtMatmulHeuristicResult_t>> LtProduct::Heuristic(const LtLimits& limits,
                                                                          int limit) const {
  const CublasLtFunctions& f = lt_->f;
  cublasLtMatmulPreference_t preference = nullptr;
  RETURN_IF_ERROR(
      lt_->Check(f.cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate"));
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t id, const auto& value) {
    return f.cublasLtMatmulPreferenceSetAttribute(preference, id, &value, sizeof(value));
  };
  const std::uint64_t workspace = limits.workspace_bytes;
  cublasStatus_t status = set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace);
  for (const auto id :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    if (status == CUBLAS_STATUS_SUCCESS) status = set(id, limits.alignment_bytes);
  }
  std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<std::size_t>(limit));
  int count = 0;
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = f.cublasLtMatmulAlgoGetHeuristic(lt_->handle(), desc_, a_, b_, c_, c_, preference,
                                              limit, found.data(), &count);
  }
  f.cublasLtMatmulPreferenceDestroy(preference);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) count = 0;
  if (status != CUBLAS_STATUS_NOT_SUPPORTED) {
    RETURN_IF_ERROR(lt_->Check(status, "cublasLtMatmulAlgoGetHeuristic"));
  }
  found.resize(static_cast<std::size_t>(count));
  std::erase_if(found, [](const auto& one) { return one.state != CUBLAS_STATUS_SUCCESS; });
  return found;
}

Result<cublasLtMatmulHeuristicResult_t> LtProduct::Configure(const Json& config) const {
  const CublasLtFunctions& f = lt_->f;
  cublasLtMatmulHeuristicResult_t result{};
  const auto refused = [&](cublasStatus_t status, std::string_view what) {
    if (!MeansAbsent(status)) return lt_->Check(status, what).error();
    return NotFound(fmt::format("{}: {}", what, OrUnknown(f.cublasLtGetStatusName(status))),
                    lt_->library().soname());
  };
  for (const ConfigAttribute& attribute : kConfig) {
    const Json* value = config.Find(attribute.name);
    const auto number = value != nullptr ? value->ToInt64() : std::nullopt;
    if (!number) return InvalidInput("expected a number", std::string(attribute.name));
    const auto bits = static_cast<std::uint32_t>(*number);
    const cublasStatus_t status =
        attribute.name == "id"
            ? f.cublasLtMatmulAlgoInit(lt_->handle(), shape_.compute, shape_.scale, shape_.input,
                                       shape_.input, shape_.output, shape_.output,
                                       static_cast<int>(*number), &result.algo)
            : f.cublasLtMatmulAlgoConfigSetAttribute(&result.algo, attribute.id, &bits,
                                                     attribute.bytes);
    if (status != CUBLAS_STATUS_SUCCESS) return refused(status, attribute.name);
  }
  const cublasLtMatmulAlgo_t algo = result.algo;
  const cublasStatus_t checked =
      f.cublasLtMatmulAlgoCheck(lt_->handle(), desc_, a_, b_, c_, c_, &algo, &result);
  if (checked != CUBLAS_STATUS_SUCCESS) return refused(checked, "cublasLtMatmulAlgoCheck");
  result.algo = algo;
  return result;
}

// An older library does not know the newer attributes: absent, not zero.
Result<Json> LtProduct::Describe(const cublasLtMatmulAlgo_t& algo) const {
  Json config = Json::MakeObject();
  const auto add = [&](std::string_view name, cublasStatus_t status, auto value) -> Status {
    if (status == CUBLAS_STATUS_SUCCESS) config.Set(name, value);
    const bool newer = std::ranges::find(kOfEveryVersion, name) == kOfEveryVersion.end();
    if (newer && MeansAbsent(status)) return {};
    return lt_->Check(status, name);
  };
  for (const ConfigAttribute& attribute : kConfig) {
    std::uint32_t value = 0;
    std::size_t written = 0;
    const cublasStatus_t status = lt_->f.cublasLtMatmulAlgoConfigGetAttribute(
        &algo, attribute.id, &value, attribute.bytes, &written);
    RETURN_IF_ERROR(add(attribute.name, status, value));
  }
  std::uint64_t flags = 0;
  std::size_t written = 0;
  const cublasStatus_t status = lt_->f.cublasLtMatmulAlgoCapGetAttribute(
      &algo, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, &flags, sizeof(flags), &written);
  RETURN_IF_ERROR(add("numerical_flags", status, flags));
  return config;
}

Status LtProduct::Run(const cublasLtMatmulAlgo_t& algo, const void* a, const void* b, const void* c,
                      void* d, float beta, void* workspace, std::size_t workspace_bytes) const {
  const float one = 1.0F;
  const double one_double = 1.0, beta_double = beta;
  const std::int32_t one_int = 1, beta_int = static_cast<std::int32_t>(beta);
  const void* alpha_at = &one;
  const void* beta_at = &beta;
  if (shape_.scale == CUDA_R_64F) alpha_at = &one_double, beta_at = &beta_double;
  if (shape_.scale == CUDA_R_32I) alpha_at = &one_int, beta_at = &beta_int;
  return lt_->Check(lt_->f.cublasLtMatmul(lt_->handle(), desc_, alpha_at, a, a_, b, b_, beta_at, c,
                                          c_, d, c_, &algo, workspace, workspace_bytes, nullptr),
                    "cublasLtMatmul");
}

}  // namespace rharness
