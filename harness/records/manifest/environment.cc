// Captures the environment of this process. host.h parses the machine's files, nvml.h queries the
// driver, topology.h the machine's structure.
#include "harness/records/manifest/environment.h"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/environment_secrets.h"
#include "harness/records/manifest/fabric.h"
#include "harness/records/manifest/host.h"
#include "harness/records/manifest/node_variable.h"
#include "harness/records/manifest/nvml.h"
#include "harness/records/manifest/topology.h"

namespace rharness {
namespace {

constexpr std::string_view kWithheld = "withheld:";

std::string ContentOf(const char* path) {
  auto content = ReadFile(path);
  return content.ok() ? std::move(*content) : std::string();
}

bool HasWatchedPrefix(std::string_view name) {
  const auto& prefixes = WatchedPrefixes();
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return name.starts_with(prefix); });
}

std::map<std::string, std::optional<std::string>> PickVariables(
    const std::map<std::string, std::string>& all, const std::set<std::string>& named) {
  std::map<std::string, std::optional<std::string>> picked;
  for (const auto& [name, value] : all) {
    if (!HasWatchedPrefix(name)) continue;
    picked[name] = Withheld(name, value);
  }
  const auto pick = [&](const std::string& name) {
    const auto found = all.find(name);
    picked[name] = found == all.end() ? std::nullopt : std::optional(Withheld(name, found->second));
  };
  std::ranges::for_each(WatchedVariables(), pick);
  std::ranges::for_each(named, pick);
  return picked;
}

Cpu CaptureCpu(const utsname& system) {
  Cpu cpu;
  cpu.architecture = system.machine;
  cpu.logical_cores = static_cast<int>(std::max(0L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  ReadCpuInfo(ContentOf("/proc/cpuinfo"), &cpu);
  return cpu;
}

std::map<std::string, std::string> CaptureSoftware(const utsname& system) {
  std::map<std::string, std::string> software;
  std::string os_release = ContentOf("/etc/os-release");
  if (os_release.empty()) os_release = ContentOf("/usr/lib/os-release");
  software["os"] = PrettyNameOf(os_release);
  software["kernel"] = system.release;
  software["glibc"] = ::gnu_get_libc_version();
  return software;
}

struct Host {
  std::map<std::string, std::string> software;
  Cpu cpu;
  std::uint64_t memory_bytes = 0;
  Topology topology;
};

// Read once: constant while this process lives, and a drill needs it at every rerun. Excludes GPUs;
// they can be lost on the way.
const Host& ThisHost() {
  static const Host kHost = [] {
    utsname system{};
    if (::uname(&system) != 0) Abort("uname failed");
    const std::string replaces = ReplacesTheMachine();
    if (!replaces.empty()) {
      LogWarning(fmt::format(
          "{} names another machine than this one: sockets, caches, memory nodes and the places of "
          "GPUs are not known",
          replaces));
    }
    return Host{CaptureSoftware(system), CaptureCpu(system), MemoryOf(ContentOf("/proc/meminfo")),
                replaces.empty() ? LoadTopology() : Topology()};
  }();
  return kHost;
}

}  // namespace

const std::vector<std::string>& WatchedVariables() {
  static const std::vector<std::string> kNames = {
      "ATEN_CPU_CAPABILITY",
      "BLIS_NUM_THREADS",
      "CUBLASLT_WORKSPACE_SIZE",
      "CUBLAS_WORKSPACE_CONFIG",
      "CUDA_LAUNCH_BLOCKING",
      "CUDA_VISIBLE_DEVICES",
      "CUDNN_DETERMINISTIC",
      "FLAGS_cudnn_deterministic",
      "GLIBC_TUNABLES",
      "GOTO_NUM_THREADS",
      "LANG",
      "LC_ALL",
      "LD_LIBRARY_PATH",
      "LD_PRELOAD",
      "MKL_CBWR",
      "MKL_DYNAMIC",
      "MKL_ENABLE_INSTRUCTIONS",
      "MKL_NUM_THREADS",
      "NCCL_ALGO",
      "NCCL_PROTO",
      "NPY_DISABLE_CPU_FEATURES",
      "NUMEXPR_NUM_THREADS",
      "NVIDIA_TF32_OVERRIDE",
      "OMP_DYNAMIC",
      "OMP_NUM_THREADS",
      "OMP_PROC_BIND",
      "OMP_SCHEDULE",
      "ONEDNN_MAX_CPU_ISA",
      "OPENBLAS_CORETYPE",
      "OPENBLAS_NUM_THREADS",
      "PYTHONHASHSEED",
      "TF_CUDNN_DETERMINISTIC",
      "TF_DETERMINISTIC_OPS",
      "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
      "TZ",
      "VECLIB_MAXIMUM_THREADS",
      "XLA_FLAGS",
  };
  return kNames;
}

const std::vector<std::string>& WatchedPrefixes() {
  static const std::vector<std::string> kPrefixes = {
      "BLIS_", "CUBLAS", "CUDA_",   "CUDNN_",    "DNNL_",    "FLAGS_", "GOMP_",    "HIP_",
      "HSA_",  "JAX_",   "KMP_",    "MIOPEN_",   "MKL_",     "NCCL_",  "NPY_",     "NVIDIA_",
      "NVTE_", "OMP_",   "ONEDNN_", "OPENBLAS_", "PYTORCH_", "RCCL_",  "ROCBLAS_", "ROCM_",
      "TF_",   "TORCH_", "TRITON_", "UCX_",      "XLA_"};
  return kPrefixes;
}

std::map<std::string, std::string> ProcessEnvironment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) {
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return variables;
}

bool IsWithheld(std::string_view value) { return value.starts_with(kWithheld); }

bool IsNumericVariable(std::string_view name) {
  // NPY_, ATEN_, DNNL_ and ONEDNN_ name the instructions that a processor's kernels may use.
  static constexpr std::array<std::string_view, 16> prefixes = {
      "OPENBLAS_", "GOTO_", "OMP_",    "GOMP_", "KMP_", "MKL_",  "CUDA_", "CUBLAS",
      "CUDNN_",    "NCCL_", "NVIDIA_", "BLIS_", "NPY_", "ATEN_", "DNNL_", "ONEDNN_"};
  return name == "GLIBC_TUNABLES" || std::ranges::any_of(prefixes, [&](std::string_view prefix) {
           return name.starts_with(prefix);
         });
}

Environment CaptureEnvironment(const std::map<std::string, std::string>* variables,
                               const std::set<std::string>& named) {
  Environment environment;
  environment.variables =
      PickVariables(variables != nullptr ? *variables : ProcessEnvironment(), named);
  environment.software = ThisHost().software;
  environment.hardware.cpu = ThisHost().cpu;
  environment.hardware.memory_bytes = ThisHost().memory_bytes;
  const std::string cuda = ReadGpus(&environment.hardware);
  Place(ThisHost().topology, &environment.hardware);
  environment.hardware.fabric = ReadFabric();
  if (!cuda.empty()) environment.software["cuda_driver"] = cuda;
  return environment;
}

Machine ThisMachine() {
  static const Machine kMachine = [] {
    const auto line = [](const char* path) {
      const std::string text = ContentOf(path);
      return text.substr(0, text.find('\n'));
    };
    const auto named = PickEnvironment({"SLURMD_NODENAME", kNodeVariable});
    return Machine{.host = line("/proc/sys/kernel/hostname"),
                   .boot_id = line("/proc/sys/kernel/random/boot_id"),
                   .node = named.empty() ? "" : named.begin()->second};
  }();
  return kMachine;
}

}  // namespace rharness
