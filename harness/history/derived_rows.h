// What a history derives from its records, held to them, and rows that no record has.
//
// Role: private to this folder; held_records.cc asks. What fails throws.
#ifndef RHARNESS_HARNESS_HISTORY_DERIVED_ROWS_H_
#define RHARNESS_HARNESS_HISTORY_DERIVED_ROWS_H_

#include <optional>
#include <string>

#include "harness/history/database.h"

namespace rharness {

struct DerivedDoubt {
  std::string run_id;  // or the family, of what is said of runs together
  std::string words;   // a sentence about it
};

// The first of: a run of which 'standing', by which lists and drills select, says otherwise than
// its records; a verdict, rerun, measure or family's verdict of a drill that is not there. Of the
// environment that 'standing' names another text of the same environment is as good: older versions
// named one of several. Cost: one look at each run's verdicts.
std::optional<DerivedDoubt> FindDerivedDoubt(soci::session& sql);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_DERIVED_ROWS_H_
