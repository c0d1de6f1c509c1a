// The report of a whole drill: built from its judged runs, written, and entered into the history.
//
// Role: the last passes of the drill. Not here: the row of one run (report_of.h), numbers and
// wording of the formats (reports/).
#ifndef RHARNESS_HARNESS_DRILL_DRILL_REPORT_H_
#define RHARNESS_HARNESS_DRILL_DRILL_REPORT_H_

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compare/siblings.h"
#include "harness/base/digest.h"
#include "harness/drill/settings.h"
#include "harness/history/store.h"
#include "harness/judge/run_state.h"
#include "reports/model.h"

namespace rharness {

// A drill at its end; all references outlive the call.
struct DrillEnd {
  const DrillSettings& settings;
  const Plan& plan;
  const std::map<std::string, RunState>& runs;  // by run_id
  const std::vector<FamilyComparison>& families;
  const std::vector<SiblingGroup>& siblings;
  const std::vector<std::string>& notes;
  const std::vector<std::string>& damage;  // files that changed since they were written
  std::optional<WallTime> last_success;    // of the history, before this drill
  WallTime ended;
  bool interrupted = false;
};

// Runs in the order of their selection; leaves out runs without evidence, and notes an
// interruption. Reads this host's description and the ends of the reruns' stderr. The exit code is
// that of the verdicts, raised to 4 when interrupted, and to 3 when runs were left out; 5 if there
// is damage.
Report BuildReport(const DrillEnd& end);

// Writes report.json, report.html, junit.xml, summary.md and metrics.prom into `folder`, and
// comparison.html and comparison.json into the folder of each run that differs; each completely or
// not at all. Returns the SHA-256 of each run's text, as RunDigests of report.json has them, in the
// order of the runs. `report` is changed only during the call: copying one of very many runs would
// take as much memory again. Errors: io.
Result<std::vector<Sha256Bytes>> WriteReports(Report* report, const std::filesystem::path& folder);

// Enters every rerun with its surroundings, and every verdict into the history. `runs`: by run_id,
// those of the report. `digests`: those of WriteReports. Errors: those of HistoryStore::AddDrill.
Status WriteHistory(const Report& report, const std::vector<Sha256Bytes>& digests,
                    const std::map<std::string, RunState>& runs,
                    const std::filesystem::path& drill_folder, HistoryStore* history);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_DRILL_REPORT_H_
