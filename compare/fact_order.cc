// The order of facts, as tables of their keys.
#include "compare/fact_order.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <tuple>
#include <utility>

namespace rharness {
namespace {

constexpr std::string_view kVariable = "variable.", kSoftware = "software.", kPackage = "package.";
constexpr std::string_view kStack = "stack.", kLibrary = "library.";
constexpr std::string_view kSeedSet = "seed_set.", kFlag = "flag.", kInput = "input.";
constexpr std::string_view kLockFile = "lock_file.";
constexpr std::string_view kHostPackage = "package.dpkg.";
constexpr std::string_view kHostPackages = "software.host_packages";

bool StartsWithAny(std::string_view text, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes,
                             [&](std::string_view prefix) { return text.starts_with(prefix); });
}

// "numpy" of "package.python.numpy"; empty for any other key.
std::string_view PackageOf(std::string_view key) {
  if (!key.starts_with(kPackage)) return {};
  const auto dot = key.find('.', kPackage.size());
  return dot == key.npos ? std::string_view() : key.substr(dot + 1);
}

bool IsDigest(std::string_view key) {
  return key == kHostPackages || key.ends_with("sha256") || key.ends_with(".digest");
}

bool IsDriver(std::string_view key) {
  constexpr std::array<std::string_view, 5> kKeys = {
      "gpu.driver", "software.cuda_driver", "software.kernel", "stack.driver", "stack.kernel"};
  return StartsWithAny(key, kKeys);
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

bool HasAny(const std::string& text, std::span<const std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

// For packages and libraries: those that a run imports itself before their dependencies.
enum class NumericRank { kFramework, kNumeric, kBroughtAlong, kOther };

NumericRank NumericRankOf(std::string_view key) {
  constexpr std::array<std::string_view, 14> kFrameworks = {
      "numpy", "scipy", "torch",        "jax",          "jaxlib",   "tensorflow", "keras",
      "cupy",  "flax",  "scikit-learn", "scikit_learn", "lightgbm", "xgboost",    "transformers"};
  // Wheels of CUDA's parts have names like "nvidia-cudnn-cu12" and "triton".
  constexpr std::array<std::string_view, 4> kBrought = {"nvidia", "triton", "nccl", "cusparselt"};
  constexpr std::array<std::string_view, 15> kWords = {
      "torch", "jax",    "blas",  "lapack", "mkl",     "cuda",  "cudnn", "cublas",
      "xla",   "onednn", "libc6", "glibc",  "libgomp", "eigen", "oneapi"};
  const std::string name = Lower(FactName(key));
  if (std::ranges::find(kFrameworks, name) != kFrameworks.end()) return NumericRank::kFramework;
  if (HasAny(name, kBrought)) return NumericRank::kBroughtAlong;
  return HasAny(Lower(key), kWords) ? NumericRank::kNumeric : NumericRank::kOther;
}

}  // namespace

bool ChangesArithmetic(std::string_view variable) {
  constexpr std::array<std::string_view, 42> kPrefixes = {
      "ATEN_",     "BLIS_",   "CUBLAS",  "CUDA_",     "CUDNN_",    "DNNL_",    "FLAGS_",
      "GLIBC_TUN", "GOMP_",   "GOTO_",   "HIP_",      "HSA_",      "JAX_",     "KMP_",
      "LD_",       "MIOPEN_", "MKL_",    "NCCL_",     "NPY_",      "NUMEXPR_", "NVIDIA",
      "NVTE_",     "OMP_",    "ONEDNN_", "OPENBLAS_", "PYTHONH",   "PYTORCH_", "RCCL_",
      "ROCBLAS",   "ROCM_",   "TF_",     "TORCH_",    "TRITON_",   "UCX_",     "VECLIB_",
      "XLA_",      "TPU_",    "ARM_PL",  "AOCL_",     "FLEXIBLAS", "LIBXSMM_", "NUMBA_"};
  return StartsWithAny(variable, kPrefixes);
}

bool IsAmbient(std::string_view variable) {
  constexpr std::array<std::string_view, 9> kNames = {"LANG",   "LANGUAGE", "TZ",   "HOME", "PATH",
                                                      "TMPDIR", "USER",     "TERM", "PWD"};
  // What is written for people to read, and by which way a machine is reached.
  constexpr std::array<std::string_view, 6> kWords = {"LOG",   "VERBOS", "DEBUG",
                                                      "COLOR", "PROXY",  "PROGRESS"};
  return variable.starts_with("LC_") || HasAny(std::string(variable), kWords) ||
         std::ranges::find(kNames, variable) != kNames.end();
}

Telling TellingOf(const FactDifference& difference) {
  const std::string_view key = difference.key;
  if (IsDigest(key)) return Telling::kDigest;
  if (key.starts_with(kVariable)) {
    const std::string_view name = key.substr(kVariable.size());
    if (ChangesArithmetic(name)) return Telling::kArithmeticVariable;
    const bool told = difference.use != FactUse::kNotUsed && !IsAmbient(name);
    return told ? Telling::kVariable : Telling::kOther;
  }
  if (IsDriver(key)) return Telling::kDriver;
  if (key == "software.os" || difference.use == FactUse::kNotUsed) {
    return difference.use == FactUse::kNotUsed ? Telling::kNotInUse : Telling::kOther;
  }
  if (key.starts_with(kLibrary)) return Telling::kLibrary;
  if (key.starts_with(kSoftware) || difference.use == FactUse::kUsed) return Telling::kInUse;
  if (!key.starts_with(kPackage)) return Telling::kOther;
  const bool of_host = key.starts_with(kHostPackage) && !PackageOf(key).starts_with("python");
  return of_host ? Telling::kDataPackage : Telling::kMaybeInUse;
}

bool TellsOfTheRun(const FactDifference& difference) {
  return TellingOf(difference) < Telling::kDataPackage;
}

bool IsUnusedPackage(const FactDifference& difference) {
  const Telling telling = TellingOf(difference);
  return telling == Telling::kDataPackage || telling == Telling::kNotInUse;
}

bool TellsMore(const FactDifference& a, const FactDifference& b) {
  const auto order = [](const FactDifference& difference) {
    const bool is_effect =
        difference.key.starts_with("probe.") || difference.key.starts_with("gpu_kernel");
    const bool is_software = difference.key.starts_with(kPackage) ||
                             difference.key.starts_with(kSoftware) ||
                             difference.key.starts_with(kLibrary);
    const NumericRank numeric =
        is_software ? NumericRankOf(difference.key) : NumericRank::kFramework;
    return std::tuple(difference.weight, is_effect, TellingOf(difference), numeric,
                      std::string_view(difference.key));
  };
  return order(a) < order(b);
}

void DropExplained(std::vector<FactDifference>* differences) {
  const auto names_package = [](const FactDifference& difference) {
    return difference.key.starts_with(kHostPackage);
  };
  const bool named = std::ranges::any_of(*differences, names_package);
  const std::vector<FactDifference> all = *differences;
  std::erase_if(*differences, [&](const FactDifference& difference) {
    if (difference.weight == FactWeight::kIdentity) return false;
    if (difference.key == kHostPackages) return named;
    const std::string_view package = PackageOf(difference.key);
    return !package.empty() && std::ranges::any_of(all, [&](const FactDifference& other) {
      return other.key == std::string(kSoftware) + std::string(package) &&
             other.recorded == difference.recorded && other.observed == difference.observed;
    });
  });
}

std::string FactName(std::string_view key) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kNames = {
      {{"gpu.driver", "the GPU driver"},
       {"stack.driver", "the driver"},
       {"gpu.model", "the GPU"},
       {"cpu.model", "the CPU"},
       {"cpu.microcode", "the CPU's microcode"},
       {"software.kernel", "the kernel"},
       {"software.os", "the operating system"},
       {"software.cuda_driver", "the driver's CUDA"},
       {"image.digest", "the image"},
       {kHostPackages, "the host's package list"}}};
  for (const auto& [of, name] : kNames) {
    if (of == key) return std::string(name);
  }
  for (const std::string_view prefix :
       {kVariable, kSoftware, kStack, kLibrary, kSeedSet, kFlag, kInput, kLockFile}) {
    if (key.starts_with(prefix)) return std::string(key.substr(prefix.size()));
  }
  if (const std::string_view package = PackageOf(key); !package.empty()) {
    return std::string(package.substr(0, package.find(':')));
  }
  return std::string(key);
}

}  // namespace rharness
