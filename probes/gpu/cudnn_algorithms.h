// The choices of cuDNN's older functions for one convolution, and algorithms run by number.
#ifndef RHARNESS_PROBES_GPU_CUDNN_ALGORITHMS_H_
#define RHARNESS_PROBES_GPU_CUDNN_ALGORITHMS_H_

#include <string_view>

#include "probes/gpu/cudnn_run.h"
#include "probes/probe.h"

namespace rharness {

// Case "PASS SHAPE MATH rank N": the ranking. Case "PASS SHAPE MATH algorithm NAME": bits of the
// backward algorithms that are documented to vary, and of algorithm 1, which is not, made
// context.repeats times; a note when algorithm 1 did not repeat. A removed function, or an
// algorithm missing for this, is a note; RecordFailure records a failing one.
Status RecordLegacyAlgorithms(const ProbeContext& context, const CudnnContext& cudnn,
                              const ConvolutionShape& shape, cudnnMathType_t math,
                              std::string_view math_name, ProbeResult* result);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_CUDNN_ALGORITHMS_H_
