// Makes a Python environment from the versions and digests of a record.
//
// Role: for a rerun whose environment no longer exists, on request (--make-environments). Runs venv
// and pip of the recorded interpreter, or uv; installs only wheels, which execute no code of
// theirs; and proves the installed files by the recorded digests before anything runs in it.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_MAKE_PYTHON_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_MAKE_PYTHON_H_

#include <filesystem>
#include <functional>
#include <string>

#include "harness/base/result.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// The default folder of environments: below XDG_CACHE_HOME, or else HOME's .cache. Empty: neither
// is set.
std::filesystem::path EnvironmentCache();

// A digest of the parts of an environment: version of Python, packages with versions and digests.
// Two records with one key share an environment.
std::string EnvironmentKey(const Manifest& manifest);

// The folder FOLDER/KEY: an existing one if it is unchanged, else a new one, which appears
// complete. Leaves out editable installs: their code is the run's own. Indexes and proxies come
// from pip's and uv's own variables and files. Thread-safe; makes one at a time. Errors: not_found
// (no such interpreter or version; no such package in the index), unsupported (no tool for such an
// environment here), integrity (an index has another package of this name and version), process and
// timeout (the network, a stopped drill), io.
Result<std::filesystem::path> MakePython(const Manifest& manifest,
                                         const std::filesystem::path& folder,
                                         const std::function<bool()>& should_cancel);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_MAKE_PYTHON_H_
