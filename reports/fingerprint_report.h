// Differences of fingerprints, and fleets of them, as reports: terminal, JSON, HTML.
//
// Role: the writers; compare/fingerprints decides what changed. All escape untrusted text for their
// format.
#ifndef RHARNESS_REPORTS_FINGERPRINT_REPORT_H_
#define RHARNESS_REPORTS_FINGERPRINT_REPORT_H_

#include <string>
#include <string_view>
#include <vector>

#include "compare/fingerprints/fingerprint_diff.h"
#include "compare/fingerprints/fleet.h"
#include "harness/base/json.h"
#include "reports/document.h"

namespace rharness {

inline constexpr int kFingerprintDiffVersion = 1;
inline constexpr int kFleetVersion = 1;

Json ToJson(const FingerprintDifference& difference);  // "rharness.fingerprint_diff/v1"
Json ToJson(const Fleet& fleet);                       // "rharness.fleet/v1"
// The same member without the schema, for records that hold a difference.
Json DifferenceJson(const FingerprintDifference& difference);

// 0 the same, 1 changed, 3 not comparable. Facts of the stack alone change nothing.
int ExitCodeOf(const FingerprintDifference& difference);

// At most `rows` lines of at most `columns` characters; counts the rest.
std::string WriteTerminal(const FingerprintDifference& difference, int columns, int rows,
                          bool color);

// A self-contained page, and every format of a fleet.
std::string WriteHtml(const FingerprintDifference& difference, const Fingerprint& before,
                      const Fingerprint& after, std::string_view version);
Document DocumentOf(const Fleet& fleet, std::string_view version);

// The parts that this page shares with the page of a gate. `record`: the machine-readable file.
std::string HtmlGrid(const FingerprintDifference& difference, const Fingerprint& before,
                     const Fingerprint& after);
std::string HtmlTrees(const FingerprintDifference& difference, const Fingerprint& before,
                      const Fingerprint& after);
std::string HtmlStack(const FingerprintDifference& difference, std::string_view record);

// Lines cut to a screen: `head` stays, `items` are counted when they do not fit, `tail` stays.
std::string FitLines(const std::vector<std::string>& head, const std::vector<std::string>& items,
                     const std::vector<std::string>& tail, std::string_view noun, int rows);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_FINGERPRINT_REPORT_H_
