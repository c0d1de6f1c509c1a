// How reproducibility went over time: rates by week, when they changed, how long it lasts, and what
// hangs on what.
//
// Role: reads the history once, put together by the pure parts of this folder; the writers in
// reports/trends_report.h lay it out. Nothing is rerun, nothing is written.
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
  int weeks = 52;  // 1 to kMostTrendWeeks, the one at hand among them
  std::vector<Gone> gone;
};

// Filled but for `version` and `history`. exit_code: 1 where runs would be lost of what goes, else
// 0. Errors: those of the history. Cost: seconds a million verdicts; an environment that the
// history does not hold any more as it was is an integrity error.
Result<TrendsReport> MeasureTrends(HistoryStore* history, const TrendsAsked& asked, WallTime now);

// The parts that need no history; for tests, too. `stacks`: by place.
std::vector<TrendSeries> SeriesOf(const Tracks& tracks, const std::vector<Stack>& stacks,
                                  double alpha);
std::vector<TrendSurvival> SurvivalOf(const Tracks& tracks);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_TRENDS_TRENDS_H_
