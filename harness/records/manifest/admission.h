// Admission: is a manifest complete and consistent enough to be rerun and judged later?
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_ADMISSION_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_ADMISSION_H_

#include <string>
#include <vector>

#include "harness/records/manifest/manifest.h"
#include "harness/verdict/verdict.h"

namespace rharness {

// In a note of `record`: a thing that the run needs or should have left behind was not available. A
// rerun would not have it, or could not be compared with it.
inline constexpr char kNotRecorded[] = "was not recorded";
// Begins a note of `record`: the command ended with 0, and a process of it was killed or could not
// write. A rerun would have failed.
inline constexpr char kLostSomething[] = "ended with 0 and lost something";
// Begins a note of `record --keep-failed`.
inline constexpr char kCommandFailed[] = "the command failed";

// Empty: admitted. Pure; looks at no file. In the order of the manifest's fields. Each has a code
// ("unpinned_image", "missing_seed"), the JSON path as its subject ("$.image.digest"), and a
// message: the fault and what was expected.
std::vector<Finding> Admit(const Manifest& manifest);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_ADMISSION_H_
