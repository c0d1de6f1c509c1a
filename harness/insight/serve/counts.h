// Counts that are too slow for a page: verdicts by week, open runs that did not reproduce before,
// trends, and signed files.
//
// Role: a thread of its own with a connection of its own, which reads new verdicts of drills and
// returns its current state. Not here: the pages.
#ifndef RHARNESS_HARNESS_INSIGHT_SERVE_COUNTS_H_
#define RHARNESS_HARNESS_INSIGHT_SERVE_COUNTS_H_

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "harness/insight/serve/site_files.h"
#include "harness/insight/serve/weeks.h"
#include "reports/trends_report.h"

namespace rharness {

inline constexpr int kSiteWeeks = 52;  // number of weeks counted, including this one

struct SiteCounted {
  WeekTotals weeks;
  std::vector<std::string> open_bad;           // HistoryBrowser::OpenBadRuns
  bool whole = false;                          // whether `weeks` is complete
  std::shared_ptr<const TrendsReport> trends;  // none: not measured yet
  std::optional<WallTime> trends_failed;       // the last attempt to measure them, if it failed
  int measurements = 0;                        // attempts, including failed ones
  std::shared_ptr<const SiteFiles> files = nullptr;  // none: none were given
};

struct CountLimits {
  std::chrono::milliseconds every{2'000};  // polling interval for new drills
  std::chrono::seconds trends{300};        // at least, between two attempts to measure trends
  std::int64_t drills = 50;                // that are counted at once
  std::chrono::seconds files{5};           // between two looks at files
};
// More than a page shows: the next drill will decide some.
inline constexpr std::size_t kOpenBadRuns = 30;

class SiteCounter {
 public:
  // Starts counting. Logs trouble with the history, once per message, and retries.
  explicit SiteCounter(std::string history, SiteFilesAsked files = {},
                       const CountLimits& limits = {});
  // Waits for the query at hand.
  ~SiteCounter();
  SiteCounter(const SiteCounter&) = delete;
  SiteCounter& operator=(const SiteCounter&) = delete;

  std::shared_ptr<const SiteCounted> Current() const;  // never null; from any thread

 private:
  void Run();
  Status Round();
  Status CountWeeks();
  void Measure();
  void LookAtFiles();
  void Publish(bool whole);
  bool Ending() const;

  const std::string history_;
  const SiteFilesAsked asked_;
  const CountLimits limits_;
  std::unique_ptr<HistoryBrowser> browser_;
  WeekTotals totals_;
  std::vector<std::string> open_bad_;
  std::int64_t open_bad_of_ = -1;  // the sequence that it belongs to
  std::shared_ptr<const TrendsReport> trends_;
  std::optional<WallTime> trends_failed_;
  std::string told_of_trends_;  // the last logged trouble with them
  int measurements_ = 0;
  std::shared_ptr<const SiteFiles> files_;
  std::optional<std::chrono::steady_clock::time_point> looked_;  // at files
  std::string told_of_files_;                                    // in the log
  std::int64_t measured_ = -1;  // the sequence that trends_ speak of
  std::optional<std::chrono::steady_clock::time_point> measure_after_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;
  std::shared_ptr<const SiteCounted> current_;
  std::thread thread_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_SERVE_COUNTS_H_
