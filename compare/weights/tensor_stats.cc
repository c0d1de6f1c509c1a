// One pass over the elements of two blocks, compiled once for every format.
#include "compare/weights/tensor_stats.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compare/weights/element_formats.h"

namespace rharness {
namespace {

constexpr std::size_t kChunkBytes = 3072;  // what equal bits skip at once: whole elements each

template <class Format>
typename Format::Bits Load(const std::byte* bytes, std::size_t index) {
  typename Format::Bits bits;
  std::memcpy(&bits, bytes + index * sizeof(bits), sizeof(bits));
  return bits;
}

template <class Format>
double AbsoluteDifference(typename Format::Bits x, typename Format::Bits y, std::uint64_t steps) {
  if constexpr (requires { Format::ValueOf(x); }) {
    return std::abs(Format::ValueOf(x) - Format::ValueOf(y));
  } else {
    return static_cast<double>(steps);  // integers: exact before it becomes a double
  }
}

// Measures one pair whose bits differ. Inlined, and without branches on which is larger: a call or
// a misprediction a pair would cost more than all of its arithmetic.
template <class Format>
[[gnu::always_inline]] inline void AddPair(typename Format::Bits x, typename Format::Bits y,
                                           std::uint64_t* max_ulp, double* max_abs,
                                           std::uint64_t* non_finite_changes) {
  if (Format::IsFinite(x) && Format::IsFinite(y)) [[likely]] {
    const std::uint64_t p = Format::OrderOf(x), q = Format::OrderOf(y);
    const std::uint64_t steps = std::max(p, q) - std::min(p, q);
    *max_ulp = std::max(*max_ulp, steps);
    *max_abs = std::max(*max_abs, AbsoluteDifference<Format>(x, y, steps));
  } else if (Format::IsFinite(x) != Format::IsFinite(y) || Format::KindOf(x) != Format::KindOf(y)) {
    ++*non_finite_changes;
  }
}

template <class Format>
void AddElements(const std::byte* a, const std::byte* b, std::size_t size, std::uint64_t first,
                 TensorStats* stats) {
  // Plain variables stay in registers, which members of a struct whose address is taken do not.
  std::uint64_t differing = 0, first_index = stats->first_index, max_ulp = 0, changes = 0;
  double max_abs = TensorStats::kNoDistance;
  const std::size_t count = size / sizeof(typename Format::Bits);
  for (std::size_t i = 0; i < count; ++i) {
    const auto x = Load<Format>(a, i), y = Load<Format>(b, i);
    if (x == y) continue;
    ++differing;
    first_index = std::min(first_index, first + i);
    AddPair<Format>(x, y, &max_ulp, &max_abs, &changes);
  }
  stats->Merge({differing, first_index, max_abs, max_ulp, changes});
}

// Two components an element, counted as one.
template <class Format>
void AddComplex(const std::byte* a, const std::byte* b, std::size_t size, std::uint64_t first,
                TensorStats* stats) {
  constexpr std::size_t kBytes = 2 * sizeof(typename Format::Bits);
  TensorStats local;
  for (std::size_t i = 0; i < size / kBytes; ++i) {
    if (std::memcmp(a + kBytes * i, b + kBytes * i, kBytes) == 0) continue;
    if (local.differing++ == 0) local.first_index = first + i;
    TensorStats element;
    for (const std::size_t part : {2 * i, 2 * i + 1}) {
      const auto x = Load<Format>(a, part), y = Load<Format>(b, part);
      if (x == y) continue;
      AddPair<Format>(x, y, &element.max_ulp, &element.max_abs, &element.non_finite_changes);
    }
    element.non_finite_changes = std::min<std::uint64_t>(element.non_finite_changes, 1);
    local.Merge(element);
  }
  stats->Merge(local);
}

// Elements packed from the least significant bit of each byte up: 2 in a byte, 4 in three, or bytes
// without a meaning of their own.
template <int kBits>
void AddPacked(const std::byte* a, const std::byte* b, std::size_t size, std::uint64_t first,
               TensorStats* stats) {
  constexpr std::size_t kGroupBytes = kBits == 6 ? 3 : 1;
  constexpr int kGroupElements = static_cast<int>(8 * kGroupBytes) / kBits;
  TensorStats local;
  for (std::size_t i = 0; i < size / kGroupBytes; ++i) {
    std::uint32_t changed = 0;
    for (std::size_t byte = 0; byte < kGroupBytes; ++byte) {
      const std::size_t at = i * kGroupBytes + byte;
      changed |= std::to_integer<std::uint32_t>(a[at] ^ b[at]) << (8 * byte);
    }
    for (int element = 0; changed != 0; ++element, changed >>= kBits) {
      if ((changed & ((1u << kBits) - 1)) == 0) continue;
      if (local.differing++ == 0) {
        local.first_index = first + i * kGroupElements + static_cast<std::uint64_t>(element);
      }
    }
  }
  stats->Merge(local);
}

using AddFunction = void (*)(const std::byte*, const std::byte*, std::size_t, std::uint64_t,
                             TensorStats*);

AddFunction FunctionFor(DType dtype) {
  switch (dtype) {
    case DType::kF4:
      return AddPacked<4>;
    case DType::kF6E2M3:
    case DType::kF6E3M2:
      return AddPacked<6>;
    case DType::kBlocks:
      return AddPacked<8>;
    case DType::kBool:
    case DType::kU8:
      return AddElements<IntegerFormat<std::uint8_t>>;
    case DType::kI8:
      return AddElements<IntegerFormat<std::int8_t>>;
    case DType::kF8E5M2:
      return AddElements<F8E5M2Format>;
    case DType::kF8E4M3:
      return AddElements<F8E4M3Format>;
    case DType::kF8E8M0:
      return AddElements<F8E8M0Format>;
    case DType::kF8E4M3Fnuz:
      return AddElements<FnuzFormat<3, 8>>;
    case DType::kF8E5M2Fnuz:
      return AddElements<FnuzFormat<2, 16>>;
    case DType::kI16:
      return AddElements<IntegerFormat<std::int16_t>>;
    case DType::kU16:
      return AddElements<IntegerFormat<std::uint16_t>>;
    case DType::kF16:
      return AddElements<F16Format>;
    case DType::kBF16:
      return AddElements<BF16Format>;
    case DType::kI32:
      return AddElements<IntegerFormat<std::int32_t>>;
    case DType::kU32:
      return AddElements<IntegerFormat<std::uint32_t>>;
    case DType::kF32:
      return AddElements<F32Format>;
    case DType::kC64:
      return AddComplex<F32Format>;
    case DType::kC128:
      return AddComplex<F64Format>;
    case DType::kF64:
      return AddElements<F64Format>;
    case DType::kI64:
      return AddElements<IntegerFormat<std::int64_t>>;
    case DType::kU64:
      return AddElements<IntegerFormat<std::uint64_t>>;
  }
  Abort("unknown DType");
}

}  // namespace

void TensorStats::Merge(const TensorStats& other) {
  differing += other.differing;
  first_index = std::min(first_index, other.first_index);
  max_abs = std::max(max_abs, other.max_abs);
  max_ulp = std::max(max_ulp, other.max_ulp);
  non_finite_changes += other.non_finite_changes;
}

void AddDifferences(DType dtype, std::span<const std::byte> a, std::span<const std::byte> b,
                    std::uint64_t first_element, TensorStats* stats) {
  if (a.size() != b.size()) Abort("difference of blocks of different size");
  if (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0) return;
  const AddFunction add = FunctionFor(dtype);
  const std::uint64_t elements_per_chunk =
      kChunkBytes * 8 / static_cast<std::uint64_t>(BitsOf(dtype));
  for (std::size_t at = 0; at < a.size(); at += kChunkBytes) {
    const std::size_t size = std::min(kChunkBytes, a.size() - at);
    if (std::memcmp(a.data() + at, b.data() + at, size) != 0) {
      add(a.data() + at, b.data() + at, size, first_element + at / kChunkBytes * elements_per_chunk,
          stats);
    }
  }
}

}  // namespace rharness
