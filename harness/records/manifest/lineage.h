// Lineage: the data that a metric was measured on, and the transform that made data. Pure.
//
// Role: manifests' statements in words, and whether two of them name one thing. The comparison
// decides what follows for a verdict.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_LINEAGE_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_LINEAGE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// "sha256:..." if known, else the digest of an imported record; empty: neither.
std::string DigestOf(const DataItem& item);

enum class SameContent { kYes, kNo, kNotKnown };
// By SHA-256 if both have one, else by another digest of one algorithm; else not known.
SameContent CompareContent(const DataItem& a, const DataItem& b);

// The data that the metric was measured on; nullptr: not stated. Such data has a digest.
const DataItem* EvalSetOf(const Metric& metric, const std::vector<DataItem>& data);

// "'test' (sha256:6ebb3d2fee24...)".
std::string InWords(const DataItem& item);
// "https://git.example/etl at COMMIT, version 2.3.1".
std::string InWords(const MadeBy& made_by);

// A sentence for each metric with a stated set, and for each piece of data with a stated maker.
std::vector<std::string> TellLineage(const Manifest& manifest);

// A metric and its evaluation data, of two records.
struct OtherEvalSet {
  std::string metric;
  DataItem a;
  DataItem b;
  bool is_known = true;  // false: their digests cannot be compared
};
// Each metric of both whose eval sets have other contents, or digests of other kinds. Leaves out a
// metric without a set on one side.
std::vector<OtherEvalSet> FindOtherEvalSets(const Manifest& a, const Manifest& b);

// "REPOSITORY@COMMIT", "@COMMIT", "REPOSITORY", each with ",version=V" behind it, or "version=V"
// alone. Errors: invalid_input, also for a commit that is not full.
Result<MadeBy> ParseMadeBy(std::string_view text);

// Whether it is a full commit: 40 or 64 lower-case hexadecimal digits.
bool IsFullCommit(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_LINEAGE_H_
