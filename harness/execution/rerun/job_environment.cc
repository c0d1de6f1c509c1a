// The variables of a rerun; see rerun.h.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/execution/rerun/rerun.h"

namespace rharness {

namespace fs = std::filesystem;

std::map<std::string, std::string> BuildJobEnvironment(const Manifest& manifest,
                                                       const fs::path& workspace,
                                                       const std::vector<int>& gpus,
                                                       const EnvironmentOverrides& overrides) {
  std::map<std::string, std::string> environment;
  if (manifest.image.kind == ImageKind::kHost) environment = PickEnvironment({"PATH"});
  environment["HOME"] = workspace.string();
  environment["TMPDIR"] = (workspace / ".tmp").string();
  environment["LANG"] = "C.UTF-8";
  for (const auto& [name, value] : manifest.environment.variables) {
    if (!value) environment.erase(name);
    if (value && !IsWithheld(*value)) environment[name] = *value;
  }
  // A scheduler that assigned GPUs to this process lists them in its environment.
  if (manifest.resources.gpus > 0) {
    for (auto& [name, value] : PickEnvironment({"CUDA_VISIBLE_DEVICES"})) environment[name] = value;
  }
  if (!gpus.empty()) environment["CUDA_VISIBLE_DEVICES"] = fmt::format("{}", fmt::join(gpus, ","));
  for (const auto& [name, value] : overrides) {
    if (value) environment[name] = *value;
    if (!value) environment.erase(name);
  }
  return environment;
}

}  // namespace rharness
