// The table of launchers.
#include <fmt/format.h>

#include "harness/launch/container_launcher.h"
#include "harness/launch/host_launcher.h"
#include "harness/launch/job.h"
#include "harness/launch/pod_launcher.h"

namespace rharness {

Result<std::unique_ptr<Launcher>> MakeLauncher(std::string_view name) {
  if (name == "host") return std::unique_ptr<Launcher>(std::make_unique<HostLauncher>());
  if (name == "pod") return std::unique_ptr<Launcher>(std::make_unique<PodLauncher>());
  const Engine* engine = FindEngine(name);
  if (engine == nullptr) {
    return InvalidInput(fmt::format("'{}' is no launcher; expected host, podman or docker", name));
  }
  ProcessSpec version;
  version.argv = {std::string(engine->name), "--version"};
  version.environment = PickEnvironment({"PATH", "HOME"});
  ProcessLimits limits;
  limits.timeout = std::chrono::minutes(1);
  const ProcessResult result = RunProcess(version, limits);
  if (result.outcome.kind == OutcomeKind::kNotStarted) {
    return NotFound(fmt::format("{} is not installed: {}", name, result.outcome.detail));
  }
  if (!result.outcome.Succeeded()) {
    return ProcessError(fmt::format("{} --version {}", name, result.outcome.ToString()));
  }
  return std::unique_ptr<Launcher>(std::make_unique<ContainerLauncher>(*engine));
}

}  // namespace rharness
