// Lineage: on which data a metric was measured, and which transform made data. Pure.
//
// Role: what manifests say of it in words, and whether two of them speak of one thing. What follows
// for a verdict is decided where they are compared.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_LINEAGE_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_LINEAGE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// "sha256:..." where that is known, else what an imported record has instead; empty: neither.
std::string DigestOf(const DataItem& item);

enum class SameContent { kYes, kNo, kNotKnown };
// By SHA-256 where both have one, else by another digest of one algorithm; else not known.
SameContent CompareContent(const DataItem& a, const DataItem& b);

// The data that the metric was measured on; nullptr: not said. Such data has a digest.
const DataItem* EvalSetOf(const Metric& metric, const std::vector<DataItem>& data);

// "'test' (sha256:6ebb3d2fee24...)".
std::string InWords(const DataItem& item);
// "https://git.example/etl at COMMIT, version 2.3.1".
std::string InWords(const MadeBy& made_by);

// A sentence for each metric of which the manifest says the set, and each piece of data of which it
// says the maker.
std::vector<std::string> TellLineage(const Manifest& manifest);

// A metric and the data it was measured on, of two records.
struct OtherEvalSet {
  std::string metric;
  DataItem a;
  DataItem b;
  bool is_known = true;  // false: their digests cannot be held against each other
};
// Of what both have, each metric whose eval sets have other contents, or digests of other kinds.
// One of which a side does not say the set is left out.
std::vector<OtherEvalSet> FindOtherEvalSets(const Manifest& a, const Manifest& b);

// "REPOSITORY@COMMIT", "@COMMIT", "REPOSITORY", each with ",version=V" behind it, or "version=V"
// alone. Errors: invalid_input, also for a commit that is not full.
Result<MadeBy> ParseMadeBy(std::string_view text);

// Whether it is a full commit: 40 or 64 lower-case hexadecimal digits.
bool IsFullCommit(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_LINEAGE_H_
