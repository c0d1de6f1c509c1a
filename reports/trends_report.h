// Reproducibility over time: "rharness.trends/v1".
//
// Role: a noun with every number and sentence in it; harness/insight/trends fills it, a Document of
// it has every format.
#ifndef RHARNESS_REPORTS_TRENDS_REPORT_H_
#define RHARNESS_REPORTS_TRENDS_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "reports/document.h"

namespace rharness {

// Runs by their last verdict; without infrastructure failures.
struct TrendCounts {
  std::int64_t good = 0;       // identical or equivalent
  std::int64_t bad = 0;        // drifted or failed
  std::int64_t open = 0;       // inconclusive or not comparable
  std::optional<double> rate;  // good / (good + bad)
  double low = 0.0;            // Wilson's interval at 95 %
  double high = 0.0;
};

struct TrendWeek {
  WallTime start{};  // a Monday, 00:00 UTC
  TrendCounts counts;
};

// What most runs ran on before a change of the rate and not after it. It is a coincidence; nothing
// here shows that it is the cause.
struct TrendCoincidence {
  std::string what;  // "image", "driver", "gpu", "cpu", "system", "packages" or "node"
  std::string before;
  std::string after;
  std::int64_t before_runs = 0;  // with the new value, of `before_all` judged before
  std::int64_t before_all = 0;
  std::int64_t after_runs = 0;  // with the new value, of `after_all` judged after
  std::int64_t after_all = 0;
  std::string detail;  // packages: which; may be empty
};

struct TrendChange {
  WallTime week{};      // the first of the new rate
  WallTime earliest{};  // it may have begun in any week from here to `latest`
  WallTime latest{};
  double before = 0.0;
  double after = 0.0;
  double p = 1.0;  // corrected for the number of weeks tried
  std::vector<TrendCoincidence> coincidences;
  std::string words;  // one sentence
};

struct TrendSeries {
  std::string by;                    // "all", "family", "image", "driver" or "gpu"
  std::string value;                 // "" of all
  TrendCounts counts;                // of the whole span, each run once, by its last verdict
  std::vector<TrendWeek> weeks;      // those in which a run was judged, each run once a week; of an
                                     // image, driver or GPU each that was rerun with it
  std::vector<TrendChange> changes;  // of families
};

// From `days` of age on, up to the next.
struct TrendSurvivalStep {
  double days = 0.0;
  std::int64_t at_risk = 0;
  std::int64_t ended = 0;
  double share = 1.0;         // still reproducible
  std::optional<double> low;  // 95 %, log-log; empty where the share is 0
  std::optional<double> high;
};

struct TrendSurvival {
  std::string family;                 // "": all
  std::int64_t runs = 0;              // seen to reproduce: followed from then on
  std::int64_t ended = 0;             // of these: later did not reproduce
  std::int64_t never_seen = 0;        // besides: did not reproduce, and never seen to
  double oldest_days = 0.0;           // longest observation of a run; nothing is known of later
  std::optional<double> median_days;  // empty: not reached
  std::vector<TrendSurvivalStep> steps;
};

// Runs shown to reproduce only with one image, driver, GPU or node.
struct TrendOnly {
  std::string by;
  std::string value;
  std::int64_t runs = 0;
  std::vector<std::string> families;  // the first few, by name
};

struct LastChanceRun {
  std::string run_id;
  std::string family;
  bool shown = false;  // reproduced only with what goes; else not shown, and recorded with it
  std::string words;
};

// Runs that could not be rerun if something were gone.
struct LastChance {
  std::vector<std::string> gone;  // "image=sha256:12*"
  // Of these, values that no run is known to have had: "package=libc7; near is libc6:amd64"
  std::vector<std::string> nowhere;
  std::int64_t runs = 0;            // not retired: the sum of those below
  std::int64_t lost = 0;            // shown to reproduce only with what goes
  std::int64_t unproven = 0;        // not shown to, and recorded with what goes
  std::int64_t elsewhere = 0;       // not shown to, and recorded without it
  std::int64_t kept = 0;            // shown to reproduce without it
  std::int64_t unknown = 0;         // nothing is known of its places or record
  std::vector<LastChanceRun> list;  // lost and unproven, lost first; a thousand at most
};

struct TrendsReport {
  WallTime at{};
  std::string version;
  std::string history;
  int weeks = 52;                       // looked back
  double alpha = 0.05;                  // of a false change in any family
  std::int64_t verdicts = 0;            // read
  std::vector<TrendSeries> series;      // all, families, then images, drivers, GPUs; changed first
  std::vector<TrendSurvival> survival;  // all, then families
  std::vector<TrendOnly> only;          // most runs first
  std::optional<LastChance> last_chance;
  std::string headline;
  std::string next;
  std::vector<std::string> notes;
  int exit_code = 0;
};

Json ToJson(const TrendsReport& report);
Document DocumentOf(const TrendsReport& report);

// Pictures of these; `id` is unique on the page. Empty if there is nothing to draw.
std::string SvgRates(const TrendSeries& series, std::string_view id);
std::string SvgSurvival(const TrendSurvival& survival, std::string_view id);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_TRENDS_REPORT_H_
