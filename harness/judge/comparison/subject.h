// One side of a comparison of any kind, as facts, tensors, curves and metrics.
//
// Role: recognises the kind of a path and loads it. Not here: comparing (compare_subjects.h),
// pairing (pairs.h).
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
#include "compare/items/eval_items.h"
#include "compare/results/result_group.h"
#include "compare/tokens/token_scores.h"
#include "harness/base/result.h"
#include "harness/judge/item_outputs.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

struct SubjectOptions {
  std::filesystem::path root = ".";         // base of relative locations in manifests
  std::vector<std::string> strip_prefixes;  // removed from tensor names: "module."
};

struct Subject {
  ComparedSide side;
  std::vector<Fact> facts;
  std::vector<RecordedCheckpoint> weights;
  std::vector<CurveSeries> curves;
  // A manifest, or as much of one as evidence has; empty run_id: neither was given.
  Manifest manifest;
  std::optional<ResultGroup> results;
  std::optional<EvalItems> items;
  std::optional<TokenScores> tokens;
  KeptItems kept_items;  // of a manifest or evidence
  std::optional<Fingerprint> fingerprint;
  std::optional<bool> declared_bitwise;  // of a manifest
  std::optional<RerunEnd> end;           // of evidence: how far the rerun came
  std::vector<std::string> notes;        // what was not available, and why
  // Of a metrics file. Empty: not known, as in older records.
  std::optional<UnreadMembers> unread = UnreadMembers();
};

// A manifest, evidence (file or folder), checkpoint (file, index or folder), curves, an evaluation
// item by item, log-probabilities of tokens, a folder of MLPerf results, an environment or a
// fingerprint; recognised by content.
// Errors: not_found, io, invalid_input (with file and place), unsupported (an unknown format or
// schema), and invalid_input for a folder that is none of these, with its content.
Result<Subject> LoadSubject(const std::filesystem::path& path, const SubjectOptions& options);

// A fingerprint's facts of its stack, under the keys of manifests; all are context.
std::vector<Fact> FactsOfFingerprint(const Fingerprint& fingerprint);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_COMPARISON_SUBJECT_H_
