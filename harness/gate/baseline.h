// An accepted baseline fingerprint: who accepted it, why, until when.
#ifndef RHARNESS_HARNESS_GATE_BASELINE_H_
#define RHARNESS_HARNESS_GATE_BASELINE_H_

#include <filesystem>
#include <string>

#include "compare/fingerprints/fingerprint.h"
#include "harness/base/clock.h"
#include "harness/base/result.h"

namespace rharness {

struct BaselineRecord {
  std::string fingerprint_sha256;  // of the accepted file
  std::string accepted_by;
  std::string reason;
  WallTime accepted{};
  WallTime expires{};
  std::string replaces_sha256;  // of the baseline before; empty: the first one
};

inline constexpr char kBaselineFile[] = "baseline.json";
inline constexpr char kBaselineRecord[] = "baseline.jsonl";
// The new baseline until its record is written; renamed afterwards.
inline constexpr char kNextBaselineFile[] = "baseline.next.json";

// Copies the fingerprint into the folder as baseline.json and appends the record to
// baseline.jsonl there: an interrupted one leaves the old baseline or the new one. Errors:
// invalid_input for an empty reason or name, an expiry in the past, a fingerprint that shows
// nothing (no probe ok, a broken suite); io.
Result<BaselineRecord> AcceptBaseline(const std::filesystem::path& fingerprint,
                                      const std::filesystem::path& folder,
                                      const std::string& accepted_by, const std::string& reason,
                                      WallTime now, WallTime expires);

struct Baseline {
  Fingerprint fingerprint;
  BaselineRecord record;       // the last one
  std::string records_sha256;  // of baseline.jsonl as it was read
};
// Errors: not_found, io, invalid_input; integrity when baseline.json is not the accepted file.
Result<Baseline> LoadBaseline(const std::filesystem::path& folder);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_GATE_BASELINE_H_
