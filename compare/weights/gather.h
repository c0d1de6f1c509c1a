// Collects elements that lie apart in C order.
//
// Role: private to this folder; the arithmetic under view_checkpoint. Reads its source in ascending
// order, in few spans, whatever the strides.
#ifndef RHARNESS_COMPARE_WEIGHTS_GATHER_H_
#define RHARNESS_COMPARE_WEIGHTS_GATHER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

// Fills the span with the source's bytes from an offset on.
using ReadSource = std::function<Status(std::uint64_t offset, std::span<std::byte> out)>;

// One dimension of a box of elements.
struct GatherDimension {
  std::uint64_t count = 0;
  std::uint64_t source_stride = 0;  // in elements
  std::uint64_t out_stride = 0;     // in elements
};

// Copies the elements of `dimensions` (none is empty; no dimension: one element) of `item_bytes`
// each (1, 2, 4, 8 or 16) from `offset_bytes` of the source to their places in `out`, which has
// room for all of them. Reads gaps of up to 4 KiB rather than skip them. Errors: those of `read`.
Status Gather(const ReadSource& read, std::uint64_t offset_bytes,
              std::vector<GatherDimension> dimensions, std::size_t item_bytes,
              std::span<std::byte> out);

// Elements of a view that form one box and one run in C order.
struct GatherBand {
  std::uint64_t first = 0;  // flat index
  std::uint64_t count = 0;
  std::uint64_t source_offset = 0;  // of the first, in elements from the view's first
  std::vector<GatherDimension> dimensions;
};

// The band of at most `max_elements` (at least 1) that holds the element of flat index `element`;
// bands do not overlap. `shape` has no 0 and holds `element`.
GatherBand BandOf(const std::vector<std::uint64_t>& shape,
                  const std::vector<std::uint64_t>& strides, std::uint64_t element,
                  std::uint64_t max_elements);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_GATHER_H_
