// The probes of this version, and whether a policy's rule on probes concerns a run.
//
// Role: for readers of policies, where no probe runs (they are in a child program).
#ifndef RHARNESS_HARNESS_RECORDS_POLICY_KNOWN_PROBES_H_
#define RHARNESS_HARNESS_RECORDS_POLICY_KNOWN_PROBES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

struct KnownProbe {
  std::string_view name;
  std::string_view family;
};
// By name; includes those of GPUs in every build.
std::span<const KnownProbe> KnownProbes();

// Every run's arithmetic depends on this family, whatever it declares.
inline constexpr std::string_view kFamilyOfAll = "scalar";

// Whether `probes` of a rule or waiver may concern a run that depends on these families of probes:
// a run that declares none depends on all, and a glob that names no probe of this version may name
// any.
bool MayConcern(std::string_view probes, const std::vector<std::string>& families);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_POLICY_KNOWN_PROBES_H_
