// Parts of a policy that name nothing, such as a probe misspelt.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "harness/gate/gate.h"

namespace rharness {
namespace {

constexpr std::string_view kFamilyPrefix = "family:";

// A probe, or a declared family of runs: NamesProbe() is called for both.
struct Subject {
  std::string name;
  std::string family;
  auto operator<=>(const Subject&) const = default;
};

std::set<Subject> SubjectsOf(const GateInput& input) {
  std::set<Subject> subjects;
  for (const Fingerprint* side : {&input.baseline, &input.candidate}) {
    for (const FingerprintProbe& probe : side->probes) subjects.insert({probe.name, probe.family});
  }
  return subjects;
}

std::set<Subject> DeclaredBy(const std::vector<Manifest>& history) {
  std::set<Subject> subjects;
  for (const Manifest& run : history) {
    for (const std::string& family : run.probe_families) {
      subjects.insert({std::string(kFamilyPrefix) + family, family});
    }
  }
  return subjects;
}

// Each of them once, in the order of the policy.
template <class T>
std::vector<const T*> Distinct(const std::vector<T>& parts) {
  std::set<std::string_view> seen;
  std::vector<const T*> distinct;
  for (const T& part : parts) {
    if (seen.insert(part.probes).second) distinct.push_back(&part);
  }
  return distinct;
}

bool NamesAny(const std::string& glob, const std::set<Subject>& subjects) {
  return std::ranges::any_of(
      subjects, [&](const Subject& one) { return NamesProbe(glob, one.name, one.family); });
}

GateReason Unmatched(std::string_view part, const std::string& glob, std::string_view consequence) {
  const bool family = glob.starts_with(kFamilyPrefix);
  return {.code = fmt::format("{}_matches_nothing", part),
          .subject = glob,
          .rule = fmt::format("{} '{}'", part, glob),
          .message = fmt::format("the {} '{}' of the policy names no probe of either side{}: {}",
                                 part, glob, family ? ", by its family" : "", consequence),
          .warns = true};
}

}  // namespace

std::vector<GateReason> FindUnmatched(const GateInput& input) {
  std::set<Subject> subjects = SubjectsOf(input);
  std::vector<GateReason> reasons;
  if (subjects.empty()) return reasons;  // two empty fingerprints say nothing about a policy
  for (const PolicyRule* rule : Distinct(input.policy.rules)) {
    if (!NamesAny(rule->probes, subjects)) {
      reasons.push_back(Unmatched("rule", rule->probes, "it allows nothing"));
    }
  }
  // A waiver may also cover a family that runs depend on and no probe shows.
  subjects.merge(DeclaredBy(input.history));
  for (const Waiver* waiver : Distinct(input.policy.waivers)) {
    if (!NamesAny(waiver->probes, subjects)) {
      reasons.push_back(Unmatched("waiver", waiver->probes,
                                  fmt::format("what {} signed covers nothing", waiver->signed_by)));
    }
  }
  return reasons;
}

}  // namespace rharness
