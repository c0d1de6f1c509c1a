// Checks that boxes tile a tensor: every element in exactly one of them.
//
// Role: the check on tensors that were saved in chunks. Pure.
#ifndef RHARNESS_COMPARE_WEIGHTS_CHUNK_TILING_H_
#define RHARNESS_COMPARE_WEIGHTS_CHUNK_TILING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rharness {

struct ChunkBox {
  std::vector<std::uint64_t> offsets;  // of its first element; as many as the tensor has dimensions
  std::vector<std::uint64_t> sizes;
};

// A tensor cut along more dimensions than this is refused: the cost of a box doubles with each.
inline constexpr int kMaxCutDimensions = 6;

// The fault ("no chunk covers [0, 4]", "several chunks cover [1, 0]", "a chunk [0, 4] of [8, 8]
// leaves the tensor's [8, 8]"); empty when the boxes tile the shape. Boxes without an element cover
// nothing. Aborts when a box has another rank than the shape. Exact: the signed corners of the
// boxes cancel to those of the whole if and only if each element is covered once. Cost: n log n for
// n boxes, times 2 to the number of dimensions that are cut.
std::optional<std::string> FindTilingFault(const std::vector<std::uint64_t>& shape,
                                           const std::vector<ChunkBox>& boxes);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_CHUNK_TILING_H_
