// The trees that our reduction kernels must have, built from their source by hand.
#ifndef RHARNESS_PROBES_GPU_REDUCE_TREE_H_
#define RHARNESS_PROBES_GPU_REDUCE_TREE_H_

#include "harness/base/result.h"
#include "probes/order/sum_tree.h"

namespace rharness {

// Of reduce_rows: 256 interleaved sequential sums, folded in halves of 16, 8, 4, 2, 1 in each warp,
// then the 8 warps in halves. n a multiple of 256, at least 256; else invalid_input.
Result<SumTree> RowsTree(int n);

// Of layer_norm_rows: neighbours in fours, pairwise; 256 interleaved sequential sums of those,
// folded as in reduce_rows. n a multiple of 4, at least 1024; else invalid_input.
Result<SumTree> LayerNormTree(int n);

// Of softmax_rows: 256 interleaved sequential sums, folded in halves of 128, 64, ..., 1. n at least
// 256; else invalid_input.
Result<SumTree> SoftmaxTree(int n);

// Of reduce_serial: from the first to the last. n >= 1.
Result<SumTree> SerialTree(int n);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_REDUCE_TREE_H_
