// cvt and cvta. Source: PTX ISA, "cvt", "cvta".
#include <algorithm>
#include <cstring>
#include <limits>

#include "tests/gpu/emulator/lane_values.h"
#include "tests/gpu/emulator/short_floats.h"

namespace rharness {
namespace {

template <class F>
void OnLanes(WarpState& warp, const PtxInstruction& i, F f) {
  std::uint64_t* d = warp.Slot(i.Slot(0));
  const std::uint64_t* a = warp.Slot(i.Slot(1));
  ForActive(warp, [&](unsigned lane) { d[lane] = f(a[lane]); });
}

// Between integers: the source is extended by its own sign, and cut.
template <class From>
void ToInteger(WarpState& warp, const PtxInstruction& i) {
  const unsigned bytes = PtxBytes(i.type);
  const std::uint64_t mask = bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * bytes) - 1;
  OnLanes(warp, i,
          [&](std::uint64_t a) { return static_cast<std::uint64_t>(FromBits<From>(a)) & mask; });
}

template <class From, class To>
void IntegerToFloat(WarpState& warp, const PtxInstruction& i) {
  const RoundingScope rounding(i.rounding);
  OnLanes(warp, i, [](std::uint64_t a) {
    const volatile From value = FromBits<From>(a);
    return ToBits(static_cast<To>(value));
  });
}

template <class T>
T RoundedToWhole(T value, PtxRounding rounding) {
  switch (rounding) {
    case PtxRounding::kZero:
      return std::trunc(value);
    case PtxRounding::kDown:
      return std::floor(value);
    case PtxRounding::kUp:
      return std::ceil(value);
    case PtxRounding::kNearest:
      break;
  }
  return std::nearbyint(value);
}

// Values beyond the integer are cut to its range. NaN is 0 between types of 32 bits or fewer, else
// the highest bit alone.
template <class From, class To>
void FloatToInteger(WarpState& warp, const PtxInstruction& i) {
  using Limits = std::numeric_limits<To>;
  OnLanes(warp, i, [&](std::uint64_t a) -> std::uint64_t {
    From value = FromBits<From>(a);
    if (i.flush) value = FlushSubnormal(value);
    constexpr bool kWide = sizeof(From) == 8 || sizeof(To) == 8;
    if (std::isnan(value)) return kWide ? std::uint64_t{1} << (8 * sizeof(To) - 1) : 0;
    value = RoundedToWhole(value, i.rounding);
    const From end = std::ldexp(From{1}, Limits::digits);
    if (value >= end) return ToBits(Limits::max());
    if (value < static_cast<From>(Limits::min())) return ToBits(Limits::min());
    return ToBits(static_cast<To>(value));
  });
}

// .rni and the like round to a whole number; double to float rounds to a float.
template <class From, class To>
void FloatToFloat(WarpState& warp, const PtxInstruction& i) {
  const bool whole = std::ranges::any_of(i.modifiers, [](const std::string& m) {
    return m.size() == 3 && m[0] == 'r' && m[2] == 'i';
  });
  const RoundingScope scope(whole ? PtxRounding::kNearest : i.rounding);
  OnLanes(warp, i, [&](std::uint64_t a) {
    From value = FromBits<From>(a);
    if (i.flush) value = FlushSubnormal(value);
    if (whole) value = RoundedToWhole(value, i.rounding);
    const volatile From exact = value;
    To result = static_cast<To>(exact);
    if (i.flush) result = FlushSubnormal(result);
    if (i.saturate) result = std::isnan(result) ? To{0} : std::clamp(result, To{0}, To{1});
    return ToBits(result);
  });
}

std::uint32_t EncodeOne(const PtxInstruction& i, const ShortFormat& format, std::uint64_t bits) {
  float value = FromBits<float>(bits);
  if (i.flush) value = FlushSubnormal(value);
  // .relu makes negative values and -0 into +0 and leaves NaN.
  if (i.Has("relu") && (std::signbit(value) && !std::isnan(value))) value = 0;
  return EncodeShort(format, value, i.rounding, i.Has("satfinite"));
}

void ToShort(WarpState& warp, const PtxInstruction& i) {
  const ShortFormat format = ShortFormatOf(i.type);
  OnLanes(warp, i, [&](std::uint64_t a) { return EncodeOne(i, format, a); });
}
// Two values in one register: the first operand is the upper half.
void ToShortPair(WarpState& warp, const PtxInstruction& i) {
  const ShortFormat format = ShortFormatOf(i.type);
  std::uint64_t* d = warp.Slot(i.Slot(0));
  const std::uint64_t *a = warp.Slot(i.Slot(1)), *b = warp.Slot(i.Slot(2));
  ForActive(warp, [&](unsigned lane) {
    d[lane] = EncodeOne(i, format, a[lane]) << 8 | EncodeOne(i, format, b[lane]);
  });
}
void FromShort(WarpState& warp, const PtxInstruction& i) {
  const ShortFormat format = ShortFormatOf(i.source);
  OnLanes(warp, i, [&](std::uint64_t a) {
    return ToBits(static_cast<float>(DecodeShort(format, static_cast<std::uint32_t>(a & 0xffff))));
  });
}
void ToTf32(WarpState& warp, const PtxInstruction& i) {
  OnLanes(warp, i, [](std::uint64_t a) { return RoundToTf32(static_cast<std::uint32_t>(a)); });
}

// Addresses of global and local memory are generic ones already; a block's are an offset.
template <bool kToSpace>
void ConvertAddress(WarpState& warp, const PtxInstruction& i) {
  const std::uint64_t window = i.Has("shared") ? kSharedWindow : 0;
  OnLanes(warp, i, [&](std::uint64_t a) { return kToSpace ? a - window : a + window; });
}

template <class From>
PtxOperation FromInteger(PtxType to) {
  if (to == PtxType::kF32) return IntegerToFloat<From, float>;
  if (to == PtxType::kF64) return IntegerToFloat<From, double>;
  return to >= PtxType::kU8 && to <= PtxType::kS64 ? ToInteger<From> : nullptr;
}

template <class From>
PtxOperation FromFloat(PtxType to) {
  switch (to) {
    case PtxType::kU16:
      return FloatToInteger<From, std::uint16_t>;
    case PtxType::kS16:
      return FloatToInteger<From, std::int16_t>;
    case PtxType::kU32:
      return FloatToInteger<From, std::uint32_t>;
    case PtxType::kS32:
      return FloatToInteger<From, std::int32_t>;
    case PtxType::kU64:
      return FloatToInteger<From, std::uint64_t>;
    case PtxType::kS64:
      return FloatToInteger<From, std::int64_t>;
    case PtxType::kF32:
      return FloatToFloat<From, float>;
    case PtxType::kF64:
      return FloatToFloat<From, double>;
    default:
      return nullptr;
  }
}

PtxOperation FromSingle(const PtxInstruction& i) {
  const bool pair = i.type == PtxType::kE4m3x2 || i.type == PtxType::kE5m2x2;
  if (pair) return i.operands.size() == 3 ? ToShortPair : nullptr;
  if (i.operands.size() != 2) return nullptr;
  if (i.type == PtxType::kF16 || i.type == PtxType::kBf16) return ToShort;
  if (i.type == PtxType::kTf32) return i.Has("rna") ? ToTf32 : nullptr;
  return FromFloat<float>(i.type);
}

}  // namespace

PtxOperation ConversionOperation(const PtxInstruction& i) {
  if (i.opcode == "cvta") return i.Has("to") ? ConvertAddress<true> : ConvertAddress<false>;
  if (i.opcode != "cvt") return nullptr;
  if (i.saturate && i.type != PtxType::kF32 && i.type != PtxType::kF64) return nullptr;
  switch (i.source) {
    case PtxType::kU8:
      return FromInteger<std::uint8_t>(i.type);
    case PtxType::kS8:
      return FromInteger<std::int8_t>(i.type);
    case PtxType::kU16:
      return FromInteger<std::uint16_t>(i.type);
    case PtxType::kS16:
      return FromInteger<std::int16_t>(i.type);
    case PtxType::kU32:
      return FromInteger<std::uint32_t>(i.type);
    case PtxType::kS32:
      return FromInteger<std::int32_t>(i.type);
    case PtxType::kU64:
      return FromInteger<std::uint64_t>(i.type);
    case PtxType::kS64:
      return FromInteger<std::int64_t>(i.type);
    case PtxType::kF16:
    case PtxType::kBf16:
      return i.type == PtxType::kF32 ? FromShort : nullptr;
    case PtxType::kF32:
      return FromSingle(i);
    case PtxType::kF64:
      return FromFloat<double>(i.type);
    default:
      return nullptr;
  }
}

}  // namespace rharness
