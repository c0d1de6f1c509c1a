// Tensors that one side alone stores and that repeat another tensor of the same side: tied weights,
// stored once by one writer and twice by the other.
//
// Role: explains tensors without a counterpart. They remain a difference: a model that does not tie
// them reads the missing one as something else.
#ifndef RHARNESS_COMPARE_TIED_WEIGHTS_H_
#define RHARNESS_COMPARE_TIED_WEIGHTS_H_

#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compare/weights/checkpoint.h"
#include "compare/weights/tensor_diff.h"
#include "compare/weights/tensor_digest.h"
#include "harness/base/result.h"

namespace rharness {

// Of the first 16 tensors that A alone stores, and as many of B: those with dtype, shape and bits
// of a tensor of their side that both sides have and that is equal. Tensors whose elements are all
// the same (zeros, ones) never count as tied. Reads a pair until its first difference. Errors:
// those of Checkpoint::Read.
Result<std::vector<TiedTensor>> FindTied(const Checkpoint& a, const Checkpoint& b,
                                         const CheckpointDifference& difference);

// The same from recorded digests; here only tensors of two dimensions and more count, since digests
// do not show zeros.
std::vector<TiedTensor> FindTied(const std::vector<TensorDigest>& a,
                                 const std::vector<TensorDigest>& b,
                                 const CheckpointDifference& difference);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TIED_WEIGHTS_H_
