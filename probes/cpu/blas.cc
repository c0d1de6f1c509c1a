// Symbols of the BLAS, typed, and its products as masked sums.
#include "probes/cpu/blas.h"

#include <fmt/format.h>

#include <functional>

namespace rharness {
namespace {

using SDot = float(const int*, const float*, const int*, const float*, const int*);
using DDot = double(const int*, const double*, const int*, const double*, const int*);
using SGemv = void(const char*, const int*, const int*, const float*, const float*, const int*,
                   const float*, const int*, const float*, float*, const int*);
template <class T>
using GemmFunction = void(const char*, const char*, const int*, const int*, const int*, const T*,
                          const T*, const int*, const T*, const int*, const T*, T*, const int*);
using SSymv = void(const char*, const int*, const float*, const float*, const int*, const float*,
                   const int*, const float*, float*, const int*);

constexpr int kOne = 1;

template <class T>
void CallGemm(void* function, const GemmShape& s, const T* a, const T* b, T beta, T* c) {
  const T alpha = 1;
  reinterpret_cast<GemmFunction<T>*>(function)("N", "N", &s.m, &s.n, &s.k, &alpha, a, &s.m, b, &s.k,
                                               &beta, c, &s.m);
}

}  // namespace

std::string GemmShape::Name() const { return fmt::format("{}x{}x{}", m, n, k); }

Result<Blas> Blas::Open(const ProbeContext& context) {
  Blas blas;
  ASSIGN_OR_RETURN(
      blas.library_,
      Library::Open({"libopenblas.so.0", "libblas.so.3", "libmkl_rt.so.2"}, context.library_paths));
  const std::pair<const char*, void**> symbols[] = {
      {"sdot_", &blas.sdot_},   {"ddot_", &blas.ddot_},   {"sgemv_", &blas.sgemv_},
      {"sgemm_", &blas.sgemm_}, {"dgemm_", &blas.dgemm_}, {"ssymv_", &blas.ssymv_}};
  for (const auto& [name, address] : symbols) {
    *address = blas.library_->Find(name);
    if (*address == nullptr) {
      return Unsupported(fmt::format("{} has no {}", blas.library_->soname(), name));
    }
  }
  return blas;
}

float Blas::Dot(std::span<const float> x, std::span<const float> y) const {
  const int n = static_cast<int>(x.size());
  return reinterpret_cast<SDot*>(sdot_)(&n, x.data(), &kOne, y.data(), &kOne);
}

double Blas::Dot(std::span<const double> x, std::span<const double> y) const {
  const int n = static_cast<int>(x.size());
  return reinterpret_cast<DDot*>(ddot_)(&n, x.data(), &kOne, y.data(), &kOne);
}

void Blas::Gemv(bool transposed, int m, int n, const float* a, const float* x, float* y) const {
  const float alpha = 1, beta = 0;
  reinterpret_cast<SGemv*>(sgemv_)(transposed ? "T" : "N", &m, &n, &alpha, a, &m, x, &kOne, &beta,
                                   y, &kOne);
}

void Blas::Gemm(const GemmShape& shape, const float* a, const float* b, float beta,
                float* c) const {
  CallGemm<float>(sgemm_, shape, a, b, beta, c);
}

void Blas::Gemm(const GemmShape& shape, const double* a, const double* b, double beta,
                double* c) const {
  CallGemm<double>(dgemm_, shape, a, b, beta, c);
}

void Blas::Symv(int n, const float* a, const float* x, float* y) const {
  const float alpha = 1, beta = 0;
  reinterpret_cast<SSymv*>(ssymv_)("L", &n, &alpha, a, &n, x, &kOne, &beta, y, &kOne);
}

bool Blas::SetThreads(int threads) const {
  auto* set = library_->Get<void(int)>("openblas_set_num_threads");
  if (set == nullptr) return false;
  set(threads);
  return true;
}

int Blas::Threads() const {
  auto* get = library_->Get<int()>("openblas_get_num_threads");
  return get == nullptr ? 0 : get();
}

Json Blas::Choice() const {
  Json choice;
  choice.Set("library", library_->soname());
  if (auto* core = library_->Get<const char*()>("openblas_get_corename")) {
    choice.Set("core", std::string(core()));
  }
  if (const int threads = Threads(); threads > 0) choice.Set("threads", threads);
  return choice;
}

std::pair<std::string, Json> Blas::Description() const {
  auto* config = library_->Get<const char*()>("openblas_get_config");
  auto* core = library_->Get<const char*()>("openblas_get_corename");
  std::string version = config == nullptr ? "" : config();
  // The kernel among the words is a choice, and no part of the build.
  const std::string chosen = core == nullptr ? "" : fmt::format(" {} ", core());
  if (const auto at = version.find(chosen); !chosen.empty() && at != version.npos) {
    version.replace(at, chosen.size(), " ");
  }
  return {library_->soname(), DescribeLibrary(*library_, version)};
}

ProbeResult WithBlas(const ProbeContext& context,
                     const std::function<void(const Blas&, ProbeResult*)>& run) {
  const auto blas = Blas::Open(context);
  if (!blas.ok()) {
    const bool absent = blas.error().code == ErrorCode::kNotFound;
    return absent ? AbsentProbe(blas.error().ToString()) : FailedProbe(blas.error().ToString());
  }
  ProbeResult result;
  result.parameters = Json::MakeObject({{"seed", context.seed}});
  result.choices["blas"] = blas->Choice();
  result.libraries.insert(blas->Description());
  run(*blas, &result);
  return result;
}

template <class T>
void GemmSum<T>::Multiply(const std::function<void(std::size_t, std::span<T>)>& fill,
                          std::span<double> results) const {
  const auto m = static_cast<std::size_t>(shape_.m), n = static_cast<std::size_t>(shape_.n);
  const auto k = static_cast<std::size_t>(shape_.k), skip = static_cast<std::size_t>(skip_);
  std::vector<T> a(m * k), b(k * n, T(1)), c(m * n, T(0)), row(k + skip);
  for (std::size_t i = 0; i < m; ++i) {
    fill(std::min(i, results.size() - 1), row);
    for (std::size_t j = 0; j < k; ++j) a[i + j * m] = row[j + skip];
    for (std::size_t j = 0; j < n && skip > 0; ++j) c[i + j * m] = row[0];
  }
  blas_.Gemm(shape_, a.data(), b.data(), static_cast<T>(skip), c.data());
  for (std::size_t i = 0; i < results.size(); ++i) results[i] = static_cast<double>(c[i]);
}

template <class T>
Status GemmSum<T>::Count(std::span<const MaskPair> pairs, UnitRange units,
                         std::span<double> counts) {
  Multiply([&](std::size_t i, std::span<T> row) { FillMasked<T>(pairs[i], units, row); },
           counts.first(pairs.size()));
  return {};
}

template <class T>
Status GemmSum<T>::CountPacked(std::span<const std::int64_t> units,
                               std::span<const std::vector<MaskPair>> sums,
                               std::span<double> totals) {
  const auto batch = static_cast<std::size_t>(max_batch());
  for (std::size_t at = 0; at < sums.size(); at += batch) {
    Multiply([&](std::size_t i, std::span<T> row) { FillPacked<T>(sums[at + i], units, row); },
             totals.subspan(at, std::min(batch, sums.size() - at)));
  }
  return {};
}

template class GemmSum<float>;
template class GemmSum<double>;

}  // namespace rharness
