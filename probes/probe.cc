// The registry of probes, and the names of their states.
#include "probes/probe.h"

#include <algorithm>
#include <array>

#include "probes/order/tree_name.h"

namespace rharness {
namespace {

// Made on first use: probes register before main, in any order of files.
std::vector<Probe>& Registry() {
  static std::vector<Probe> probes;
  return probes;
}

}  // namespace

Json DescribeTree(const SumTree& tree) {
  const std::string canonical = tree.Canonical();
  Json json =
      Json().Set("name", NameOf(tree)).Set("leaves", tree.leaves()).Set("sha256", tree.Sha256());
  if (canonical.size() <= kLongestCanonicalBytes) json.Set("canonical", canonical);
  return json;
}

ProbeResult AbsentProbe(std::string message) {
  ProbeResult result;
  result.status = ProbeStatus::kAbsent;
  result.message = std::move(message);
  return result;
}

ProbeResult FailedProbe(std::string message) {
  ProbeResult result;
  result.status = ProbeStatus::kFailed;
  result.message = std::move(message);
  return result;
}

RegisterProbe::RegisterProbe(const Probe& probe) {
  std::vector<Probe>& probes = Registry();
  const auto at = std::ranges::lower_bound(probes, probe.name, {}, &Probe::name);
  if (at != probes.end() && at->name == probe.name) {
    Abort("two probes have the name " + std::string(probe.name));
  }
  probes.insert(at, probe);
}

const std::vector<Probe>& Probes() { return Registry(); }

}  // namespace rharness
