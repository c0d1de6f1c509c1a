// Vector instructions find whether a block has any; only then are they counted.
#include "compare/weights/non_finite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <memory>
#include <optional>

#include "compare/weights/block_kernels.h"
#include "compare/weights/element_formats.h"
#include "compare/weights/roles.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

// For an 8-bit type: (bits & mask) == target if it is not finite. Compilers turn the inner loop, of
// known length, into vector instructions.
bool HoldsPattern(std::uint8_t mask, std::uint8_t target, std::span<const std::byte> bytes) {
  constexpr std::size_t kStep = 64;
  const auto found = [&](std::byte byte) {
    return (std::to_integer<std::uint8_t>(byte) & mask) == target;
  };
  std::size_t at = 0;
  for (; at + kStep <= bytes.size(); at += kStep) {
    std::uint8_t any = 0;
    for (std::size_t i = 0; i < kStep; ++i) any |= static_cast<std::uint8_t>(found(bytes[at + i]));
    if (any != 0) return true;
  }
  return std::ranges::any_of(bytes.subspan(at), found);
}

// Every `every`-th lane of 16 bits is the upper end of an element with sign and exponent: a
// non-finite one has the largest magnitudes. So the largest of each lane is enough.
struct UpperEnds {
  std::size_t every = 1;
  std::int16_t least = 0;  // of what is not finite
};

// Two instructions a vector. Inlined into functions for several instruction sets.
template <class Lanes>
[[gnu::always_inline]] inline bool AnyReaches(const UpperEnds& ends, const std::byte* bytes,
                                              std::size_t vectors) {
  constexpr std::size_t kLanes = sizeof(Lanes) / sizeof(std::int16_t);
  Lanes largest = {}, other = {};
  for (std::size_t i = 0; i + 1 < vectors; i += 2) {
    Lanes one, two;
    std::memcpy(&one, bytes + i * sizeof(Lanes), sizeof(Lanes));
    std::memcpy(&two, bytes + (i + 1) * sizeof(Lanes), sizeof(Lanes));
    one &= 0x7fff;
    two &= 0x7fff;
    largest = one > largest ? one : largest;
    other = two > other ? two : other;
  }
  largest = other > largest ? other : largest;
  bool any = false;
  for (std::size_t lane = ends.every - 1; lane < kLanes; lane += ends.every) {
    any |= largest[lane] >= ends.least;
  }
  return any;
}

using Lanes16 [[gnu::vector_size(16)]] = std::int16_t;

#if defined(__x86_64__)
using Lanes32 [[gnu::vector_size(32)]] = std::int16_t;

[[gnu::target("avx2")]] bool AnyReachesAvx2(const UpperEnds& ends, const std::byte* bytes,
                                            std::size_t vectors) {
  return AnyReaches<Lanes32>(ends, bytes, vectors);
}
#endif

// What is too short for vectors, from `bytes` on, is copied to a vector of zeros, which are finite.
bool HoldsUpperEnd(const UpperEnds& ends, std::span<const std::byte> bytes) {
  constexpr std::size_t kStep = 64;
  const std::size_t whole = bytes.size() / kStep * kStep;
#if defined(__x86_64__)
  const bool wide = BestKernel() != Kernel::kScalar;
  if (wide ? AnyReachesAvx2(ends, bytes.data(), whole / 32)
           : AnyReaches<Lanes16>(ends, bytes.data(), whole / 16)) {
    return true;
  }
#else
  if (AnyReaches<Lanes16>(ends, bytes.data(), whole / 16)) return true;
#endif
  std::array<std::byte, kStep> rest{};
  std::ranges::copy(bytes.subspan(whole), rest.begin());
  return AnyReaches<Lanes16>(ends, rest.data(), kStep / 16);
}

// Whether any is not finite; empty: the type has no such values.
std::optional<bool> HoldsNonFinite(DType dtype, std::span<const std::byte> bytes) {
  switch (dtype) {
    case DType::kF16:
      return HoldsUpperEnd({1, 0x7c00}, bytes);
    case DType::kBF16:
      return HoldsUpperEnd({1, 0x7f80}, bytes);
    case DType::kF32:
    case DType::kC64:
      return HoldsUpperEnd({2, 0x7f80}, bytes);
    case DType::kF64:
    case DType::kC128:
      return HoldsUpperEnd({4, 0x7ff0}, bytes);
    case DType::kF8E4M3:
      return HoldsPattern(0x7f, 0x7f, bytes);
    case DType::kF8E5M2:
      return HoldsPattern(0x7c, 0x7c, bytes);
    case DType::kF8E8M0:
      return HoldsPattern(0xff, 0xff, bytes);
    case DType::kF8E4M3Fnuz:
    case DType::kF8E5M2Fnuz:
      return HoldsPattern(0xff, 0x80, bytes);
    default:
      return std::nullopt;
  }
}

// Calls `take` with the format and the bits of each element, of a complex one of each part.
template <class Format, class Take>
void VisitEvery(std::span<const std::byte> bytes, Take take) {
  typename Format::Bits bits;
  for (std::size_t at = 0; at + sizeof(bits) <= bytes.size(); at += sizeof(bits)) {
    std::memcpy(&bits, bytes.data() + at, sizeof(bits));
    take(Format(), bits);
  }
}

template <class Take>
void VisitElements(DType dtype, std::span<const std::byte> bytes, Take take) {
  switch (dtype) {
    case DType::kF16:
      return VisitEvery<F16Format>(bytes, take);
    case DType::kBF16:
      return VisitEvery<BF16Format>(bytes, take);
    case DType::kF32:
    case DType::kC64:
      return VisitEvery<F32Format>(bytes, take);
    case DType::kF64:
    case DType::kC128:
      return VisitEvery<F64Format>(bytes, take);
    case DType::kF8E4M3:
      return VisitEvery<F8E4M3Format>(bytes, take);
    case DType::kF8E5M2:
      return VisitEvery<F8E5M2Format>(bytes, take);
    case DType::kF8E8M0:
      return VisitEvery<F8E8M0Format>(bytes, take);
    case DType::kF8E4M3Fnuz:
      return VisitEvery<FnuzFormat<3, 8>>(bytes, take);
    case DType::kF8E5M2Fnuz:
      return VisitEvery<FnuzFormat<2, 16>>(bytes, take);
    default:
      return;
  }
}

// Whether there is a finite element and all of these are 0 or -0.
Result<bool> IsZeroWhereFinite(const Checkpoint& checkpoint, std::size_t index) {
  const TensorInfo& info = checkpoint.tensors()[index];
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(kReadBlockBytes);
  bool any = false, zero = true;
  for (std::uint64_t offset = 0; offset < info.size_bytes && zero;) {
    const auto size = std::min<std::uint64_t>(kReadBlockBytes, info.size_bytes - offset);
    const std::span<std::byte> block(memory.get(), size);
    RETURN_IF_ERROR(checkpoint.Read(index, offset, block));
    VisitElements(info.dtype, block, [&](auto format, auto bits) {
      if (!format.IsFinite(bits)) return;
      any = true;
      zero &= format.ValueOf(bits) == 0.0;
    });
    offset += size;
  }
  return any && zero;
}

std::string LowerName(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool IsMaskName(std::string_view name) {
  const std::string text = LowerName(name);
  return std::ranges::any_of(std::array<std::string_view, 3>{"mask", "alibi", "causal"},
                             [&](auto word) { return text.find(word) != text.npos; });
}

bool IsObserverName(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  return last == "min_val" || last == "max_val" || last == "min_vals" || last == "max_vals";
}

Result<bool> IsExpected(const Checkpoint& checkpoint, std::size_t index,
                        const NonFiniteCounts& counts) {
  const TensorInfo& info = checkpoint.tensors()[index];
  const TensorRole role = RoleOf(info.name);
  if (role == TensorRole::kOther || role == TensorRole::kRandomness) return true;
  if (IsObserverName(info.name)) return counts.nan == 0;
  if (counts.nan > 0 || counts.positive > 0) return false;
  if (IsMaskName(info.name)) return true;
  return IsZeroWhereFinite(checkpoint, index);
}

}  // namespace

void NonFiniteCounts::Add(const NonFiniteCounts& other) {
  nan += other.nan;
  positive += other.positive;
  negative += other.negative;
}

NonFiniteCounts CountNonFinite(DType dtype, std::span<const std::byte> bytes) {
  NonFiniteCounts counts;
  if (!HoldsNonFinite(dtype, bytes).value_or(false)) return counts;
  VisitElements(dtype, bytes, [&](auto format, auto bits) {
    if (format.IsFinite(bits)) return;
    const NonFinite kind = format.KindOf(bits);
    ++(kind == NonFinite::kNan            ? counts.nan
       : kind == NonFinite::kPlusInfinity ? counts.positive
                                          : counts.negative);
  });
  return counts;
}

Result<std::vector<NonFiniteTensor>> UnexpectedNonFinite(
    const Checkpoint& checkpoint, const std::vector<NonFiniteCounts>& counts) {
  std::vector<NonFiniteTensor> tensors;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i].Total() == 0) continue;
    ASSIGN_OR_RETURN(const bool expected, IsExpected(checkpoint, i, counts[i]));
    const TensorInfo& info = checkpoint.tensors()[i];
    if (!expected) tensors.push_back({info.name, info.elements, counts[i]});
  }
  return tensors;
}

std::string DescribeNonFinite(const std::vector<NonFiniteTensor>& tensors, std::size_t of) {
  if (tensors.empty()) return {};
  const NonFiniteTensor& first = tensors.front();
  return fmt::format("{} of {} {} values that are not finite, first {} ({} of {})", tensors.size(),
                     of, tensors.size() == 1 ? "tensors holds" : "tensors hold",
                     TerminalSafe(std::string_view(first.name).substr(0, 200)),
                     first.counts.Total(), first.elements);
}

}  // namespace rharness
