// Runs the convolution probes on one shape: the bits of its engines, and their orders.
#ifndef RHARNESS_PROBES_GPU_CUDNN_CONVOLUTION_H_
#define RHARNESS_PROBES_GPU_CUDNN_CONVOLUTION_H_

#include "probes/gpu/cudnn_run.h"
#include "probes/probe.h"

namespace rharness {

// Of the first engines of modes A and FALLBACK, `of_a_mode` each, case "PASS SHAPE ENGINE": bits of
// rounding data, made context.repeats times; the choice as DescribeObserved; a note when the engine
// did not repeat and had not said so. A wrong result for integers fails the result, which names
// every engine that had one. An engine that cannot be run is a note. Counts "engines".
Status RecordConvolutionBits(const ProbeContext& context, const CudnnContext& cudnn,
                             ConvolutionPass pass, const ConvolutionShape& shape,
                             std::size_t of_a_mode, ProbeResult* result);

// Of the first `orders` engines that suit the shape's type (fp32 without tensor cores, tf32 with),
// case "PASS SHAPE choice N": the configuration, and the order in which it adds the sums that
// MaskedConvolution asks for. A transform has no order: a note.
Status RecordConvolutionTrees(const ProbeContext& context, const CudnnContext& cudnn,
                              ConvolutionPass pass, const ConvolutionShape& shape,
                              std::size_t orders, ProbeResult* result);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_CUDNN_CONVOLUTION_H_
