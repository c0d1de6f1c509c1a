// A table of libraries and of the functions that return their versions.
#include "probes/gpu/stack_libraries.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "probes/library/version_text.h"

namespace rharness {
namespace {

constexpr std::size_t kLongestValue = 1024;

// Empty: this library has no function for it. Errors: internal, when the function fails.
using Version = Result<std::string>;

Status CheckVersion(int result, std::string_view function) {
  if (result == 0) return {};
  return InternalError(fmt::format("{} failed with {}", function, result));
}

Version NoVersion(const Library&) { return std::string(); }

Version OneNumberVersion(const Library& library, std::string_view function,
                         std::string (*to_text)(int)) {
  auto* get = library.Get<int(int*)>(function);
  int version = 0;
  if (get == nullptr) return std::string();
  RETURN_IF_ERROR(CheckVersion(get(&version), function));
  return to_text(version);
}
Version RuntimeVersion(const Library& library) {
  return OneNumberVersion(library, "cudaRuntimeGetVersion", CudaVersionText);
}
Version NcclVersion(const Library& library) {
  return OneNumberVersion(library, "ncclGetVersion", NcclVersionText);
}

// cublasGetProperty and its kin: major, minor and patch are properties 0, 1 and 2.
Version PropertyVersion(const Library& library, std::string_view function) {
  auto* get = library.Get<int(int, int*)>(function);
  std::array<int, 3> parts{};
  if (get == nullptr) return std::string();
  for (int property = 0; property < 3; ++property) {
    RETURN_IF_ERROR(
        CheckVersion(get(property, &parts[static_cast<std::size_t>(property)]), function));
  }
  return fmt::format("{}.{}.{}", parts[0], parts[1], parts[2]);
}
Version CublasVersion(const Library& library) {
  return PropertyVersion(library, "cublasGetProperty");
}
Version CublasLtVersion(const Library& library) {
  return PropertyVersion(library, "cublasLtGetProperty");
}
Version CudnnVersion(const Library& library) {
  return PropertyVersion(library, "cudnnGetProperty");
}

template <class Number>
Version TwoPartVersion(const Library& library, std::string_view function) {
  auto* get = library.Get<int(Number*, Number*)>(function);
  Number major = 0, minor = 0;
  if (get == nullptr) return std::string();
  RETURN_IF_ERROR(CheckVersion(get(&major, &minor), function));
  return fmt::format("{}.{}", major, minor);
}
Version NvrtcVersion(const Library& library) {
  return TwoPartVersion<int>(library, "nvrtcVersion");
}
Version NvJitLinkVersion(const Library& library) {
  return TwoPartVersion<unsigned>(library, "nvJitLinkVersion");
}

Version OpenBlasVersion(const Library& library) {
  auto* get = library.Get<const char*()>("openblas_get_config");
  const char* text = get != nullptr ? get() : nullptr;
  return std::string(text != nullptr ? text : "");
}

struct Known {
  std::string_view name;
  std::vector<std::string> sonames;  // the newest first
  Version (*version)(const Library&);
};

const std::vector<Known>& KnownLibraries() {
  static const std::vector<Known> kKnown = {
      {"CUDA runtime", {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"}, RuntimeVersion},
      {"cuBLAS", {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"}, CublasVersion},
      {"cuBLASLt",
       {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"},
       CublasLtVersion},
      {"cuDNN", {"libcudnn.so.9", "libcudnn.so.8"}, CudnnVersion},
      {"cuDNN graph", {"libcudnn_graph.so.9"}, NoVersion},
      {"cuDNN ops", {"libcudnn_ops.so.9"}, NoVersion},
      {"cuDNN cnn", {"libcudnn_cnn.so.9"}, NoVersion},
      {"cuDNN heuristic", {"libcudnn_heuristic.so.9"}, NoVersion},
      {"cuDNN precompiled engines", {"libcudnn_engines_precompiled.so.9"}, NoVersion},
      {"cuDNN runtime-compiled engines", {"libcudnn_engines_runtime_compiled.so.9"}, NoVersion},
      {"NCCL", {"libnccl.so.2"}, NcclVersion},
      {"NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"}, NvrtcVersion},
      {"nvJitLink", {"libnvJitLink.so.13", "libnvJitLink.so.12"}, NvJitLinkVersion},
      {"OpenBLAS", {"libopenblas.so.0"}, OpenBlasVersion},
      // Not asked its version: a call into it ends the process when one of its parts is missing.
      {"MKL", {"libmkl_rt.so.2", "libmkl_rt.so.1"}, NoVersion},
  };
  return kKnown;
}

bool SpeaksOfASecret(std::string_view name) {
  static constexpr std::array<std::string_view, 6> words = {"TOKEN",  "SECRET", "PASSWORD",
                                                            "PASSWD", "KEY",    "CREDENTIAL"};
  return std::ranges::any_of(
      words, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

bool ChangesNumbers(std::string_view name) {
  static constexpr std::array<std::string_view, 5> prefixes = {"NCCL_", "CUBLAS", "CUDNN_", "CUDA_",
                                                               "NVIDIA_TF32_OVERRIDE"};
  static constexpr std::array<std::string_view, 8> places = {"CUDA_HOME",
                                                             "CUDA_PATH",
                                                             "CUDA_ROOT",
                                                             "CUDA_CACHE_PATH",
                                                             "CUDA_VISIBLE_DEVICES",
                                                             "CUDA_MPS_PIPE_DIRECTORY",
                                                             "CUDA_MPS_LOG_DIRECTORY",
                                                             "CUDA_TOOLKIT_ROOT_DIR"};
  return std::ranges::any_of(prefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); }) &&
         std::ranges::find(places, name) == places.end() && !SpeaksOfASecret(name);
}

}  // namespace

void AddLibrary(const std::string& name, const Library& library, const std::string& version,
                StackLibraries* libraries) {
  libraries->described.emplace(library.soname(), DescribeLibrary(library, version));
  libraries->named[name] = Json()
                               .Set("soname", library.soname())
                               .Set("version", version)
                               .Set("build_id", library.BuildId());
}

StackLibraries FindStackLibraries(const std::vector<std::filesystem::path>& paths) {
  StackLibraries found;
  for (const Known& known : KnownLibraries()) {
    const auto library = Library::Open(known.sonames, paths);
    const auto note = [&](const Error& error) {
      found.broken.push_back(fmt::format("{}: {}", known.name, error.ToString()));
    };
    if (!library.ok() && library.error().code != ErrorCode::kNotFound) note(library.error());
    if (!library.ok()) continue;
    const Version version = known.version(**library);
    if (!version.ok()) note(version.error());
    AddLibrary(std::string(known.name), **library, version.ok() ? *version : "", &found);
  }
  return found;
}

Json NumericVariables(const char* const* environment) {
  std::map<std::string, std::string> variables;
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || !ChangesNumbers(entry.substr(0, equals))) continue;
    variables.emplace(entry.substr(0, equals), entry.substr(equals + 1, kLongestValue));
  }
  Json json = Json::MakeObject();
  for (const auto& [name, value] : variables) json.Set(name, value);
  return json;
}

}  // namespace rharness
