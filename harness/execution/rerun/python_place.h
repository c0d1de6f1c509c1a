// The Python environment of a rerun: its folder here, and the settings that run the command in it.
//
// Role: between a record, which names a folder, and a workspace, in which git has no environment.
// The recorded folder if it still exists; another folder by --python-environment or --map; a new
// one (make_python.h) on request. Other packages than the recorded ones are no obstacle: they are
// facts of the environment.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_PYTHON_PLACE_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_PYTHON_PLACE_H_

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/execution/launch/job.h"
#include "harness/execution/rerun/obstacle.h"
#include "harness/execution/rerun/places.h"
#include "harness/execution/rerun/ticket.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

struct PythonPlace {
  std::filesystem::path prefix;  // of the environment; empty: the first on PATH
  bool asked_for = false;        // by --python-environment
  std::vector<Finding> remarks;
  std::optional<Obstacle> obstacle;
};

// The recorded environment here: as mapped by --map if that exists, else as recorded. Empty: none
// is recorded.
std::filesystem::path LocatePython(const Manifest& manifest, const Places& places);
// Why no Python can start from this environment, in words; empty: one can.
std::string WhyNoPython(const std::filesystem::path& prefix);
// The packages in an environment that differ from the recorded ones, as "numpy 2.0 (recorded
// 1.26)", by version and digest. None if the record has no list.
std::vector<std::string> OtherPackages(const Manifest& manifest,
                                       const std::filesystem::path& prefix);

// Errors: the machine's trouble while making one.
Result<PythonPlace> ChoosePython(const Manifest& manifest, const Places& places,
                                 const std::function<bool()>& should_cancel);

// Links the environment to the place where the recorded command finds it, unless something exists
// there. Errors: io.
Status LinkPython(const Manifest& manifest, const PythonPlace& python,
                  const std::filesystem::path& workspace);
// Why the command cannot start in this workspace: its program is in no code, data or environment.
std::optional<Obstacle> MissingProgram(const Manifest& manifest, const PythonPlace& python,
                                       const std::filesystem::path& workspace);

// Sets the job up to run in it: its program, PATH, VIRTUAL_ENV or CONDA_PREFIX, PYTHONPATH.
// Variables in `overrides` stay unchanged, and with PATH a program that is looked up on it.
void GivePython(const Manifest& manifest, const PythonPlace& python,
                const EnvironmentOverrides& overrides, Job* job);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_PYTHON_PLACE_H_
