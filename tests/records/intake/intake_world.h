// Importing in tests: what an importer gave and refused.
#ifndef RHARNESS_TESTS_RECORDS_INTAKE_INTAKE_WORLD_H_
#define RHARNESS_TESTS_RECORDS_INTAKE_INTAKE_WORLD_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/files.h"
#include "harness/records/intake/intake.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

struct ImportOutcome {
  Status status;
  std::vector<Manifest> runs;
  std::vector<std::pair<std::string, std::string>> refused;  // where, why
};

// Every manifest is read back from its JSON, as a history would.
inline ImportOutcome ImportAll(const ImportRequest& request, std::string_view kind = "") {
  ImportOutcome outcome;
  const auto found = FindSourceKind(kind, request.source);
  if (!found.ok()) {
    outcome.status = found.error();
    return outcome;
  }
  ImportSink sink;
  sink.take = [&](ImportedRun run) -> Status {
    const Manifest manifest = std::move(run).Take();
    auto again = ParseManifest(ToJson(manifest), manifest.run_id);
    if (!again.ok()) {
      ADD_FAILURE() << again.error().ToString();
      return again.error();
    }
    outcome.runs.push_back(std::move(*again));
    return {};
  };
  sink.refuse = [&](std::string where, const Error& why) {
    outcome.refused.emplace_back(std::move(where), why.ToString());
  };
  outcome.status = (*found)->import(request, sink);
  return outcome;
}

// "exact", "hint" or "missing" and, behind a blank, where it stood; "" where nothing is said.
inline std::string WorthOf(const Manifest& manifest, std::string_view path) {
  if (!manifest.origin) return "";
  for (const FieldOrigin& field : manifest.origin->fields) {
    if (field.path != path) continue;
    const std::string grade(GradeName(field.grade));
    return field.from.empty() ? grade : grade + " " + field.from;
  }
  return "";
}

inline bool HasRemark(const Manifest& manifest, std::string_view part) {
  return manifest.origin && std::ranges::any_of(manifest.origin->remarks, [&](const auto& remark) {
           return remark.find(part) != std::string::npos;
         });
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_RECORDS_INTAKE_INTAKE_WORLD_H_
