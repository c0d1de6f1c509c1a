// What a job of a cluster gets beside what its rerun asks for.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_JOB_MARGINS_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_JOB_MARGINS_H_

#include <cstdint>

namespace rharness {

// For hashing inputs, fetching an image and bringing outputs home.
inline constexpr double kJobMarginSeconds = 600.0;
inline constexpr std::uint64_t kJobMarginMib = 256;

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_JOB_MARGINS_H_
