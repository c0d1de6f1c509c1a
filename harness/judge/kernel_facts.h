// The GPU kernels that a run was seen to launch, as facts.
//
// Role: between facts_of.h, which has all facts, and observations. A library or a driver that
// chooses another algorithm launches another kernel.
#ifndef RHARNESS_HARNESS_JUDGE_KERNEL_FACTS_H_
#define RHARNESS_HARNESS_JUDGE_KERNEL_FACTS_H_

#include <string_view>
#include <vector>

#include "harness/records/manifest/observation.h"
#include "harness/verdict/facts.h"

namespace rharness {

// "gpu_kernel.NAME": "24 launches, 4x1x1 of 256x1x1".
inline constexpr std::string_view kKernelFact = "gpu_kernel.";
// Digests of the order of launches, by process.
inline constexpr std::string_view kKernelOrderFact = "gpu_kernels.order";

// In the environment's layer, kContext. Where all kernels were seen, one that only the other side
// launched is a difference.
void AddKernels(const Observation& seen, std::vector<Fact>* out);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_KERNEL_FACTS_H_
