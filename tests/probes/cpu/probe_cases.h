// Probes run in this process, by name.
#ifndef RHARNESS_TESTS_PROBES_CPU_PROBE_CASES_H_
#define RHARNESS_TESTS_PROBES_CPU_PROBE_CASES_H_

#include <string>
#include <string_view>

#include "probes/order/tree_name.h"
#include "probes/probe.h"

namespace rharness {

// Failed, with the name, when there is no such probe.
inline ProbeResult RunProbe(std::string_view name) {
  for (const Probe& probe : Probes()) {
    if (probe.name == name) return probe.run({.repeats = 2});
  }
  return FailedProbe("no probe " + std::string(name));
}

// "none" when the case has no tree.
inline std::string TreeName(const ProbeResult& result, const std::string& one) {
  const auto tree = result.trees.find(one);
  return tree == result.trees.end() ? "none" : NameOf(tree->second);
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_PROBES_CPU_PROBE_CASES_H_
