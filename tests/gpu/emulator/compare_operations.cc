// setp: comparisons into predicates. Source: PTX ISA, "Comparison and Selection Instructions".
#include <functional>

#include "tests/gpu/emulator/lane_values.h"

namespace rharness {
namespace {

// A comparison with a NaN is false; of the unordered ones (.ltu, ...) true.
template <class Compare>
struct Ordered {
  template <class T>
  bool operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isunordered(a, b)) return false;
    }
    return Compare()(a, b);
  }
};
template <class Compare>
struct Unordered {
  template <class T>
  bool operator()(T a, T b) const {
    return std::isunordered(a, b) || Compare()(a, b);
  }
};
struct BothNumbers {
  template <class T>
  bool operator()(T a, T b) const {
    return !std::isunordered(a, b);
  }
};
struct AnyNan {
  template <class T>
  bool operator()(T a, T b) const {
    return std::isunordered(a, b);
  }
};

template <class T>
T Compared(std::uint64_t bits, bool flush) {
  const T value = FromBits<T>(bits);
  if constexpr (std::is_floating_point_v<T>) {
    if (flush) return FlushSubnormal(value);
  }
  return value;
}

// setp.CMP p|q, a, b; setp.CMP.BOOL p|q, a, b, c: p is BOOL of the comparison and c, q of its
// opposite and c.
template <class T, class Compare>
void SetPredicate(WarpState& warp, const PtxInstruction& i) {
  std::uint64_t* p = warp.Slot(i.Slot(0));
  const int other = i.operands[0].second;
  const std::uint64_t *a = warp.Slot(i.Slot(1)), *b = warp.Slot(i.Slot(2));
  const bool combined = i.operands.size() > 3;
  const std::uint64_t* c = combined ? warp.Slot(i.Slot(3)) : nullptr;
  ForActive(warp, [&](unsigned lane) {
    const bool holds = Compare()(Compared<T>(a[lane], i.flush), Compared<T>(b[lane], i.flush));
    const bool with = combined && ((c[lane] & 1) != 0) != i.operands[3].negated;
    const auto join = [&](bool one) {
      if (!combined) return one;
      return i.Has("and") ? one && with : i.Has("or") ? one || with : one != with;
    };
    p[lane] = join(holds) ? 1 : 0;
    if (other >= 0) warp.Slot(other)[lane] = join(!holds) ? 1 : 0;
  });
}

template <class T>
PtxOperation IntegerComparison(std::string_view name) {
  if (name == "eq") return SetPredicate<T, std::equal_to<>>;
  if (name == "ne") return SetPredicate<T, std::not_equal_to<>>;
  if (name == "lt" || name == "lo") return SetPredicate<T, std::less<>>;
  if (name == "le" || name == "ls") return SetPredicate<T, std::less_equal<>>;
  if (name == "gt" || name == "hi") return SetPredicate<T, std::greater<>>;
  if (name == "ge" || name == "hs") return SetPredicate<T, std::greater_equal<>>;
  return nullptr;
}

template <class T>
PtxOperation FloatComparison(std::string_view name) {
  if (name == "eq") return SetPredicate<T, Ordered<std::equal_to<>>>;
  if (name == "ne") return SetPredicate<T, Ordered<std::not_equal_to<>>>;
  if (name == "lt") return SetPredicate<T, Ordered<std::less<>>>;
  if (name == "le") return SetPredicate<T, Ordered<std::less_equal<>>>;
  if (name == "gt") return SetPredicate<T, Ordered<std::greater<>>>;
  if (name == "ge") return SetPredicate<T, Ordered<std::greater_equal<>>>;
  if (name == "equ") return SetPredicate<T, Unordered<std::equal_to<>>>;
  if (name == "neu") return SetPredicate<T, Unordered<std::not_equal_to<>>>;
  if (name == "ltu") return SetPredicate<T, Unordered<std::less<>>>;
  if (name == "leu") return SetPredicate<T, Unordered<std::less_equal<>>>;
  if (name == "gtu") return SetPredicate<T, Unordered<std::greater<>>>;
  if (name == "geu") return SetPredicate<T, Unordered<std::greater_equal<>>>;
  if (name == "num") return SetPredicate<T, BothNumbers>;
  return name == "nan" ? SetPredicate<T, AnyNan> : nullptr;
}

}  // namespace

PtxOperation CompareOperation(const PtxInstruction& i) {
  if (i.opcode != "setp" || i.modifiers.size() < 2) return nullptr;
  const std::string& name = i.modifiers[0];
  switch (i.type) {
    case PtxType::kU16:
      return IntegerComparison<std::uint16_t>(name);
    case PtxType::kS16:
      return IntegerComparison<std::int16_t>(name);
    case PtxType::kU32:
      return IntegerComparison<std::uint32_t>(name);
    case PtxType::kS32:
      return IntegerComparison<std::int32_t>(name);
    case PtxType::kU64:
      return IntegerComparison<std::uint64_t>(name);
    case PtxType::kS64:
      return IntegerComparison<std::int64_t>(name);
    case PtxType::kF32:
      return FloatComparison<float>(name);
    case PtxType::kF64:
      return FloatComparison<double>(name);
    default:
      return nullptr;
  }
}

}  // namespace rharness
