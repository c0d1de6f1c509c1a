// Integer arithmetic. Source: PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision
// Integer Arithmetic Instructions".
#include <algorithm>
#include <limits>

#include "tests/gpu/emulator/lane_values.h"

namespace rharness {
namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

template <class T>
std::uint64_t Modulo(T value) {
  return static_cast<std::uint64_t>(value);
}

template <class T>
struct Plus {
  static T Of(T a, T b) { return static_cast<T>(Modulo(a) + Modulo(b)); }
};
template <class T>
struct Minus {
  static T Of(T a, T b) { return static_cast<T>(Modulo(a) - Modulo(b)); }
};
template <class T>
struct TimesLow {
  static T Of(T a, T b) { return static_cast<T>(Modulo(a) * Modulo(b)); }
};
template <class T>
struct TimesHigh {
  static T Of(T a, T b) {
    constexpr int kBits = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>) {
      return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> kBits);
    } else {
      return static_cast<T>((static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b)) >> kBits);
    }
  }
};
// A division by zero is not defined: all bits are what devices give for unsigned ones.
template <class T>
struct Quotient {
  static T Of(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(0 - Modulo(a));
    return static_cast<T>(a / b);
  }
};
template <class T>
struct Remainder {
  static T Of(T a, T b) {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
template <class T>
struct Least {
  static T Of(T a, T b) { return std::min(a, b); }
};
template <class T>
struct Greatest {
  static T Of(T a, T b) { return std::max(a, b); }
};
template <class T>
struct Negated {
  static T Of(T a) { return static_cast<T>(0 - Modulo(a)); }
};
template <class T>
struct Magnitude {
  static T Of(T a) { return a < 0 ? static_cast<T>(0 - Modulo(a)) : a; }
};
template <class T>
struct TimesLowPlus {
  static T Of(T a, T b, T c) { return static_cast<T>(Modulo(a) * Modulo(b) + Modulo(c)); }
};
template <class T>
struct TimesHighPlus {
  static T Of(T a, T b, T c) { return Plus<T>::Of(TimesHigh<T>::Of(a, b), c); }
};

template <class T, template <class> class Op>
void RunUnary(WarpState& warp, const PtxInstruction& i) {
  OnLanes1<T>(warp, i, Op<T>::Of);
}
template <class T, template <class> class Op>
void RunBinary(WarpState& warp, const PtxInstruction& i) {
  OnLanes2<T>(warp, i, Op<T>::Of);
}
template <class T, template <class> class Op>
void RunTernary(WarpState& warp, const PtxInstruction& i) {
  OnLanes3<T>(warp, i, Op<T>::Of);
}

template <template <class> class Op>
PtxOperation Unary(PtxType type) {
  if (type == PtxType::kS16) return RunUnary<std::int16_t, Op>;
  if (type == PtxType::kS32) return RunUnary<std::int32_t, Op>;
  return type == PtxType::kS64 ? RunUnary<std::int64_t, Op> : nullptr;
}
#define RHARNESS_BY_INTEGER(run, type) \
  switch (type) {                      \
    case PtxType::kU16:                \
      return run<std::uint16_t, Op>;   \
    case PtxType::kS16:                \
      return run<std::int16_t, Op>;    \
    case PtxType::kU32:                \
      return run<std::uint32_t, Op>;   \
    case PtxType::kS32:                \
      return run<std::int32_t, Op>;    \
    case PtxType::kU64:                \
      return run<std::uint64_t, Op>;   \
    case PtxType::kS64:                \
      return run<std::int64_t, Op>;    \
    default:                           \
      return nullptr;                  \
  }
template <template <class> class Op>
PtxOperation Binary(PtxType type) {
  RHARNESS_BY_INTEGER(RunBinary, type)
}
template <template <class> class Op>
PtxOperation Ternary(PtxType type) {
  RHARNESS_BY_INTEGER(RunTernary, type)
}
#undef RHARNESS_BY_INTEGER

// mul.wide, mad.wide: the product, and the third operand, are twice as wide.
template <class T, class Product>
void TimesWide(WarpState& warp, const PtxInstruction& i) {
  const bool plus = i.opcode == "mad";
  std::uint64_t* d = warp.Slot(i.Slot(0));
  const std::uint64_t *a = warp.Slot(i.Slot(1)), *b = warp.Slot(i.Slot(2));
  const std::uint64_t* c = plus ? warp.Slot(i.Slot(3)) : nullptr;
  ForActive(warp, [&](unsigned lane) {
    const Product product = static_cast<Product>(static_cast<Product>(FromBits<T>(a[lane])) *
                                                 static_cast<Product>(FromBits<T>(b[lane])));
    const std::uint64_t sum = Modulo(product) + (plus ? c[lane] : 0);
    d[lane] = ToBits(static_cast<Product>(sum));
  });
}

PtxOperation WideProduct(PtxType type) {
  switch (type) {
    case PtxType::kU16:
      return TimesWide<std::uint16_t, std::uint32_t>;
    case PtxType::kS16:
      return TimesWide<std::int16_t, std::int32_t>;
    case PtxType::kU32:
      return TimesWide<std::uint32_t, std::uint64_t>;
    case PtxType::kS32:
      return TimesWide<std::int32_t, std::int64_t>;
    default:
      return nullptr;
  }
}

// With carry in (addc, subc, madc) or out (.cc): sums of unsigned numbers of one more bit.
template <class T>
void WithCarry(WarpState& warp, const PtxInstruction& i) {
  constexpr int kBits = 8 * sizeof(T);
  const bool in = i.opcode.ends_with('c'), out = i.Has("cc");
  const bool product = i.opcode.starts_with("mad"), minus = i.opcode.starts_with("sub");
  std::uint64_t* d = warp.Slot(i.Slot(0));
  const std::uint64_t *a = warp.Slot(i.Slot(1)), *b = warp.Slot(i.Slot(2));
  const std::uint64_t* c = product ? warp.Slot(i.Slot(3)) : nullptr;
  ForActive(warp, [&](unsigned lane) {
    std::uint64_t& carry = warp.frame->carry[lane];
    T x = static_cast<T>(a[lane]), y = static_cast<T>(b[lane]);
    if (product) {
      x = i.Has("hi") ? TimesHigh<T>::Of(x, y) : TimesLow<T>::Of(x, y);
      y = static_cast<T>(c[lane]);
    }
    const UnsignedWide first = x, second = static_cast<UnsignedWide>(y) + (in ? carry : 0);
    const UnsignedWide sum = minus ? first - second : first + second;
    d[lane] = static_cast<T>(sum);
    if (out) carry = static_cast<std::uint64_t>(sum >> kBits) & 1U;
  });
}

PtxOperation CarryOperation(const PtxInstruction& i) {
  // Signed ones have the same bits, but for the high half of a product.
  if (i.Has("hi") && (i.type == PtxType::kS32 || i.type == PtxType::kS64)) return nullptr;
  return PtxBytes(i.type) == 8 ? WithCarry<std::uint64_t> : WithCarry<std::uint32_t>;
}

}  // namespace

PtxOperation IntegerOperation(const PtxInstruction& i) {
  const std::string& name = i.opcode;
  if (i.type == PtxType::kF32 || i.type == PtxType::kF64) return nullptr;
  if (i.saturate) return nullptr;
  const bool carries = name == "addc" || name == "subc" || name == "madc" || i.Has("cc");
  if (carries) return CarryOperation(i);
  if (name == "add") return Binary<Plus>(i.type);
  if (name == "sub") return Binary<Minus>(i.type);
  if (name == "div") return Binary<Quotient>(i.type);
  if (name == "rem") return Binary<Remainder>(i.type);
  if (name == "min") return Binary<Least>(i.type);
  if (name == "max") return Binary<Greatest>(i.type);
  if (name == "neg") return Unary<Negated>(i.type);
  if (name == "abs") return Unary<Magnitude>(i.type);
  if (name != "mul" && name != "mad") return nullptr;
  if (i.Has("wide")) return WideProduct(i.type);
  const bool plus = name == "mad";
  if (i.Has("lo")) return plus ? Ternary<TimesLowPlus>(i.type) : Binary<TimesLow>(i.type);
  if (i.Has("hi")) return plus ? Ternary<TimesHighPlus>(i.type) : Binary<TimesHigh>(i.type);
  return nullptr;
}

}  // namespace rharness
