// The pages of `rharness serve`: what a history holds, a page at a time.
//
// Role: models that harness/serve fills, and their HTML. Every page is one of a site: it names its
// style sheet by address, has no script, and leads to the others by links that are made here. Every
// list is a page of a longer one; `next` is the address of what follows, empty at the end.
#ifndef RHARNESS_REPORTS_SITE_H_
#define RHARNESS_REPORTS_SITE_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/facts.h"
#include "compare/verdict.h"
#include "harness/base/clock.h"
#include "reports/site_links.h"
#include "reports/trends_report.h"

namespace rharness {

// Runs, or verdicts, by name of the verdict; "" has those of no drill.
using SiteCounts = std::map<std::string, std::int64_t>;

struct SiteWeek {
  WallTime start{};  // a Monday
  SiteCounts verdicts;
};

struct SiteVerdict {
  std::string drill_id;
  Verdict verdict = Verdict::kInconclusive;
  WallTime decided{};
  int reruns = 0;
  std::vector<std::string> reasons;   // one sentence each
  std::vector<std::string> outcomes;  // of its reruns: "exited 0 in 3 min, evidence 1f2e3d4c..."
};

struct SiteRunRow {
  std::string run_id;
  std::string family;
  WallTime started{};
  std::string declared;
  std::optional<Verdict> last;  // none: no drill has judged it
  std::optional<WallTime> judged;
  bool retired = false;
  std::string found;                  // what it was looked for by, if not its name
  std::vector<SiteVerdict> verdicts;  // the last ones, newest first
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

// What every page has beside its own.
struct SiteFrame {
  std::string version;
  std::string history;             // where it is kept; no password is in it
  std::vector<std::string> notes;  // what is not as it should be
};

struct SiteFleet {
  SiteCounts counts;
  std::vector<SiteRunRow> bad;          // that did not reproduce, those judged last first
  std::vector<SiteFamilyRow> families;  // the first ones
  bool more_families = false;
  std::vector<SiteDrillRow> drills;  // the last ones, newest first
};

struct SiteFamilies {
  std::vector<SiteFamilyRow> families;
  std::string next;
};

struct SiteFamily {
  SiteFamilyRow family;
  std::vector<std::pair<std::string, SiteVerdict>> together;  // by name of the configuration
  std::vector<SiteRunRow> runs;
  std::string next;
};

struct SiteMetric {
  std::string name;
  std::string value;
  std::string asked;  // "primary, higher is better, margin 0.01"
};

struct SiteRun {
  SiteRunRow run;
  std::vector<std::string> notes = {};                          // what is not as it should be
  std::vector<std::pair<std::string, std::string>> about = {};  // by name
  std::vector<SiteVerdict> strip = {};                          // newest first, without reasons
  std::vector<SiteVerdict> verdicts = {};                       // this page's, newest first
  std::string next = {};
  std::array<std::vector<Fact>, 5> layers = {};  // what the manifest says, in the order of kLayers
  std::vector<SiteMetric> metrics = {};
  std::vector<std::pair<std::string, std::string>> artifacts = {};   // by role and path
  std::vector<std::pair<std::string, std::string>> properties = {};  // what was said of each last
};

struct SiteTrends {
  std::vector<SiteWeek> weeks;  // of all families, oldest first
  std::vector<SiteFamilyRow> families;
  std::string next;
};

struct SiteTrendsReport {
  const TrendsReport* report = nullptr;  // none: not measured yet
};

struct SiteSearch {
  std::string text;
  std::string by;  // "any", "run", "family", "commit" or "image"
  std::vector<std::string> families;
  std::vector<std::string> images;
  std::vector<SiteRunRow> runs;
  std::string next;
  bool asked = false;
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
