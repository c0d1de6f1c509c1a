// The order in which cuDNN's layer norm adds a row, from the mean that it keeps.
#ifndef RHARNESS_PROBES_GPU_CUDNN_NORM_H_
#define RHARNESS_PROBES_GPU_CUDNN_NORM_H_

#include "probes/gpu/cudnn_run.h"
#include "probes/probe.h"

namespace rharness {

// Of the first engines of modes A and FALLBACK, case "cudnn layer norm fp32 ROWSxCOLUMNS ENGINE":
// the configuration and the tree, or a note why there is none. `columns`: a power of two, so that a
// mean is a sum's exact share. One that updates a running mean adds no plain sum: no tree.
Status RecordNormTrees(const ProbeContext& context, const CudnnContext& cudnn, int rows,
                       int columns, std::size_t of_a_mode, ProbeResult* result);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_CUDNN_NORM_H_
