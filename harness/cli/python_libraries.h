// The libraries of the stack that a Python brings with it: NVIDIA's packages for PyTorch and
// others, and NumPy's BLAS.
#ifndef RHARNESS_HARNESS_CLI_PYTHON_LIBRARIES_H_
#define RHARNESS_HARNESS_CLI_PYTHON_LIBRARIES_H_

#include <string>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

// Folders with shared libraries in them, as this interpreter finds its packages: the `lib` folders
// below the namespace package `nvidia` (nvidia-cudnn-cu13, nvidia-nccl-cu13, ...), sorted, and
// numpy.libs, where NumPy's wheels keep their BLAS; the one folder of a Conda. The interpreter
// runs, with this process's environment. None for a NumPy with the system's libraries. Errors:
// process when it fails, not_found when it has neither libraries nor a NumPy.
Result<std::vector<std::string>> PythonLibraryFolders(const std::string& python);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_PYTHON_LIBRARIES_H_
