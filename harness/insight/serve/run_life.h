// What drills said of one run, with all that the history keeps of how each verdict came about.
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
  // `manifest`: null where it cannot be read; then nothing is held to it.
  RunLife(HistoryBrowser* browser, std::string run_id, const Manifest* manifest)
      : browser_(*browser),
        run_id_(std::move(run_id)),
        manifest_(manifest),
        surveyor_(&browser->store()) {}

  // The strip of the last verdicts, and a page of them with their reruns, measures and signatures.
  Status AddVerdicts(const PageMark& mark, SiteRun* page);
  // Where the strip's verdicts turned; what differed at the last turns. To be called after that.
  Status AddChanges(SiteRun* page);

 private:
  using Layers = Result<std::optional<SiteLayers>>;

  Status AddDetails(SiteRunVerdict* verdict, SiteRun* page);
  // Of a rerun, held to the record; none where that is not kept, or too much of it was read already
  // for one page.
  Layers LayersOf(const std::string& surroundings);
  // None where what is kept was changed, which is said: the rest of the page is worth showing.
  static Layers OrSaid(Layers layers, SiteRun* page);

  HistoryBrowser& browser_;
  const std::string run_id_;
  const Manifest* const manifest_;
  Surveyor surveyor_;
};

// Why what the history says of its retirement, or of a request for it, is not what was signed;
// empty: it is. Errors: those of the history.
Result<std::string> RetirementDoubt(HistoryStore* store, const std::string& run_id, WallTime now);
// Who signed for or against its retirement, in the order in which they were entered; where that is
// doubtful, nobody is named.
Status AddRetirementSignatures(HistoryStore* store, const std::string& run_id,
                               const std::string& doubt, SiteRun* page);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_SERVE_RUN_LIFE_H_
