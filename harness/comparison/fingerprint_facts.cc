// A fingerprint as facts: what the stack is, and what each probe saw it do.
#include <fmt/format.h>

#include <algorithm>

#include "compare/fingerprints/fingerprint.h"
#include "harness/comparison/subject.h"
#include "harness/comparison/subject_records.h"

namespace rharness {
namespace {

// The key under which manifests have the same fact, so that one set of rules explains both:
// "environment.NAME" is a variable, "libraries.SONAME.version" software.
std::string KeyOf(std::string_view key) {
  constexpr std::string_view kVariable = "environment.", kLibrary = "libraries.";
  if (key.starts_with(kVariable)) return fmt::format("variable.{}", key.substr(kVariable.size()));
  if (key.starts_with(kLibrary)) return fmt::format("software.{}", key.substr(kLibrary.size()));
  return fmt::format("stack.{}", key);
}

void AddProbe(const FingerprintProbe& probe, std::vector<Fact>* facts) {
  const auto add = [&](std::string_view what, std::string value) {
    facts->push_back({Layer::kEnvironment, fmt::format("probe.{}.{}", probe.name, what),
                      std::move(value), FactWeight::kContext});
  };
  add("status", probe.status);
  add("deterministic", probe.deterministic ? "yes" : "no");
  for (const auto& [name, choice] : probe.choices) add("choice." + name, choice);
  for (const auto& [name, tree] : probe.trees) {
    add("tree." + name, fmt::format("{} ({})", tree.name, tree.sha256.substr(0, 12)));
  }
  // The bits of a case that does not repeat are those of one moment.
  for (const auto& [name, bits] : probe.bits) {
    if (!probe.IsUnstable(name)) add("bits." + name, bits);
  }
}

}  // namespace

Result<std::vector<Fact>> FactsOfFingerprint(const Fingerprint& fingerprint) {
  if (std::ranges::none_of(fingerprint.probes, &FingerprintProbe::Ok)) {
    return InvalidInput("the fingerprint shows nothing: none of its probes is ok",
                        fingerprint.file);
  }
  std::vector<Fact> facts;
  for (const auto& [key, value] : fingerprint.stack) {
    facts.push_back({LayerOfStack(key), KeyOf(key), value, FactWeight::kContext});
  }
  for (const FingerprintProbe& probe : fingerprint.probes) AddProbe(probe, &facts);
  return facts;
}

Result<Subject> LoadFingerprintSubject(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const Fingerprint fingerprint, LoadFingerprint(path));
  Subject subject;
  ASSIGN_OR_RETURN(subject.facts, FactsOfFingerprint(fingerprint));
  subject.side = {path.string(), "fingerprint",
                  fmt::format("{} probes", fingerprint.probes.size())};
  return subject;
}

}  // namespace rharness
