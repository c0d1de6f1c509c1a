// Parts of the page of one run: its verdicts over time, the changes behind them, the signers.
// Private to site_run.cc.
#ifndef RHARNESS_REPORTS_SITE_RUN_PARTS_H_
#define RHARNESS_REPORTS_SITE_RUN_PARTS_H_

#include <string>

#include "reports/site_run.h"

namespace rharness {

// One mark per verdict on a time axis, in one of three rows with shapes of their own: reproduced,
// not reproduced, and inconclusive. Empty without verdicts.
std::string SiteStripPlot(const SiteRun& page);
// Changes from good to bad or back, with the differences; empty without any.
std::string SiteChanges(const SiteRun& page);
// The place of the page's newest verdict against the record, layer by layer; empty if not kept.
std::string SiteLayersNow(const SiteRun& page);
// The signatures known to the history, and how to verify them; empty without any.
std::string SiteSignatures(const SiteRun& page);
// Waivers, substitutes and baselines with their valid signers; empty if none were requested.
std::string SiteAnswers(const SiteRun& page);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_SITE_RUN_PARTS_H_
