// How far one upgrade of a container carried published loss curves apart, as a limit for others.
//
// Role: the only basis for a band when there is no second run of the same thing. It is a model of
// one record, good for curves like those in it and for nothing else.
#ifndef RHARNESS_COMPARE_CURVES_GROWTH_MODEL_H_
#define RHARNESS_COMPARE_CURVES_GROWTH_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rharness {

// A record of pairs of loss curves, before and after a change that only reorders sums. One value a
// model: the log10 of the largest |after - before| / |before| over all steps of all its pairs.
struct GrowthRecord {
  double models = 0.0;  // independent values
  double mean_log10 = 0.0;
  double sd_log10 = 0.0;
  // The curves that it holds for.
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::size_t most_values = 0;  // logged; the largest of more values is larger
  double smallest_loss = 0.0;
  double largest_loss = 0.0;
};

// NVIDIA Megatron-LM, commit 2795ebde97 and its parent: golden values before and after an upgrade
// of the PyTorch container to 25.05. 92 pairs have loss curves: mixed precision, steps 1 to 25, 50
// or 100, logged every fifth (6 to 21 values, 5 decimals), losses of 6.83 to 13.84.
//
// The pairs are no 92 samples. 22 equal another pair digit for digit, and 56 of the 70 others
// repeat one of 14 models on another GPU or in another layout, with a spread within a model of 0.09
// (standard deviation of log10) against 0.24 between models. Over the 70 the logarithms are not
// normal (Anderson-Darling 5.5; 1 % point 1.04); over models they may be (0.61; 5 % point 0.75),
// and architectures add nothing that shows (F = 2.7 on 4 and 9 df; 5 % point 3.6). So a model
// counts once, with the pair furthest apart. A limit from all 92 pairs as if independent would be
// 6.5e-5, which two of the pairs themselves exceed.
//
// What it does not say: whether a curve comes from mixed precision (in full precision the limit is
// too wide), how far several upgrades at once go, or anything about steps beyond 100.
inline constexpr GrowthRecord kPublishedGrowth = {14.0, -4.565909108, 0.235537502, 1,
                                                  100,  25,           6.5,         14.0};

// Largest relative divergence that 1 - false_alarm of all models stay below, with 95 % confidence:
// the one-sided normal tolerance limit. NaN outside of 0 < false_alarm < 1 or for fewer than two
// models.
double GrowthLimit(const GrowthRecord& record, double false_alarm);
inline constexpr double kGrowthConfidence = 0.95;

// By how much one more run may exceed the largest of `runs` observed divergences of the same model,
// at the record's spread: 10^(z(1 - false_alarm) sd sqrt(1 + 1 / runs)). The spread between models
// is more than that between runs of one model, so this errs on the wide side.
double ReplicateFactor(const GrowthRecord& record, double runs, double false_alarm);

// Why these steps and losses (finite, at least one) are none that the record speaks of; empty if
// they are.
std::string OutsideRecord(const GrowthRecord& record, const std::vector<std::int64_t>& steps,
                          const std::vector<double>& losses);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_GROWTH_MODEL_H_
