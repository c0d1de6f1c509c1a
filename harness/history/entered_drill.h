// The history's data on one drill: the results of its runs and reruns.
#ifndef RHARNESS_HARNESS_HISTORY_ENTERED_DRILL_H_
#define RHARNESS_HARNESS_HISTORY_ENTERED_DRILL_H_

#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/history/records.h"

namespace rharness {

struct EnteredDrill {
  DrillRecord drill;                    // drill_id: as entered last, "ID" or "ID.2"
  std::vector<RerunRecord> reruns;      // by run_id and number; without surroundings
  std::vector<VerdictRecord> verdicts;  // by run_id; without surroundings
  // Earlier results, if it was resumed with other results: the oldest first, each by run_id.
  std::vector<VerdictRecord> superseded;
};

class EnteredDrills {
 public:
  virtual ~EnteredDrills() = default;

  // As entered last, if it was resumed; empty: never. Reads an index.
  virtual Result<std::optional<EnteredDrill>> FindDrill(const std::string& drill_id) = 0;
  // Empty: the drill has no result for the run, or is of an older version. `drill_id`: of a
  // verdict.
  virtual Result<std::optional<VerdictMeasures>> MeasuresOf(const std::string& run_id,
                                                            const std::string& drill_id) = 0;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_ENTERED_DRILL_H_
