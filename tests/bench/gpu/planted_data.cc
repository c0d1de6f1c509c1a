// Seeded buffers and what is planted in them.
#include "tests/bench/gpu/planted_data.h"

#include <fmt/format.h>

#include <cstring>
#include <span>

namespace rharness::bench {
namespace {

// As patterns of an fp32; those of a bf16 are the upper halves, so no pair differs below them.
struct Special {
  const char* name;
  std::uint32_t x, y;
};
constexpr Special kSpecials[] = {
    {"NaN on one side", 0x3f800000, 0x7fc00000},
    {"NaN on the other", 0xffc00000, 0x3f800000},
    {"two payloads", 0x7fc00000, 0x7fa00000},
    {"NaN and infinity", 0x7fc00000, 0x7f800000},
    {"0 and -0", 0x00000000, 0x80000000},
    {"-0 and 0", 0x80000000, 0x00000000},
    {"infinity and a number", 0x7f800000, 0x3f800000},
    {"a number and -infinity", 0x3f800000, 0xff800000},
    {"infinities of two signs", 0x7f800000, 0xff800000},
    {"equal infinities", 0x7f800000, 0x7f800000},
    {"equal NaNs", 0x7fc00000, 0x7fc00000},
    {"largest of two signs", 0x7f7f0000, 0xff7f0000},
    {"subnormals of two signs", 0x00010000, 0x80010000},
    {"smallest normal and below", 0x00800000, 0x007f0000},
    {"across a binade", 0x3f7f0000, 0x3f800000},
    {"0 and a number", 0x00000000, 0x40490000},
};

std::uint64_t SplitMix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

std::size_t BytesOf(DType dtype) { return static_cast<std::size_t>(BitsOf(dtype)) / 8; }

// `pattern` of an fp32 as element `index`; little-endian, as the machines that have such devices.
void Put(DType dtype, std::uint64_t index, std::uint32_t pattern, std::vector<std::byte>* to) {
  const std::size_t size = BytesOf(dtype);
  const std::uint32_t bits = size == 2 ? pattern >> 16 : pattern;
  std::memcpy(to->data() + index * size, &bits, size);
}

void FlipAt(DType dtype, std::uint64_t index, std::vector<std::byte>* b) {
  std::byte& low = (*b)[index * BytesOf(dtype)];
  low ^= static_cast<std::byte>(1 + SplitMix(index) % 7);
}

PlantedPair EqualPair(DType dtype, std::uint64_t elements, const char* plant) {
  PlantedPair pair{fmt::format("{} x {}, {}", DTypeName(dtype), elements, plant), dtype, elements};
  pair.a = SeededBuffer(dtype, elements, elements);
  pair.b = pair.a;
  return pair;
}

}  // namespace

std::vector<std::byte> SeededBuffer(DType dtype, std::uint64_t elements, std::uint64_t seed) {
  const std::size_t size = BytesOf(dtype);
  std::vector<std::byte> buffer(elements * size);
  for (std::uint64_t i = 0; i < elements; ++i) {
    const std::uint64_t random = SplitMix(seed * 0x100000001b3U + i);
    const auto exponent = static_cast<std::uint32_t>(100 + (random >> 32) % 28);
    const auto bits = static_cast<std::uint32_t>(random & 0x807fffffU) | exponent << 23;
    const std::uint32_t element = size == 2 ? bits >> 16 : bits;
    std::memcpy(buffer.data() + i * size, &element, size);
  }
  return buffer;
}

void ChangeEvery(DType dtype, std::uint64_t from, std::uint64_t step, std::vector<std::byte>* b) {
  const std::uint64_t elements = b->size() / BytesOf(dtype);
  for (std::uint64_t i = from; i < elements; i += step) FlipAt(dtype, i, b);
}

void PlantSpecials(DType dtype, std::vector<std::byte>* a, std::vector<std::byte>* b) {
  const std::uint64_t elements = b->size() / BytesOf(dtype);
  if (elements == 0) return;
  const std::uint64_t gap = elements / (std::size(kSpecials) + 1);
  for (std::size_t i = 0; i < std::size(kSpecials) && gap > 0; ++i) {
    Put(dtype, (i + 1) * gap, kSpecials[i].x, a);
    Put(dtype, (i + 1) * gap, kSpecials[i].y, b);
  }
  for (const std::uint64_t index : {std::uint64_t{0}, elements - 1}) {
    Put(dtype, index, 0x3f800000, a);
    Put(dtype, index, 0x3f810000, b);
  }
}

std::vector<PlantedPair> PlantedPairs(DType dtype) {
  std::vector<PlantedPair> pairs;
  pairs.push_back(EqualPair(dtype, 0, "none"));
  // Around 16 bytes, a block's share, and more than one round of a grid of few blocks.
  for (const std::uint64_t elements : {1, 2, 3, 4, 5, 7, 8, 9, 17, 127, 1025, 100'003}) {
    pairs.push_back(EqualPair(dtype, elements, "none"));
    for (const std::uint64_t index : {std::uint64_t{0}, elements / 2, elements - 1}) {
      pairs.push_back(EqualPair(dtype, elements, "one bit"));
      FlipAt(dtype, index, &pairs.back().b);
    }
    pairs.push_back(EqualPair(dtype, elements, "all"));
    ChangeEvery(dtype, 0, 1, &pairs.back().b);
    pairs.push_back(EqualPair(dtype, elements, "specials"));
    PlantSpecials(dtype, &pairs.back().a, &pairs.back().b);
  }
  for (const Special& special : kSpecials) {
    PlantedPair& pair = pairs.emplace_back(EqualPair(dtype, 1001, special.name));
    Put(dtype, 640, special.x, &pair.a);
    Put(dtype, 640, special.y, &pair.b);
  }
  return pairs;
}

TensorDifference ExpectedOf(DType dtype, const std::vector<std::byte>& a,
                            const std::vector<std::byte>& b) {
  TensorInfo info{.name = "buffer", .dtype = dtype};
  info.elements = a.size() / BytesOf(dtype);
  info.shape = {info.elements};
  info.size_bytes = a.size();
  return DiffTensors(info, a, b);
}

}  // namespace rharness::bench
