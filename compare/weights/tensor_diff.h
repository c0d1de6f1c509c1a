// How two tensors, and two checkpoints, differ: bits, first index, distances, norms, by layer
// group.
#ifndef RHARNESS_COMPARE_WEIGHTS_TENSOR_DIFF_H_
#define RHARNESS_COMPARE_WEIGHTS_TENSOR_DIFF_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/tensor_digest.h"

namespace rharness {

// Pairs of finite values whose bits differ, by distance in steps between representable values:
// entry i counts distances in [2^i, 2^(i+1)).
using UlpHistogram = std::array<std::uint64_t, 64>;

struct TensorDifference {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::uint64_t> shape;
  std::uint64_t elements = 0;
  std::uint64_t differing = 0;    // elements whose bits differ
  std::uint64_t first_index = 0;  // flat C-order index of the first one
  double max_abs = 0.0;           // over differing pairs of finite values; NaN
                                  // if there is none, 0 if nothing differs
  double max_rel = 0.0;       // |a - b| / max(|a|, |b|) over the same pairs: 1 where one is 0, at
                              // most 2 (opposite signs); 0 for a pair of zeros; NaN alike
  std::uint64_t max_ulp = 0;  // steps between representable values of the dtype, over
                              // the same pairs; 0 and -0 are one step apart
  UlpHistogram ulp_histogram{};          // of the same pairs
  std::uint64_t non_finite_changes = 0;  // finite on one side only, or another kind of non-finite
  std::uint64_t nan_changes = 0;         // of these: NaN on exactly one side
  std::uint64_t zero_sign_changes = 0;   // 0 on one side, -0 on the other
  // Over all elements that are finite on both sides, equal ones too. Sums of products in fp64, each
  // product rounded before it is added: element i of a block (kReadBlockBytes from the tensor's
  // start on) adds to lane i % 8, lanes to the block, blocks to ranges of 64, ranges to the tensor,
  // each in order. For 8-bit types: each pair of patterns, in ascending order, times its count in a
  // range. So every machine and any number of threads gives the same bits. Infinite if a square
  // exceeds fp64. NaN if meaningless: digests alone, blocks, sub-byte types.
  double norm_a = 0.0;  // Euclidean
  double norm_b = 0.0;
  double norm_difference = 0.0;  // of a - b
  double cosine = 1.0;           // in [-1, 1]; NaN when a norm is 0 or infinite
};

// The tensors of one layer: their names share everything up to and including the last number
// between dots ("model.layers.17.mlp.w1.weight" is in "model.layers.17"); without a number, up to
// the last dot ("conv1.weight" is in "conv1"); without a dot, the name itself.
struct GroupDifference {
  std::string group;
  std::uint64_t tensors = 0;
  std::uint64_t differing_tensors = 0;
  std::uint64_t elements = 0;
  std::uint64_t differing = 0;
  double max_abs = 0.0;  // this and the next two as in TensorDifference, of all that differ
  double max_rel = 0.0;
  std::uint64_t max_ulp = 0;
  double relative_norm = 0.0;  // norm of a - b over the norm of a, of the tensors that differ and
                               // have norms: 0 if nothing differs, infinite where all of a is 0,
                               // NaN where both norms are 0 or no tensor has norms
};

struct CheckpointDifference {
  bool bit_equal = false;      // same names, dtypes, shapes and bits, and not vacuous
  bool vacuous = false;        // one side or both have no element: nothing was compared
  std::uint64_t compared = 0;  // tensors present on both sides with one dtype and shape
  std::uint64_t elements = 0;  // of these
  std::vector<std::string> only_a;
  std::vector<std::string> only_b;
  std::vector<std::string> shape_or_dtype;  // names whose dtype or shape differ
  std::vector<TensorDifference> differing;  // in byte order of names
  // Compared tensors with values that are not finite and should be, equal on both sides or not,
  // with the counts of the side that has more; in byte order of names.
  std::vector<NonFiniteTensor> non_finite;
  std::vector<GroupDifference> groups;  // of all compared tensors; "layers.2" before "layers.10"
};

// Element statistics of two tensors of one dtype and shape; both spans hold info.size_bytes bytes
// (aborts otherwise). C64 and C128 count elements (first index, differing, changes) and measure
// their components (distances, histogram, norms). Sub-byte types: bits and index only (max_abs,
// max_rel and norms are NaN, max_ulp 0). A NaN whose payload alone differs is a differing element,
// no change of kind. Distances are computed in fp64; max_abs is infinite when an fp64 difference
// overflows, max_rel is not. 64-bit integers: steps are exact, values rounded to fp64.
TensorDifference DiffTensors(const TensorInfo& info, std::span<const std::byte> a,
                             std::span<const std::byte> b);

// Streams both: two blocks per thread, whatever the checkpoints' size, and less than 2 KiB for each
// tensor that differs. A first pass compares bits, each tensor until its first difference; a second
// pass measures the tensors that differ. The result does not depend on `threads` (0: one per core).
// Errors: those of Checkpoint::Read and CheckUnchanged; integrity also when a tensor that differed
// in the first pass does not in the second.
Result<CheckpointDifference> DiffCheckpoints(const Checkpoint& a, const Checkpoint& b,
                                             int threads = 0);

// From digests only (the original weights are gone): which tensors differ. The `differing` entries
// then carry name, dtype and shape alone, with elements = 0; distances, norms and cosine are NaN,
// counts 0. Groups count tensors, with no elements.
CheckpointDifference DiffDigests(const std::vector<TensorDigest>& a,
                                 const std::vector<TensorDigest>& b);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TENSOR_DIFF_H_
