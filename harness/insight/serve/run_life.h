// The drills' verdicts on one run, with all data of the history behind each verdict.
//
// Role: a part of the page of a run (pages.h).
#ifndef RHARNESS_HARNESS_INSIGHT_SERVE_RUN_LIFE_H_
#define RHARNESS_HARNESS_INSIGHT_SERVE_RUN_LIFE_H_

#include <optional>
#include <string>
#include <utility>

#include "harness/base/result.h"
#include "harness/drill/surveyor.h"
#include "harness/history/browser.h"
#include "harness/insight/serve/paging.h"
#include "harness/records/manifest/manifest.h"
#include "reports/site_run.h"

namespace rharness {

class RunLife {
 public:
  // `manifest`: null if it cannot be read; then nothing is compared with it.
  RunLife(HistoryBrowser* browser, std::string run_id, const Manifest* manifest)
      : browser_(*browser),
        run_id_(std::move(run_id)),
        manifest_(manifest),
        surveyor_(&browser->store()) {}

  // The strip of the last verdicts, and a page of them with their reruns, measures and signatures.
  Status AddVerdicts(const PageMark& mark, SiteRun* page);
  // Where the strip's verdicts changed; the differences at the last changes. Call it after that.
  Status AddChanges(SiteRun* page);

 private:
  using Layers = Result<std::optional<SiteLayers>>;

  Status AddDetails(SiteRunVerdict* verdict, SiteRun* page);
  // The layers of a rerun compared with the record; none if they are not kept, or if too much was
  // read already for one page.
  Layers LayersOf(const std::string& surroundings);
  // None if the stored data changed, which the page reports: the rest of the page is still useful.
  static Layers OrSaid(Layers layers, SiteRun* page);

  HistoryBrowser& browser_;
  const std::string run_id_;
  const Manifest* const manifest_;
  Surveyor surveyor_;
};

// Why the history's data on its retirement, or on a request for it, differ from the signed form;
// empty: they match. Errors: those of the history.
Result<std::string> RetirementDoubt(HistoryStore* store, const std::string& run_id, WallTime now);
// Who signed for or against its retirement, in order of entry; if that is doubtful, nobody is
// named.
Status AddRetirementSignatures(HistoryStore* store, const std::string& run_id,
                               const std::string& doubt, SiteRun* page);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_SERVE_RUN_LIFE_H_
