// Expiry and proof of substitutes.
#include "harness/drill/substitutes.h"

#include <fmt/format.h>

#include <algorithm>

#include "compare/fingerprints/fingerprint.h"
#include "harness/base/glob.h"

namespace rharness {
namespace {

Result<Fingerprint> LoadOf(const std::filesystem::path& path, const std::string& glob) {
  ASSIGN_OR_RETURN(Fingerprint fingerprint, LoadFingerprint(path));
  if (GlobMatches(glob, fingerprint.hardware_class)) return fingerprint;
  return InvalidInput(fmt::format("is of '{}', and its substitute in the policy names '{}'",
                                  fingerprint.hardware_class, glob),
                      path.string());
}

std::set<std::string> FamiliesShown(const Fingerprint& fingerprint) {
  std::set<std::string> families;
  for (const FingerprintProbe& probe : fingerprint.probes) {
    if (probe.Shows()) families.insert(probe.family);
  }
  return families;
}

std::string Pair(const Substitute& one) { return fmt::format("{} for {}", one.here, one.recorded); }

}  // namespace

Result<Substitutes> Substitutes::Load(const std::vector<Substitute>& substitutes, WallTime now) {
  Substitutes loaded;
  for (const Substitute& one : substitutes) {
    Proved& proved = loaded.all_.emplace_back(Proved{.substitute = one});
    if (!one.is_proved()) {
      proved.expired = now >= one.until;
      continue;
    }
    ASSIGN_OR_RETURN(const Fingerprint recorded, LoadOf(one.proof.front(), one.recorded));
    ASSIGN_OR_RETURN(const Fingerprint here, LoadOf(one.proof.back(), one.here));
    proved.difference = DiffFingerprints(recorded, here);
    std::ranges::set_intersection(FamiliesShown(recorded), FamiliesShown(here),
                                  std::inserter(proved.families, proved.families.end()));
  }
  return loaded;
}

bool Substitutes::Holds(const Proved& one, const std::vector<std::string>& families) {
  if (!one.substitute.is_proved()) return !one.expired;
  if (!one.difference.comparable) return false;
  const bool all_shown = std::ranges::all_of(
      families, [&](const std::string& family) { return one.families.contains(family); });
  return all_shown && std::ranges::none_of(one.difference.probes, [&](const auto& probe) {
           return probe.family != kIdentityFamily &&
                  (families.empty() || probe.family == kScalarFamily ||
                   std::ranges::count(families, probe.family) > 0);
         });
}

std::vector<Substitution> Substitutes::For(const Manifest& run) const {
  std::vector<Substitution> substitutions;
  for (const Proved& one : all_) {
    const Substitute& substitute = one.substitute;
    if (!Holds(one, run.probe_families)) continue;
    const std::string why =
        substitute.is_proved()
            ? fmt::format("their fingerprints show no difference in {} ({} against {})",
                          run.probe_families.empty()
                              ? "anything"
                              : fmt::format("{}", fmt::join(run.probe_families, ", ")),
                          substitute.proof.front().filename().string(),
                          substitute.proof.back().filename().string())
            : fmt::format("{}, signed by {}", substitute.reason,
                          SignerInWords(substitute.signed_by, substitute.verified));
    substitutions.push_back({.recorded = substitute.recorded, .here = substitute.here, .why = why});
  }
  return substitutions;
}

std::vector<std::string> Substitutes::Notes() const {
  std::vector<std::string> notes;
  for (const Proved& one : all_) {
    if (one.expired) {
      notes.push_back(fmt::format("substitute {}: its day has ended", Pair(one.substitute)));
    } else if (one.substitute.is_proved() && !one.difference.comparable) {
      notes.push_back(fmt::format("substitute {}: its fingerprints prove nothing: {}",
                                  Pair(one.substitute), one.difference.why));
    } else if (!one.difference.probes.empty()) {
      notes.push_back(fmt::format("substitute {}: not for runs that depend on a difference: {}",
                                  Pair(one.substitute), one.difference.summary));
    }
  }
  return notes;
}

}  // namespace rharness
