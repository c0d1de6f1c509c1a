// One masked comparison a lane says whether a block holds any; only then are they counted.
#include "compare/weights/non_finite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <memory>
#include <optional>

#include "compare/weights/element_formats.h"
#include "compare/weights/roles.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

// Vectors of 16 bytes, which every x86-64 and AArch64 has; compilers split nothing.
template <class Lane>
using Vector [[gnu::vector_size(16)]] = Lane;

// Of a lane: (bits & mask) == target where the element is not finite.
template <class Lane>
struct Pattern {
  std::array<Lane, 16 / sizeof(Lane)> mask;
  std::array<Lane, 16 / sizeof(Lane)> target;
};

template <class Lane>
constexpr Pattern<Lane> Every(Lane mask, Lane target) {
  Pattern<Lane> pattern{};
  pattern.mask.fill(mask);
  pattern.target.fill(target);
  return pattern;
}

// Of fp64 the upper half of each element tells: the mask of a lower half can never give its target.
constexpr Pattern<std::uint32_t> kF64Pattern = {{0, 0x7ff00000, 0, 0x7ff00000},
                                                {1, 0x7ff00000, 1, 0x7ff00000}};

template <class Lane>
bool HoldsAny(const Pattern<Lane>& pattern, std::span<const std::byte> bytes) {
  constexpr std::size_t kVectors = 8, kStep = kVectors * 16;
  Vector<Lane> mask, target;
  std::memcpy(&mask, pattern.mask.data(), sizeof(mask));
  std::memcpy(&target, pattern.target.data(), sizeof(target));
  Vector<Lane> found = {};
  std::size_t at = 0;
  for (; at + kStep <= bytes.size(); at += kStep) {
    for (std::size_t i = 0; i < kVectors; ++i) {
      Vector<Lane> lanes;
      std::memcpy(&lanes, bytes.data() + at + 16 * i, sizeof(lanes));
      found |= static_cast<Vector<Lane>>((lanes & mask) == target);
    }
  }
  std::array<Lane, 16 / sizeof(Lane)> last;
  for (; at < bytes.size(); at += sizeof(last)) {
    const std::size_t size = std::min(sizeof(last), bytes.size() - at);
    last.fill(0);  // is finite in every format
    std::memcpy(last.data(), bytes.data() + at, size);
    for (std::size_t i = 0; i < last.size(); ++i) {
      if ((last[i] & pattern.mask[i]) == pattern.target[i]) return true;
    }
  }
  std::array<Lane, 16 / sizeof(Lane)> lanes;
  std::memcpy(lanes.data(), &found, sizeof(found));
  return std::ranges::any_of(lanes, [](Lane lane) { return lane != 0; });
}

// Whether any is not finite; empty: the type has no such values.
std::optional<bool> HoldsNonFinite(DType dtype, std::span<const std::byte> bytes) {
  switch (dtype) {
    case DType::kF16:
      return HoldsAny(Every<std::uint16_t>(0x7c00, 0x7c00), bytes);
    case DType::kBF16:
      return HoldsAny(Every<std::uint16_t>(0x7f80, 0x7f80), bytes);
    case DType::kF32:
    case DType::kC64:
      return HoldsAny(Every<std::uint32_t>(0x7f800000, 0x7f800000), bytes);
    case DType::kF64:
    case DType::kC128:
      return HoldsAny(kF64Pattern, bytes);
    case DType::kF8E4M3:
      return HoldsAny(Every<std::uint8_t>(0x7f, 0x7f), bytes);
    case DType::kF8E5M2:
      return HoldsAny(Every<std::uint8_t>(0x7c, 0x7c), bytes);
    case DType::kF8E8M0:
      return HoldsAny(Every<std::uint8_t>(0xff, 0xff), bytes);
    case DType::kF8E4M3Fnuz:
    case DType::kF8E5M2Fnuz:
      return HoldsAny(Every<std::uint8_t>(0xff, 0x80), bytes);
    default:
      return std::nullopt;
  }
}

// Calls `take` with the format and the bits of each element, of a complex one of each part.
template <class Format, class Take>
void ForEach(std::span<const std::byte> bytes, Take take) {
  typename Format::Bits bits;
  for (std::size_t at = 0; at + sizeof(bits) <= bytes.size(); at += sizeof(bits)) {
    std::memcpy(&bits, bytes.data() + at, sizeof(bits));
    take(Format(), bits);
  }
}

template <class Take>
void ForEachElement(DType dtype, std::span<const std::byte> bytes, Take take) {
  switch (dtype) {
    case DType::kF16:
      return ForEach<F16Format>(bytes, take);
    case DType::kBF16:
      return ForEach<BF16Format>(bytes, take);
    case DType::kF32:
    case DType::kC64:
      return ForEach<F32Format>(bytes, take);
    case DType::kF64:
    case DType::kC128:
      return ForEach<F64Format>(bytes, take);
    case DType::kF8E4M3:
      return ForEach<F8E4M3Format>(bytes, take);
    case DType::kF8E5M2:
      return ForEach<F8E5M2Format>(bytes, take);
    case DType::kF8E8M0:
      return ForEach<F8E8M0Format>(bytes, take);
    case DType::kF8E4M3Fnuz:
      return ForEach<FnuzFormat<3, 8>>(bytes, take);
    case DType::kF8E5M2Fnuz:
      return ForEach<FnuzFormat<2, 16>>(bytes, take);
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
    ForEachElement(info.dtype, block, [&](auto format, auto bits) {
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
  ForEachElement(dtype, bytes, [&](auto format, auto bits) {
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
