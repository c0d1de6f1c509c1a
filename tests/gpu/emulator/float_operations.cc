// Floating-point arithmetic and comparisons. Source: PTX ISA, "Floating-Point Instructions",
// "Comparison and Selection Instructions".
//
// add, sub, mul, fma, div, sqrt and rcp with a rounding are exact to the last bit. What PTX calls
// approximate is the correctly rounded value here (of .approx.ftz for double, its high word): the
// last bits of a device differ.
#include <algorithm>
#include <functional>

#include "tests/gpu/emulator/lane_values.h"

namespace rharness {
namespace {

template <class T>
T Finished(T value, const PtxInstruction& i) {
  if (i.flush) value = FlushSubnormal(value);
  if (!i.saturate) return value;
  return std::isnan(value) ? T{0} : std::clamp(value, T{0}, T{1});  // NaN becomes +0
}

template <class T>
T Input(T value, const PtxInstruction& i) {
  return i.flush ? FlushSubnormal(value) : value;
}

// The host's rounding mode must hold at the operation itself: volatile keeps it in its place.
struct Sum {
  template <class T>
  static T Of(T a, T b) {
    const volatile T x = a, y = b;
    return x + y;
  }
};
struct Difference {
  template <class T>
  static T Of(T a, T b) {
    const volatile T x = a, y = b;
    return x - y;
  }
};
struct Product {
  template <class T>
  static T Of(T a, T b) {
    const volatile T x = a, y = b;
    return x * y;
  }
};
struct Ratio {
  template <class T>
  static T Of(T a, T b) {
    const volatile T x = a, y = b;
    return x / y;
  }
};
// Of a number and a NaN the number; -0 is below +0.
struct Lower {
  template <class T>
  static T Of(T a, T b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  }
};
struct Higher {
  template <class T>
  static T Of(T a, T b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
    if (a == b) return std::signbit(a) ? b : a;
    return a > b ? a : b;
  }
};

template <class T, class Op>
void RunFloat2(WarpState& warp, const PtxInstruction& i) {
  const RoundingScope rounding(i.rounding);
  OnLanes2<T>(warp, i, [&](T a, T b) { return Finished(Op::Of(Input(a, i), Input(b, i)), i); });
}
template <class T>
void RunFma(WarpState& warp, const PtxInstruction& i) {
  const RoundingScope rounding(i.rounding);
  OnLanes3<T>(warp, i, [&](T a, T b, T c) {
    return Finished(std::fma(Input(a, i), Input(b, i), Input(c, i)), i);
  });
}
template <class Op>
PtxOperation Float2(PtxType type) {
  if (type == PtxType::kF32) return RunFloat2<float, Op>;
  return type == PtxType::kF64 ? RunFloat2<double, Op> : nullptr;
}

// The sign alone changes, of a NaN too.
template <class T, class F>
void OnSigns(WarpState& warp, const PtxInstruction& i, F f) {
  std::uint64_t* d = warp.Slot(i.Slot(0));
  const std::uint64_t* a = warp.Slot(i.Slot(1));
  ForActive(warp, [&](unsigned lane) {
    d[lane] = std::bit_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(
        f(Input(FromBits<T>(a[lane]), i), lane));
  });
}
template <class T>
void Negate(WarpState& warp, const PtxInstruction& i) {
  OnSigns<T>(warp, i, [](T a, unsigned) { return -a; });
}
template <class T>
void Absolute(WarpState& warp, const PtxInstruction& i) {
  OnSigns<T>(warp, i, [](T a, unsigned) { return std::fabs(a); });
}
// copysign d, a, b: the sign of a, the magnitude of b.
template <class T>
void CopySign(WarpState& warp, const PtxInstruction& i) {
  const std::uint64_t* b = warp.Slot(i.Slot(2));
  OnSigns<T>(warp, i, [&](T a, unsigned lane) { return std::copysign(FromBits<T>(b[lane]), a); });
}

template <class T>
void SquareRoot(WarpState& warp, const PtxInstruction& i) {
  const RoundingScope rounding(i.rounding);
  OnLanes1<T>(warp, i, [&](T a) {
    const volatile T x = Input(a, i);
    return Finished(std::sqrt(static_cast<T>(x)), i);
  });
}
template <class T>
void Reciprocal(WarpState& warp, const PtxInstruction& i) {
  const RoundingScope rounding(i.rounding);
  OnLanes1<T>(warp, i, [&](T a) { return Finished(Ratio::Of(T{1}, Input(a, i)), i); });
}

using HostFunction = double (*)(double);
template <HostFunction kFunction>
void Approximate(WarpState& warp, const PtxInstruction& i) {
  OnLanes1<float>(warp, i, [&](float a) {
    return Finished(static_cast<float>(kFunction(static_cast<double>(Input(a, i)))), i);
  });
}
double OverRoot(double x) { return 1 / std::sqrt(x); }

// rcp and rsqrt .approx.ftz.f64: subnormals are zero, the low word of the result is 0.
template <HostFunction kFunction>
void HighWord(WarpState& warp, const PtxInstruction& i) {
  std::uint64_t* d = warp.Slot(i.Slot(0));
  const std::uint64_t* a = warp.Slot(i.Slot(1));
  ForActive(warp, [&](unsigned lane) {
    double x = FromBits<double>(a[lane]);
    if (std::fpclassify(x) == FP_SUBNORMAL) x = std::copysign(0.0, x);
    d[lane] = ToBits(kFunction(x)) & 0xffffffff00000000U;
  });
}
double OneOver(double x) { return 1 / x; }

// rsqrt.approx.f64 has subnormals and all its bits.
void OverRootOfDouble(WarpState& warp, const PtxInstruction& i) {
  OnLanes1<double>(warp, i, [](double x) {
    return static_cast<double>(1 / std::sqrt(static_cast<long double>(x)));
  });
}

PtxOperation RootOrReciprocal(const PtxInstruction& i) {
  const bool single = i.type == PtxType::kF32;
  if (i.opcode == "sqrt") return single ? SquareRoot<float> : SquareRoot<double>;
  if (i.opcode == "rsqrt" && single) return Approximate<OverRoot>;
  if (i.opcode == "rsqrt") return i.flush ? HighWord<OverRoot> : OverRootOfDouble;
  if (i.Has("approx") && !single) return HighWord<OneOver>;
  return single ? Reciprocal<float> : Reciprocal<double>;
}

double HostExp2(double x) { return std::exp2(x); }
double HostLog2(double x) { return std::log2(x); }
double HostSin(double x) { return std::sin(x); }
double HostCos(double x) { return std::cos(x); }
double HostTanh(double x) { return std::tanh(x); }

PtxOperation ApproximateOperation(const PtxInstruction& i) {
  if (i.type != PtxType::kF32) return nullptr;
  if (i.opcode == "ex2") return Approximate<HostExp2>;
  if (i.opcode == "lg2") return Approximate<HostLog2>;
  if (i.opcode == "sin") return Approximate<HostSin>;
  if (i.opcode == "cos") return Approximate<HostCos>;
  return i.opcode == "tanh" ? Approximate<HostTanh> : nullptr;
}

}  // namespace

PtxOperation FloatOperation(const PtxInstruction& i) {
  const std::string& name = i.opcode;
  const bool single = i.type == PtxType::kF32;
  if (!single && i.type != PtxType::kF64) return nullptr;
  if (name == "add") return Float2<Sum>(i.type);
  if (name == "sub") return Float2<Difference>(i.type);
  if (name == "mul") return Float2<Product>(i.type);
  if (name == "div") return Float2<Ratio>(i.type);
  if (name == "min") return Float2<Lower>(i.type);
  if (name == "max") return Float2<Higher>(i.type);
  if (name == "fma" || name == "mad") return single ? RunFma<float> : RunFma<double>;
  if (name == "neg") return single ? Negate<float> : Negate<double>;
  if (name == "abs") return single ? Absolute<float> : Absolute<double>;
  if (name == "copysign") return single ? CopySign<float> : CopySign<double>;
  if (name == "sqrt" || name == "rsqrt" || name == "rcp") return RootOrReciprocal(i);
  return ApproximateOperation(i);
}

}  // namespace rharness
