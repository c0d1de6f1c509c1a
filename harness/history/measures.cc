// What else a drill measured of a run. In SQL over SOCI.
#include "harness/history/sql_history.h"

namespace rharness {

Result<std::optional<VerdictMeasures>> SqlHistory::MeasuresOf(const std::string& run_id,
                                                              const std::string& drill_id) {
  return database_->Guard([&]() -> Result<std::optional<VerdictMeasures>> {
    VerdictMeasures measures;
    int weights_equal = 0;
    int data_had = 0;
    double margins = 0.0;
    long long warnings = 0;
    long long not_recorded = 0;
    soci::indicator some[5] = {};
    soci::statement query =
        (sql().prepare
             << "SELECT node, weights_equal, margins, warnings, data_had, not_recorded FROM "
                "verdict_measures WHERE drill_id = :drill_id AND run_id = :run_id",
         soci::use(drill_id), soci::use(run_id), soci::into(measures.node),
         soci::into(weights_equal, some[0]), soci::into(margins, some[1]),
         soci::into(warnings, some[2]), soci::into(data_had, some[3]),
         soci::into(not_recorded, some[4]));
    if (!query.execute(true)) return std::optional<VerdictMeasures>();
    if (some[0] == soci::i_ok) measures.weights_equal = weights_equal != 0;
    if (some[1] == soci::i_ok) measures.margins = margins;
    if (some[2] == soci::i_ok) measures.warnings = warnings;
    if (some[3] == soci::i_ok) measures.data_had = data_had != 0;
    if (some[4] == soci::i_ok) measures.not_recorded = not_recorded;
    return std::optional(std::move(measures));
  });
}

}  // namespace rharness
