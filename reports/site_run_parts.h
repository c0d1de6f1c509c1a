// Parts of the page of one run: its verdicts over time, what changed when they did, who signed.
// Private to site_run.cc.
#ifndef RHARNESS_REPORTS_SITE_RUN_PARTS_H_
#define RHARNESS_REPORTS_SITE_RUN_PARTS_H_

#include <string>

#include "reports/site_run.h"

namespace rharness {

// A mark a verdict where it lies in time, in one of three rows, each with a shape of its own: those
// that reproduced, those that did not, and those that could not tell. Empty of none.
std::string SiteStripPlot(const SiteRun& page);
// Where good turned bad or back, and what differed; empty of none.
std::string SiteChanges(const SiteRun& page);
// Where the newest verdict of the page was made, held to the record, layer by layer; empty where
// that is not kept.
std::string SiteLayersNow(const SiteRun& page);
// The signatures that the history knows of, and how to verify them; empty of none.
std::string SiteSignatures(const SiteRun& page);
// Waivers, substitutes and baselines with whose signatures hold; empty where none were asked for.
std::string SiteAnswers(const SiteRun& page);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_SITE_RUN_PARTS_H_
