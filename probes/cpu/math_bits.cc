// The mathematics library over inputs of every exponent: bits, and the largest error.
//
// The reference is the same library in the next higher precision: double for float, long double for
// double. It is another implementation, and its own error is far below one unit of the lower.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "probes/cpu/bit_cases.h"
#include "probes/probe.h"
#include "probes/ulp_error.h"

namespace rharness {
namespace {

constexpr std::uint32_t kInputs = 1 << 16;

template <class T>
struct Function {
  std::string_view name;
  T (*apply)(T);
  Wider<T> (*reference)(Wider<T>);
};

// Overloads by type, so that one table serves both precisions.
template <class T>
std::array<Function<T>, 14> Functions() {
  using W = Wider<T>;
  return {{{"exp", std::exp, [](W x) { return std::exp(x); }},
           {"exp2", std::exp2, [](W x) { return std::exp2(x); }},
           {"expm1", std::expm1, [](W x) { return std::expm1(x); }},
           {"log", std::log, [](W x) { return std::log(x); }},
           {"log2", std::log2, [](W x) { return std::log2(x); }},
           {"log1p", std::log1p, [](W x) { return std::log1p(x); }},
           {"sin", std::sin, [](W x) { return std::sin(x); }},
           {"cos", std::cos, [](W x) { return std::cos(x); }},
           {"tan", std::tan, [](W x) { return std::tan(x); }},
           {"tanh", std::tanh, [](W x) { return std::tanh(x); }},
           {"atan", std::atan, [](W x) { return std::atan(x); }},
           {"erf", std::erf, [](W x) { return std::erf(x); }},
           {"cbrt", std::cbrt, [](W x) { return std::cbrt(x); }},
           {"lgamma", std::lgamma, [](W x) { return std::lgamma(x); }}}};
}

template <class T, class Apply, class Reference>
void AddFunction(const std::string& name, const ProbeContext& context, ProbeResult* result,
                 Apply apply, Reference reference) {
  const std::vector<T> values = AddBits(name, context.repeats, result, [&] {
    std::vector<T> made(kInputs);
    for (std::uint32_t i = 0; i < kInputs; ++i) made[i] = OneNan<T>(apply(i));
    return made;
  });
  double worst = 0.0;
  for (std::uint32_t i = 0; i < kInputs; ++i) {
    worst = std::fmax(worst, UlpError<T>(values[i], reference(i)));
  }
  result->counts["max_milli_ulp of " + name] = MilliUlp(worst);
}

template <class T>
void AddType(std::string_view type, const ProbeContext& context, ProbeResult* result) {
  using W = Wider<T>;
  const std::vector<T> inputs = StridedInputs<T>(kInputs);
  for (const Function<T>& function : Functions<T>()) {
    AddFunction<T>(
        fmt::format("{} {}", type, function.name), context, result,
        [&](std::uint32_t i) { return function.apply(inputs[i]); },
        [&](std::uint32_t i) { return function.reference(W{inputs[i]}); });
  }
  // Positive bases near one, so that powers are neither zero nor infinite.
  const auto base = [](std::uint32_t i) {
    return static_cast<T>(0.5) + static_cast<T>(i) / kInputs;
  };
  const auto power = [](std::uint32_t i) {
    return static_cast<T>(static_cast<std::int32_t>(i * 40503U % kInputs) - (1 << 15)) / 512;
  };
  AddFunction<T>(
      fmt::format("{} pow", type), context, result,
      [&](std::uint32_t i) { return std::pow(base(i), power(i)); },
      [&](std::uint32_t i) { return std::pow(W{base(i)}, W{power(i)}); });
}

ProbeResult RunMathBits(const ProbeContext& context) {
  ProbeResult result;
  result.parameters.Set("inputs", kInputs);
  AddType<float>("fp32", context, &result);
  AddType<double>("fp64", context, &result);
  return result;
}

const RegisterProbe kMathBitsProbe({.name = "math_bits",
                                    .family = "math",
                                    .summary = "functions of libm over 65,536 inputs each",
                                    .run = RunMathBits});

}  // namespace
}  // namespace rharness
