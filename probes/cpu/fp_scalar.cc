// Scalar operations in fp32 and fp64, compared with quadruple precision, and the propagation of
// NaNs.
//
// Compiled without contraction and for the lowest processor of the architecture: the operations are
// exactly those of the source. An incorrectly rounded result is a failure.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "probes/cpu/bit_cases.h"
#include "probes/probe.h"

namespace rharness {
namespace {

// 113 bits of mantissa: by Figueroa's theorem (p' >= 2 p + 2) sums, products and quotients of fp64
// that are first rounded to it equal those rounded once.
#if __LDBL_MANT_DIG__ == 113
using Quad = long double;
#else
using Quad = __float128;
#endif

template <class T>
struct Operands {
  T a;
  T b;
  T c;
};

template <class T>
std::vector<T> SpecialValues() {
  using Limits = std::numeric_limits<T>;
  const T one = 1;
  std::vector<T> values = {0,
                           one,
                           one + Limits::epsilon(),
                           one - Limits::epsilon() / 2,
                           T{3},
                           one / 3,
                           Limits::min(),
                           Limits::min() - Limits::denorm_min(),
                           Limits::denorm_min(),
                           Limits::denorm_min() * 3,
                           Limits::max(),
                           Limits::max() / 2,
                           Limits::infinity(),
                           Limits::quiet_NaN()};
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  return values;
}

// All pairs of special values, random bit patterns, and random values near one, where bits cancel.
template <class T>
std::vector<Operands<T>> MakeOperands(std::uint64_t seed) {
  constexpr int kRandom = 8192;
  std::vector<Operands<T>> operands;
  const std::vector<T> special = SpecialValues<T>();
  for (std::size_t i = 0; i < special.size(); ++i) {
    for (std::size_t j = 0; j < special.size(); ++j) {
      operands.push_back({special[i], special[j], special[(i + 3 * j) % special.size()]});
    }
  }
  SplitMix64 random(seed);
  const auto pattern = [&] { return std::bit_cast<T>(static_cast<BitsOf<T>>(random.Next())); };
  const auto near_one = [&] {
    const T fraction = static_cast<T>(random.Next() >> 11) * static_cast<T>(0x1p-53);
    const T size = std::ldexp(1 + fraction, static_cast<int>(random.Next() % 9) - 4);
    return random.Next() % 2 == 0 ? size : -size;
  };
  for (int i = 0; i < kRandom; ++i) operands.push_back({pattern(), pattern(), pattern()});
  for (int i = 0; i < kRandom; ++i) operands.push_back({near_one(), near_one(), near_one()});
  return operands;
}

// a b + c rounded to odd, so that a second rounding does no harm (Boldo, Melquiond, IEEE
// Transactions on Computers 57(4), 2008). The product is exact in quadruple precision.
template <class T>
T FmaOf(T a, T b, T c) {
  const Quad product = Quad(a) * Quad(b);
  const Quad sum = product + Quad(c);
  const T rounded = static_cast<T>(sum);
  if (!std::isfinite(rounded) && !std::isinf(rounded)) return rounded;
  if (std::isinf(a) || std::isinf(b) || std::isinf(c)) return rounded;
  const Quad added = sum - product;
  const Quad error = (product - (sum - added)) + (Quad(c) - added);
  auto bits = std::bit_cast<unsigned __int128>(sum);
  if (error == 0 || (bits & 1) != 0) return rounded;
  bits += (error > 0) == (sum > 0) ? 1 : static_cast<unsigned __int128>(-1);
  return static_cast<T>(std::bit_cast<Quad>(bits));
}

template <class T>
T Add(const Operands<T>& x) {
  return x.a + x.b;
}
template <class T>
T Multiply(const Operands<T>& x) {
  return x.a * x.b;
}
template <class T>
T Divide(const Operands<T>& x) {
  return x.a / x.b;
}
template <class T>
T Fma(const Operands<T>& x) {
  return std::fma(x.a, x.b, x.c);
}
template <class T>
T Root(const Operands<T>& x) {
  return std::sqrt(x.a);
}

// Equal numbers and zeros of one sign, or both NaN.
template <class T>
bool Same(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<BitsOf<T>>(a) == std::bit_cast<BitsOf<T>>(b);
}

// No number of T is nearer to the root: half a unit on either side squares to either side of a.
template <class T>
bool IsRoot(T a, T root) {
  if (std::isnan(a) || a < 0) return std::isnan(root);
  if (a == 0 || std::isinf(a)) return Same(a, root);
  const Quad below = (Quad(root) + Quad(std::nextafter(root, T{0}))) / 2;
  const Quad above = (Quad(root) + Quad(std::nextafter(root, 2 * root))) / 2;
  return below * below < Quad(a) && Quad(a) < above * above;
}

template <class T>
struct Operation {
  std::string_view name;
  T (*apply)(const Operands<T>&);
  bool (*right)(const Operands<T>&, T);
};

template <class T>
std::array<Operation<T>, 5> Operations() {
  return {{
      {"add", Add<T>,
       [](const Operands<T>& x, T y) { return Same(y, static_cast<T>(Quad(x.a) + Quad(x.b))); }},
      {"multiply", Multiply<T>,
       [](const Operands<T>& x, T y) { return Same(y, static_cast<T>(Quad(x.a) * Quad(x.b))); }},
      {"divide", Divide<T>,
       [](const Operands<T>& x, T y) { return Same(y, static_cast<T>(Quad(x.a) / Quad(x.b))); }},
      {"fma", Fma<T>, [](const Operands<T>& x, T y) { return Same(y, FmaOf(x.a, x.b, x.c)); }},
      {"sqrt", Root<T>, [](const Operands<T>& x, T y) { return IsRoot(x.a, y); }},
  }};
}

template <class T>
void AddOperation(std::string_view type, const Operation<T>& operation,
                  const std::vector<Operands<T>>& operands, int repeats, ProbeResult* result) {
  const std::string name = fmt::format("{} {}", type, operation.name);
  const std::vector<T> values = AddBits(name, repeats, result, [&] {
    std::vector<T> made;
    made.reserve(operands.size());
    for (const Operands<T>& one : operands) made.push_back(OneNan(operation.apply(one)));
    return made;
  });
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operands<T>& one = operands[i];
    if (operation.right(one, values[i])) continue;
    result->status = ProbeStatus::kFailed;
    result->message = fmt::format("{} of {:a}, {:a}, {:a} gave {:a}, not correctly rounded", name,
                                  one.a, one.b, one.c, values[i]);
    return;
  }
}

// Which of two NaNs survives, that a signalling one is made quiet, and which one 0/0 makes.
template <class T>
Json NanPayloads() {
  constexpr BitsOf<T> quiet = BitsOf<T>{1} << (std::numeric_limits<T>::digits - 2);
  const auto infinity = std::bit_cast<BitsOf<T>>(std::numeric_limits<T>::infinity());
  const volatile T first = std::bit_cast<T>(infinity | quiet | 0x11);
  const volatile T second = std::bit_cast<T>(infinity | quiet | 0x22);
  const volatile T signalling = std::bit_cast<T>(infinity | 0x33);
  const volatile T zero = 0;
  const volatile T one = 1;
  const auto hex = [](T value) { return fmt::format("{:x}", std::bit_cast<BitsOf<T>>(value)); };
  return Json()
      .Set("first plus second", hex(first + second))
      .Set("second plus first", hex(second + first))
      .Set("signalling times one", hex(signalling * one))
      .Set("zero by zero", hex(zero / zero))
      .Set("fma of three", hex(std::fma(T{first}, T{second}, T{signalling})));
}

template <class T>
void AddType(std::string_view type, const ProbeContext& context, ProbeResult* result) {
  const std::vector<Operands<T>> operands = MakeOperands<T>(context.seed);
  for (const Operation<T>& operation : Operations<T>()) {
    AddOperation(type, operation, operands, context.repeats, result);
  }
  result->choices[fmt::format("{} NaN", type)] = NanPayloads<T>();
  result->parameters.Set(fmt::format("{} operands", type), operands.size());
}

ProbeResult RunFpScalar(const ProbeContext& context) {
  ProbeResult result;
  result.parameters.Set("seed", context.seed);
  AddType<float>("fp32", context, &result);
  AddType<double>("fp64", context, &result);
  return result;
}

const RegisterProbe kFpScalarProbe(
    {.name = "fp_scalar",
     .family = "scalar",
     .summary = "scalar operations of fp32 and fp64, subnormals, NaNs",
     .run = RunFpScalar});

}  // namespace
}  // namespace rharness
