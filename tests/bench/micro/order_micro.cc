// What it costs to reveal an order of addition: counts beside their bounds, and the CPU of one sum.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "probes/cpu/reveal_case.h"
#include "probes/order/reveal.h"
#include "tests/probes/order/known_tree.h"
#include "tests/probes/order/routines.h"

namespace rharness {
namespace {

constexpr int kBatch = 1024;

struct Shares {
  double probes = 0.0;    // of (n/2) log2 n + 2 n
  double launches = 0.0;  // of (2 log2 n + 4) ceil(n / batch)
  double sums = 0.0;
};

template <class Routine>
void Hold(int n, Routine routine, Shares* most) {
  const SumTree tree = routines::TreeOf(n, routine);
  KnownTree sum(tree, kBatch);
  const auto revealed = RevealTree(sum, {.repeats = 0, .validate_pairs = 0});
  if (!revealed.ok() || !revealed->tree || !(*revealed->tree == tree)) Abort("a wrong tree");
  const double log2n = std::log2(n);
  const auto probes = static_cast<double>(revealed->probes);
  most->probes = std::max(most->probes, probes / (n / 2.0 * log2n + 2.0 * n));
  most->launches =
      std::max(most->launches, static_cast<double>(revealed->launches) /
                                   ((2 * log2n + 4) * std::ceil(n / static_cast<double>(kBatch))));
  most->sums += probes;
}

Shares SharesOfTestSet(int n) {
  Shares most;
  const auto hold = [&](auto routine) { Hold(n, routine, &most); };
  hold([](auto x) { return routines::Sequential(x); });
  hold([](auto x) { return routines::Reversed(x); });
  hold([](auto x) { return routines::Pairwise(x); });
  for (const std::size_t k : {2U, 8U, 32U}) {
    hold([k](auto x) { return routines::Strided(x, k); });
    hold([k](auto x) { return routines::Blocks(x, k, true); });
    hold([k](auto x) { return routines::SplitK(x, k); });
  }
  return most;
}

void TestSet(benchmark::State& state) {
  Shares shares;
  for ([[maybe_unused]] auto _ : state) shares = SharesOfTestSet(static_cast<int>(state.range(0)));
  state.counters["probes_of_bound"] = shares.probes;
  state.counters["launches_of_bound"] = shares.launches;
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(shares.sums));
}
BENCHMARK(TestSet)
    ->Name("order/test_set")
    ->Unit(benchmark::kMillisecond)
    ->Arg(100)
    ->Arg(1024)
    ->Arg(16'384);

// NumPy's order, written for speed: eight running sums over blocks of 128, halves above.
float SumOfBlock(std::span<const float> x) {
  std::array<float, 8> sums;
  std::copy_n(x.begin(), 8, sums.begin());
  for (std::size_t i = 8; i < x.size(); i += 8) {
    for (std::size_t way = 0; way < 8; ++way) sums[way] += x[i + way];
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

float FastNumpySum(std::span<const float> x) {
  if (x.size() <= 128) return SumOfBlock(x);
  return FastNumpySum(x.first(x.size() / 2)) + FastNumpySum(x.subspan(x.size() / 2));
}

// The summands: a power of two, at least 8.
void OneSum(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  const SumTree of_numpy = routines::TreeOf(n, [](auto x) { return routines::NumpySum(x); });
  double probes = 0.0;
  for ([[maybe_unused]] auto _ : state) {
    FunctionSum<float> sum(n, FastNumpySum);
    const auto revealed = RevealTree(sum, {.repeats = 0, .validate_pairs = 0});
    if (!revealed.ok() || !revealed->tree) return state.SkipWithError("no tree");
    if (!(*revealed->tree == of_numpy)) return state.SkipWithError("not NumPy's tree");
    probes = static_cast<double>(revealed->probes);
  }
  state.counters["sums"] = probes;
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(probes));
}
BENCHMARK(OneSum)->Name("order/numpy_sum")->Unit(benchmark::kMillisecond)->Arg(1024)->Arg(16'384);

}  // namespace
}  // namespace rharness
