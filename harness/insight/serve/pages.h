// The content of each page of the site: the browser's rows as the models of reports/site.h.
//
// Role: reads one history for one page. Not here: addresses and headers (site.h), markup (reports).
#ifndef RHARNESS_HARNESS_INSIGHT_SERVE_PAGES_H_
#define RHARNESS_HARNESS_INSIGHT_SERVE_PAGES_H_

#include <string>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/history/browser.h"
#include "harness/insight/serve/counts.h"
#include "harness/insight/serve/paging.h"
#include "reports/site.h"

namespace rharness {

struct PageInputs {
  HistoryBrowser& browser;
  const SiteCounted& counted;
  WallTime now{};
};

// Errors: those of the browser; for a run or a family also not_found, for a run integrity.
Result<SiteFleet> BuildFleet(const PageInputs& inputs);
Result<SiteFamilies> BuildFamilies(const PageInputs& inputs, const PageMark& mark);
Result<SiteFamily> BuildFamily(const PageInputs& inputs, const std::string& family,
                               const PageMark& mark);
Result<SiteRun> BuildRun(const PageInputs& inputs, const std::string& run_id, const PageMark& mark);
Result<SiteTrends> BuildTrends(const PageInputs& inputs, const PageMark& mark);
SiteTrendsReport BuildTrendsReport(const PageInputs& inputs);
// `by`: "any", "run", "family", "commit" or "image". Errors: invalid_input for anything else, or a
// text of more than 200 characters.
Result<SiteSearch> BuildSearch(const PageInputs& inputs, const std::string& text,
                               const std::string& by, const PageMark& mark);

// "1767571200000": a time in an address.
std::string MsOf(WallTime time);
// Shared by them.
SiteRunRow SiteRowOf(const RunRow& row);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_SERVE_PAGES_H_
