// A comparison as sections of a document: of `rharness compare`, and inside a run of a drill.
//
// Role: private to the documents of both. Sentences come from words.h and comparison_summary.h.
#ifndef RHARNESS_REPORTS_COMPARISON_SECTIONS_H_
#define RHARNESS_REPORTS_COMPARISON_SECTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "reports/document.h"
#include "reports/words.h"

namespace rharness {

// The names of the two sides: "A" and "B", of a run and its reruns "Recorded (A)" and "Now (B)".
struct SideWords {
  std::string_view a;
  std::string_view b;
};
SideWords WordsOf(const Comparison& comparison);

// "✗ beyond its band" in its colour.
DocumentCell StateBadge(const SubjectState& state);

// Both sides (of two things), findings, causes, layers, weights, curves, metrics, notes; not
// `in_full`: without weights, curves and metrics, with a sentence in their place. `id` starts the
// ids of pictures and is unique on a page. Rows refer to `comparison`.
std::vector<DocumentSection> SectionsOf(const Comparison& comparison, const std::string& id,
                                        bool in_full);

DocumentSection WeightsOf(const Comparison& comparison, const std::string& id);
// All curves in a table; and pictures of those that differ most.
DocumentSection CurvesOf(const Comparison& comparison);
DocumentSection PicturedCurvesOf(const Comparison& comparison, const std::string& id);
// Of log-probabilities: how far, how much is sampled alike, which experts; empty without tokens.
DocumentSection TokensOf(const Comparison& comparison, const std::string& id);
DocumentSection MetricsOf(const Comparison& comparison, const std::string& id);
// One metric: its band and the numbers of its decision. `bit_equal`: nothing was left to decide.
DocumentRow MetricRowOf(const MetricDecision& metric, bool bit_equal, const std::string& id);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_COMPARISON_SECTIONS_H_
