// A recording's additions to the observed Python: its activation, the folders before its own, its
// version.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_PYTHON_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_PYTHON_H_

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/records/manifest/python_environment.h"

namespace rharness {

// "3.11.7" from this interpreter (--version); empty: it fails. Cached per process.
std::string PythonVersion(const std::filesystem::path& interpreter);

// Fills what a footprint does not show, except the version. `variables`: those of the command;
// `folder`: where it ran; `base`: the code's root; all absolute and without links.
void CompletePython(const std::map<std::string, std::string>& variables,
                    const std::filesystem::path& folder, const std::filesystem::path& base,
                    PythonEnvironment* python);

// The folders below `base` that editable installs in this environment add to its search path, by
// *.pth files and by setuptools' finders, relative to `base`.
std::vector<std::string> EditableFolders(const std::filesystem::path& prefix,
                                         const std::filesystem::path& base);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_PYTHON_H_
