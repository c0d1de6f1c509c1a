// Compares the derived tables of a history with its records, and finds rows without a record.
//
// Role: private to this folder; called by held_records.cc. Failures throw.
#ifndef RHARNESS_HARNESS_HISTORY_DERIVED_ROWS_H_
#define RHARNESS_HARNESS_HISTORY_DERIVED_ROWS_H_

#include <optional>
#include <string>

#include "harness/history/database.h"

namespace rharness {

struct DerivedDoubt {
  std::string run_id;  // or the family, for verdicts on runs together
  std::string words;   // a sentence about it
};

// The first of: a run whose row in 'standing', by which lists and drills select, contradicts its
// records; a verdict, rerun, measure or family's verdict of a missing drill. For the environment in
// 'standing' any text of the same environment is accepted: older versions named one of several.
// Cost: one look at each run's verdicts.
std::optional<DerivedDoubt> FindDerivedDoubt(soci::session& sql);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_DERIVED_ROWS_H_
