// The inputs of a search: the recorded run, the side that drifted, and the commits between.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_ISOLATE_INPUTS_H_
#define RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_ISOLATE_INPUTS_H_

#include "harness/base/clock.h"
#include "harness/experiments/isolate/isolate.h"
#include "harness/experiments/isolate/isolate_settings.h"

namespace rharness {

// Reads the records, and lists the commits of a chain by git. Errors: invalid_input (nothing
// differs that can be set, the drifted side shows no difference, a commit that does not follow the
// recorded one), not_found, io.
Result<IsolateSettings> GatherSettings(const IsolateOptions& options, Clock* clock);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_ISOLATE_INPUTS_H_
