// The libraries of the stack that a Python brings with it: NVIDIA's packages for PyTorch and
// others.
#ifndef RHARNESS_HARNESS_CLI_PYTHON_LIBRARIES_H_
#define RHARNESS_HARNESS_CLI_PYTHON_LIBRARIES_H_

#include <string>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

// The folders `lib` with shared libraries in them, sorted, of the packages below the namespace
// package `nvidia` (nvidia-cudnn-cu13, nvidia-nccl-cu13, ...), as this interpreter finds it. The
// interpreter runs, with this process's environment. Errors: process, timeout when it fails,
// not_found when it has no such package.
Result<std::vector<std::string>> PythonLibraryFolders(const std::string& python);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_PYTHON_LIBRARIES_H_
