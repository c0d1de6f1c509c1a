// The stack of a fingerprint as facts.
#include <fmt/format.h>

#include <utility>

#include "compare/fingerprints/fingerprint.h"
#include "harness/judge/comparison/subject.h"
#include "harness/judge/comparison/subject_records.h"
#include "harness/records/manifest/environment_secrets.h"

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

}  // namespace

std::vector<Fact> FactsOfFingerprint(const Fingerprint& fingerprint) {
  std::vector<Fact> facts;
  for (const auto& [key, value] : fingerprint.stack) {
    facts.push_back(
        {.layer = LayerOfStack(key), .key = KeyOf(key), .value = value, .realm = RealmOf(value)});
  }
  return facts;
}

Result<Subject> LoadFingerprintSubject(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(Fingerprint fingerprint, LoadFingerprint(path));
  Subject subject;
  subject.facts = FactsOfFingerprint(fingerprint);
  subject.side = {path.string(), SideKind::kFingerprint,
                  fmt::format("{} probes", fingerprint.probes.size())};
  subject.fingerprint = std::move(fingerprint);
  return subject;
}

}  // namespace rharness
