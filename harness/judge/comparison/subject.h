// One side of a comparison: whatever was given, as facts, tensors, curves and metrics.
//
// Role: finds out what a path is and loads it. Not here: comparing (compare_subjects.h), which two
// paths belong together (pairs.h).
#ifndef RHARNESS_HARNESS_JUDGE_COMPARISON_SUBJECT_H_
#define RHARNESS_HARNESS_JUDGE_COMPARISON_SUBJECT_H_

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compare/compare_checkpoints.h"
#include "compare/comparison.h"
#include "compare/curves/series.h"
#include "compare/facts.h"
#include "compare/fingerprints/fingerprint.h"
#include "compare/results/result_group.h"
#include "harness/base/result.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

struct SubjectOptions {
  std::filesystem::path root = ".";         // where relative locations in manifests begin
  std::vector<std::string> strip_prefixes;  // taken off tensor names: "module."
};

struct Subject {
  ComparedSide side;
  std::vector<Fact> facts;
  std::vector<RecordedCheckpoint> weights;
  std::vector<CurveSeries> curves;
  // Of a manifest, or as much of one as evidence holds; empty run_id: neither was given.
  Manifest manifest;
  std::optional<ResultGroup> results;
  std::optional<Fingerprint> fingerprint;
  std::optional<bool> declared_bitwise;  // of a manifest
  std::string failure;                   // of evidence: why the rerun did not end as it should
  std::vector<std::string> notes;        // what could not be had, and why
  // Of a metrics file. Empty: not known, as of a record of before.
  std::optional<UnreadMembers> unread = UnreadMembers();
};

// A manifest, evidence (file or folder), checkpoint (file, index or folder), curves, a folder of
// MLPerf results, an environment or a fingerprint; found by content. Errors: not_found, io,
// invalid_input (with file and place), unsupported (a format or a schema that is not read), and
// invalid_input for a folder that is none of these, naming what it holds.
Result<Subject> LoadSubject(const std::filesystem::path& path, const SubjectOptions& options);

// What a fingerprint says of its stack, under the keys that manifests use; all of it context.
std::vector<Fact> FactsOfFingerprint(const Fingerprint& fingerprint);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_COMPARISON_SUBJECT_H_
