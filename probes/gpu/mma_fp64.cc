// Orders of the fp64 instruction as functions.
#include "probes/gpu/mma_fp64.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace rharness {
namespace {

// Products of the questions are below 2^100, and sums of five below 2^103.
__extension__ using Whole = __int128;

Whole ProductOf(const Fp64Case& one, std::size_t i) {
  return static_cast<Whole>(one.a[i]) * static_cast<Whole>(one.b[i]);
}

// A generator of our own, as the questions are the same on every machine.
class Words {
 public:
  std::uint64_t Next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return state_ >> 33;
  }

 private:
  std::uint64_t state_ = 1;
};

// A whole number of 20 bits, with a sign, times a power of two.
double Factor(Words* words) {
  const auto magnitude = static_cast<double>(words->Next() % (1U << 20) + 1);
  const auto exponent = static_cast<int>(words->Next() % 28);
  return std::ldexp(words->Next() % 2 == 0 ? magnitude : -magnitude, exponent);
}

}  // namespace

std::vector<Fp64Case> BuildFp64Cases() {
  const double big = std::ldexp(1.0, 60);
  std::vector<Fp64Case> cases;
  // Two masks that cancel, in every pair of places, and ones: those between them are lost.
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = i + 1; j < 4; ++j) {
      Fp64Case one{fmt::format("masks {} {}", i, j), {1, 1, 1, 1}, {1, 1, 1, 1}, 0};
      one.a[i] = big, one.a[j] = -big;
      cases.push_back(one);
    }
    Fp64Case with_c{fmt::format("masks c {}", i), {1, 1, 1, 1}, {1, 1, 1, 1}, big};
    with_c.a[i] = -big;
    cases.push_back(with_c);
  }
  cases.push_back({"halves", {1, 1, 1, 1}, {1, 1, 1, 1}, std::ldexp(1.0, 53)});
  const double wide = std::ldexp(1.0, 30) + 1;
  cases.push_back({"product's last bit", {wide}, {wide}, -big - std::ldexp(1.0, 31)});
  Words words;
  for (int i = 0; i < 64; ++i) {
    Fp64Case one{.name = fmt::format("random {}", i)};
    for (std::size_t k = 0; k < 4; ++k) one.a[k] = Factor(&words), one.b[k] = Factor(&words);
    one.c = Factor(&words) * std::ldexp(1.0, static_cast<int>(words.Next() % 40));
    cases.push_back(one);
  }
  const double least = std::numeric_limits<double>::denorm_min();
  cases.push_back({"subnormal input", {least}, {1}, 0, false});
  cases.push_back({"subnormal result", {std::ldexp(1.0, -600)}, {std::ldexp(1.0, -470)}, 0, false});
  cases.push_back({"not a number", {std::numeric_limits<double>::infinity()}, {0}, 0, false});
  return cases;
}

std::string_view PublishedFp64Order(int compute) {
  return compute == 80 || compute == 90 || compute == 100 ? "fma rising" : "";
}

double AddFp64(std::string_view order, const Fp64Case& one) {
  if (order == "one rounding") {
    Whole sum = static_cast<Whole>(one.c);
    for (std::size_t i = 0; i < 4; ++i) sum += ProductOf(one, i);
    return static_cast<double>(sum);
  }
  if (order == "pairs") {
    const auto low = static_cast<double>(ProductOf(one, 0) + ProductOf(one, 1));
    const auto high = static_cast<double>(ProductOf(one, 2) + ProductOf(one, 3));
    return one.c + (low + high);
  }
  double sum = one.c;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t k = order == "fma falling" ? 3 - i : i;
    if (order == "rounded products rising") {
      // Apart, or the compiler may fuse them.
      const volatile double product = one.a[k] * one.b[k];
      sum += product;
    } else {
      sum = std::fma(one.a[k], one.b[k], sum);
    }
  }
  return sum;
}

Json ReadFp64Features(const std::vector<Fp64Case>& cases, const std::vector<double>& answers) {
  std::string_view order = "none known";
  for (const std::string_view candidate : kFp64Orders) {
    bool all = true;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      all = all && (!cases[i].whole || AddFp64(candidate, cases[i]) == answers[i]);
    }
    if (!all) continue;
    order = candidate;
    break;
  }
  Json features = Json::MakeObject().Set("order", order);
  bool subnormals = true;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].name.starts_with("subnormal")) subnormals = subnormals && answers[i] != 0;
    if (cases[i].name == "not a number") {
      features.Set("nan_bits", fmt::format("{:#018x}", std::bit_cast<std::uint64_t>(answers[i])));
    }
  }
  return features.Set("subnormals", subnormals);
}

}  // namespace rharness
