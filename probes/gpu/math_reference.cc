// One function a kernel of math.cu, by its name.
#include "probes/gpu/math_reference.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "probes/ulp_error.h"

namespace rharness {
namespace {

constexpr int kWideBits = std::numeric_limits<long double>::digits;

// The exponent of math.cu's powers, as the device sees it.
constexpr double kPower = 1.7F;

struct Single {
  std::string_view kernel;
  double (*reference)(double);
};
struct Double {
  std::string_view kernel;
  long double (*reference)(long double);
};

constexpr Single kSingles[] = {
    {"expf_32", [](double x) { return std::exp(x); }},
    {"logf_32", [](double x) { return std::log(x); }},
    {"sinf_32", [](double x) { return std::sin(x); }},
    {"cosf_32", [](double x) { return std::cos(x); }},
    {"tanhf_32", [](double x) { return std::tanh(x); }},
    {"erff_32", [](double x) { return std::erf(x); }},
    {"powf_32", [](double x) { return std::pow(std::fabs(x), kPower); }},
    {"rsqrtf_32", [](double x) { return 1.0 / std::sqrt(x); }},
    {"sqrtf_32", [](double x) { return std::sqrt(x); }},
    {"fast_exp", [](double x) { return std::exp(x); }},
    {"fast_log", [](double x) { return std::log(x); }},
    {"fast_sin", [](double x) { return std::sin(x); }},
    {"fast_pow", [](double x) { return std::pow(std::fabs(x), kPower); }}};

constexpr Double kDoubles[] = {{"exp_64", [](long double x) { return std::exp(x); }},
                               {"log_64", [](long double x) { return std::log(x); }},
                               {"sin_64", [](long double x) { return std::sin(x); }},
                               {"tanh_64", [](long double x) { return std::tanh(x); }},
                               {"erf_64", [](long double x) { return std::erf(x); }},
                               {"rsqrt_64", [](long double x) { return 1.0L / std::sqrt(x); }}};

}  // namespace

double WideInput(std::uint32_t word) {
  return std::bit_cast<double>((static_cast<std::uint64_t>(word) << 32) | (word * 2654435761U));
}

std::string_view ReferenceName() {
  if (kWideBits <= std::numeric_limits<double>::digits) return "double for fp32, none for fp64";
  return kWideBits == 64 ? "double for fp32, long double of 64 bits for fp64"
                         : "double for fp32, long double of more than 64 bits for fp64";
}

std::optional<double> LargestUlpError(std::string_view kernel,
                                      const std::vector<std::uint32_t>& words,
                                      std::span<const std::byte> output) {
  if (output.size() < 2 * sizeof(std::uint32_t) * words.size()) return std::nullopt;
  double worst = 0.0;
  for (const Single& one : kSingles) {
    if (one.kernel != kernel) continue;
    for (std::size_t i = 0; i < words.size(); ++i) {
      float value = 0;
      std::memcpy(&value, output.data() + i * sizeof(float), sizeof(float));
      const auto x = static_cast<double>(std::bit_cast<float>(words[i]));
      worst = std::fmax(worst, UlpError<float>(value, one.reference(x)));
    }
    return worst;
  }
  for (const Double& one : kDoubles) {
    if (one.kernel != kernel || kWideBits <= std::numeric_limits<double>::digits) continue;
    for (std::size_t i = 0; i < words.size(); ++i) {
      double value = 0;
      std::memcpy(&value, output.data() + i * sizeof(double), sizeof(double));
      const auto x = static_cast<long double>(WideInput(words[i]));
      worst = std::fmax(worst, UlpError<double>(value, one.reference(x)));
    }
    return worst;
  }
  return std::nullopt;
}

}  // namespace rharness
