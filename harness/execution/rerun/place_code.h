// Code in a workspace: the listed files, each proved by its hash, or the files of the commit.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_PLACE_CODE_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_PLACE_CODE_H_

#include "harness/base/result.h"
#include "harness/execution/rerun/checkout.h"
#include "harness/execution/rerun/places.h"
#include "harness/execution/rerun/workspace.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// Places code in a workspace whose folder exists and is empty; notes the placed files in it. Listed
// files come from the repository's work tree; one that is missing there or has changed comes from
// the recorded commit if that has it with the recorded hash, with a remark. Returns an obstacle if
// the code is not available as recorded. Errors: the machine's trouble.
Result<std::optional<Obstacle>> PlaceCode(const Manifest& manifest, const Places& places,
                                          const CheckoutLimits& limits, Workspace* workspace);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_PLACE_CODE_H_
