// The comparison's kernels as nvcc compiled them, run by the emulator (tests/gpu/emulator), against
// the same grid on the host, thread by thread.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "probes/gpu/kernels.h"
#include "tests/bench/gpu/host_grid.h"
#include "tests/gpu/emulator/launch.h"
#include "tests/gpu/emulator/ptx_text.h"

namespace rharness {
extern const KernelImage kCompareKernels;

namespace bench {
namespace {

const PtxProgram& Program() {
  static const PtxProgram program = [] {
    auto parsed = ParsePtx(kCompareKernels.ptx);
    if (!parsed.ok()) Abort(parsed.error().ToString());
    return std::move(*parsed);
  }();
  return program;
}

// Device memory is the host's.
struct Memory {
  DeviceMemory device{std::uint64_t{1} << 20};
  template <class T>
  void Adopt(std::vector<T>* values) {
    if (!values->empty()) {
      device.Adopt(reinterpret_cast<std::byte*>(values->data()), values->size() * sizeof(T));
    }
  }
};

void Launch(const char* kernel, unsigned blocks, unsigned order, std::vector<void*> arguments,
            Memory* memory) {
  LaunchRequest request{.program = &Program(), .kernel = Program().Find(kernel)};
  ASSERT_NE(request.kernel, nullptr) << kernel;
  request.globals = PlaceGlobals(Program(), &memory->device);
  request.blocks[0] = blocks;
  request.threads[0] = kBlockThreads;
  request.order = order;
  request.parameters = PackParameters(*request.kernel, arguments.data());
  const auto fault = RunKernel(request, &memory->device);
  EXPECT_FALSE(fault) << fault->text;
}

// Buffers that differ in every `spread`-th byte; in none for 0.
template <class Block, class Elements>
void Check(const char* compare, const char* merge, std::uint32_t elements, unsigned blocks,
           std::size_t spread) {
  using BlockResult = typename Block::Result;
  std::mt19937 random(elements + blocks);
  const std::size_t bytes = elements * Elements::kBytes;
  std::vector<Words> a(bytes / sizeof(Words) + 1), b;
  for (Words& words : a) {
    for (auto& word : words.word) word = static_cast<std::uint32_t>(random());
  }
  b = a;
  for (std::size_t i = 0; spread != 0 && i < bytes; i += spread) {
    reinterpret_cast<unsigned char*>(b.data())[i] = static_cast<unsigned char>(random());
  }
  std::vector<BlockResult> results(blocks), host(blocks), merged(1), host_merged(1);
  Memory memory;
  memory.Adopt(&a);
  memory.Adopt(&b);
  memory.Adopt(&results);
  memory.Adopt(&merged);
  const void *pa = a.data(), *pb = b.data();
  void *pr = results.data(), *pm = merged.data();
  Launch(compare, blocks, elements % 2, {&pa, &pb, &elements, &pr}, &memory);
  Launch(merge, 1, elements % 2, {&pr, &blocks, &pm}, &memory);
  RunCompare<Block, Elements>(a.data(), b.data(), elements, blocks, ThreadOrder::kRising,
                              host.data());
  RunMerge<Block>(host.data(), blocks, ThreadOrder::kRising, host_merged.data());
  EXPECT_EQ(std::memcmp(results.data(), host.data(), blocks * sizeof(BlockResult)), 0)
      << compare << " of " << elements << " in " << blocks;
  EXPECT_EQ(std::memcmp(merged.data(), host_merged.data(), sizeof(BlockResult)), 0)
      << merge << " of " << elements << " in " << blocks;
}

TEST(CompareKernels, FindWhatTheSameGridOnTheHostFinds) {
  for (const std::uint32_t elements : {0U, 1U, 3U, 7U, 8U, 255U, 1024U, 5003U}) {
    for (const unsigned blocks : {1U, 3U}) {
      for (const std::size_t spread : {0U, 1U, 97U}) {
        Check<BitBlock, Fp32Elements>("compare_bits_32", "merge_bits", elements, blocks, spread);
        Check<BitBlock, Bf16Elements>("compare_bits_16", "merge_bits", elements, blocks, spread);
        Check<PairBlock, Fp32Elements>("measure_fp32", "merge_pairs", elements, blocks, spread);
        Check<PairBlock, Bf16Elements>("measure_bf16", "merge_pairs", elements, blocks, spread);
      }
    }
  }
}

}  // namespace
}  // namespace bench
}  // namespace rharness
