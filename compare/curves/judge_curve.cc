// Further runs, accepted upgrades, a margin.
#include "compare/curves/judge_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "compare/curves/curve_message.h"
#include "compare/curves/difference_shape.h"
#include "compare/curves/replicate_band.h"
#include "compare/curves/rounding_spread.h"
#include "compare/curves/single_pair.h"
#include "compare/curves/usable_replicates.h"

namespace rharness {
namespace {

// A difference below this share of the smallest fault that matters is none, whatever the
// replicates do: they may be equal to the last bit for a while.
constexpr double kFloorShare = 0.01;
constexpr double kGross = 10.0;  // margins

// ---- Further runs -------------------------------------------------------------------------------

std::string RuleOf(const UsableReplicates& usable, const ReplicateBand& band, double floor) {
  std::string rule = fmt::format(
      "|b - mean| of {} runs of the same configuration at most {:.3g} of their standard deviations "
      "at that part of the curve (not below {:.2g}), and the mean of the last quarter within its "
      "prediction limit",
      usable.runs.size(), band.factor, floor);
  rule +=
      usable.Count() < kFewestReplicates
          ? fmt::format("; below {} replicates leaving the band shows nothing", kFewestReplicates)
          : fmt::format("; false alarms {:g}, on average over such runs", band.false_alarm);
  return rule + LeftOut(usable);
}

std::string JudgeByReplicates(const UsableReplicates& usable, const Judged& judged,
                              const CurveRules& rules, CurveComparison* out) {
  const double floor = FloorOf(judged, usable.quantum, rules);
  const ReplicateBand band = BandOfRuns(usable.runs, floor, rules.false_alarm);
  out->basis = "replicates";
  out->false_alarm = band.false_alarm;
  out->rule = RuleOf(usable, band, floor);
  out->band = OnAlignedSteps(judged, band.limit, out->steps.size());
  out->middle = OnAlignedSteps(judged, band.middle, out->steps.size());
  for (std::size_t i = 0; i < judged.b.size(); ++i) {
    const double ratio = std::fabs(judged.b[i] - band.middle[i]) / band.limit[i];
    out->statistic = std::max(out->statistic, ratio);
    if (!(ratio <= 1.0) && !out->first_beyond) out->first_beyond = judged.steps[i];
  }
  const double late = MeanFrom(judged.b, band.late_first) - band.late_middle;
  const double late_ratio = std::fabs(late) / band.late_limit;
  const bool late_beyond = !(late_ratio <= 1.0);
  out->statistic = std::max(out->statistic, late_ratio);
  const std::string source = fmt::format("{} runs of the same configuration", usable.runs.size());
  if (late_beyond && !out->first_beyond) out->first_beyond = judged.steps[band.late_first];
  if (out->first_beyond && usable.Count() < kFewestReplicates) {
    out->first_beyond.reset();
    out->state = CurveState::kUndecided;
    return fmt::format("it leaves the band of {}, which shows nothing below {} replicates", source,
                       kFewestReplicates);
  }
  if (out->first_beyond) {
    out->state = CurveState::kBeyond;
    if (!late_beyond) return fmt::format("it leaves the band of {}", source);
    return fmt::format(
        "its last quarter lies {:.3g} {} the mean of {}, where {:.3g} is the prediction limit",
        std::fabs(late), late > 0 ? "above" : "below", source, band.late_limit);
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
  return fmt::format("{:.2g} of the limit from {}", out->statistic, source);
}

// ---- Accepted upgrades --------------------------------------------------------------------------

std::string RuleOf(const PairLimits& limits, double score_limit) {
  return fmt::format(
      "as accepted upgrades do, with room: one value off by at most {} of |a| and {:g} times the "
      "difference's scatter, the mean over a quarter of the values or more by at most {} and {:g} "
      "times, either and {} of the change of a by a logged value; jumps between values of at most "
      "{} "
      "of a's own; ahead or behind by at most {} of the steps and {:g} standard errors; each times "
      "{:.3g}",
      PercentText(limits.spike_floor), limits.spike_scatter, PercentText(limits.shift_floor),
      limits.shift_scatter, PercentText(limits.slope), PercentText(limits.batches),
      PercentText(limits.progress), limits.progress_errors, score_limit);
}

std::string StepsOf(const Judged& judged, const WindowMeans& window) {
  return fmt::format("steps {} to {}", judged.steps[window.first],
                     judged.steps[window.first + window.length - 1]);
}

std::string SignedPercent(double relative) {
  return fmt::format("{}{}", relative < 0 ? "-" : "+", PercentText(std::fabs(relative)));
}

// Why it is beyond, by what it looks like.
std::string WhyBeyond(const Judged& judged, const DifferenceShape& shape, const PairScores& scores,
                      const CurveComparison& c, double limit) {
  switch (c.nature) {
    case DifferenceNature::kOtherBatches:
      return fmt::format(
          "from value to value the difference jumps by {:.3g}, {:.2g} of a's own jumps: as other "
          "batches would make it, {:.3g} times the limit",
          shape.largest_scatter, shape.largest_scatter / shape.own_noise, scores.batches / limit);
    case DifferenceNature::kProgress:
      return fmt::format("B is {} by {} of the steps, {:.3g} times the limit",
                         c.progress < 0 ? "behind" : "ahead", PercentText(std::fabs(c.progress)),
                         scores.progress / limit);
    case DifferenceNature::kSpike:
      return fmt::format("it stands off at step {}, {:.3g} times the limit of a single value",
                         judged.steps[scores.spike_at], scores.spike / limit);
    default:
      return fmt::format("it is off by {} on average over {}, {:.3g} times the limit",
                         SignedPercent(c.shift), StepsOf(judged, scores.shift_window),
                         scores.shift / limit);
  }
}

std::string NatureWords(DifferenceNature nature) {
  switch (nature) {
    case DifferenceNature::kRounding:
      return ", as small as rounding makes it";
    case DifferenceNature::kNewStream:
      return ", and looks like a new stream of random numbers (dropout, say): there from the "
             "start, "
             "small beside the noise of the batches, without a direction";
    default:
      return {};
  }
}

void Describe(const Judged& judged, const DifferenceShape& shape, const PairScores& scores,
              double limit, CurveComparison* out) {
  const WindowMeans& window = scores.shift_window;
  out->shift = window.size > 0.0 ? window.difference / window.size : 0.0;
  if (window.length > 0) {
    out->shift_first = judged.steps[window.first];
    out->shift_last = judged.steps[window.first + window.length - 1];
  }
  out->progress = shape.progress_error > 0.0 ? shape.progress : 0.0;
  const bool from_the_start = judged.at.front() == 0 && out->only_a + out->only_b == 0;
  out->nature = NatureOf(shape, scores, limit, from_the_start);
}

std::string JudgeByUpgrades(const Judged& judged, const DifferenceShape& shape,
                            const PairScores& scores, const CurveRules& rules,
                            CurveComparison* out) {
  const double limit = rules.score_limit;
  out->basis = "upgrades";
  out->rule = RuleOf(rules.limits, limit);
  out->band = OnAlignedSteps(judged, SpikeBand(shape, rules.limits, limit), out->steps.size());
  out->statistic = scores.Largest() / limit;
  if (out->statistic > 1.0) {
    out->state = CurveState::kBeyond;
    switch (out->nature) {
      case DifferenceNature::kSpike:
        out->first_beyond = judged.steps[scores.spike_at];
        break;
      case DifferenceNature::kShifted:
        out->first_beyond = judged.steps[scores.shift_window.first];
        break;
      default:
        out->first_beyond = out->first_difference;
    }
    return WhyBeyond(judged, shape, scores, *out, limit);
  }
  const double blur = rules.limits.shift_scatter * shape.typical_scatter;
  if (blur > rules.margin * shape.typical_size) {
    out->state = CurveState::kUndecided;
    out->nature = DifferenceNature::kNone;
    out->open_margin = rules.margin;
    return fmt::format(
        "the two scatter so much that a shift of {} would not show (a margin of {} is wanted); "
        "further runs as A is would (`rharness compare --replicate`)",
        PercentText(blur / shape.typical_size), PercentText(rules.margin));
  }
  out->state = CurveState::kWithin;
  return fmt::format("{:.2g} of what {} accepted upgrades leave room for{}", out->statistic,
                     kPublishedUpgrades.size(), NatureWords(out->nature));
}

// ---- A margin -----------------------------------------------------------------------------------

std::string JudgeByMargin(const Judged& judged, const DifferenceShape& shape,
                          const CurveRules& rules, CurveComparison* out) {
  const MarginDecision decision = DecideByMargin(shape, rules.margin);
  const std::string_view kind = rules.margin_declared ? "declared" : "default";
  out->basis = "margin";
  out->rule = fmt::format(
      "the mean over a quarter of the values or more is shown to be within the {} margin of {} of "
      "|a|, and no value is off by three of them",
      kind, PercentText(rules.margin));
  std::vector<double> band;
  for (const double size : shape.size) band.push_back(rules.margin * size);
  out->band = OnAlignedSteps(judged, band, out->steps.size());
  out->statistic = decision.largest / rules.margin;
  const std::string where = StepsOf(judged, decision.window);
  const double shift =
      decision.window.size > 0 ? decision.window.difference / decision.window.size : 0.0;
  switch (decision.result) {
    case MarginResult::kBeyond:
      out->state = CurveState::kBeyond;
      out->first_beyond = judged.steps[decision.window.first];
      return fmt::format("it is off by {} on average over {}, beyond the {} margin of {}",
                         SignedPercent(shift), where, kind, PercentText(rules.margin));
    case MarginResult::kWithin:
      out->state = CurveState::kWithin;
      return fmt::format("off by {} on average over {} at most, within the {} margin of {}{}",
                         SignedPercent(shift), where, kind, PercentText(rules.margin),
                         NatureWords(out->nature));
    case MarginResult::kOpen:
      break;
  }
  out->state = CurveState::kUndecided;
  out->open_margin = rules.margin;
  return fmt::format(
      "it is off by {} on average over {}, known to {}: neither within nor beyond the {} margin of "
      "{}; further runs as A is would decide (`rharness compare --replicate`)",
      SignedPercent(shift), where, PercentText(decision.uncertainty), kind,
      PercentText(rules.margin));
}

// ---- Gross differences --------------------------------------------------------------------------

struct GrossDifference {
  bool is = false;
  std::size_t off = 0;    // values apart by more than the share of |a|
  std::size_t first = 0;  // index of the first of them
  double statistic = 0.0;
};

GrossDifference GrossOf(const std::vector<double>& a, const std::vector<double>& b, double share) {
  GrossDifference gross;
  double largest = 0.0, furthest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double apart = std::fabs(b[i] - a[i]);
    largest = std::max(largest, std::fabs(a[i]));
    furthest = std::max(furthest, apart);
    if (apart <= share * std::fabs(a[i])) continue;
    if (gross.off++ == 0) gross.first = i;
  }
  gross.is = gross.off > 0 && 2 * gross.off >= a.size() && furthest > share * largest;
  gross.statistic = largest > 0.0 ? furthest / (share * largest) : 1.0;
  return gross;
}

bool AnyApart(const std::vector<CurveSeries>& group, const Judged& judged, double share) {
  std::vector<std::vector<double>> runs;
  for (const CurveSeries& series : group) {
    std::vector<double> values = ValuesAt(series, judged.steps);
    if (values.empty()) continue;
    for (const std::vector<double>& other : runs) {
      if (GrossOf(other, values, share).is) return true;
    }
    runs.push_back(std::move(values));
  }
  return false;
}

}  // namespace

double FloorOf(const Judged& judged, double quantum, const CurveRules& rules) {
  // Two printed values may each be off by half a unit and their difference by a whole one.
  return std::max({std::max(judged.quantum, quantum) / std::sqrt(6.0),
                   kFloorShare * rules.smallest_fault * judged.size,
                   std::numeric_limits<double>::min()});
}

double MeanFrom(const std::vector<double>& values, std::size_t first) {
  double sum = 0.0;
  for (std::size_t i = first; i < values.size(); ++i) sum += values[i];
  return sum / static_cast<double>(values.size() - first);
}

double WidthThatCounts(const ReplicateBand& band, double size) {
  if (!(size > 0.0)) return 0.0;
  std::vector<double> limits = band.limit;
  const auto late = limits.begin() + static_cast<std::ptrdiff_t>(band.late_first);
  const double widest_late = *std::max_element(late, limits.end());
  const auto middle = limits.begin() + static_cast<std::ptrdiff_t>(limits.size() / 2);
  std::nth_element(limits.begin(), middle, limits.end());
  return std::max(*middle, widest_late) / size;
}

std::vector<double> OnAlignedSteps(const Judged& judged, const std::vector<double>& values,
                                   std::size_t aligned) {
  std::vector<double> out(aligned, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < values.size(); ++i) out[judged.at[i]] = values[i];
  return out;
}

std::string JudgeCurve(const Judged& judged, const FurtherCurves& further, const CurveRules& rules,
                       CurveComparison* out) {
  const DifferenceShape shape = ShapeOf(judged);
  const PairScores scores = ScoresOf(shape, rules.limits);
  const UsableReplicates usable = UsableOf(further.replicates, judged);
  const bool loss = out->kind == CurveKind::kLoss;
  if (loss) Describe(judged, shape, scores, rules.score_limit, out);
  if (usable.Count() > 0) return JudgeByReplicates(usable, judged, rules, out);
  const RoundingSpread spread = SpreadOf(further.rounding, judged);
  if (spread.degrees >= kFewestReplicates) {
    return JudgeBySpread(spread, further.source, judged, rules, out);
  }
  if (loss) {
    const bool batches = HasBatchNoise(out->name, shape);
    // Without batches to measure by, a nature that speaks of them is none.
    if (!batches && out->nature != DifferenceNature::kRounding) {
      out->nature = DifferenceNature::kNone;
    }
    std::string why = batches ? JudgeByUpgrades(judged, shape, scores, rules, out)
                              : JudgeByMargin(judged, shape, rules, out);
    out->rule += LeftOut(usable);
    return why;
  }
  out->rule = "no band without further runs" + LeftOut(usable);
  out->state = CurveState::kUndecided;
  return "how far rounding carries it is published for losses alone" + LeftOut(usable) +
         "; it needs replicates: further runs as A is, or one with one ULP planted "
         "(`rharness compare --replicate`)";
}

std::string GrosslyApart(const Judged& judged, const FurtherCurves& further,
                         const CurveRules& rules, CurveComparison* out) {
  if (out->kind != CurveKind::kLoss) return {};
  const double share = kGross * rules.margin;
  const GrossDifference gross = GrossOf(judged.a, judged.b, share);
  if (!gross.is) return {};
  // Runs of one configuration that lie as far apart themselves leave this one to their band.
  for (const CurveSeries& replicate : further.replicates) {
    const std::vector<double> values = ValuesAt(replicate, judged.steps);
    if (!values.empty() && values != judged.b && GrossOf(judged.a, values, share).is) return {};
  }
  for (const std::vector<CurveSeries>& group : further.rounding) {
    if (AnyApart(group, judged, share)) return {};
  }
  out->state = CurveState::kBeyond;
  out->basis = "margin";
  out->nature = DifferenceNature::kShifted;
  out->first_beyond = judged.steps[gross.first];
  out->rule =
      fmt::format("not off by {} of |a|, ten margins, on half of the values", PercentText(share));
  std::vector<double> band;
  for (const double value : judged.a) band.push_back(share * std::fabs(value));
  out->band = OnAlignedSteps(judged, band, out->steps.size());
  out->statistic = gross.statistic;
  return fmt::format("it is off by more than {} of A on {} of {} values, which no rounding does",
                     PercentText(share), gross.off, judged.a.size());
}

}  // namespace rharness
