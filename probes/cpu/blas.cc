// Symbols of the BLAS, typed.
#include "probes/cpu/blas.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <functional>

namespace rharness {
namespace {

// Where a library has 32-bit integers it reads the lower half of these, which on a little-endian
// machine comes first.
using Integer = std::int64_t;
static_assert(std::endian::native == std::endian::little);

using SDot = float(const Integer*, const float*, const Integer*, const float*, const Integer*);
using DDot = double(const Integer*, const double*, const Integer*, const double*, const Integer*);
template <class T>
using GemvFunction = void(const char*, const Integer*, const Integer*, const T*, const T*,
                          const Integer*, const T*, const Integer*, const T*, T*, const Integer*);
template <class T>
using GemmFunction = void(const char*, const char*, const Integer*, const Integer*, const Integer*,
                          const T*, const T*, const Integer*, const T*, const Integer*, const T*,
                          T*, const Integer*);
using SSymv = void(const char*, const Integer*, const float*, const float*, const Integer*,
                   const float*, const Integer*, const float*, float*, const Integer*);

constexpr Integer kOne = 1;

// The last four are in NumPy's and SciPy's wheels since 2.0, in NumPy's before, and older still.
const std::vector<std::string>& LibraryNames() {
  static const std::vector<std::string> names = {"libopenblas.so.0",
                                                 "libblas.so.3",
                                                 "libmkl_rt.so.3",
                                                 "libmkl_rt.so.2",
                                                 "libscipy_openblas64_-*.so",
                                                 "libscipy_openblas-*.so",
                                                 "libopenblas64_p-*.so",
                                                 "libopenblasp-*.so"};
  return names;
}

template <class T>
void CallGemv(void* function, bool transposed, Integer m, Integer n, const T* a, const T* x, T* y) {
  const T alpha = 1, beta = 0;
  reinterpret_cast<GemvFunction<T>*>(function)(transposed ? "T" : "N", &m, &n, &alpha, a, &m, x,
                                               &kOne, &beta, y, &kOne);
}

template <class T>
void CallGemm(void* function, const GemmShape& s, const T* a, const T* b, T beta, T* c) {
  const T alpha = 1;
  const Integer m = s.m, n = s.n, k = s.k;
  reinterpret_cast<GemmFunction<T>*>(function)("N", "N", &m, &n, &k, &alpha, a, &m, b, &k, &beta, c,
                                               &m);
}

}  // namespace

template <class Function>
Function* Blas::OpenBlas(std::string_view name) const {
  return library_->Get<Function>(fmt::format("{}openblas_{}{}", prefix_, name, suffix_));
}

Result<Blas> Blas::Open(const ProbeContext& context) {
  Blas blas;
  ASSIGN_OR_RETURN(blas.library_, Library::Open(LibraryNames(), context.library_paths));
  const std::pair<const char*, const char*> spellings[] = {
      {"", ""}, {"", "64_"}, {"scipy_", "64_"}, {"scipy_", ""}};
  for (const auto& [prefix, suffix] : spellings) {
    blas.prefix_ = prefix, blas.suffix_ = suffix;
    if (blas.library_->Find(fmt::format("{}sgemm_{}", prefix, suffix)) != nullptr) break;
  }
  const std::pair<const char*, void**> symbols[] = {
      {"sdot_", &blas.sdot_},   {"ddot_", &blas.ddot_},   {"sgemv_", &blas.sgemv_},
      {"dgemv_", &blas.dgemv_}, {"sgemm_", &blas.sgemm_}, {"dgemm_", &blas.dgemm_},
      {"ssymv_", &blas.ssymv_}};
  for (const auto& [name, address] : symbols) {
    *address = blas.library_->Find(fmt::format("{}{}{}", blas.prefix_, name, blas.suffix_));
    if (*address == nullptr) {
      return Unsupported(fmt::format("{} has no {}", blas.library_->soname(), name));
    }
  }
  return blas;
}

float Blas::Dot(std::span<const float> x, std::span<const float> y) const {
  const auto n = static_cast<Integer>(x.size());
  return reinterpret_cast<SDot*>(sdot_)(&n, x.data(), &kOne, y.data(), &kOne);
}

double Blas::Dot(std::span<const double> x, std::span<const double> y) const {
  const auto n = static_cast<Integer>(x.size());
  return reinterpret_cast<DDot*>(ddot_)(&n, x.data(), &kOne, y.data(), &kOne);
}

void Blas::Gemv(bool transposed, int m, int n, const float* a, const float* x, float* y) const {
  CallGemv<float>(sgemv_, transposed, m, n, a, x, y);
}

void Blas::Gemv(bool transposed, int m, int n, const double* a, const double* x, double* y) const {
  CallGemv<double>(dgemv_, transposed, m, n, a, x, y);
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
  const Integer size = n;
  reinterpret_cast<SSymv*>(ssymv_)("L", &size, &alpha, a, &size, x, &kOne, &beta, y, &kOne);
}

bool Blas::SetThreads(int threads) const {
  for (auto* set :
       {OpenBlas<void(int)>("set_num_threads"), library_->Get<void(int)>("MKL_Set_Num_Threads")}) {
    if (set == nullptr) continue;
    set(threads);
    return true;
  }
  auto* blis = library_->Get<void(std::int64_t)>("bli_thread_set_num_threads");
  if (blis != nullptr) blis(threads);
  return blis != nullptr;
}

int Blas::Threads() const {
  for (auto* get :
       {OpenBlas<int()>("get_num_threads"), library_->Get<int()>("MKL_Get_Max_Threads")}) {
    if (get != nullptr) return get();
  }
  auto* blis = library_->Get<std::int64_t()>("bli_thread_get_num_threads");
  return blis == nullptr ? 0 : static_cast<int>(blis());
}

Json Blas::Choice() const {
  Json choice = Json::MakeObject();
  if (auto* core = OpenBlas<const char*()>("get_corename")) {
    choice.Set("core", std::string(core()));
  }
  if (const int threads = Threads(); threads > 0) choice.Set("threads", threads);
  return choice;
}

std::pair<std::string, Json> Blas::Description() const {
  auto* config = OpenBlas<const char*()>("get_config");
  auto* core = OpenBlas<const char*()>("get_corename");
  std::string version = config == nullptr ? "" : config();
  if (auto* mkl = library_->Get<void(char*, int)>("MKL_Get_Version_String")) {
    char text[256] = {};
    mkl(text, sizeof(text) - 1);
    version = text;
  }
  // The kernel among the words is a choice, and no part of the build.
  const std::string chosen = core == nullptr ? "" : fmt::format(" {} ", core());
  if (const auto at = version.find(chosen); !chosen.empty() && at != version.npos) {
    version.replace(at, chosen.size(), " ");
  }
  return {library_->soname(), DescribeLibrary(*library_, version)};
}

void WithThreads(const Blas& blas, const std::function<void(const std::string& threads)>& run) {
  run("");
  const int before = blas.Threads();
  if (!blas.SetThreads(1)) return;
  run(" threads 1");
  blas.SetThreads(before);
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

}  // namespace rharness
