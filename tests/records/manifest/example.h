// One complete manifest and evidence as JSON text, and the same with a piece of the text replaced.
#ifndef RHARNESS_TESTS_RECORDS_MANIFEST_EXAMPLE_H_
#define RHARNESS_TESTS_RECORDS_MANIFEST_EXAMPLE_H_

#include <string>
#include <string_view>

#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

extern const std::string_view kExampleManifest;
extern const std::string_view kExampleEvidence;

// Aborts unless `from` is there exactly once.
std::string Replaced(std::string_view text, std::string_view from, std::string_view to);

Result<Manifest> ParseManifestText(std::string_view text);
Result<Evidence> ParseEvidenceText(std::string_view text);
Manifest ExampleManifest();
Evidence ExampleEvidence();

}  // namespace rharness

#endif  // RHARNESS_TESTS_RECORDS_MANIFEST_EXAMPLE_H_
