// A recorded run with a fault in its inputs. Pure.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_PLANTED_RUN_H_
#define RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_PLANTED_RUN_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/execution/rerun/ticket.h"
#include "harness/experiments/gameday/faults.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// The record of a rerun with the fault, for its ticket alone: the unchanged record judges it. Of a
// fault on one rank: the record as that rank gets it (ChangeOf).
// `data`: for faults in data, the item that replaces the fault's subject; else ignored. Errors:
// unsupported, with the reason why this fault does not fit this run.
Result<Manifest> PlantInRun(const Fault& fault, const Manifest& run, const DataItem& data);

// What the fault's rank gets in place of what the record says, out of PlantInRun's answer.
RankChange ChangeOf(const Fault& fault, const Manifest& run, const Manifest& planted);

// The data item of a fault in data. Errors: unsupported: the run has none of this name, or one of a
// kind without rows.
Result<DataItem> DataOf(const Fault& fault, const Manifest& run);

// The same run without its seeds in the record: those of its command are "{seed}". Runs of one
// configuration remain of one. It cannot be rerun.
Manifest Unseeded(const Manifest& run);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_PLANTED_RUN_H_
