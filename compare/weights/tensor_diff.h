// How two tensors, and two checkpoints, differ: bits, first index, largest absolute and ULP
// distance.
#ifndef RHARNESS_COMPARE_WEIGHTS_TENSOR_DIFF_H_
#define RHARNESS_COMPARE_WEIGHTS_TENSOR_DIFF_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/tensor_digest.h"

namespace rharness {

struct TensorDifference {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::uint64_t> shape;
  std::uint64_t elements = 0;
  std::uint64_t differing = 0;           // elements whose bits differ
  std::uint64_t first_index = 0;         // flat C-order index of the first one
  double max_abs = 0.0;                  // over differing pairs of finite values; NaN if none
  std::uint64_t max_ulp = 0;             // steps between representable values of the dtype, over
                                         // the same pairs; 0 and -0 are one step apart
  std::uint64_t non_finite_changes = 0;  // finite on one side only, or another kind of non-finite
};

struct CheckpointDifference {
  bool bit_equal = false;      // same names, dtypes, shapes and bits, and not vacuous
  bool vacuous = false;        // one side or both have not one element: nothing was compared
  std::uint64_t compared = 0;  // tensors present on both sides with one dtype and shape
  std::vector<std::string> only_a;
  std::vector<std::string> only_b;
  std::vector<std::string> shape_or_dtype;  // names whose dtype or shape differ
  std::vector<TensorDifference> differing;  // in byte order of names
};

// Element statistics of two tensors of one dtype and shape; both spans hold info.size_bytes bytes
// (aborts otherwise). C64 counts elements and measures their components. Sub-byte types: bits and
// index only (max_abs is NaN, max_ulp 0). A NaN whose payload alone differs is a differing element,
// no change of kind. max_abs is computed in fp64; infinite when an fp64 difference overflows.
TensorDifference DiffTensors(const TensorInfo& info, std::span<const std::byte> a,
                             std::span<const std::byte> b);

// Streams both: two blocks a thread, whatever the checkpoints' size. Bitwise first, statistics only
// where bits differ. The result does not depend on `threads` (0: one per core).
// Errors: those of Checkpoint::Read and CheckUnchanged.
Result<CheckpointDifference> DiffCheckpoints(const Checkpoint& a, const Checkpoint& b,
                                             int threads = 0);

// Where only digests are at hand (the original weights are gone): which tensors differ. The
// `differing` entries then carry name, dtype and shape alone, with elements = 0.
CheckpointDifference DiffDigests(const std::vector<TensorDigest>& a,
                                 const std::vector<TensorDigest>& b);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TENSOR_DIFF_H_
