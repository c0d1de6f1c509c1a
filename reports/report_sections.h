// The parts of a drill's document: what is inside a run, and what several runs have in common.
//
// Role: private to the drill's document. Rows refer to the report.
#ifndef RHARNESS_REPORTS_REPORT_SECTIONS_H_
#define RHARNESS_REPORTS_REPORT_SECTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "reports/document.h"
#include "reports/model.h"

namespace rharness {

inline constexpr std::string_view kReportRecord = "report.json";

// The comparison as of `rharness compare`, what was compared bit for bit, and the reruns with their
// outputs. `id` is unique on the page; not `in_full`: without weights, curves and metrics.
std::vector<DocumentSection> SectionsOf(const ReportRun& run, const std::string& id, bool in_full);

// Each is empty where there is none. A family is a row, with its metrics inside.
DocumentSection FamiliesOf(const Report& report);
// Runs that one change moved: the common distance and direction of their curves.
DocumentSection SiblingsOf(const Report& report);
// What the certificates of game days say of this drill's comparison.
DocumentSection SensitivityOf(const Report& report);
// "digits-mlp: a learning rate 5 % lower would have been found in 93 % (84-98) of 60 trials"
std::string TellingSentence(const ReportSensitivity& sensitivity);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_REPORT_SECTIONS_H_
