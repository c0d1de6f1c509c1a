// Grids of three dimensions, shared memory that a launch sizes, and atomics between threads.
#include <gtest/gtest.h>

#include "tests/gpu/emulator/emulator_run.h"

namespace rharness {
namespace {

TEST(EmulatedShapes, GiveBlocksAndThreadsThreeDimensions) {
  EmulatedRun run{.buffers = {std::vector<std::uint32_t>(1),
                              std::vector<std::uint32_t>(std::size_t{24} * 70 * 2)}};
  run.blocks = {2, 3, 4};
  run.threads = {5, 7, 2};
  // Each thread writes its number along each axis, and those of its block, where both begin.
  const auto fault = run.Of(
      KernelText(
          "mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ntid.x;\n"
          "mov.u32 %r5, %ntid.y; mad.lo.s32 %r6, %r3, %r5, %r2; mad.lo.s32 %r6, %r6, %r4, %r1;\n"
          "mov.u32 %r7, %ctaid.x; mov.u32 %r8, %ctaid.y; mov.u32 %r9, %ctaid.z;\n"
          "mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y; mov.u32 %r12, %ntid.z;\n"
          "mad.lo.s32 %r13, %r9, %r11, %r8; mad.lo.s32 %r13, %r13, %r10, %r7;\n"
          "mul.lo.s32 %r14, %r4, %r5; mul.lo.s32 %r14, %r14, %r12;\n"
          "mad.lo.s32 %r15, %r13, %r14, %r6; mul.wide.u32 %rd5, %r15, 8;\n"
          "add.s64 %rd5, %rd5, %rd2; mul.lo.s32 %r16, %r3, 100; mad.lo.s32 %r16, %r2, 10, %r16;\n"
          "add.s32 %r16, %r16, %r1; mul.lo.s32 %r17, %r9, 100; mad.lo.s32 %r17, %r8, 10, %r17;\n"
          "add.s32 %r17, %r17, %r7; st.global.v2.u32 [%rd5], {%r16, %r17};"),
      "k");
  ASSERT_FALSE(fault) << fault->text;
  std::size_t at = 0;
  for (std::uint32_t block = 0; block < 24; ++block) {
    for (std::uint32_t thread = 0; thread < 70; ++thread, at += 2) {
      ASSERT_EQ(run.buffers[1][at], thread / 35 * 100 + thread / 5 % 7 * 10 + thread % 5) << at;
      ASSERT_EQ(run.buffers[1][at + 1], block / 6 * 100 + block / 2 % 3 * 10 + block % 2) << at;
    }
  }
}

// Threads turn the words of shared memory around, behind 64 bytes of the kernel's own.
std::string Turned() {
  const std::string text = KernelText(
      ".shared .align 4 .b8 own[64];\nst.shared.u32 [own], 7;\nmov.u64 %rd3, dynamic;\n"
      "add.s64 %rd4, %rd3, %rd9; st.shared.u32 [%rd4], %r1; bar.sync 0;\nmov.u32 %r3, %ntid.x;\n"
      "sub.s32 %r3, %r3, %r1; add.s32 %r3, %r3, -1; mul.wide.u32 %rd5, %r3, 4;\n"
      "add.s64 %rd5, %rd5, %rd3; ld.shared.u32 %r4, [%rd5]; add.s64 %rd6, %rd2, %rd9;\n"
      "st.global.u32 [%rd6], %r4;");
  std::string with = text;
  with.replace(with.find("st.shared.u32 [own], 7;"), 23,
               "setp.eq.s32 %p1, %r1, 0; @%p1 st.shared.u32 [own], 7;");
  return with.insert(with.find(".visible"), ".extern .shared .align 16 .b8 dynamic[];\n");
}

TEST(EmulatedShapes, HaveTheSharedMemoryThatTheLaunchSays) {
  for (const unsigned bytes : {256U, 255U, 0U}) {
    EmulatedRun run{.buffers = {std::vector<std::uint32_t>(64), std::vector<std::uint32_t>(64)}};
    run.threads[0] = 64;
    run.dynamic_shared_bytes = bytes;
    const auto fault = run.Of(Turned(), "k");
    ASSERT_EQ(fault.has_value(), bytes < 256);
    if (fault) {
      EXPECT_EQ(fault->kind, FaultKind::kOutOfBounds) << fault->text;
      continue;
    }
    for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(run.buffers[1][i], 63 - i);
  }
}

std::optional<Fault> RunShared(const std::string& body, std::uint32_t* out, unsigned order) {
  EmulatedRun run{.buffers = {std::vector<std::uint32_t>(64), std::vector<std::uint32_t>(1)}};
  run.threads[0] = 64;
  run.order = order;
  const auto fault = run.Of(
      KernelText(".shared .align 4 .b8 s[8];\nsetp.eq.s32 %p1, %r1, 0; @%p1 st.shared.u32 [s], 0;\n"
                 "bar.sync 0;\n" +
                 body),
      "k");
  *out = run.buffers[1][0];
  return fault;
}

TEST(EmulatedAtomics, AddUpInSharedMemoryAndRaceWithPlainAccesses) {
  const std::string add = "atom.shared.add.u32 %r2, [s], %r1;\n",
                    store = "@%p1 ld.shared.u32 %r3, [s];\n@%p1 st.global.u32 [%rd2], %r3;";
  std::uint32_t out = 0;
  for (const unsigned order : {0U, 1U}) {
    const auto fault = RunShared(add + "bar.sync 0;\n" + store, &out, order);
    ASSERT_FALSE(fault) << fault->text;
    EXPECT_EQ(out, 63U * 32);
    const auto race = RunShared(add + store, &out, order);
    ASSERT_TRUE(race.has_value());
    EXPECT_EQ(race->kind, FaultKind::kRace) << race->text;
  }
  // A volatile read is one of the accesses that may meet an atomic.
  const auto strong = RunShared(add + "@%p1 ld.volatile.shared.u32 %r3, [s];", &out, 0);
  EXPECT_FALSE(strong) << strong->text;
}

TEST(EmulatedAtomics, SwapWhereTheyCompareEqual) {
  std::uint32_t out = 0;
  // One thread alone finds the 0.
  const auto fault = RunShared(
      "add.s32 %r4, %r1, 1; atom.shared.cas.b32 %r2, [s], 0, %r4;\nsetp.eq.s32 %p2, %r2, 0;\n"
      "@%p2 st.global.u32 [%rd2], %r4;",
      &out, 0);
  ASSERT_FALSE(fault) << fault->text;
  EXPECT_EQ(out, 1U);
}

std::optional<Fault> RunGlobal(const std::string& body, unsigned blocks, unsigned threads) {
  EmulatedRun run{.buffers = {std::vector<std::uint32_t>(64), std::vector<std::uint32_t>(64)}};
  run.blocks[0] = blocks;
  run.threads[0] = threads;
  return run.Of(KernelText("mov.u32 %r2, %ctaid.x; setp.eq.s32 %p1, %r1, 0;\n" + body), "k");
}

TEST(EmulatedRaces, AreFoundInGlobalMemory) {
  const std::string write = "@%p1 st.global.u32 [%rd2], %r1;\n",
                    read = "ld.global.u32 %r3, [%rd2];\n";
  // Within a block a barrier orders; between blocks nothing does.
  EXPECT_FALSE(RunGlobal(write + "bar.sync 0;\n" + read, 1, 64));
  EXPECT_FALSE(RunGlobal(read + "bar.sync 0;\n" + write, 1, 64));
  EXPECT_FALSE(RunGlobal(read, 4, 64));
  EXPECT_FALSE(RunGlobal("atom.global.add.u32 %r3, [%rd2], 1;", 4, 64));
  EXPECT_FALSE(RunGlobal("add.s64 %rd3, %rd2, %rd9; st.global.u32 [%rd3], %r1;", 1, 64));
  // Neighbouring bytes are places of their own.
  EXPECT_FALSE(RunGlobal(
      "cvt.u64.u32 %rd3, %r1; add.s64 %rd3, %rd3, %rd2; st.global.u8 [%rd3], %r1;", 1, 64));
  const std::pair<std::string, unsigned> racing[] = {
      {write + read, 1},
      {read + write, 1},
      {write + "bar.sync 0;\n" + read, 2},
      {"add.s64 %rd3, %rd2, %rd9; st.global.u32 [%rd3], %r1;", 2},
      {"atom.global.add.u32 %r3, [%rd2], 1;\n" + read, 1},
      {"@%p1 " + read + "atom.global.add.u32 %r3, [%rd2], 1;", 1}};
  for (const auto& [body, blocks] : racing) {
    const auto fault = RunGlobal(body, blocks, 64);
    ASSERT_TRUE(fault.has_value()) << body;
    EXPECT_EQ(fault->kind, FaultKind::kRace) << fault->text;
  }
}

TEST(EmulatedRegisters, AreReadAfterTheyWereWritten) {
  const std::pair<std::string, const char*> bodies[] = {
      {"add.s32 %r3, %r4, 1;", "thread 0: add"},
      {"@%p1 mov.u32 %r3, 5; add.s32 %r4, %r3, 1;", "thread 1: add"},
      {"@%p2 mov.u32 %r3, 5;", "a predicate that nothing wrote"},
      {"shfl.sync.bfly.b32 %r3, %r4, 1, 31, -1;", "thread 0: shfl"},
      {"st.global.u32 [%rd2], %r5;", "thread 0: st"}};
  for (const auto& [body, text] : bodies) {
    const auto fault = RunGlobal(body, 1, 32);
    ASSERT_TRUE(fault.has_value()) << body;
    EXPECT_EQ(fault->kind, FaultKind::kRegister) << fault->text;
    EXPECT_NE(fault->text.find(text), std::string::npos) << fault->text;
  }
  // Every block starts without values.
  EXPECT_TRUE(
      RunGlobal("setp.eq.s32 %p2, %r2, 0; @%p2 mov.u32 %r3, 5; add.s32 %r4, %r3, 1;", 2, 1));
}

}  // namespace
}  // namespace rharness
