// Making a Python environment again from the versions and digests of a record.
//
// Role: for a rerun whose environment is not here any more, where that was asked for
// (--make-environments). Runs venv and pip of the recorded interpreter, or uv; takes wheels alone,
// whose installation executes nothing of theirs; and proves what was installed by the recorded
// digests before anything runs in it.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_MAKE_PYTHON_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_MAKE_PYTHON_H_

#include <filesystem>
#include <functional>
#include <string>

#include "harness/base/result.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// Where environments are made unless something else is said: below XDG_CACHE_HOME, or else HOME's
// .cache. Empty: neither is set.
std::filesystem::path EnvironmentCache();

// A digest of what an environment is made of: version of Python, packages with versions and
// digests. Two records with one key share an environment.
std::string EnvironmentKey(const Manifest& manifest);

// The folder FOLDER/KEY: the one that is there if it still is what was made, else a new one, which
// comes to its place whole. Editable installs are left out: their code is the run's own. Indexes
// and proxies are those of pip's and uv's own variables and files. Thread-safe; one is made at a
// time. Errors: not_found (no such interpreter or version; an index that has none), unsupported (no
// means to make such an environment here), integrity (an index has another package of this name and
// version), process and timeout (the network, a stopped drill), io.
Result<std::filesystem::path> MakePython(const Manifest& manifest,
                                         const std::filesystem::path& folder,
                                         const std::function<bool()>& should_cancel);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_MAKE_PYTHON_H_
