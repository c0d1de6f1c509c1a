// The pages of `rharness serve`: what a history holds, a page at a time.
//
// Role: models that harness/insight/serve fills, and their HTML. Every page is one of a site: it
// names its style sheet by address, has no script, and leads to the others by links that are made
// here. Every list is a page of a longer one, with a pager.
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
  std::string history;             // where it is kept; no password is in it
  std::vector<std::string> notes;  // what is not as it should be
};

struct SiteFleet {
  SiteCounts counts;
  // Whose last conclusive verdict, which `last` and `judged` are, is bad; the last one first.
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
  int row_weeks = 0;                    // of a family's row: the last ones
  std::vector<SiteFamilyRow> families;  // with a verdict in these
  std::size_t without = 0;              // families that had verdicts, and none in these
  SitePager pager;
};

struct SiteTrendsReport {
  const TrendsReport* report = nullptr;    // none: not measured yet
  std::optional<WallTime> failed_at = {};  // it could not be measured again, or at all
};

// Names that have the text in them, and the address of a page of all such; empty: these are all.
struct SiteNames {
  std::vector<std::string> names = {};
  std::string more = {};
  bool not_looked = false;  // they are too many to be looked through beside the rest
};

struct SiteSearch {
  std::string text = {};  // empty: nothing is looked for yet
  std::string by = {};    // "any", "run", "family", "commit" or "image"
  std::vector<std::string> notes = {};
  SiteNames families = {};
  SiteNames images = {};
  std::vector<SiteRunRow> runs = {};
  bool runs_asked = false;  // whether runs were looked for at all
  SitePager pager = {};     // of the runs, or of the names where these alone are listed
};

std::string WriteSite(const SiteFleet& page, const SiteFrame& frame);
std::string WriteSite(const SiteFamilies& page, const SiteFrame& frame);
std::string WriteSite(const SiteFamily& page, const SiteFrame& frame);
std::string WriteSite(const SiteRun& page, const SiteFrame& frame);
std::string WriteSite(const SiteTrends& page, const SiteFrame& frame);
std::string WriteSite(const SiteTrendsReport& page, const SiteFrame& frame);
std::string WriteSite(const SiteSearch& page, const SiteFrame& frame);
// A page that says why there is none: "404 Not found", and a sentence.
std::string WriteSiteProblem(std::string_view title, std::string_view sentence,
                             const SiteFrame& frame);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_SITE_H_
