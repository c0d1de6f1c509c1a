// Our kernels on the emulator: against host arithmetic, the project's own number types, and the
// published fragment layouts.
#include "probes/gpu/kernels.h"

#include <gtest/gtest.h>

#include <cmath>

#include "probes/gpu/mma_model.h"
#include "probes/gpu/probe_tools.h"
#include "tests/gpu/emulator/emulator_run.h"
#include "tests/gpu/emulator/short_floats.h"
#include "tests/gpu/emulator/tensor_core.h"

namespace rharness {
namespace {

std::vector<std::uint32_t> Words(const KernelImage& image, std::string_view kernel,
                                 const std::vector<std::uint32_t>& in, unsigned order = 0) {
  EmulatedRun run{.buffers = {in, std::vector<std::uint32_t>(2 * in.size())}};
  run.n = static_cast<int>(in.size());
  run.threads[0] = 256;
  run.blocks[0] = static_cast<unsigned>(in.size() + 255) / 256;
  run.order = order;
  const auto fault = run.Of(image.ptx, kernel);
  EXPECT_FALSE(fault) << fault->text;
  return run.buffers[1];
}

TEST(EmulatedKernels, RunWithoutAFaultAndAlikeInEveryOrder) {
  std::vector<std::uint32_t> words;
  for (std::uint32_t i = 0; i < 4096; ++i) words.push_back(i * 1048583U);  // of every exponent
  for (const KernelImage* image : {&kCorpusKernels, &kMathKernels, &kConvert75Kernels,
                                   &kConvert80Kernels, &kConvert89Kernels}) {
    for (const std::string& kernel : EntriesOf(image->ptx)) {
      const auto first = Words(*image, kernel, words);
      EXPECT_EQ(first, Words(*image, kernel, words, 1)) << kernel;
      EXPECT_NE(first, std::vector<std::uint32_t>(first.size())) << kernel;
    }
  }
}

float AsFloat(std::uint32_t bits) { return std::bit_cast<float>(bits); }

// Bits of a float; of a NaN those of the device.
std::uint32_t BitsOfFloat(float value) {
  return std::isnan(value) ? 0x7fffffffU : std::bit_cast<std::uint32_t>(value);
}

TEST(EmulatedKernels, ComputeWhatTheHostComputes) {
  const std::vector<std::uint32_t> in = StridedWords();
  const std::size_t n = in.size();
  const auto check = [&](std::string_view kernel, auto expected) {
    const auto out = Words(kCorpusKernels, kernel, in);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(out[i], expected(in[i], in[(i + 1) % n], i)) << kernel << " " << i;
    }
  };
  const auto floats = [&](std::string_view kernel, auto function) {
    check(kernel, [&](std::uint32_t a, std::uint32_t b, std::size_t) {
      return BitsOfFloat(function(AsFloat(a), AsFloat(b)));
    });
  };
  floats("add_mul", [](float x, float y) { return std::fma(x, y, x); });
  floats("divide", [](float x, float y) { return x / y; });
  floats("square_root", [](float x, float) { return std::sqrt(std::fabs(x)); });
  floats("reciprocal", [](float x, float) { return 1.0F / x; });
  check("divide_integers", [&](std::uint32_t, std::uint32_t, std::size_t i) {
    if (i % 2 == 1) return in[i / 2] % 7U;
    const auto b = static_cast<std::int32_t>(in[(i / 2 + 1) % n] | 1U);
    return b == -1 ? 0U : static_cast<std::uint32_t>(static_cast<std::int32_t>(in[i / 2]) / b);
  });
  check("logic_three", [&](std::uint32_t a, std::uint32_t b, std::size_t i) {
    return ((a & 0x0000ffffU) | (b & 0xffff0000U)) ^ (in[(i + 2) % n] >> 8);
  });
}

// Row sums in the order of the source, by host loops.
float FoldOnHost(std::vector<float> lanes, std::size_t first_offset) {
  for (std::size_t offset = first_offset; offset > 0; offset /= 2) {
    for (std::size_t i = 0; i < offset; ++i) lanes[i] += lanes[i + offset];
  }
  return lanes[0];
}

float LayerNormSum(std::span<const float> row) {
  std::vector<float> threads(256), warps;
  for (std::size_t i = 0; i < row.size(); i += 4) {
    threads[i / 4 % 256] += (row[i] + row[i + 1]) + (row[i + 2] + row[i + 3]);
  }
  for (auto warp = threads.begin(); warp != threads.end(); warp += 32) {
    warps.push_back(FoldOnHost({warp, warp + 32}, 16));
  }
  return FoldOnHost(warps, 4);
}

float SoftmaxSum(std::span<const float> row) {
  std::vector<float> threads(256);
  for (std::size_t i = 0; i < row.size(); ++i) threads[i % 256] += row[i];
  return FoldOnHost(threads, 128);
}

TEST(EmulatedKernels, SumRowsOfNormalizationsInTheOrderOfTheirSource) {
  for (const std::size_t n : {1000U, 1024U, 3072U}) {
    std::vector<float> values(3 * n);
    std::uint32_t state = 1;
    for (float& value : values) {
      state = state * 1664525U + 1013904223U;
      value = static_cast<float>(state >> 8) * 0x1p-20F - 8.0F;
    }
    for (const auto& [kernel, sum] :
         {std::pair("layer_norm_rows", &LayerNormSum), {"softmax_rows", &SoftmaxSum}}) {
      EmulatedRun run{
          .buffers = {std::vector<std::uint32_t>(values.size()), std::vector<std::uint32_t>(3)},
          .n = static_cast<int>(n)};
      std::memcpy(run.buffers[0].data(), values.data(), 4 * values.size());
      run.blocks[0] = 3;
      run.threads[0] = 256;
      const auto fault = run.Of(kNormKernels.ptx, kernel);
      ASSERT_FALSE(fault) << fault->text;
      for (std::size_t row = 0; row < 3; ++row) {
        EXPECT_EQ(AsFloat(run.buffers[1][row]), sum(std::span(values).subspan(row * n, n)))
            << kernel << " " << n;
      }
    }
  }
}

// The project's own types round the same numbers by other code.
TEST(EmulatedKernels, ConvertAsTheProjectsNumberTypesDo) {
  const std::vector<std::uint32_t> in = StridedWords();
  const auto check = [&](const KernelImage& image, std::string_view kernel, NumberType type) {
    const auto out = Words(image, kernel, in);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const float value = AsFloat(in[i]);
      if (std::isnan(value)) continue;
      ASSERT_EQ(out[i], Encode(type, static_cast<double>(value))) << kernel << " " << value;
    }
  };
  check(kConvert75Kernels, "f16_rn", NumberType::kFp16);
  check(kConvert80Kernels, "bf16_rn", NumberType::kBf16);
  for (const auto& [ptx, type] : {std::pair(PtxType::kE4m3, NumberType::kE4m3),
                                  {PtxType::kE5m2, NumberType::kE5m2},
                                  {PtxType::kF16, NumberType::kFp16},
                                  {PtxType::kBf16, NumberType::kBf16}}) {
    const ShortFormat format = ShortFormatOf(ptx);
    for (std::uint32_t bits = 0; bits < 1U << (8 * BytesOf(type)); ++bits) {
      const double value = DecodeShort(format, bits), other = Decode(type, bits);
      ASSERT_TRUE(value == other || (std::isnan(value) && std::isnan(other))) << bits;
      if (std::isnan(value)) continue;
      const auto back =
          EncodeShort(format, static_cast<float>(value), PtxRounding::kNearest, false);
      ASSERT_EQ(back, bits);
    }
  }
  EXPECT_EQ(EncodeShort(ShortFormatOf(PtxType::kE4m3), 1e9F, PtxRounding::kNearest, true), 0x7eU);
  EXPECT_EQ(EncodeShort(ShortFormatOf(PtxType::kF16), 65520.0F, PtxRounding::kNearest, false),
            0x7c00U);
  EXPECT_EQ(EncodeShort(ShortFormatOf(PtxType::kF16), 65535.0F, PtxRounding::kZero, false),
            0x7bffU);
}

// Two implementations of what is published, on the questions of the probes.
TEST(TensorCore, AddsAsTheProjectsModelDoes) {
  for (const MmaInstruction& one : {MmaInstruction{"", NumberType::kFp16, 16},
                                    {"", NumberType::kBf16, 16},
                                    {"", NumberType::kTf32, 8},
                                    {"", NumberType::kE4m3, 32, true}}) {
    const PtxType type = one.type == NumberType::kFp16   ? PtxType::kF16
                         : one.type == NumberType::kBf16 ? PtxType::kBf16
                         : one.type == NumberType::kTf32 ? PtxType::kTf32
                                                         : PtxType::kE4m3;
    for (const int compute : {80, 90}) {
      const auto published = PublishedAddition(one, compute);
      if (!published) continue;
      const TensorAddition addition = TensorAdditionOf(type, one.k, one.warpgroup, compute);
      for (const MmaCase& question : BuildMmaCases(one)) {
        if (!question.finite) continue;
        EXPECT_EQ(AddInTensorCore(addition, type, question.a, question.b, question.c),
                  FusedDot(one.type, question.a, question.b, question.c, *published))
            << question.name << " " << compute;
      }
    }
  }
}

// Where the manual's figures put an element: of A and B by the number of the element in a lane.
struct Layout {
  std::string_view instruction;
  PtxType type;
  int k, per, a_registers;
  int (*a_row)(int lane, int i);
  int (*a_column)(int lane, int i);
  int (*b_row)(int lane, int i);  // its column is lane / 4
};
const Layout kLayouts[] = {
    {"m16n8k16.row.col.f32.f16.f16.f32", PtxType::kF16, 16, 2, 4,
     [](int l, int i) { return i < 2 || (i >= 4 && i < 6) ? l / 4 : l / 4 + 8; },
     [](int l, int i) { return i < 4 ? l % 4 * 2 + (i & 1) : l % 4 * 2 + (i & 1) + 8; },
     [](int l, int i) { return i < 2 ? l % 4 * 2 + (i & 1) : l % 4 * 2 + (i & 1) + 8; }},
    {"m16n8k8.row.col.f32.f16.f16.f32", PtxType::kF16, 8, 2, 2,
     [](int l, int i) { return i < 2 ? l / 4 : l / 4 + 8; },
     [](int l, int i) { return l % 4 * 2 + (i & 1); },
     [](int l, int i) { return l % 4 * 2 + (i & 1); }},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", PtxType::kTf32, 8, 1, 4,
     [](int l, int i) { return i == 0 || i == 2 ? l / 4 : l / 4 + 8; },
     [](int l, int i) { return i < 2 ? l % 4 : l % 4 + 4; },
     [](int l, int i) { return i == 0 ? l % 4 : l % 4 + 4; }},
    {"m16n8k32.row.col.f32.e4m3.e4m3.f32", PtxType::kE4m3, 32, 4, 4,
     [](int l, int i) { return i < 4 || (i >= 8 && i < 12) ? l / 4 : l / 4 + 8; },
     [](int l, int i) { return i < 8 ? l % 4 * 4 + (i & 3) : l % 4 * 4 + (i & 3) + 16; },
     [](int l, int i) { return i < 4 ? l % 4 * 4 + (i & 3) : l % 4 * 4 + (i & 3) + 16; }},
};

// Small whole numbers, so that every order gives the same sums.
int ElementOfA(int row, int k) { return (row * 7 + k * 3) % 9 - 4; }
int ElementOfB(int k, int column) { return (k * 5 + column * 11) % 7 - 3; }

std::uint32_t BitsIn(PtxType type, int value) {
  const auto number = static_cast<float>(value);
  if (type == PtxType::kTf32) return std::bit_cast<std::uint32_t>(number);
  return EncodeShort(ShortFormatOf(type), number, PtxRounding::kNearest, false);
}

std::string List(std::string_view prefix, int count) {
  std::string list = "{";
  for (int i = 0; i < count; ++i) {
    list += (i == 0 ? "" : ",") + std::string(prefix) + std::to_string(i + 10);
  }
  return list + "}";
}

// The lanes' registers of A, then of B, are in buffer 1; D's go to buffer 2. How many sums differ.
int WrongSums(const Layout& layout, bool swap_rows) {
  const int b_registers = layout.a_registers >= 4 ? 2 : 1, all = layout.a_registers + b_registers;
  EmulatedRun run{.buffers = {std::vector<std::uint32_t>(32 * 8), std::vector<std::uint32_t>(128)}};
  run.threads[0] = 32;
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < all; ++r) {
      std::uint32_t& word = run.buffers[0][static_cast<std::size_t>(lane * 8 + r)];
      for (int e = 0; e < layout.per; ++e) {
        const bool of_a = r < layout.a_registers;
        const int i = (of_a ? r : r - layout.a_registers) * layout.per + e;
        int row = layout.a_row(lane, i);
        if (swap_rows) row = (row + 8) % 16;
        const int value = of_a ? ElementOfA(row, layout.a_column(lane, i))
                               : ElementOfB(layout.b_row(lane, i), lane / 4);
        word |= BitsIn(layout.type, value) << (32 / layout.per * e);
      }
    }
  }
  std::string body = "mul.wide.u32 %rd10, %r1, 32;\nadd.s64 %rd10, %rd10, %rd1;\n";
  for (int r = 0; r < all; ++r) {
    body +=
        "ld.global.u32 %r" + std::to_string(10 + r) + ", [%rd10+" + std::to_string(4 * r) + "];\n";
  }
  for (int e = 10; e < 14; ++e) body += "mov.f32 %f" + std::to_string(e) + ", 0f00000000;\n";
  const std::string b = layout.a_registers == 4 ? "{%r14,%r15}" : "{%r12}";
  body += "mma.sync.aligned." + std::string(layout.instruction) + " {%f10,%f11,%f12,%f13}, " +
          List("%r", layout.a_registers) + ", " + b + ", {%f10,%f11,%f12,%f13};\n" +
          "mul.wide.u32 %rd11, %r1, 16;\nadd.s64 %rd11, %rd11, %rd2;\n" +
          "st.global.v4.f32 [%rd11], {%f10,%f11,%f12,%f13};";
  const auto fault = run.Of(KernelText(body), "k");
  EXPECT_FALSE(fault) << fault->text;
  int wrong = 0;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const int row = i < 2 ? lane / 4 : lane / 4 + 8, column = lane % 4 * 2 + (i & 1);
      int sum = 0;
      for (int k = 0; k < layout.k; ++k) sum += ElementOfA(row, k) * ElementOfB(k, column);
      const float got = AsFloat(run.buffers[1][static_cast<std::size_t>(lane * 4 + i)]);
      wrong += got == static_cast<float>(sum) ? 0 : 1;
    }
  }
  return wrong;
}

TEST(TensorCore, TakesElementsFromWhereTheManualPutsThem) {
  for (const Layout& layout : kLayouts)
    EXPECT_EQ(WrongSums(layout, false), 0) << layout.instruction;
}

TEST(TensorCore, GivesOtherSumsForAWrongFragmentLayout) {
  for (const Layout& layout : kLayouts)
    EXPECT_GT(WrongSums(layout, true), 60) << layout.instruction;
}

}  // namespace
}  // namespace rharness
