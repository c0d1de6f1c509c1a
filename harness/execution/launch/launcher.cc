// The table of launchers.
#include <fmt/format.h>

#include <array>

#include "harness/execution/launch/container_launcher.h"
#include "harness/execution/launch/file_image_launcher.h"
#include "harness/execution/launch/host_launcher.h"
#include "harness/execution/launch/job.h"
#include "harness/execution/launch/pod_launcher.h"

namespace rharness {
namespace {

struct LauncherRow {
  std::string_view name;
  ImageKind image_kind = ImageKind::kHost;  // what it runs
  std::string_view version;  // argument that prints the engine's version; empty: no engine
};

// "auto" means the first one of a kind.
constexpr std::array<LauncherRow, 6> kLaunchers = {{{"host", ImageKind::kHost, ""},
                                                    {"podman", ImageKind::kOci, "--version"},
                                                    {"docker", ImageKind::kOci, "--version"},
                                                    {"apptainer", ImageKind::kSif, "--version"},
                                                    {"enroot", ImageKind::kSquashfs, "version"},
                                                    {"pod", ImageKind::kOci, ""}}};

Status FindEngineProgram(const LauncherRow& row) {
  ProcessSpec version;
  version.argv = {std::string(row.name), std::string(row.version)};
  version.environment = PickEnvironment({"PATH", "HOME"});
  ProcessLimits limits;
  limits.timeout = std::chrono::minutes(1);
  const ProcessResult result = RunProcess(version, limits);
  if (result.outcome.kind == OutcomeKind::kNotStarted) {
    return NotFound(fmt::format("{} is not installed: {}", row.name, result.outcome.detail));
  }
  if (!result.outcome.Succeeded()) {
    return ProcessError(fmt::format("{} {} {}", row.name, row.version, result.outcome.ToString()));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Launcher>> MakeLauncher(std::string_view name) {
  for (const LauncherRow& row : kLaunchers) {
    if (row.name != name) continue;
    if (name == "host") return std::unique_ptr<Launcher>(std::make_unique<HostLauncher>());
    if (name == "pod") return std::unique_ptr<Launcher>(std::make_unique<PodLauncher>());
    RETURN_IF_ERROR(FindEngineProgram(row));
    if (const Engine* engine = FindEngine(name); engine != nullptr) {
      return std::unique_ptr<Launcher>(std::make_unique<ContainerLauncher>(*engine));
    }
    if (name == "apptainer") {
      return std::unique_ptr<Launcher>(std::make_unique<ApptainerLauncher>());
    }
    return std::unique_ptr<Launcher>(std::make_unique<EnrootLauncher>());
  }
  return InvalidInput(fmt::format(
      "'{}' is no launcher; expected host, podman, docker, apptainer, enroot or pod", name));
}

std::string ChooseLauncher(std::string_view asked, ImageKind image_kind) {
  for (const LauncherRow& row : kLaunchers) {
    if (row.image_kind == image_kind && (asked == "auto" || asked == row.name)) {
      return std::string(row.name);
    }
  }
  return {};
}

}  // namespace rharness
