// Outputs that a run calls by the time, or by an id that is new each time:
// outputs/2026-11-30/08-01-02/model.pt.
//
// Role: between a rerun and the collection of its outputs (collect.h), which looks for them under
// the recorded names.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_NAMES_OF_RERUN_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_NAMES_OF_RERUN_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/held_folder.h"
#include "harness/base/result.h"
#include "harness/execution/rerun/workspace.h"
#include "harness/records/manifest/manifest.h"
#include "harness/verdict/verdict.h"

namespace rharness {

// What a file's or folder's name has in common with those of other runs: digits as "0", months as
// "M", ids as "#". Empty if nothing in the name changes from run to run: it has neither a date, a
// time of day with separators, seconds since 1970, a UUID nor sixteen hexadecimal digits.
std::string ShapeOfName(std::string_view name);

// Gives what the run made the recorded names of outputs that are not there: folder by folder, where
// exactly one new entry of the same kind has the shape of the recorded name. One remark each,
// "output_renamed". `folder`: the run's own. Errors: the machine's trouble.
Result<std::vector<Finding>> TakeRecordedNames(const Manifest& manifest, const Workspace& workspace,
                                               const HeldFolder& folder);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_NAMES_OF_RERUN_H_
