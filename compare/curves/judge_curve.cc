// Further runs, accepted upgrades, a margin.
#include "compare/curves/judge_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "compare/curves/curve_message.h"
#include "compare/curves/difference_shape.h"
#include "compare/curves/replicate_band.h"
#include "compare/curves/rounding_spread.h"
#include "compare/curves/single_pair.h"
#include "compare/curves/usable_replicates.h"

namespace rharness {
namespace {

// A difference below this share of the smallest fault that matters is none, whatever the replicates
// show: they may be equal to the last bit for a while.
constexpr double kFloorShare = 0.01;

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
                              const CurveRules& rules, bool smooth, CurveComparison* out) {
  const double floor = FloorOf(judged, usable.quantum, rules, out->kind);
  std::vector<std::vector<double>> runs = usable.runs;
  if (smooth) std::ranges::for_each(runs, [](auto& run) { run = RunningMedian(run); });
  const ReplicateBand band = BandOfRuns(runs, floor, rules.false_alarm);
  const std::vector<double> b = smooth ? RunningMedian(judged.b) : judged.b;
  out->basis = "replicates";
  out->false_alarm = band.false_alarm;
  out->rule = RuleOf(usable, band, floor) + (smooth ? std::string(kOfMedians) : "");
  out->band = OnAlignedSteps(judged, band.limit, out->steps.size());
  out->middle = OnAlignedSteps(judged, band.middle, out->steps.size());
  const auto late = HoldToBand(b, judged, band, out);
  const std::string source = fmt::format("{} runs of the same configuration", usable.runs.size());
  if (out->first_beyond && usable.Count() < kFewestReplicates) {
    out->first_beyond.reset();
    out->state = CurveState::kUndecided;
    return fmt::format("it leaves the band of {}, which shows nothing below {} replicates", source,
                       kFewestReplicates);
  }
  if (out->first_beyond) {
    out->state = CurveState::kBeyond;
    if (!late) return fmt::format("it leaves the band of {}", source);
    return fmt::format(
        "its last quarter lies {:.3g} {} the mean of {}, where {:.3g} is the prediction limit",
        std::fabs(*late), *late > 0 ? "above" : "below", source, band.late_limit);
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
  return fmt::format("{:.2g} of the limit from {}{}", out->statistic, source, InvisibleWords(*out));
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

// The reason of a curve that is beyond, from the nature of its difference.
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
  out->nature = NatureOf(shape, scores, limit, judged.from_first);
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
  // What the mean over all values may be off by.
  const WindowMeans all = WindowsOf(shape).back();
  out->invisible = limit * ShiftLimit(all, rules.limits) / all.size;
  return fmt::format("{:.2g} of what {} accepted upgrades leave room for{}{}", out->statistic,
                     kPublishedUpgrades.size(), NatureWords(out->nature), InvisibleWords(*out));
}

// ---- A margin -----------------------------------------------------------------------------------

std::string JudgeByMargin(const Judged& judged, const DifferenceShape& shape,
                          const PairScores& scores, const CurveRules& rules, CurveComparison* out) {
  MarginDecision decision = DecideByMargin(shape, rules.margin);
  // Noise as large as a's own is another course of the training, whose noise may keep a direction
  // for long; a curve without a size has no limit for it.
  const bool other_course = judged.spread > 0.0 && scores.batches > 1.0;
  if (other_course && decision.result == MarginResult::kBeyond) {
    decision.result = MarginResult::kOpen;
  }
  const std::string_view kind = rules.margin_declared ? "declared" : "default";
  out->basis = "margin";
  const std::string of =
      judged.spread > 0.0
          ? fmt::format("{:.3g}, the spread of a's values (it crosses 0)", judged.spread)
          : "|a|";
  out->rule = fmt::format(
      "the mean over a quarter of the values or more is shown to be within the {} margin of {} of "
      "{}, and no value is off by three of them",
      kind, PercentText(rules.margin), of);
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

// Of a loss, without further runs.
std::string JudgeAlone(const Judged& judged, const DifferenceShape& shape, const PairScores& scores,
                       const CurveRules& rules, CurveComparison* out) {
  const bool batches = judged.spread == 0.0 && HasBatchNoise(out->name, shape);
  // Without batches as a yardstick, a nature that refers to them does not apply.
  if (!batches && out->nature != DifferenceNature::kRounding) {
    out->nature = DifferenceNature::kNone;
  }
  return batches ? JudgeByUpgrades(judged, shape, scores, rules, out)
                 : JudgeByMargin(judged, shape, scores, rules, out);
}

// Of two values of either curve that are apart by more than the arithmetic of doubles makes it.
double SmallestDistance(const Judged& judged) {
  constexpr double kFuzz = 1e-9;
  std::vector<double> values = judged.a;
  values.insert(values.end(), judged.b.begin(), judged.b.end());
  std::ranges::sort(values);
  double smallest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double apart = values[i] - values[i - 1];
    if (apart > kFuzz * judged.size) smallest = std::min(smallest, apart);
  }
  return std::isfinite(smallest) ? smallest : 0.0;
}

}  // namespace

double FloorOf(const Judged& judged, double quantum, const CurveRules& rules, CurveKind kind) {
  // Two printed values may each be off by half a unit and their difference by a whole one.
  return std::max({std::max(judged.quantum, quantum) / std::sqrt(6.0),
                   kFloorShare * rules.smallest_fault * judged.size,
                   kind == CurveKind::kMetric ? SmallestDistance(judged) : 0.0,
                   std::numeric_limits<double>::min()});
}

std::optional<double> HoldToBand(const std::vector<double>& b, const Judged& judged,
                                 const ReplicateBand& band, CurveComparison* out) {
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double ratio = std::fabs(b[i] - band.middle[i]) / band.limit[i];
    out->statistic = std::max(out->statistic, ratio);
    if (!(ratio <= 1.0) && !out->first_beyond) out->first_beyond = judged.steps[i];
  }
  const double late = MeanFrom(b, band.late_first) - band.late_middle;
  const double late_ratio = std::fabs(late) / band.late_limit;
  out->statistic = std::max(out->statistic, late_ratio);
  if (late_ratio <= 1.0) return std::nullopt;
  if (!out->first_beyond) out->first_beyond = judged.steps[band.late_first];
  return late;
}

bool IsSmoothed(CurveKind kind, const Judged& judged) {
  constexpr std::size_t kFewestSmoothed = 20;
  return kind == CurveKind::kMetric && judged.steps.size() >= kFewestSmoothed;
}

std::vector<double> RunningMedian(const std::vector<double>& values) {
  constexpr std::size_t kLength = 5, kMiddle = 2;
  std::vector<double> medians;
  if (values.size() < kLength) return values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    // Whole at either end as well: a spike may be the last value.
    const std::size_t first = std::min(i < kMiddle ? 0 : i - kMiddle, values.size() - kLength);
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<double> part(begin, begin + kLength);
    std::ranges::nth_element(part, part.begin() + kMiddle);
    medians.push_back(part[kMiddle]);
  }
  return medians;
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

std::string JudgeByFurther(const Judged& judged, const FurtherCurves& further,
                           const CurveRules& rules, CurveComparison* out) {
  const Judged common = OnStepsOf(judged, further.replicates);
  const UsableReplicates usable = UsableOf(further.replicates, common);
  const auto judge = [&](bool smooth, CurveComparison* into) -> std::string {
    if (usable.Count() > 0) return JudgeByReplicates(usable, common, rules, smooth, into);
    const RoundingSpread spread = SpreadOf(further.rounding, judged, smooth);
    if (spread.degrees < kFewestReplicates) return {};
    return JudgeBySpread(spread, further.source, judged, rules, smooth, into);
  };
  const bool smooth = IsSmoothed(out->kind, usable.Count() > 0 ? common : judged);
  CurveComparison values = smooth ? *out : CurveComparison();
  std::string why = judge(smooth, out);
  if (!smooth || out->state != CurveState::kWithin) return why;
  judge(false, &values);
  if (values.statistic <= 1.0) return why;
  out->state = CurveState::kUndecided;
  return "single values leave the band that its running medians keep to, as spikes do";
}

std::string JudgeCurve(const Judged& judged, const FurtherCurves& further, const CurveRules& rules,
                       CurveComparison* out) {
  const bool loss = out->kind == CurveKind::kLoss;
  const DifferenceShape shape = ShapeOf(judged);
  const PairScores scores = ScoresOf(shape, rules.limits);
  if (loss) Describe(judged, shape, scores, rules.score_limit, out);
  if (std::string why = JudgeByFurther(judged, further, rules, out); !why.empty()) return why;
  const std::string left_out = LeftOut(UsableOf(further.replicates, judged));
  if (loss) {
    std::string why = JudgeAlone(judged, shape, scores, rules, out);
    out->rule += left_out;
    return why;
  }
  out->rule = "no band without further runs" + left_out;
  out->state = CurveState::kUndecided;
  return "how far rounding carries it is published for losses alone" + left_out +
         "; it needs replicates: further runs as A is, or one with one ULP planted "
         "(`rharness compare --replicate`)";
}

}  // namespace rharness
