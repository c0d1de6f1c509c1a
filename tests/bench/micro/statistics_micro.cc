// The statistics library beside Boost.Math called plainly, and beside each definition written out.
#include <benchmark/benchmark.h>

#include <bit>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "compare/stats/change_points.h"
#include "compare/stats/distributions.h"
#include "compare/stats/moments.h"
#include "compare/stats/rate_changes.h"
#include "compare/stats/sign_flips.h"

namespace rharness::stats {
namespace {

std::vector<double> NormalValues(std::size_t count) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0.3, 1.0);
  std::vector<double> values(count);
  for (double& value : values) value = normal(random);
  return values;
}

constexpr double kArguments[] = {0.1, 0.7, 1.3, 2.1, 3.4, 5.5};
constexpr double kDegrees[] = {1.0, 4.5, 12.0, 100.0};

template <class F>
void EachTail(benchmark::State& state, F upper) {
  for ([[maybe_unused]] auto _ : state) {
    for (const double df : kDegrees) {
      for (const double t : kArguments) benchmark::DoNotOptimize(upper(t, df));
    }
  }
  state.SetItemsProcessed(state.iterations() *
                          static_cast<std::int64_t>(std::size(kDegrees) * std::size(kArguments)));
}

void StudentTail(benchmark::State& state) {
  EachTail(state, [](double t, double df) { return StudentTUpper(t, df); });
}
BENCHMARK(StudentTail)->Name("statistics/student_t");

void StudentTailOfBoost(benchmark::State& state) {
  EachTail(state, [](double t, double df) {
    return boost::math::cdf(boost::math::complement(boost::math::students_t(df), t));
  });
}
BENCHMARK(StudentTailOfBoost)->Name("statistics/student_t_boost");

void MomentsOfValues(benchmark::State& state) {
  const auto values = NormalValues(static_cast<std::size_t>(state.range(0)));
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(ComputeMoments(values));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(MomentsOfValues)->Name("statistics/moments")->Arg(10'000);

// Two plain passes.
void PlainMoments(benchmark::State& state) {
  const auto values = NormalValues(static_cast<std::size_t>(state.range(0)));
  for ([[maybe_unused]] auto _ : state) {
    double sum = 0.0, squares = 0.0;
    for (const double value : values) sum += value;
    const double mean = sum / static_cast<double>(values.size());
    for (const double value : values) squares += (value - mean) * (value - mean);
    benchmark::DoNotOptimize(squares);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(PlainMoments)->Name("statistics/moments_plain")->Arg(10'000);

// Assignments of signs a second.
void SignFlipsOfPairs(benchmark::State& state) {
  const auto values = NormalValues(static_cast<std::size_t>(state.range(0)));
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(TestSignFlips(values));
  state.SetItemsProcessed(state.iterations() << state.range(0));
}
BENCHMARK(SignFlipsOfPairs)->Name("statistics/sign_flips")->Arg(16);

// Each sum added up anew.
void PlainSignFlips(benchmark::State& state) {
  const auto values = NormalValues(static_cast<std::size_t>(state.range(0)));
  double limit = 0.0;
  for (const double value : values) limit += value;
  limit = std::fabs(limit) - 1e-9;
  const std::uint64_t all = std::uint64_t{1} << values.size();
  std::uint64_t as_far = 0;
  for ([[maybe_unused]] auto _ : state) {
    as_far = 0;
    for (std::uint64_t signs = 0; signs < all; ++signs) {
      double sum = 0.0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        sum += (signs >> i & 1U) != 0 ? -values[i] : values[i];
      }
      as_far += std::fabs(sum) >= limit ? 1 : 0;
    }
  }
  const double p = static_cast<double>(as_far) / static_cast<double>(all);
  if (std::fabs(p - TestSignFlips(values).p) > 1e-12) state.SkipWithError("p is not the same");
  state.SetItemsProcessed(state.iterations() << state.range(0));
}
BENCHMARK(PlainSignFlips)->Name("statistics/sign_flips_plain")->Arg(16);

// Pairs of values a second.
void EnergySplitOfValues(benchmark::State& state) {
  const auto values = NormalValues(static_cast<std::size_t>(state.range(0)));
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(BestEnergySplit(values, 1.0, 2));
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(0) / 2);
}
BENCHMARK(EnergySplitOfValues)->Name("statistics/energy_split")->Arg(1000);

// The distance of each pair, which the statistic is made of, and nothing else.
void PlainDistances(benchmark::State& state) {
  const auto values = NormalValues(static_cast<std::size_t>(state.range(0)));
  for ([[maybe_unused]] auto _ : state) {
    double sum = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) sum += std::pow(std::fabs(values[i] - values[j]), 1.0);
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(0) / 2);
}
BENCHMARK(PlainDistances)->Name("statistics/distances_plain")->Arg(1000);

}  // namespace
}  // namespace rharness::stats
