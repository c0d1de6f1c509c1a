// Statistics of two tensors in memory, by type, beside the bits alone and the plain kernel.
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>
#include <vector>

#include "compare/weights/block_kernels.h"
#include "compare/weights/checkpoint.h"
#include "compare/weights/tensor_diff.h"
#include "compare/weights/tensor_stats.h"

namespace rharness {
namespace {

constexpr std::size_t kTensorBytes = kRangeBytes;  // 12 MiB

// Random words of finite elements; of every 64-bit word about a quarter of the bits in `changed`.
struct PairOfTensors {
  std::vector<std::uint64_t> a, b;
};
PairOfTensors MakePair(std::uint64_t finite, std::uint64_t changed) {
  PairOfTensors pair{std::vector<std::uint64_t>(kTensorBytes / 8), {}};
  std::mt19937_64 random(1), change(2);
  for (std::uint64_t& word : pair.a) word = random() & finite;
  pair.b = pair.a;
  for (std::uint64_t& word : pair.b) word ^= change() & change() & changed;
  return pair;
}

struct TypeRow {
  const char* name;
  DType dtype;
  std::uint64_t element_bytes;
  std::uint64_t finite;
  std::uint64_t changed;
};
constexpr TypeRow kTypes[] = {
    {"f64", DType::kF64, 8, 0xbfffffffffffffff, 0x00000000ffffffff},
    {"f32", DType::kF32, 4, 0xbfffffffbfffffff, 0x0000ffff0000ffff},
    {"bf16", DType::kBF16, 2, 0xbfffbfffbfffbfff, 0x0003000300030003},
    {"f16", DType::kF16, 2, 0xbfffbfffbfffbfff, 0x0003000300030003},
    {"f8_e4m3", DType::kF8E4M3, 1, 0xbfbfbfbfbfbfbfbf, 0x0101010101010101},
};

void CountElements(std::uint64_t element_bytes, benchmark::State* state) {
  state->SetBytesProcessed(2 * state->iterations() * static_cast<std::int64_t>(kTensorBytes));
  state->SetItemsProcessed(state->iterations() *
                           static_cast<std::int64_t>(kTensorBytes / element_bytes));
}

void Statistics(benchmark::State& state, const TypeRow& type) {
  const PairOfTensors pair = MakePair(type.finite, type.changed);
  TensorInfo info;
  info.name = "w";
  info.dtype = type.dtype;
  info.shape = {kTensorBytes / type.element_bytes};
  info.size_bytes = kTensorBytes;
  for ([[maybe_unused]] auto _ : state) {
    const TensorDifference difference =
        DiffTensors(info, std::as_bytes(std::span(pair.a)), std::as_bytes(std::span(pair.b)));
    if (difference.differing == 0) state.SkipWithError("nothing differs");
  }
  CountElements(type.element_bytes, &state);
}
BENCHMARK_CAPTURE(Statistics, f64, kTypes[0])->Name("tensors/f64");
BENCHMARK_CAPTURE(Statistics, f32, kTypes[1])->Name("tensors/f32");
BENCHMARK_CAPTURE(Statistics, bf16, kTypes[2])->Name("tensors/bf16");
BENCHMARK_CAPTURE(Statistics, f16, kTypes[3])->Name("tensors/f16");
BENCHMARK_CAPTURE(Statistics, f8_e4m3, kTypes[4])->Name("tensors/f8_e4m3");

// The same blocks through the plain C++ loop.
void PlainKernel(benchmark::State& state) {
  const TypeRow& type = kTypes[1];
  const PairOfTensors pair = MakePair(type.finite, type.changed);
  const DTypeKernels kernels = KernelsFor(type.dtype, Kernel::kScalar);
  for ([[maybe_unused]] auto _ : state) {
    BlockDifference block;
    kernels.add_pairs(reinterpret_cast<const std::byte*>(pair.a.data()),
                      reinterpret_cast<const std::byte*>(pair.b.data()), 0,
                      kTensorBytes / type.element_bytes, &block);
    benchmark::DoNotOptimize(block);
  }
  CountElements(type.element_bytes, &state);
}
BENCHMARK(PlainKernel)->Name("tensors/f32_plain_kernel");

void BitsAlone(benchmark::State& state) {
  const PairOfTensors pair = MakePair(kTypes[1].finite, 0);
  for ([[maybe_unused]] auto _ : state) {
    if (std::memcmp(pair.a.data(), pair.b.data(), kTensorBytes) != 0) {
      state.SkipWithError("equal tensors differ");
    }
  }
  CountElements(kTypes[1].element_bytes, &state);
}
BENCHMARK(BitsAlone)->Name("tensors/memcmp");

}  // namespace
}  // namespace rharness
