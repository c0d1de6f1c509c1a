// Operations of single instructions against values known from the ISA.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/gpu/emulator/emulator_run.h"

namespace rharness {
namespace {

// What `instruction` leaves in %r2, with %r3, %r4, %r5 and, as the same bits, %f3, %f4, %f5 given.
std::uint32_t Word(const std::string& instruction, std::uint32_t a, std::uint32_t b = 0,
                   std::uint32_t c = 0) {
  EmulatedRun run{.buffers = {{a, b, c}, {0}}};
  std::string body;
  for (int i = 0; i < 3; ++i) {
    const std::string to = std::to_string(3 + i),
                      from = ", [%rd1+" + std::to_string(4 * i) + "];\n";
    body += "ld.global.u32 %r" + to + from + "ld.global.f32 %f" + to + from;
  }
  const bool single = instruction.find("%f2,") != std::string::npos;
  body += instruction + "\n" + (single ? "mov.b32 %r2, %f2;\n" : "") + "st.global.u32 [%rd2], %r2;";
  const auto fault = run.Of(KernelText(body), "k");
  EXPECT_FALSE(fault) << fault->text;
  return run.buffers[1][0];
}

std::uint32_t Single(const std::string& instruction, float a, float b = 0, float c = 0) {
  return Word(instruction, std::bit_cast<std::uint32_t>(a), std::bit_cast<std::uint32_t>(b),
              std::bit_cast<std::uint32_t>(c));
}
std::uint32_t Bits(float value) { return std::bit_cast<std::uint32_t>(value); }

TEST(EmulatedIntegers, WrapMultiplyAndCarry) {
  EXPECT_EQ(Word("add.u32 %r2, %r3, %r4;", 0xffffffff, 2), 1u);
  EXPECT_EQ(Word("mul.hi.u32 %r2, %r3, %r4;", 0xffffffff, 0xffffffff), 0xfffffffeu);
  EXPECT_EQ(Word("mul.hi.s32 %r2, %r3, %r4;", 0xffffffff, 0xffffffff), 0u);
  EXPECT_EQ(Word("mad.lo.s32 %r2, %r3, %r4, %r5;", 7, 0xffffffff, 3), 0xfffffffcu);
  EXPECT_EQ(Word("add.cc.u32 %r6, %r3, %r4;\naddc.u32 %r2, %r5, 0;", 0xffffffff, 1, 5), 6u);
  EXPECT_EQ(Word("sub.cc.u32 %r6, %r3, %r4;\nsubc.u32 %r2, %r5, 0;", 0, 1, 5), 4u);
  EXPECT_EQ(
      Word("mad.lo.cc.u32 %r6, %r3, %r4, %r3;\nmadc.hi.u32 %r2, %r3, %r4, %r5;", 0x80000000, 3, 10),
      12u);
  EXPECT_EQ(Word("div.s32 %r2, %r3, %r4;", 0xfffffff9, 2), 0xfffffffdu);
  EXPECT_EQ(Word("rem.s32 %r2, %r3, %r4;", 0xfffffff9, 2), 0xffffffffu);
  EXPECT_EQ(Word("div.s32 %r2, %r3, %r4;", 0x80000000, 0xffffffff), 0x80000000u);
  EXPECT_EQ(Word("max.s32 %r2, %r3, %r4;", 0xffffffff, 1), 1u);
  EXPECT_EQ(Word("max.u32 %r2, %r3, %r4;", 0xffffffff, 1), 0xffffffffu);
}

TEST(EmulatedBits, ShiftPermuteAndCount) {
  EXPECT_EQ(Word("shl.b32 %r2, %r3, %r4;", 1, 31), 0x80000000u);
  EXPECT_EQ(Word("shl.b32 %r2, %r3, %r4;", 1, 32), 0u);
  EXPECT_EQ(Word("shr.s32 %r2, %r3, %r4;", 0x80000000, 99), 0xffffffffu);
  EXPECT_EQ(Word("shr.u32 %r2, %r3, %r4;", 0x80000000, 31), 1u);
  EXPECT_EQ(Word("prmt.b32 %r2, %r3, %r4, 0x5140;", 0x33221100, 0x77665544), 0x55114400u);
  EXPECT_EQ(Word("prmt.b32 %r2, %r3, %r4, 0x888b;", 0x80221100, 0), 0x000000ffu);
  EXPECT_EQ(Word("clz.b32 %r2, %r3;", 0x00010000), 15u);
  EXPECT_EQ(Word("popc.b32 %r2, %r3;", 0xf0f00001), 9u);
  EXPECT_EQ(Word("brev.b32 %r2, %r3;", 0x00000003), 0xc0000000u);
  EXPECT_EQ(Word("setp.lt.s32 %p1, %r3, %r4;\nselp.b32 %r2, 1, 2, %p1;", 0xffffffff, 1), 1u);
  EXPECT_EQ(Word("setp.lt.u32 %p1, %r3, %r4;\nselp.b32 %r2, 1, 2, %p1;", 0xffffffff, 1), 2u);
  EXPECT_EQ(Word("mov.b64 %rd3, {%r3,%r4};\nmov.b64 {%r5,%r2}, %rd3;", 1, 2), 2u);
}

TEST(EmulatedFloats, RoundAsTheInstructionSays) {
  const float tiny = std::ldexp(1.0F, -30);
  EXPECT_EQ(Single("add.rn.f32 %f2, %f3, %f4;", 1, tiny), Bits(1));
  EXPECT_EQ(Single("add.rp.f32 %f2, %f3, %f4;", 1, tiny), Bits(1 + std::ldexp(1.0F, -23)));
  EXPECT_EQ(Single("add.rm.f32 %f2, %f3, %f4;", 1, -tiny), Bits(1 - std::ldexp(1.0F, -24)));
  EXPECT_EQ(Single("add.rz.f32 %f2, %f3, %f4;", -1, tiny), Bits(-1 + std::ldexp(1.0F, -24)));
  // 1 + 2^-12 squared loses 2^-24 unless it is fused.
  const float x = 1 + std::ldexp(1.0F, -12);
  EXPECT_EQ(Single("fma.rn.f32 %f2, %f3, %f4, %f5;", x, x, -1),
            Bits(x * x - 1 + std::ldexp(1.0F, -24)));
  EXPECT_EQ(Single("mul.rn.f32 %f2, %f3, %f4;\nadd.rn.f32 %f2, %f2, %f5;", x, x, -1),
            Bits(std::ldexp(1.0F, -11)));
  EXPECT_EQ(Single("fma.rp.f32 %f2, %f3, %f4, %f5;", 1, 1, tiny), Bits(1 + std::ldexp(1.0F, -23)));
  EXPECT_EQ(Single("add.ftz.f32 %f2, %f3, %f4;", std::ldexp(-1.0F, -140), 0), Bits(0));
  EXPECT_EQ(Single("add.f32 %f2, %f3, %f4;", std::ldexp(1.0F, -140), 0), 0x200u);
  EXPECT_EQ(Single("add.sat.f32 %f2, %f3, %f4;", 1, 2), Bits(1));
  EXPECT_EQ(Single("add.f32 %f2, %f3, %f4;", INFINITY, -INFINITY), 0x7fffffffu);
  EXPECT_EQ(Single("min.f32 %f2, %f3, %f4;", 0.0F, -0.0F), 0x80000000u);
  EXPECT_EQ(Single("max.f32 %f2, %f3, %f4;", NAN, 3), Bits(3));
  EXPECT_EQ(Single("copysign.f32 %f2, %f3, %f4;", -1, 5), Bits(-5));
  EXPECT_EQ(Single("ex2.approx.f32 %f2, %f3;", 10), Bits(1024));
  EXPECT_EQ(Single("setp.ltu.f32 %p1, %f3, %f4;\nselp.b32 %r2, 1, 2, %p1;", NAN, 1), 1u);
  EXPECT_EQ(Single("setp.ne.f32 %p1, %f3, %f4;\nselp.b32 %r2, 1, 2, %p1;", NAN, 1), 2u);
}

TEST(EmulatedConversions, RoundCutAndSaturate) {
  EXPECT_EQ(Single("cvt.rni.s32.f32 %r2, %f3;", 2.5F), 2u);
  EXPECT_EQ(Single("cvt.rzi.s32.f32 %r2, %f3;", -2.5F), 0xfffffffeu);
  EXPECT_EQ(Single("cvt.rzi.u32.f32 %r2, %f3;", -2.5F), 0u);
  EXPECT_EQ(Single("cvt.rzi.s32.f32 %r2, %f3;", 1e20F), 0x7fffffffu);
  EXPECT_EQ(Single("cvt.rzi.s32.f32 %r2, %f3;", NAN), 0u);
  EXPECT_EQ(Word("cvt.rn.f32.s32 %f2, %r3;", 0x7fffffff), Bits(2147483648.0F));
  EXPECT_EQ(Word("cvt.rz.f32.s32 %f2, %r3;", 0x7fffffff), Bits(2147483520.0F));
  EXPECT_EQ(Word("cvt.s32.s8 %r2, %r3;", 0x80), 0xffffff80u);
  EXPECT_EQ(Single("cvt.rna.tf32.f32 %r2, %f3;", 1 + std::ldexp(1.0F, -11)),
            Bits(1 + std::ldexp(1.0F, -10)));
  EXPECT_EQ(Single("cvt.sat.f32.f32 %f2, %f3;", 7), Bits(1));
  EXPECT_EQ(Single("cvt.rni.f32.f32 %f2, %f3;", -3.5F), Bits(-4));
}

}  // namespace
}  // namespace rharness
