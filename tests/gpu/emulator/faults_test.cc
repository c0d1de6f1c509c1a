// Planted faults, each found by the check that is for it; and what is none.
#include <gtest/gtest.h>

#include <set>

#include "tests/gpu/emulator/emulator_run.h"

namespace rharness {
namespace {

// 64 words in, 64 words out, one warp unless said otherwise.
struct Planted {
  std::optional<Fault> fault;
  std::vector<std::uint32_t> out;
};
Planted RunBody(const std::string& body, unsigned threads = 32, unsigned order = 0) {
  EmulatedRun run;
  run.buffers = {std::vector<std::uint32_t>(64), std::vector<std::uint32_t>(64)};
  for (std::uint32_t i = 0; i < 64; ++i) run.buffers[0][i] = i + 1;
  run.threads[0] = threads;
  run.order = order;
  run.unwritten = 64;
  Planted planted{run.Of(KernelText(body), "k"), {}};
  planted.out = run.buffers[1];
  return planted;
}

void ExpectFault(const Planted& planted, FaultKind kind, std::string_view text) {
  ASSERT_TRUE(planted.fault.has_value());
  EXPECT_EQ(planted.fault->kind, kind) << planted.fault->text;
  EXPECT_NE(planted.fault->text.find(text), std::string::npos) << planted.fault->text;
}

TEST(EmulatedMemory, NamesTheThreadThatReadsOutOfBounds) {
  ExpectFault(RunBody("add.s64 %rd10, %rd1, %rd9;\nld.global.u32 %r2, [%rd10+132];"),
              FaultKind::kOutOfBounds, "block 0, thread 31: ld: a read of 4 bytes of global");
  ExpectFault(RunBody("st.global.u32 [%rd2+-4], %r1;"), FaultKind::kOutOfBounds,
              "thread 0: st: a write");
  ExpectFault(RunBody("cvt.u32.u64 %r2, %rd1;\ncvt.u64.u32 %rd3, %r2;\nld.global.u32 %r3, [%rd3];"),
              FaultKind::kOutOfBounds, "ld");
}

TEST(EmulatedMemory, FindsAMisalignedAccess) {
  ExpectFault(RunBody("ld.global.u32 %r2, [%rd1+2];"), FaultKind::kMisaligned, "line 12");
  ExpectFault(RunBody("ld.global.v2.u32 {%r2,%r3}, [%rd1+4];"), FaultKind::kMisaligned,
              "a read of 8 bytes");
}

TEST(EmulatedMemory, FindsAReadOfWhatNobodyWrote) {
  ExpectFault(RunBody("ld.global.u32 %r2, [%rd2];"), FaultKind::kUnwritten, "nobody wrote");
  ExpectFault(RunBody(".shared .align 4 .b8 s[256];\nld.shared.u32 %r2, [s+8];"),
              FaultKind::kUnwritten, "shared memory");
  ExpectFault(RunBody(".local .align 4 .b8 l[16];\nmov.u64 %rd3, l;\nld.local.u32 %r2, [%rd3];"),
              FaultKind::kUnwritten, "local memory");
}

TEST(EmulatedMemory, KeepsEachThreadsLocalMemoryApart) {
  const Planted ran = RunBody(
      ".local .align 4 .b8 l[16];\nmov.u64 %rd3, l;\nst.local.u32 [%rd3+4], %r1;\n"
      "ld.local.u32 %r2, [%rd3+4];\nadd.s64 %rd4, %rd2, %rd9;\nst.global.u32 [%rd4], %r2;");
  ASSERT_FALSE(ran.fault) << ran.fault->text;
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[i], i);
  ExpectFault(RunBody(".local .align 4 .b8 l[16];\nmov.u64 %rd3, l;\nst.local.u32 [%rd3+16], %r1;"),
              FaultKind::kOutOfBounds, "local memory");
}

// Each thread writes its word of shared memory and reads its neighbour's.
constexpr char kNeighbour[] =
    ".shared .align 4 .b8 s[256];\nmov.u64 %rd3, s;\nadd.s64 %rd4, %rd3, %rd9;\n"
    "st.shared.u32 [%rd4], 0;\nbar.sync 0;\nst.shared.u32 [%rd4], %r1;\nSYNC\nadd.s32 %r2, %r1, "
    "1;\nand.b32 %r2, %r2, MASK;\n"
    "mul.wide.u32 %rd5, %r2, 4;\nadd.s64 %rd5, %rd5, %rd3;\nld.shared.u32 %r3, [%rd5];\n"
    "add.s64 %rd6, %rd2, %rd9;\nst.global.u32 [%rd6], %r3;";
std::string Neighbour(const std::string& sync, unsigned threads) {
  std::string text = kNeighbour;
  text.replace(text.find("SYNC"), 4, sync);
  return text.replace(text.find("MASK"), 4, std::to_string(threads - 1));
}

TEST(EmulatedRaces, AreFoundWhereNoBarrierIsBetween) {
  for (const unsigned order : {0U, 1U}) {
    ExpectFault(RunBody(Neighbour("", 64), 64, order), FaultKind::kRace, "no barrier after thread");
    ExpectFault(RunBody(Neighbour("", 32), 32, order), FaultKind::kRace, "no barrier after thread");
    // A warp's own barrier is enough for one warp, and not for two.
    ExpectFault(RunBody(Neighbour("bar.warp.sync -1;", 64), 64, order), FaultKind::kRace,
                "no barrier after thread");
  }
}

TEST(EmulatedRaces, AreNoneBehindABarrier) {
  for (const auto& [sync, threads] : {std::pair("bar.sync 0;", 64U), {"bar.warp.sync -1;", 32U}}) {
    const Planted ran = RunBody(Neighbour(sync, threads), threads);
    ASSERT_FALSE(ran.fault) << ran.fault->text;
    for (std::uint32_t i = 0; i < threads; ++i) EXPECT_EQ(ran.out[i], (i + 1) % threads);
  }
}

TEST(EmulatedRaces, AreFoundWhereAWriteMeetsAnEarlierRead) {
  const std::string read_then_write =
      ".shared .align 4 .b8 s[256];\nmov.u64 %rd3, s;\nadd.s64 %rd4, %rd3, %rd9;\n"
      "st.shared.u32 [%rd4], %r1;\nbar.sync 0;\nld.shared.u32 %r3, [s+4];\nSYNC\n"
      "setp.eq.s32 %p1, %r1, 1;\n@%p1 st.shared.u32 [s+4], %r1;";
  std::string racing = read_then_write, sound = read_then_write;
  racing.replace(racing.find("SYNC"), 4, "");
  sound.replace(sound.find("SYNC"), 4, "bar.sync 0;");
  ExpectFault(RunBody(racing), FaultKind::kRace, "st: a write");
  const Planted ran = RunBody(sound);
  EXPECT_FALSE(ran.fault) << ran.fault->text;
}

TEST(EmulatedRaces, AreFoundWhereTwoThreadsWriteOneByte) {
  ExpectFault(RunBody(".shared .align 4 .b8 s[16];\nst.shared.u32 [s], %r1;"), FaultKind::kRace,
              "thread 1: st");
}

TEST(EmulatedBarriers, AreMissedByThreadsThatExitOrWaitElsewhere) {
  const std::string half = "setp.lt.s32 %p1, %r1, 32;\n";
  ExpectFault(RunBody(half + "@%p1 bra W;\nret;\nW:\nbar.sync 0;", 64), FaultKind::kBarrier,
              "has exited");
  ExpectFault(RunBody("setp.lt.s32 %p1, %r1, 7;\n@%p1 ret;\nbar.sync 0;"), FaultKind::kBarrier,
              "have exited");
  ExpectFault(RunBody(half + "@%p1 bra W;\nbar.sync 0;\nret;\nW:\nbar.sync 0;", 64),
              FaultKind::kBarrier, "waits at line");
}

TEST(EmulatedWarps, MissLanesThatNeverCome) {
  ExpectFault(RunBody("setp.eq.s32 %p1, %r1, 3;\n@%p1 ret;\n"
                      "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;"),
              FaultKind::kWarp, "not all of them come");
  ExpectFault(RunBody("shfl.sync.bfly.b32 %r2, %r1, 1, 31, 15;"), FaultKind::kWarp,
              "not themselves");
}

TEST(EmulatedWarps, MeetAgainAfterABranch) {
  const Planted ran = RunBody(
      "setp.lt.s32 %p1, %r1, 16;\nmov.u32 %r2, 5;\n@%p1 bra L;\nmov.u32 %r2, 7;\nL:\n"
      "shfl.sync.bfly.b32 %r3|%p2, %r2, 16, 31, -1;\nadd.s64 %rd4, %rd2, %rd9;\n"
      "st.global.u32 [%rd4], %r3;");
  ASSERT_FALSE(ran.fault) << ran.fault->text;
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[i], i < 16 ? 7u : 5u);
}

TEST(EmulatedWarps, DoNotRunForEver) {
  ExpectFault(RunBody("L:\nbra L;"), FaultKind::kEndless, "instructions");
}

// What no check sees shows as another result in another order: a sum by atomics, of 2^24 and ones.
TEST(EmulatedOrders, GiveAnotherSumWhereTheOrderIsTheSchedulers) {
  std::set<std::uint32_t> sums;
  for (const unsigned order : {0U, 1U}) {
    const Planted ran = RunBody(
        "mov.f32 %f1, 0f3F800000;\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 mov.f32 %f1, 0f4B800000;\n"
        "setp.eq.s32 %p2, %r1, 0;\n@%p2 st.global.u32 [%rd2], 0;\nbar.warp.sync -1;\n"
        "atom.global.add.f32 %f2, [%rd2], %f1;",
        32, order);
    ASSERT_FALSE(ran.fault) << ran.fault->text;
    sums.insert(ran.out[0]);
  }
  EXPECT_EQ(sums.size(), 2u);
}

TEST(PtxText, IsRefusedWithItsLineWhereItIsNotKnown) {
  const auto refused = [](const std::string& body) {
    const auto parsed = ParsePtx(KernelText(body));
    return parsed.ok() ? std::string("taken") : parsed.error().ToString();
  };
  EXPECT_EQ(refused("sad.u32 %r2, %r1, %r1, %r1;"),
            "line 12: the instruction of 'sad.u32' the emulator does not have");
  EXPECT_EQ(refused("add.rn.wrong.f32 %f1, %f1, %f1;"),
            "line 12: the modifier 'wrong' of 'add.rn.wrong.f32' the emulator does not have");
  EXPECT_NE(refused("add.s32 %r2, %r1;").find("the operands"), std::string::npos);
  EXPECT_NE(refused("add.s32 %r2, %r1, %x;").find("line 12: expected a declared"),
            std::string::npos);
  EXPECT_NE(refused("bra L;").find("no label L"), std::string::npos);
  EXPECT_NE(refused("call (f);").find("no function"), std::string::npos);
  EXPECT_NE(refused(".shared .b8 s[999999999];").find("a number up to"), std::string::npos);
  EXPECT_NE(refused(".reg .b32 %q<99999999>;").find("a number up to"), std::string::npos);
  EXPECT_NE(refused(std::string(100, '{')).find("64 others"), std::string::npos);
  const std::string whole = KernelText("add.s32 %r2, %r1, %r1;");
  for (std::size_t length = 0; length < whole.size() - 2; ++length) {
    const auto cut = ParsePtx(std::string_view(whole).substr(0, length));
    EXPECT_TRUE(!cut.ok() || cut->functions.empty()) << length;
  }
}

}  // namespace
}  // namespace rharness
