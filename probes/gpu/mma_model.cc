// The model of fused addition, its questions, and published variants.
#include "probes/gpu/mma_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace rharness {
namespace {

// Masks of 2^16 and terms down to 2^-18 exist as products in every type, fp8 too.
constexpr int kTop = 16;
constexpr int kBottom = -18;

int LeastExponent(NumberType type) {
  switch (type) {
    case NumberType::kFp16:
    case NumberType::kE5m2:
      return -14;
    case NumberType::kE4m3:
      return -6;
    default:
      return -126;
  }
}

int ExponentOf(double value, int least) { return std::max(std::ilogb(value), least); }

double CutTowardsZero(double value, int fraction_bits) {
  if (value == 0) return 0;
  const int exponent = ExponentOf(value, -126);
  return std::ldexp(std::trunc(std::ldexp(value, fraction_bits - exponent)),
                    exponent - fraction_bits);
}

struct Term {
  double value;
  int exponent;
};

double AddFused(std::span<const Term> terms, const FusedAddition& addition) {
  int top = addition.least_exponent;
  for (const Term& term : terms) {
    if (term.value != 0) top = std::max(top, term.exponent);
  }
  double sum = 0;  // of integers far below 2^53: exact
  for (const Term& term : terms) {
    sum += std::trunc(std::ldexp(term.value, addition.fraction_bits - top));
  }
  return CutTowardsZero(std::ldexp(sum, top - addition.fraction_bits),
                        addition.result_fraction_bits);
}

// Adds a product of 2^exponent, with both factors near the square root.
void PutPower(MmaCase* one, int at, int exponent, double sign = 1.0) {
  const int half = exponent >= 0 ? exponent / 2 : -((1 - exponent) / 2);
  const auto i = static_cast<std::size_t>(at);
  one->a[i] = sign * std::ldexp(1.0, half);
  one->b[i] = std::ldexp(1.0, exponent - half);
}

class CaseList {
 public:
  explicit CaseList(const MmaInstruction& instruction) : instruction_(instruction) {}

  MmaCase& Add(std::string name, float c) {
    const auto k = static_cast<std::size_t>(instruction_.k);
    cases_.push_back(
        {std::move(name), std::vector<double>(k, 0.0), std::vector<double>(k, 0.0), c});
    return cases_.back();
  }

  // A small term beside two large ones that cancel: kept when the alignment keeps its bit.
  void AddWidths() {
    for (int j = 8; j <= kTop - kBottom; ++j) {
      MmaCase& one = Add(fmt::format("width {}", j), 0.0F);
      PutPower(&one, 0, kTop);
      PutPower(&one, 1, kTop, -1.0);
      PutPower(&one, 2, kTop - j);
    }
  }
  // The same with the smallest term in every other place: kept when it is not in their group.
  void AddGroups() {
    for (int at = 2; at < instruction_.k; ++at) {
      MmaCase& one = Add(fmt::format("group {}", at), 0.0F);
      PutPower(&one, 0, kTop);
      PutPower(&one, 1, kTop, -1.0);
      PutPower(&one, at, kBottom);
    }
  }
  // Terms below C's last bit that together reach it.
  void AddBelowC() {
    const float c = std::ldexp(1.0F, 9);
    for (int j = 24; j <= 27; ++j) {
      const int count = 1 << (j - 23);
      if (count > instruction_.k) break;
      MmaCase& one = Add(fmt::format("{} products of 2^-{}", count, j), c);
      for (int i = 0; i < count; ++i) PutPower(&one, i, 9 - j);
    }
    MmaCase& sticky = Add("1.5*2^-24", c);
    PutPower(&sticky, 0, 9 - 24);
    PutPower(&sticky, 1, 9 - 25);
    MmaCase& up = Add("1.5*2^-23", c);
    PutPower(&up, 0, 9 - 23);
    PutPower(&up, 1, 9 - 24);
    PutPower(&Add("minus 2^-24", -c), 0, 9 - 24, -1.0);
    Add("C alone", 1.0F + std::ldexp(1.0F, -23));
  }
  void AddValues() {
    MmaCase& carry = Add("carry", 0.0F);
    std::ranges::fill(carry.a, 1.5);
    std::ranges::fill(carry.b, 1.5);
    for (const bool reversed : {false, true}) {
      MmaCase& one = Add(reversed ? "order reversed" : "order forward", 1.0F);
      for (int i = 0; i < instruction_.k; ++i) {
        PutPower(&one, reversed ? instruction_.k - 1 - i : i, i % 2 == 0 ? -(i % 16) : 3 - i / 2,
                 i % 3 == 0 ? -1.0 : 1.0);
      }
    }
    MmaCase& subnormal = Add("subnormal input", 0.0F);
    subnormal.a[0] = Decode(instruction_.type, instruction_.type == NumberType::kTf32 ? 0x2000 : 1);
    subnormal.b[0] = 1.0;
    if (LeastExponent(instruction_.type) == -126) {
      MmaCase& result = Add("subnormal result", 0.0F);
      result.a[0] = result.b[0] = std::ldexp(1.0, -70);
    }
    if (instruction_.type == NumberType::kTf32) {
      MmaCase& raw = Add("input beyond tf32", 0.0F);
      raw.a[0] = 1.0 + std::ldexp(1.0, -11);
      raw.b[0] = 1.0;
      raw.finite = false;
    }
    MmaCase& nan = Add("not a number", 0.0F);
    nan.a[0] = std::numeric_limits<double>::infinity();
    nan.finite = false;
  }
  std::vector<MmaCase> Take() { return std::move(cases_); }

 private:
  const MmaInstruction& instruction_;
  std::vector<MmaCase> cases_;
};

}  // namespace

float FusedDot(NumberType type, std::span<const double> a, std::span<const double> b, float c,
               const FusedAddition& addition) {
  const int least = LeastExponent(type);
  double sum = static_cast<double>(c);
  for (std::size_t begin = 0; begin < a.size(); begin += static_cast<std::size_t>(addition.group)) {
    std::vector<Term> terms = {{sum, sum == 0 ? 0 : ExponentOf(sum, -126)}};
    const std::size_t end = std::min(a.size(), begin + static_cast<std::size_t>(addition.group));
    for (std::size_t i = begin; i < end; ++i) {
      const double product = a[i] * b[i];
      if (product == 0) continue;
      terms.push_back({product, ExponentOf(a[i], least) + ExponentOf(b[i], least)});
    }
    sum = AddFused(terms, addition);
  }
  return static_cast<float>(sum);
}

std::vector<MmaCase> BuildMmaCases(const MmaInstruction& instruction) {
  CaseList list(instruction);
  list.AddWidths();
  list.AddGroups();
  list.AddBelowC();
  list.AddValues();
  return list.Take();
}

Json ReadMmaFeatures(const MmaInstruction& instruction,
                     const std::map<std::string, float>& results) {
  Json features = Json::MakeObject();
  int width = 0;
  for (int j = 8; j <= kTop - kBottom; ++j) {
    const auto at = results.find(fmt::format("width {}", j));
    if (at != results.end() && at->second == std::ldexp(1.0F, kTop - j)) width = j;
  }
  if (width > 0) features.Set("fraction_bits", width);
  // The products whose small term was lost are in the group of the first two. They need not be
  // neighbours: an instruction that a device emulates may take every other pair.
  int group = std::min(instruction.k, 2);
  for (int at = 2; at < instruction.k; ++at) {
    const auto found = results.find(fmt::format("group {}", at));
    if (found != results.end() && found->second == 0) ++group;
  }
  features.Set("group", group);
  const auto value = [&](const char* name) {
    const auto at = results.find(name);
    return at == results.end() ? std::nullopt : std::optional<float>(at->second);
  };
  const float c = std::ldexp(1.0F, 9);
  if (const auto up = value("1.5*2^-23"); up && width >= 24) {
    features.Set("rounding", *up == c + std::ldexp(1.0F, 9 - 23) ? "towards zero" : "to nearest");
  }
  if (const auto subnormal = value("subnormal input")) features.Set("subnormals", *subnormal != 0);
  if (const auto alone = value("C alone")) features.Set("short_accumulator", *alone == 1.0F);
  const auto forward = value("order forward"), reversed = value("order reversed");
  if (forward && reversed) features.Set("permutable", *forward == *reversed);
  return features;
}

std::optional<FusedAddition> PublishedAddition(const MmaInstruction& instruction, int compute) {
  const bool ampere = compute == 80 || compute == 86 || compute == 89;
  const bool hopper = compute == 90 || compute == 100;
  const int k = instruction.k;
  switch (instruction.type) {
    case NumberType::kFp16:
    case NumberType::kBf16:
      if (compute == 75 && k == 8) return FusedAddition{8, 24, 23, -132};
      if (ampere) return FusedAddition{8, 24, 23, -132};
      if (hopper) return FusedAddition{k, 25, 23, -133};
      return std::nullopt;
    case NumberType::kTf32:
      if (compute == 80) return FusedAddition{4, 24, 23, -132};
      if (hopper) return FusedAddition{k, 25, 23, -133};
      return std::nullopt;
    case NumberType::kE4m3:
    case NumberType::kE5m2:
      if (instruction.warpgroup && compute == 90) return FusedAddition{32, 13, 13, -133};
      // mma.sync of fp8 on later devices is emulated, and publications on it disagree.
      if (compute == 89) return FusedAddition{16, 13, 13, -132};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace rharness
