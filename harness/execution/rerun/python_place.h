// The Python environment of a rerun: which folder it is here, and what the command gets so that it
// runs in it.
//
// Role: between a record, which names a folder, and a workspace, in which git has no environment.
// The recorded folder where it is still there; another one where --python-environment or --map says
// so; one that is made (make_python.h) where that was asked for. Other packages than the recorded
// ones are no obstacle: they are facts of the environment.
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
  std::filesystem::path prefix;  // of the environment; empty: what the command finds on PATH
  bool asked_for = false;        // by --python-environment
  std::vector<Remark> remarks;
  std::optional<Obstacle> obstacle;
};

// Where the recorded environment is here: as --map has it if that is there, else as recorded.
// Empty: none is recorded.
std::filesystem::path LocatePython(const Manifest& manifest, const Places& places);
// Why no Python can be started from this environment, in words; empty: one can.
std::string WhyNoPython(const std::filesystem::path& prefix);
// The packages in an environment that are not the recorded ones, as "numpy 2.0 (recorded 1.26)", by
// version and digest. None where the record has no list.
std::vector<std::string> OtherPackages(const Manifest& manifest,
                                       const std::filesystem::path& prefix);

// Errors: the machine's trouble while one is made.
Result<PythonPlace> ChoosePython(const Manifest& manifest, const Places& places,
                                 const std::function<bool()>& should_cancel);

// Puts a link to the environment where the recorded command finds it, unless something is there.
// Errors: io.
Status LinkPython(const Manifest& manifest, const PythonPlace& python,
                  const std::filesystem::path& workspace);
// Why the command cannot start in this workspace: its program is in no code, data or environment.
std::optional<Obstacle> MissingProgram(const Manifest& manifest, const PythonPlace& python,
                                       const std::filesystem::path& workspace);

// Lets the job run in it: its program, PATH, VIRTUAL_ENV or CONDA_PREFIX, PYTHONPATH. Variables
// that `overrides` names stay as they are, and with PATH a program that is looked up on it.
void GivePython(const Manifest& manifest, const PythonPlace& python,
                const EnvironmentOverrides& overrides, Job* job);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_PYTHON_PLACE_H_
