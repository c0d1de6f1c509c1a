// Another order of the same sums, as another driver's compiler might give it.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_FOLD_ORDER_H_
#define RHARNESS_TESTS_GPU_EMULATOR_FOLD_ORDER_H_

#include "tests/gpu/emulator/ptx_program.h"

namespace rharness {

// Where a function folds a warp by shuffles (down or butterfly) at distances that halve, such as
// 16, 8, 4, 2, 1, it takes them in the opposite order: 1, 2, 4, 8, 16. The first lane still has the
// sum of the same values, added in another order. Distances must be constants.
void MirrorFolds(PtxProgram* program);

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_FOLD_ORDER_H_
