// Faults planted into our own kernels, each found by the check that is for it; without the fault
// the same kernel has none.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numeric>
#include <regex>

#include "probes/gpu/kernels.h"
#include "probes/gpu/reduce_tree.h"
#include "probes/gpu/row_sum.h"
#include "tests/gpu/emulator/emulator_run.h"

namespace rharness {
namespace {

std::vector<std::uint32_t> Floats(std::size_t count) {
  std::vector<std::uint32_t> words(count);
  for (std::size_t i = 0; i < count; ++i) {
    words[i] = std::bit_cast<std::uint32_t>(static_cast<float>(i % 7) + 0.5F);
  }
  return words;
}

EmulatedRun Rows(int n, unsigned blocks, unsigned threads, unsigned order = 0) {
  EmulatedRun run{.buffers = {Floats(512), std::vector<std::uint32_t>(blocks)}, .n = n};
  run.blocks[0] = blocks;
  run.threads[0] = threads;
  run.order = order;
  return run;
}

EmulatedRun Unwritten() {
  EmulatedRun run = Rows(256, 2, 256);
  run.unwritten = 512;
  run.buffers[1].resize(512);
  return run;
}

// One matrix product of halves.
EmulatedRun Product(unsigned threads) {
  EmulatedRun run{.buffers = {{}, {}, {0}, {0}}, .n = 1};
  for (std::uint32_t i = 0; i < 8; ++i) {
    run.buffers[0].push_back(0x3c003c00U + i);
    run.buffers[1].push_back(0x40003c00U + 0x10U * i);
  }
  run.threads[0] = threads;
  return run;
}

struct Plant {
  const char* what;
  const KernelImage* image;
  const char* kernel;
  EmulatedRun run;
  const char *pattern, *replacement;  // in the PTX; the run is wrong by itself where there is none
  FaultKind kind;
  const char* found;  // in the fault's text
};

std::vector<Plant> Plants() {
  const KernelImage *reduce = &kReduceKernels, *wgmma = &kWgmma90aKernels;
  return {
      {"a row beyond the buffer", reduce, "reduce_rows", Rows(257, 2, 256), "", "",
       FaultKind::kOutOfBounds, "out of bounds"},
      {"an address that is off by 2", reduce, "reduce_rows", Rows(256, 2, 256),
       R"(ld\.global\.f32 (\t%f\d+), \[(%rd\d+)\];)", "ld.global.f32 $1, [$2+2];",
       FaultKind::kMisaligned, "no multiple of its size"},
      {"memory that nobody wrote", reduce, "reduce_rows", Unwritten(), R"(\[reduce_rows_param_0\])",
       "[reduce_rows_param_1]", FaultKind::kUnwritten, "nobody wrote"},
      {"a sum without its zero", reduce, "reduce_rows", Rows(256, 2, 256),
       R"(mov\.f32 \t%f\d+, 0f00000000;)", "", FaultKind::kRegister, "before anything wrote it"},
      {"shared memory without a barrier", reduce, "reduce_rows", Rows(256, 2, 256, 1),
       R"(bar\.sync \t0;)", "", FaultKind::kRace, "no barrier after thread"},
      {"a barrier that warps do not reach", reduce, "reduce_rows", Rows(256, 2, 256),
       R"((bar\.sync \t0;)\n\t(setp.*;)\n\t(@%p\d+ bra .*;))", "$2\n$3\n$1", FaultKind::kBarrier,
       "has exited"},
      {"a warp that is not whole", reduce, "reduce_rows", Rows(256, 2, 250), "", "",
       FaultKind::kWarp, "not all of them come"},
      {"a sum of one block, not atomic", reduce, "reduce_atomic", Rows(256, 1, 256),
       R"(atom\.global\.add\.f32 \t(%f\d+), \[(%rd\d+)\], (%f\d+);)",
       "ld.global.f32 $1, [$2];\nadd.f32 $1, $1, $3;\nst.global.f32 [$2], $1;", FaultKind::kRace,
       "no barrier after thread"},
      {"a sum of two blocks, not atomic", reduce, "reduce_atomic", Rows(256, 2, 1),
       R"(atom\.global\.add\.f32 \t(%f\d+), \[(%rd\d+)\], (%f\d+);)",
       "ld.global.f32 $1, [$2];\nadd.f32 $1, $1, $3;\nst.global.f32 [$2], $1;", FaultKind::kRace,
       "of block 0 touches it"},
      {"wgmma without fence.proxy.async", wgmma, "wgmma_f16_k16", Product(128),
       R"(fence\.proxy\.async;)", "", FaultKind::kProxy, "without fence.proxy.async"},
      {"wgmma without wgmma.fence", wgmma, "wgmma_f16_k16", Product(128),
       R"(wgmma\.fence\.sync\.aligned;)", "", FaultKind::kProxy, "after the last wgmma.fence"},
      {"wgmma that is not waited for", wgmma, "wgmma_f16_k16", Product(128),
       R"(wgmma\.wait_group\.sync\.aligned 0;)", "", FaultKind::kProxy, "before wgmma.wait_group"},
      {"wgmma whose group is left open", wgmma, "wgmma_f16_k16", Product(128),
       R"(wgmma\.commit_group\.sync\.aligned;)", "", FaultKind::kProxy, "before wgmma.wait_group"},
  };
}

std::string Edited(std::string_view ptx, const char* pattern, const char* replacement) {
  return std::regex_replace(std::string(ptx), std::regex(pattern), replacement);
}

TEST(PlantedFaults, AreFoundInOurKernelsByTheCheckThatIsForThem) {
  std::printf("%-34s %-14s %s\n", "planted", "kernel", "found");
  for (Plant& plant : Plants()) {
    const bool edits = plant.pattern[0] != '\0';
    std::string ptx(plant.image->ptx);
    if (edits) {
      EmulatedRun sound = plant.run;
      const auto none = sound.Of(ptx, plant.kernel);
      EXPECT_FALSE(none) << plant.what << ": " << none->text;
      ptx = Edited(ptx, plant.pattern, plant.replacement);
      ASSERT_NE(ptx, plant.image->ptx) << plant.what << ": nothing to plant in";
    }
    const auto fault = plant.run.Of(ptx, plant.kernel);
    ASSERT_TRUE(fault.has_value()) << plant.what;
    EXPECT_EQ(fault->kind, plant.kind) << plant.what << ": " << fault->text;
    EXPECT_NE(fault->text.find(plant.found), std::string::npos) << fault->text;
    std::printf("%-34s %-14s %s\n", plant.what, plant.kernel, fault->text.c_str());
  }
}

// The routine that the emulator runs, asked for its order.
class EmulatedRows : public MaskedSum {
 public:
  EmulatedRows(std::string ptx, int n) : ptx_(std::move(ptx)), n_(n) {}
  int size() const override { return n_; }
  int max_batch() const override { return 256; }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    const std::vector<float> rows = MaskedRows(pairs, units, n_, 120);
    EmulatedRun run{.buffers = {std::vector<std::uint32_t>(rows.size()),
                                std::vector<std::uint32_t>(pairs.size())},
                    .n = n_};
    std::memcpy(run.buffers[0].data(), rows.data(), 4 * rows.size());
    run.blocks[0] = static_cast<unsigned>(pairs.size());
    run.threads[0] = 256;
    if (const auto fault = run.Of(ptx_, "reduce_rows")) return InternalError(fault->text);
    for (std::size_t k = 0; k < counts.size(); ++k) {
      counts[k] = static_cast<double>(std::bit_cast<float>(run.buffers[1][k]));
    }
    return {};
  }

 private:
  std::string ptx_;
  int n_;
};

TEST(PlantedFaults, OfAnOrderChangeTheTree) {
  std::string other(kReduceKernels.ptx);
  for (const auto& [from, to] : {std::pair(R"((mov\.u32 \t%r\d+), 16;)", "$1, SIXTEEN;"),
                                 {R"((mov\.u32 \t%r\d+), 8;)", "$1, 16;"}}) {
    other = Edited(other, from, to);
  }
  other = Edited(other, "SIXTEEN", "8");
  const auto expected = RowsTree(256);
  ASSERT_TRUE(expected.ok());
  for (const bool planted : {false, true}) {
    EmulatedRows rows(planted ? other : std::string(kReduceKernels.ptx), 256);
    const auto revealed = RevealTree(rows);
    ASSERT_TRUE(revealed.ok()) << revealed.error().ToString();
    ASSERT_TRUE(revealed->tree) << revealed->why;
    EXPECT_EQ(revealed->tree->Canonical() != expected->Canonical(), planted);
    if (planted)
      std::printf("%-34s %-14s another tree\n", "lanes 8 apart before 16", "reduce_rows");
  }
}

TEST(PlantedFaults, OfALayoutChangeTheProduct) {
  const std::string swapped =
      Edited(kMma80Kernels.ptx, R"((f32 \{[^}]*\}, \{)(%r\d+),(%r\d+),(%r\d+),)", "$1$4,$3,$2,");
  EmulatedRun sound = Product(32), wrong = Product(32);
  const auto fault = sound.Of(kMma80Kernels.ptx, "mma_f16_k16");
  ASSERT_FALSE(fault) << fault->text;
  ASSERT_FALSE(wrong.Of(swapped, "mma_f16_k16"));
  EXPECT_NE(sound.buffers[3], wrong.buffers[3]);
  std::printf("%-34s %-14s another product\n", "halves of a fragment exchanged", "mma_f16_k16");
}

}  // namespace
}  // namespace rharness
