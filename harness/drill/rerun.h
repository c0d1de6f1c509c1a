// One rerun, from an empty folder to evidence on disk.
//
// Role: the only place where a manifest meets a launcher and an executor. Every step that matters
// for resuming is journalled before the next begins.
#ifndef RHARNESS_HARNESS_DRILL_RERUN_H_
#define RHARNESS_HARNESS_DRILL_RERUN_H_

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "harness/base/clock.h"
#include "harness/drill/journal.h"
#include "harness/drill/plan.h"
#include "harness/drill/workspace.h"
#include "harness/launch/job.h"
#include "harness/manifest/evidence.h"

namespace rharness {

// What all reruns of a drill share. The pointers outlive the drill's reruns.
struct RerunContext {
  std::filesystem::path drill_folder;
  Places places;
  // Launchers by manifest image kind: "host" and "oci". A missing one is an obstacle.
  std::map<std::string, Launcher*> launchers;
  Executor* executor = nullptr;
  Journal* journal = nullptr;
  ContentCache* cache = nullptr;
  Clock* clock = nullptr;
  std::map<std::string, std::optional<std::string>> environment;  // overrides (--env)
  bool container_root = false;
  bool keep_workspaces = false;
  std::function<bool()> should_cancel;
};

struct RerunResult {
  Evidence evidence;
  bool infrastructure = false;  // worth another attempt
};

// runs/RUN/N below the drill folder: "runs/digits-1/1"; a replicate's: "runs/digits-1/replicate-1".
std::filesystem::path RerunFolder(const std::filesystem::path& drill_folder,
                                  const std::string& run_id, int rerun);

// What a rerun said, as one digest of the files that its evidence names. Errors: those of ReadFile.
Result<std::string> LogsSha256(const std::filesystem::path& drill_folder, const Evidence& evidence);

// The complete environment of the child: PATH, HOME, TMPDIR and LANG of the workspace, the recorded
// variables (those known to be unset stay so), GPUs given, then the overrides, where one without a
// value unsets. Pure but for PATH.
std::map<std::string, std::string> BuildJobEnvironment(
    const Manifest& manifest, const std::filesystem::path& workspace, const std::vector<int>& gpus,
    const std::map<std::string, std::optional<std::string>>& overrides);

// Carries out one attempt and writes runs/RUN/N/evidence.json. Errors are rharness's own failures
// (io); everything that befalls the run is in the evidence.
Result<RerunResult> CarryOut(const Manifest& manifest, const PlannedRerun& planned, int attempt,
                             const std::vector<int>& gpus, const RerunContext& context);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_RERUN_H_
