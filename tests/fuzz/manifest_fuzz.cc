// Fuzzes the readers of manifests and of evidence, which share their fields: what is accepted is
// written and read again as the same, with the same configuration key and the same findings.
//
// Run: rharness-manifest-fuzz -max_total_time=60 -dict=manifest.dict CORPUS manifest_seeds
#include <string>

#include "harness/records/manifest/admission.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

std::string FindingsOf(const Manifest& manifest) {
  std::string text;
  for (const Finding& finding : Admit(manifest)) {
    Require(!finding.code.empty() && finding.subject.starts_with("$") && !finding.message.empty());
    text += finding.code + finding.subject + finding.message;
  }
  return text;
}

void CheckManifestOf(const Json& json) {
  const auto manifest = ParseManifest(json, "fuzz");
  if (!manifest.ok()) {
    return RequireError(manifest.error(), {ErrorCode::kInvalidInput}, "fuzz: $");
  }
  const Json written = ToJson(*manifest);
  RequireReadable(written);
  const auto again = ParseManifest(written, "written");
  Require(again.ok() && ToJson(*again).Dump() == written.Dump());
  Manifest checked = *manifest;
  Require(CheckManifest(&checked, "fuzz").ok() && ToJson(checked).Dump() == written.Dump());
  Require(ConfigurationKey(*again) == ConfigurationKey(*manifest));
  Require(FindingsOf(*again) == FindingsOf(*manifest));
}

void CheckEvidenceOf(const Json& json) {
  const auto evidence = ParseEvidence(json, "fuzz");
  if (!evidence.ok()) {
    return RequireError(evidence.error(), {ErrorCode::kInvalidInput}, "fuzz: $");
  }
  const Json written = ToJson(*evidence);
  RequireReadable(written);
  const auto again = ParseEvidence(written, "written");
  Require(again.ok() && ToJson(*again).Dump() == written.Dump());
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = rharness::ParseJson(rharness::TextOf(data, size), "fuzz");
  if (!json.ok()) return 0;
  rharness::CheckManifestOf(*json);
  rharness::CheckEvidenceOf(*json);
  return 0;
}
