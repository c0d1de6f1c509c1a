// Code in a workspace: the listed files, each proved by its hash, or the files of the commit.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_PLACE_CODE_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_PLACE_CODE_H_

#include "harness/base/result.h"
#include "harness/execution/rerun/checkout.h"
#include "harness/execution/rerun/places.h"
#include "harness/execution/rerun/workspace.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// Into a workspace whose folder is there and empty; tells in it what was put. Listed files are
// taken from the repository's work tree; one that is gone from there, or is another by now, is
// taken from the recorded commit where that has it with the recorded hash, and a remark says so.
// The obstacle where the code cannot be had as recorded. Errors: the machine's trouble.
Result<std::optional<Obstacle>> PlaceCode(const Manifest& manifest, const Places& places,
                                          const CheckoutLimits& limits, Workspace* workspace);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_PLACE_CODE_H_
