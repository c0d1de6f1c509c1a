// Monte Carlo of paired judgement: how often a family is called drifted where nothing moved, and
// within where it moved by its margin, for rounding, chaos, heavy tails and mixtures of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>

#include "compare/metrics/paired.h"
#include "tests/compare/metrics/simulation.h"

namespace rharness {
namespace {

constexpr int kFamilies = 250;

struct PairNoise {
  const char* name;
  std::function<double(NormalSource*)> draw;  // of a difference, in seed deviations
};

struct PairRates {
  double false_drift = 0.0;      // of families, nothing moved
  double false_run_drift = 0.0;  // of runs, or asks for a confirmation
  double within = 0.0;           // of families, nothing moved
  double false_accept = 0.0;     // of families, moved by the margin
};

PairRates SimulatePairs(const PairNoise& noise, int runs) {
  NormalSource source(static_cast<std::uint64_t>(4200 + runs));
  constexpr double kMargin = 0.5;
  PairRates rates;
  for (int trial = 0; trial < kFamilies; ++trial) {
    const std::vector<double> recorded = source.Sample(runs, 10.0, 1.0);
    PairedInput input{.seeds = SpreadOfSeeds(recorded, {}, 0.0)};
    const auto decide = [&](double shift) {
      input.runs.clear();
      for (const double value : recorded) {
        input.runs.push_back({.recorded = value,
                              .reruns = {value + shift + noise.draw(&source)},
                              .seed = fmt::format("{}", input.runs.size()),
                              .margin = kMargin});
      }
      return DecidePaired(input);
    };
    const PairedDecision same = decide(0.0);
    rates.false_drift += same.family.verdict == MetricVerdict::kDrifted ? 1.0 : 0.0;
    rates.within += same.family.verdict == MetricVerdict::kWithin ? 1.0 : 0.0;
    for (const MetricDecision& run : same.runs) {
      const bool moved = run.reason == "apart" && run.verdict != MetricVerdict::kInconclusive;
      rates.false_run_drift += moved ? 1.0 / runs : 0.0;
    }
    const PairedDecision other = decide(trial % 2 == 0 ? kMargin : -kMargin);
    rates.false_accept += other.family.verdict == MetricVerdict::kWithin ? 1.0 : 0.0;
  }
  return {rates.false_drift / kFamilies, rates.false_run_drift / kFamilies,
          rates.within / kFamilies, rates.false_accept / kFamilies};
}

TEST(PairedErrorRates, HoldForRoundingChaosHeavyTailsAndMixtures) {
  const auto chaos = [](NormalSource* source) { return std::sqrt(2.0) * source->Next(); };
  const auto rounding = [](NormalSource* source) { return 1e-9 * source->Next(); };
  const PairNoise noises[] = {
      {"chaos", chaos},
      {"a tenth of the seeds", [](NormalSource* source) { return 0.1 * source->Next(); }},
      {"heavy tails (t, 3 df)",
       [](NormalSource* source) {
         const double z = source->Next();
         return 0.3 * z / std::sqrt(source->ChiSquared(3));
       }},
      {"90 % rounding, 10 % chaos",
       [&](NormalSource* s) { return s->Uniform() < 0.9 ? rounding(s) : chaos(s); }},
      {"50 % rounding, 50 % chaos",
       [&](NormalSource* s) { return s->Uniform() < 0.5 ? rounding(s) : chaos(s); }}};
  std::printf(
      "noise                      m | drift of family, of a run | within | accepted at margin\n");
  for (const PairNoise& noise : noises) {
    for (const int runs : {3, 5, 10, 24}) {
      const PairRates rates = SimulatePairs(noise, runs);
      std::printf("%-25s %2d | %.4f %.4f | %.3f | %.4f\n", noise.name, runs, rates.false_drift,
                  rates.false_run_drift, rates.within, rates.false_accept);
      EXPECT_LE(rates.false_drift, Bound(0.01, kFamilies)) << noise.name << ", " << runs;
      EXPECT_LE(rates.false_run_drift, Bound(0.01, kFamilies)) << noise.name << ", " << runs;
      EXPECT_LE(rates.false_accept, Bound(0.05, kFamilies)) << noise.name << ", " << runs;
    }
  }
}

}  // namespace
}  // namespace rharness
