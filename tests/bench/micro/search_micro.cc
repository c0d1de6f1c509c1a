// Reruns of planted searches of `isolate`, beside the bound of noisy bisection.
//
// One cause among n axes, with answers that are wrong at a rate p: a search learns at most the
// channel's capacity, 1 - H2(p) bits, from an answer, so it needs log2(n) / (1 - H2(p)) of them at
// least (C. E. Shannon 1948). A cause that is named has passed a test of its own as well, which the
// bound knows nothing of.
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>

#include "tests/experiments/isolate/planted.h"

namespace rharness {
namespace {

double BoundOf(double axes, double wrong) {
  const double entropy =
      wrong > 0.0 ? -wrong * std::log2(wrong) - (1.0 - wrong) * std::log2(1.0 - wrong) : 0.0;
  return std::log2(axes) / (1.0 - entropy);
}

// `overlap`, in percent, of two distributions: each has half of it on the wrong side.
int RerunsOfOne(std::size_t axes, double wrong, std::mt19937_64* random) {
  const PlantedCauses causes = {{(*random)() % axes}};
  PlantedTraining run(causes, wrong, (*random)());
  const SearchRules rules{.false_reproduces = wrong, .miss = wrong};
  const auto ask = [&](const Positions& at) { return Say(run.Asked(at)); };
  return PlaySearch(Positions(axes, 1), rules, ask, 5000).answers;
}

void OneCause(benchmark::State& state) {
  constexpr int kSearches = 20;  // for each number of axes
  const double wrong = static_cast<double>(state.range(0)) / 200.0;
  double reruns = 0.0, bound = 0.0;
  std::int64_t searches = 0;
  for ([[maybe_unused]] auto _ : state) {
    std::mt19937_64 random(20261123);  // the same searches in each iteration
    reruns = bound = 0.0;
    for (const std::size_t axes : {4U, 8U, 16U, 32U, 64U}) {
      for (int i = 0; i < kSearches; ++i, ++searches) {
        reruns += RerunsOfOne(axes, wrong, &random);
        bound += BoundOf(static_cast<double>(axes), wrong);
      }
    }
  }
  state.counters["reruns"] = reruns / (5 * kSearches);
  state.counters["of_bound"] = reruns / bound;
  state.SetItemsProcessed(searches);
}
BENCHMARK(OneCause)
    ->Name("isolate/one_cause")
    ->Unit(benchmark::kMillisecond)
    ->Arg(0)
    ->Arg(10)
    ->Arg(20)
    ->Arg(30);

}  // namespace
}  // namespace rharness
