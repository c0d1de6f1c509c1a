// Conversions to small formats and back: a model by exact arithmetic, and what the compiler and the
// processor make of the same inputs. A difference between them is a failure.
#include <fmt/format.h>

#include <array>
#include <functional>

#include "probes/cpu/bit_cases.h"
#include "probes/cpu/float_format.h"
#include "probes/probe.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rharness {
namespace {

constexpr std::uint32_t kStrided = 1 << 16;

int CodeBits(const FloatFormat& format) { return 1 + format.exponent_bits + format.mantissa_bits; }

// Inputs of every exponent, and the middles between neighbours, where ties are decided.
std::vector<float> MakeInputs(const FloatFormat& format) {
  std::vector<float> inputs = StridedInputs<float>(kStrided);
  const std::uint32_t codes = 1U << CodeBits(format);
  for (std::uint32_t code = 0; code + 1 < codes; ++code) {
    const double middle = (DecodeFloat(format, code) + DecodeFloat(format, code + 1)) / 2;
    inputs.push_back(static_cast<float>(middle));
  }
  return inputs;
}

std::vector<std::uint32_t> Encoded(const std::vector<float>& inputs,
                                   const std::function<std::uint32_t(float)>& encode) {
  std::vector<std::uint32_t> codes;
  codes.reserve(inputs.size());
  for (const float input : inputs) codes.push_back(encode(input));
  return codes;
}

std::vector<float> Decoded(const FloatFormat& format) {
  std::vector<float> values;
  for (std::uint32_t code = 0; code < 1U << CodeBits(format); ++code) {
    values.push_back(OneNan(static_cast<float>(DecodeFloat(format, code))));
  }
  return values;
}

// Every NaN has one code: payloads are not under test.
std::uint32_t OneNanCode(std::uint32_t fp16) {
  const bool nan = (fp16 & 0x7c00) == 0x7c00 && (fp16 & 0x3ff) != 0;
  return nan ? (fp16 & 0x8000) | 0x7e00 : fp16;
}

#ifdef __FLT16_MAX__
std::uint32_t CompilerFp16(float value) {
  const volatile float input = value;
  return OneNanCode(std::bit_cast<std::uint16_t>(static_cast<_Float16>(input)));
}
#endif

#if defined(__x86_64__)
__attribute__((target("f16c"))) std::uint32_t ProcessorFp16(float value) {
  const __m128i code = _mm_cvtps_ph(_mm_set_ss(value), _MM_FROUND_TO_NEAREST_INT);
  return OneNanCode(static_cast<std::uint32_t>(_mm_cvtsi128_si32(code)) & 0xffff);
}
#endif

// The conversions to fp16 that this program and this processor have.
std::vector<std::pair<std::string, std::uint32_t (*)(float)>> OtherFp16() {
  std::vector<std::pair<std::string, std::uint32_t (*)(float)>> others;
#ifdef __FLT16_MAX__
  others.emplace_back("fp16 by the compiler", CompilerFp16);
#endif
#if defined(__x86_64__)
  if (__builtin_cpu_supports("f16c")) others.emplace_back("fp16 by F16C", ProcessorFp16);
#endif
  return others;
}

void AddFormat(const FloatFormat& format, const ProbeContext& context, ProbeResult* result) {
  const std::vector<float> inputs = MakeInputs(format);
  for (const bool saturate : {false, true}) {
    AddBits(
        fmt::format("{}{}", format.name, saturate ? " saturating" : ""), context.repeats, result,
        [&] { return Encoded(inputs, [&](float x) { return EncodeFloat(format, x, saturate); }); });
  }
  AddBits(fmt::format("{} to fp32", format.name), context.repeats, result,
          [&] { return Decoded(format); });
}

void AddOtherFp16(const ProbeContext& context, ProbeResult* result) {
  const std::vector<float> inputs = MakeInputs(kFp16);
  for (const auto& [name, encode] : OtherFp16()) {
    const std::vector<std::uint32_t> codes = AddBits(
        name, context.repeats, result, [&, encode = encode] { return Encoded(inputs, encode); });
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::uint32_t expected = EncodeFloat(kFp16, inputs[i]);
      if (codes[i] == expected) continue;
      result->status = ProbeStatus::kFailed;
      result->message = fmt::format("{} of {:a} gave {:04x}, expected {:04x}", name, inputs[i],
                                    codes[i], expected);
      break;
    }
  }
}

ProbeResult RunConvertBits(const ProbeContext& context) {
  ProbeResult result;
  result.parameters.Set("strided_inputs", kStrided);
  for (const FloatFormat& format : {kFp16, kBf16, kE5m2, kE4m3}) {
    AddFormat(format, context, &result);
  }
  AddOtherFp16(context, &result);
  return result;
}

const RegisterProbe kConvertBitsProbe(
    {.name = "convert_bits",
     .family = "math",
     .summary = "conversions of fp32 to fp16, bf16, e5m2, e4m3 and back",
     .run = RunConvertBits});

}  // namespace
}  // namespace rharness
