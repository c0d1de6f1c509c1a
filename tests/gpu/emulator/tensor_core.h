// A tensor core's addition, as published for each architecture.
//
// Role: the arithmetic of mma and wgmma; a second implementation beside probes/gpu/mma_model.h,
// with whole numbers instead of double. Products are exact; they and C are cut towards zero at one
// place below the largest exponent, added, and the sum is cut to its result. Sources: Fasi, Higham,
// Mikaitis, Pranesh, PeerJ CS 7:e330 (2021); the MMA-Sim model, arXiv:2511.10909.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_TENSOR_CORE_H_
#define RHARNESS_TESTS_GPU_EMULATOR_TENSOR_CORE_H_

#include <span>

#include "tests/gpu/emulator/ptx_program.h"

namespace rharness {

struct TensorAddition {
  int group = 16;          // products of one addition; groups follow one another
  int places = 25;         // binary ones below the largest exponent, when aligned
  int result_places = 23;  // of the sum
  int lowest = -133;       // the exponent that alignment does not go below
};

// Nothing is published of some combinations, such as fp8 of mma.sync on Hopper: there it is a
// guess, the addition of two fp16 products.
TensorAddition TensorAdditionOf(PtxType type, int k, bool warpgroup, int compute);

// The bits of an element in a register or in memory as a number; of tf32 the low 13 are dropped.
double TensorElement(PtxType type, std::uint32_t bits);

// a . b + c; NaN and infinities as IEEE 754 adds them.
float AddInTensorCore(const TensorAddition& addition, PtxType type, std::span<const double> a,
                      std::span<const double> b, float c);

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_TENSOR_CORE_H_
