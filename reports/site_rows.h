// The rows of the site's pages: verdicts, runs, families, drills and weeks, one struct each.
#ifndef RHARNESS_REPORTS_SITE_ROWS_H_
#define RHARNESS_REPORTS_SITE_ROWS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/verdict/stored_verdict.h"

namespace rharness {

// Runs, or verdicts, by verdict; without one: those that no drill has judged.
using SiteCounts = std::map<std::optional<Verdict>, std::int64_t>;

struct SiteWeek {
  WallTime start{};  // a Monday
  SiteCounts verdicts;
};

struct SiteRunRow {
  std::string run_id;
  std::string family;
  WallTime started{};
  std::string declared;
  std::optional<Verdict> last;  // none: no drill has judged it
  std::optional<WallTime> judged;
  bool retired = false;
  std::string found;                    // what it was looked for by, if not its name
  std::vector<StoredVerdict> verdicts;  // the last ones, newest first
};

struct SiteFamilyRow {
  std::string family;
  SiteCounts counts;
  std::optional<WallTime> judged;
  std::vector<SiteWeek> weeks;  // oldest first
};

struct SiteDrillRow {
  std::string drill_id;
  WallTime started{};
  std::optional<WallTime> ended;
  std::optional<int> exit_code;
};

// Addresses of the pages before and after one of a list; empty at its ends.
struct SitePager {
  std::string previous = {};
  std::string next = {};
};

}  // namespace rharness

#endif  // RHARNESS_REPORTS_SITE_ROWS_H_
