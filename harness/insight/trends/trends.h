// Reproducibility over time: rates by week, their changes, how long it lasts, and dependencies.
//
// Role: reads the history once, and combines the pure parts of this folder; the writers in
// reports/trends_report.h lay it out. Reruns and writes nothing.
#ifndef RHARNESS_HARNESS_INSIGHT_TRENDS_TRENDS_H_
#define RHARNESS_HARNESS_INSIGHT_TRENDS_TRENDS_H_

#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/history/store.h"
#include "harness/insight/trends/stack.h"
#include "harness/insight/trends/tracks.h"
#include "reports/trends_report.h"

namespace rharness {

inline constexpr int kMostTrendWeeks = 520;

struct TrendsAsked {
  int weeks = 52;  // 1 to kMostTrendWeeks, including the current one
  std::vector<Gone> gone;
};

// Fills all but `version` and `history`. exit_code: 1 if runs would be lost with `gone`, else 0.
// Errors: those of the history. Cost: seconds per million verdicts; a changed environment in the
// history is an integrity error.
Result<TrendsReport> MeasureTrends(HistoryStore* history, const TrendsAsked& asked, WallTime now);

// The parts without a history; also for tests. `stacks`: by place.
std::vector<TrendSeries> SeriesOf(const Tracks& tracks, const std::vector<Stack>& stacks,
                                  double alpha);
std::vector<TrendSurvival> SurvivalOf(const Tracks& tracks);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_TRENDS_TRENDS_H_
