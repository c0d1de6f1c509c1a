// The numeric libraries found in a GPU stack: files and versions.
//
// Role: the software part of env_ident_cuda. Opens a library and queries its version only, without
// a handle. Not here: what the libraries compute.
#ifndef RHARNESS_PROBES_GPU_STACK_LIBRARIES_H_
#define RHARNESS_PROBES_GPU_STACK_LIBRARIES_H_

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "probes/library/loader.h"

namespace rharness {

struct StackLibraries {
  std::map<std::string, Json> described;  // DescribeLibrary by soname
  std::map<std::string, Json> named;      // "cuBLAS": {"soname", "version", "build_id"}
  std::vector<std::string> broken;        // present, but not loadable or without its version
};

// CUDA runtime, cuBLAS, cuBLASLt, cuDNN and its parts, NCCL, NVRTC, nvJitLink, OpenBLAS, MKL. A
// missing one is in none of the lists; an unknown version is empty.
StackLibraries FindStackLibraries(const std::vector<std::filesystem::path>& paths);

// Adds a library that was opened by somebody else.
void AddLibrary(const std::string& name, const Library& library, const std::string& version,
                StackLibraries* libraries);

// Variables that change what is computed, or how: all of NCCL, cuBLAS and cuDNN, those of CUDA
// except paths and device names, NVIDIA_TF32_OVERRIDE. Leaves out names of secrets, and keeps the
// first 1,024 bytes of a value. `environment` ends with a null pointer.
Json NumericVariables(const char* const* environment);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_STACK_LIBRARIES_H_
