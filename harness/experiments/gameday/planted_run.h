// A recorded run with a fault in what it is given. Pure.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_PLANTED_RUN_H_
#define RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_PLANTED_RUN_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/experiments/gameday/faults.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// The record of a rerun with the fault, for its ticket alone: it is judged by the record as it was.
// `data`: of faults in data, the item that stands in for the fault's subject; else not looked at.
// Errors: unsupported, whose message says why this fault cannot be planted in this run.
Result<Manifest> PlantInRun(const Fault& fault, const Manifest& run, const DataItem& data);

// The data item of a fault in data. Errors: unsupported: the run has none of this name, or one of
// a kind that has no rows.
Result<DataItem> DataOf(const Fault& fault, const Manifest& run);

// The same run as if its record did not say its seeds: those of its command are "{seed}". What was
// of one configuration stays so. It cannot be rerun.
Manifest Unseeded(const Manifest& run);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_PLANTED_RUN_H_
