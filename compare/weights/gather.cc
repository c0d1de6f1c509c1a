// Boxes of elements, read span by span in the source's order.
#include "compare/weights/gather.h"

#include <algorithm>
#include <cstring>

namespace rharness {
namespace {

constexpr std::uint64_t kSpanBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxGapBytes = 4096;  // a separate read costs as much

using Dimensions = std::span<const GatherDimension>;

// Elements from the first to the last of a box, both included.
std::uint64_t SpanOf(Dimensions dimensions) {
  std::uint64_t span = 1;
  for (const GatherDimension& one : dimensions) span += (one.count - 1) * one.source_stride;
  return span;
}

// Whether boxes of this span, one every `stride` elements, are read together with the gaps between
// them.
bool IsNear(std::uint64_t stride, std::uint64_t span, std::size_t item_bytes) {
  return stride <= span + kMaxGapBytes / item_bytes;
}

// Calls `visit` with the source's and the output's offset of every element of a box.
template <class Visit>
void ForEach(Dimensions dimensions, const Visit& visit) {
  std::vector<std::uint64_t> index(dimensions.size(), 0);
  std::uint64_t source = 0, out = 0;
  while (true) {
    visit(source, out);
    std::size_t d = dimensions.size();
    for (; d > 0; --d) {
      const GatherDimension& one = dimensions[d - 1];
      source += one.source_stride;
      out += one.out_stride;
      if (++index[d - 1] < one.count) break;
      source -= one.count * one.source_stride;
      out -= one.count * one.out_stride;
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

// Copies a box from a span that has been read. The innermost dimension runs in a tight loop.
template <std::size_t kItem>
void Scatter(const std::byte* span, Dimensions dimensions, std::byte* out) {
  const GatherDimension inner =
      dimensions.empty() ? GatherDimension{1, 0, 0} : dimensions[dimensions.size() - 1];
  const Dimensions outer = dimensions.first(dimensions.empty() ? 0 : dimensions.size() - 1);
  ForEach(outer, [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = 0; i < inner.count; ++i) {
      std::memcpy(out + (to + i * inner.out_stride) * kItem,
                  span + (from + i * inner.source_stride) * kItem, kItem);
    }
  });
}

using ScatterFunction = void (*)(const std::byte*, Dimensions, std::byte*);

ScatterFunction ScatterFor(std::size_t item_bytes) {
  switch (item_bytes) {
    case 1:
      return Scatter<1>;
    case 2:
      return Scatter<2>;
    case 4:
      return Scatter<4>;
    case 8:
      return Scatter<8>;
    case 16:
      return Scatter<16>;
    default:
      Abort("elements of an unknown size");
  }
}

// Number of innermost dimensions to read as one span: together they are short and without large
// gaps.
std::size_t SpanDimensions(Dimensions dimensions, std::size_t item_bytes) {
  std::size_t inner = 0;
  while (inner < dimensions.size()) {
    const std::uint64_t span = SpanOf(dimensions.last(inner));
    const std::uint64_t stride = dimensions[dimensions.size() - inner - 1].source_stride;
    if (!IsNear(stride, span, item_bytes)) break;
    if (SpanOf(dimensions.last(inner + 1)) > kSpanBytes / item_bytes) break;
    ++inner;
  }
  return inner;
}

}  // namespace

Status Gather(const ReadSource& read, std::uint64_t offset_bytes,
              std::vector<GatherDimension> dimensions, std::size_t item_bytes,
              std::span<std::byte> out) {
  std::erase_if(dimensions, [](const GatherDimension& one) { return one.count == 1; });
  std::ranges::stable_sort(dimensions, std::ranges::greater(), &GatherDimension::source_stride);
  const ScatterFunction scatter = ScatterFor(item_bytes);
  const std::size_t inner = SpanDimensions(dimensions, item_bytes);
  const Dimensions box = Dimensions(dimensions).last(inner);
  Dimensions outer = Dimensions(dimensions).first(dimensions.size() - inner);
  // The next dimension as a whole would be too long a span: a part of it at a time.
  const GatherDimension split = outer.empty() ? GatherDimension{1, 0, 0} : outer.back();
  if (!outer.empty()) outer = outer.first(outer.size() - 1);
  std::uint64_t step = 1;
  if (IsNear(split.source_stride, SpanOf(box), item_bytes)) {
    const std::uint64_t room = kSpanBytes / item_bytes - SpanOf(box);
    step = split.source_stride == 0 ? split.count : room / split.source_stride + 1;
  }
  std::vector<GatherDimension> part = {split};
  part.insert(part.end(), box.begin(), box.end());
  std::vector<std::byte> span;
  Status status;
  ForEach(outer, [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = 0; i < split.count && status.ok(); i += step) {
      part[0].count = std::min(step, split.count - i);
      span.resize(SpanOf(part) * item_bytes);
      status = read(offset_bytes + (from + i * split.source_stride) * item_bytes, span);
      if (status.ok()) {
        scatter(span.data(), part, out.data() + (to + i * split.out_stride) * item_bytes);
      }
    }
  });
  return status;
}

GatherBand BandOf(const std::vector<std::uint64_t>& shape,
                  const std::vector<std::uint64_t>& strides, std::uint64_t element,
                  std::uint64_t max_elements) {
  // The dimensions after `d` fit a band as a whole; of `d` itself, `rows` at a time.
  std::size_t d = shape.size();
  std::uint64_t row = 1;  // elements of the dimensions after d
  while (d > 0 && shape[d - 1] <= max_elements / row) row *= shape[--d];
  GatherBand band;
  std::uint64_t rest = element / row;
  std::uint64_t out_stride = row;
  for (std::size_t k = d; k < shape.size(); ++k) {
    out_stride /= shape[k];
    band.dimensions.push_back({shape[k], strides[k], out_stride});
  }
  band.count = row;
  band.first = rest * row;
  if (d > 0) {
    const std::uint64_t rows = std::max<std::uint64_t>(1, max_elements / row);
    const std::uint64_t index = rest % shape[d - 1];
    const std::uint64_t first = index - index % rows;
    const std::uint64_t count = std::min(rows, shape[d - 1] - first);
    band.dimensions.push_back({count, strides[d - 1], row});
    band.source_offset = first * strides[d - 1];
    band.count = count * row;
    band.first -= (index - first) * row;
    rest /= shape[d - 1];
    for (std::size_t k = d - 1; k > 0; --k) {
      band.source_offset += rest % shape[k - 1] * strides[k - 1];
      rest /= shape[k - 1];
    }
  }
  return band;
}

}  // namespace rharness
