// The sentences on a different class.
#include "harness/execution/rerun/class_check.h"

#include <fmt/format.h>

#include <vector>

#include "harness/records/manifest/hardware_class.h"

namespace rharness {

ClassCheck CheckClass(const Ticket& ticket, const Hardware& here, const std::string& host) {
  const auto differences = CompareHardwareClass(ticket.manifest, here, ticket.gpus);
  if (differences.empty()) return {};
  const std::string recorded = DescribeGpus(ticket.manifest.environment.hardware);
  const std::string now = fmt::format("{} has {}", host, DescribeGpus(here));
  const Substitution* substitution = FindSubstitution(ticket.manifest, here, ticket.substitutions);
  const bool enough = here.gpus.size() >= static_cast<std::size_t>(ticket.resources.gpus);
  if (substitution != nullptr && enough) {
    return {
        .obstacle = {},
        .remark = Finding{.code = std::string(kHardwareSubstituted),
                          .subject = "GPUs",
                          .observed = DescribeGpus(here),
                          .limit = recorded,
                          .message = fmt::format("recorded on {}; {}, accepted as a substitute: {}",
                                                 recorded, now, substitution->why)}};
  }
  std::vector<std::string> what;
  for (const ClassDifference& one : differences) {
    what.push_back(fmt::format("{} {} instead of {}", one.what, one.here, one.recorded));
  }
  const std::string reason = fmt::format("recorded on {}; {}: {}; the policy accepts no substitute",
                                         recorded, now, fmt::join(what, ", "));
  return {.obstacle = Obstacle{Layer::kHardware, reason}, .remark = {}};
}

}  // namespace rharness
