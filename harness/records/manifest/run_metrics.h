// A run's own results: metrics and curves, in the file that it writes and in manifest and evidence.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_RUN_METRICS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_RUN_METRICS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

// A value by step. Steps strictly increase; both vectors have one length.
struct Curve {
  std::string name;
  std::vector<std::int64_t> steps;
  std::vector<double> values;
};

// The file a run writes: {"metrics": {name: number}, "curves": {name: {"steps": [], "values":
// []}}, "software": {name: version}}. A number that is not finite is written as "nan", "inf" or
// "-inf". A run knows best which libraries it uses; these join the environment's software.
struct RunMetrics {
  std::map<std::string, double> metrics;  // may be NaN or infinite
  std::vector<Curve> curves;
  std::map<std::string, std::string> software;  // "torch": "2.1.0", "openblas_core": "Haswell"
};

// Errors: invalid_input with file and JSON path; unknown members are refused except "x-...". An
// empty object is valid and empty: the comparison reports that nothing was measured.
Result<RunMetrics> ParseRunMetrics(const Json& json, std::string_view file);

// Possible results that were not read, or not exactly: an integer that no double holds. By member,
// "metrics.NAME" or "eval", the JSON text, or its SHA-256 if long. A thousand at most: the rest is
// one entry, "N" and kMoreUnread.
using UnreadMembers = std::map<std::string, std::string>;
inline constexpr std::string_view kMoreUnread = " more members";
inline constexpr std::size_t kUnreadNameBytes = 256;
inline constexpr std::size_t kUnreadTextBytes = 80;

// The readable part of a metrics file.
struct SalvagedMetrics {
  RunMetrics metrics;
  std::vector<std::string> left_out;  // a sentence each, with file and member; ten at most
  UnreadMembers unread;               // not in `metrics`, or not exactly; excludes texts
};

// As ParseRunMetrics, for a file that cost hours to write: a member that is unknown or not what it
// should be is left out and named, and the rest is kept. NaN, Infinity and -Infinity without
// quotes, as Python writes them, are read and named, too. Errors: invalid_input where the text is
// no JSON object.
Result<SalvagedMetrics> SalvageRunMetrics(std::string_view text, std::string_view file);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_RUN_METRICS_H_
