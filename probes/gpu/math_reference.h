// Expected results of the functions of kernels/math.cu: the host's library in the next higher
// precision.
//
// Role: the reference of math_bits_cuda. It is independent of the device's implementation, and its
// own error is far below one unit of the lower precision: double for fp32, long double for fp64 (64
// bits of significand on x86-64; there is none on machines where it has no more bits than double).
#ifndef RHARNESS_PROBES_GPU_MATH_REFERENCE_H_
#define RHARNESS_PROBES_GPU_MATH_REFERENCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace rharness {

// The largest error of a kernel's output over its inputs, in units in the last place of the type of
// its values. `output` is that of RunWordKernel: one word per input for fp32, two for fp64, low
// word first. Infinite if one is a NaN or an infinity and the reference is not. Empty when there is
// no reference for the kernel.
std::optional<double> LargestUlpError(std::string_view kernel,
                                      const std::vector<std::uint32_t>& words,
                                      std::span<const std::byte> output);

// The double that math.cu makes from an input word.
double WideInput(std::uint32_t word);

// "double for fp32, long double of 64 bits for fp64".
std::string_view ReferenceName();

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_MATH_REFERENCE_H_
