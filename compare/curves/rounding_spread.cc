// Contrasts within groups, and the band that they make for a pair.
#include "compare/curves/rounding_spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "compare/curves/curve_message.h"
#include "compare/curves/usable_replicates.h"

namespace rharness {
namespace {

using Runs = std::vector<std::vector<double>>;

// Helmert's contrasts: of the first j runs and the one behind them.
double ContrastNorm(std::size_t j) {
  const auto n = static_cast<double>(j);
  return std::sqrt(n * (n + 1.0));
}

// What differs in one group; values are taken from its first run, so that a large level costs no
// digits.
Runs ContrastsOf(const Runs& group) {
  Runs contrasts;
  std::vector<double> sum(group.front().size(), 0.0);
  for (std::size_t j = 1; j < group.size(); ++j) {
    std::vector<double>& contrast = contrasts.emplace_back(sum.size());
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const double own = group[j][i] - group[0][i];
      contrast[i] = (sum[i] - static_cast<double>(j) * own) / ContrastNorm(j);
      sum[i] += own;
    }
  }
  return contrasts;
}

// The runs around 0 that have these contrasts.
Runs RunsOf(const Runs& contrasts) {
  Runs runs(contrasts.size() + 1, std::vector<double>(contrasts.front().size(), 0.0));
  for (std::size_t j = 1; j <= contrasts.size(); ++j) {
    for (std::size_t i = 0; i < contrasts[j - 1].size(); ++i) {
      const double part = contrasts[j - 1][i] / ContrastNorm(j);
      for (std::size_t run = 0; run < j; ++run) runs[run][i] += part;
      runs[j][i] -= static_cast<double>(j) * part;
    }
  }
  return runs;
}

// The band of one run around the mean of `runs` as that of one run around another.
void WidenToPair(std::size_t runs, ReplicateBand* band) {
  const double wider = std::sqrt(2.0 / (1.0 + 1.0 / static_cast<double>(runs)));
  for (double& limit : band->limit) limit *= wider;
  band->late_limit *= wider;
}

std::string RuleOf(const RoundingSpread& spread, const std::string& source,
                   const ReplicateBand& band, double floor) {
  std::string rule = fmt::format(
      "|b - a| at most {:.3g} times sqrt(2) standard deviations of runs that differ by rounding "
      "alone ({}), at that part of the curve (not below {:.2g}), and the mean of the last quarter "
      "within its prediction limit",
      band.factor, source, floor);
  rule += fmt::format("; false alarms {:g}, on average over such runs", band.false_alarm);
  if (spread.repeated > 0) {
    rule += fmt::format("; left out: {} bit-equal to another run", spread.repeated);
  }
  if (spread.incomplete > 0) {
    rule += fmt::format("; left out: {} without a finite value on some step", spread.incomplete);
  }
  return rule;
}

}  // namespace

RoundingSpread SpreadOf(const std::vector<std::vector<CurveSeries>>& groups, const Judged& judged,
                        bool smooth) {
  RoundingSpread spread;
  Runs contrasts;
  for (const std::vector<CurveSeries>& group : groups) {
    Runs runs;
    for (const CurveSeries& series : group) {
      std::vector<double> values = ValuesAt(series, judged.steps);
      if (values.empty()) {
        ++spread.incomplete;
      } else if (std::ranges::find(runs, values) != runs.end()) {
        ++spread.repeated;
      } else {
        runs.push_back(std::move(values));
        spread.quantum = std::max(spread.quantum, series.quantum);
      }
    }
    if (smooth) std::ranges::for_each(runs, [](auto& run) { run = RunningMedian(run); });
    if (runs.size() > 1) std::ranges::move(ContrastsOf(runs), std::back_inserter(contrasts));
  }
  spread.degrees = contrasts.size();
  if (spread.degrees > 0) spread.runs = RunsOf(contrasts);
  return spread;
}

std::string JudgeBySpread(const RoundingSpread& spread, const std::string& source,
                          const Judged& judged, const CurveRules& rules, bool smooth,
                          CurveComparison* out) {
  const double floor = FloorOf(judged, spread.quantum, rules, out->kind);
  ReplicateBand band = BandOfRuns(spread.runs, floor, rules.false_alarm);
  WidenToPair(spread.runs.size(), &band);
  band.middle = smooth ? RunningMedian(judged.a) : judged.a;
  band.late_middle = MeanFrom(band.middle, band.late_first);
  out->basis = "rounding";
  out->false_alarm = band.false_alarm;
  out->rule = RuleOf(spread, source, band, floor) + (smooth ? std::string(kOfMedians) : "");
  out->band = OnAlignedSteps(judged, band.limit, out->steps.size());
  const auto late = HoldToBand(smooth ? RunningMedian(judged.b) : judged.b, judged, band, out);
  if (out->first_beyond) {
    out->state = CurveState::kBeyond;
    const std::string leaves =
        fmt::format("it leaves the band of {}: further than rounding carries such runs", source);
    if (!late) return leaves;
    return fmt::format("{}; its last quarter is {} by {:.3g}, where {:.3g} is the limit", leaves,
                       *late > 0 ? "higher" : "lower", std::fabs(*late), band.late_limit);
  }
  const double widest = WidthThatCounts(band, judged.size);
  if (widest > rules.widest_band) {
    out->state = CurveState::kUndecided;
    return fmt::format(
        "it stays within the band of {}, which is {} of the curve's size and too wide to show "
        "anything (at most {})",
        source, PercentText(widest), PercentText(rules.widest_band));
  }
  out->state = CurveState::kWithin;
  out->invisible = band.late_limit / judged.size;
  return fmt::format("{:.2g} of the limit, by the band of {}{}", out->statistic, source,
                     InvisibleWords(*out));
}

}  // namespace rharness
