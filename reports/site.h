// The pages of `rharness serve`: the content of a history, a page at a time.
//
// Role: models that harness/insight/serve fills, and their HTML. Every page belongs to a site: it
// links its style sheet, has no script, and links to the others; this file makes the links. Every
// list is a page of a longer one, with a pager.
#ifndef RHARNESS_REPORTS_SITE_H_
#define RHARNESS_REPORTS_SITE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/clock.h"
#include "reports/site_links.h"
#include "reports/site_rows.h"
#include "reports/site_run.h"
#include "reports/trends_report.h"

namespace rharness {

// What every page has beside its own.
struct SiteFrame {
  std::string version;
  std::string history;             // its place; without a password
  std::vector<std::string> notes;  // problems of the site
};

struct SiteFleet {
  SiteCounts counts;
  // Runs with a bad last conclusive verdict, which is `last` and `judged`; the last one first.
  std::vector<SiteRunRow> bad;
  std::vector<SiteFamilyRow> families;  // the first ones
  bool more_families = false;
  std::vector<SiteDrillRow> drills;  // the last ones, newest first
};

struct SiteFamilies {
  std::vector<SiteFamilyRow> families;
  SitePager pager;
};

struct SiteFamily {
  SiteFamilyRow family;
  std::vector<std::pair<std::string, StoredVerdict>> together = {};  // by name of its configuration
  std::vector<SiteRunRow> runs = {};
  SitePager pager = {};
};

struct SiteTrends {
  std::vector<SiteWeek> weeks;          // of all families, oldest first
  int row_weeks = 0;                    // of a family's row: the number of last weeks
  std::vector<SiteFamilyRow> families;  // with a verdict in these
  std::size_t without = 0;              // families with verdicts, but none in these
  SitePager pager;
};

struct SiteTrendsReport {
  const TrendsReport* report = nullptr;    // none: not measured yet
  std::optional<WallTime> failed_at = {};  // the last failed measurement
};

// Names that contain the text, and the address of a page with all of them; empty: these are all.
struct SiteNames {
  std::vector<std::string> names = {};
  std::string more = {};
  bool not_looked = false;  // too many to search beside the rest
};

struct SiteSearch {
  std::string text = {};  // empty: no search yet
  std::string by = {};    // "any", "run", "family", "commit" or "image"
  std::vector<std::string> notes = {};
  SiteNames families = {};
  SiteNames images = {};
  std::vector<SiteRunRow> runs = {};
  bool runs_asked = false;  // whether runs were searched at all
  SitePager pager = {};     // of the runs, or of the names if only these are listed
};

std::string WriteSite(const SiteFleet& page, const SiteFrame& frame);
std::string WriteSite(const SiteFamilies& page, const SiteFrame& frame);
std::string WriteSite(const SiteFamily& page, const SiteFrame& frame);
std::string WriteSite(const SiteRun& page, const SiteFrame& frame);
std::string WriteSite(const SiteTrends& page, const SiteFrame& frame);
std::string WriteSite(const SiteTrendsReport& page, const SiteFrame& frame);
std::string WriteSite(const SiteSearch& page, const SiteFrame& frame);
// A page for a missing page: "404 Not found", and a sentence.
std::string WriteSiteProblem(std::string_view title, std::string_view sentence,
                             const SiteFrame& frame);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_SITE_H_
