// The numeric libraries of a GPU stack, those that can be found: which files, which versions.
//
// Role: what env_ident_cuda says of software. A library is only opened and asked its version; no
// handle is made. Not here: what the libraries compute.
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
  std::vector<std::string> broken;        // there and not to be loaded: the loader's text
};

// CUDA runtime, cuBLAS, cuBLASLt, cuDNN and its parts, NCCL, NVRTC, nvJitLink, OpenBLAS, MKL. One
// that is not there is in none of the lists; a version that a library does not tell is empty.
StackLibraries FindStackLibraries(const std::vector<std::filesystem::path>& paths);

// Adds a library that was opened by somebody else.
void AddLibrary(const std::string& name, const Library& library, const std::string& version,
                StackLibraries* libraries);

// Variables that change what is computed, or how: all of NCCL, cuBLAS and cuDNN, those of CUDA but
// for places and device names, NVIDIA_TF32_OVERRIDE. A name that speaks of a secret is left out,
// and of a value the first 1,024 bytes are kept. `environment` ends with a null pointer.
Json NumericVariables(const char* const* environment);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_STACK_LIBRARIES_H_
