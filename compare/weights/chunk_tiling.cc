// Boxes as sums of signed corners, which must cancel.
#include "compare/weights/chunk_tiling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <map>

#include "harness/base/result.h"

namespace rharness {
namespace {

using Sizes = std::vector<std::uint64_t>;
using Corners = std::map<Sizes, std::int64_t>;  // how much each one counts, in the cut dimensions

bool HasElements(const Sizes& sizes) { return std::ranges::find(sizes, 0U) == sizes.end(); }

bool IsWithin(const ChunkBox& box, const Sizes& shape) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (box.offsets[i] > shape[i] || box.sizes[i] > shape[i] - box.offsets[i]) return false;
  }
  return true;
}

std::string Text(const Sizes& sizes) { return fmt::format("[{}]", fmt::join(sizes, ", ")); }

// The dimensions along which not every box is as long as the tensor.
std::vector<std::size_t> CutDimensions(const Sizes& shape, const std::vector<ChunkBox>& boxes) {
  std::vector<std::size_t> cut;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto is_shorter = [&](const ChunkBox& box) { return box.sizes[i] != shape[i]; };
    if (std::ranges::any_of(boxes, is_shorter)) cut.push_back(i);
  }
  return cut;
}

// A box is the sum over its corners of the quadrant above each, counted -1 for every far end.
void AddCorners(const ChunkBox& box, const std::vector<std::size_t>& cut, std::int64_t weight,
                Corners* corners) {
  for (unsigned far_ends = 0; far_ends < 1U << cut.size(); ++far_ends) {
    Sizes corner;
    for (std::size_t i = 0; i < cut.size(); ++i) {
      const bool is_far = (far_ends >> i & 1) != 0;
      corner.push_back(box.offsets[cut[i]] + (is_far ? box.sizes[cut[i]] : 0));
    }
    (*corners)[std::move(corner)] += std::popcount(far_ends) % 2 == 0 ? weight : -weight;
  }
}

}  // namespace

std::optional<std::string> FindTilingFault(const Sizes& shape, const std::vector<ChunkBox>& boxes) {
  std::vector<ChunkBox> filled;
  for (const ChunkBox& box : boxes) {
    if (box.offsets.size() != shape.size() || box.sizes.size() != shape.size()) {
      Abort("a chunk of another rank than its tensor");
    }
    if (!IsWithin(box, shape)) {
      return fmt::format("a chunk of {} at {} leaves the tensor's {}", Text(box.sizes),
                         Text(box.offsets), Text(shape));
    }
    if (HasElements(box.sizes)) filled.push_back(box);
  }
  if (!HasElements(shape)) return std::nullopt;
  const std::vector<std::size_t> cut = CutDimensions(shape, filled);
  if (cut.size() > static_cast<std::size_t>(kMaxCutDimensions)) {
    return fmt::format("it is cut along {} dimensions; expected at most {}", cut.size(),
                       kMaxCutDimensions);
  }
  Corners corners;
  AddCorners({Sizes(shape.size(), 0), shape}, cut, -1, &corners);
  for (const ChunkBox& box : filled) AddCorners(box, cut, 1, &corners);
  for (const auto& [corner, count] : corners) {
    if (count == 0) continue;
    // There is no fault before this corner, so the count here is that of the chunks over its
    // element.
    Sizes element(shape.size(), 0);
    for (std::size_t i = 0; i < cut.size(); ++i) element[cut[i]] = corner[i];
    return fmt::format("{} {}", count < 0 ? "no chunk covers" : "several chunks cover",
                       Text(element));
  }
  return std::nullopt;
}

}  // namespace rharness
