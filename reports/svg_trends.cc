// Rates by week and survival by age, as pictures; see trends_report.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/svg_axis.h"
#include "reports/text.h"
#include "reports/trends_report.h"
#include "reports/trends_words.h"

namespace rharness {
namespace {

constexpr double kTrendWidth = 640.0;
constexpr double kTrendHeight = 190.0;
constexpr double kTrendLeft = 52.0;
constexpr double kTrendRight = 628.0;
constexpr double kTrendTop = 12.0;
constexpr double kTrendBottom = 152.0;

double DaysOf(WallTime time) {
  return std::chrono::duration<double, std::ratio<86400>>(time.time_since_epoch()).count();
}

std::string DayText(WallTime time) { return FormatTime(time).substr(0, 10); }

// Shares in percent, from just below the lowest one that is drawn.
SvgScale PercentScale(double lowest) {
  const double low = std::max(0.0, std::floor((100.0 * lowest - 1.0) / 10.0) * 10.0);
  return {.low = std::min(low, 90.0), .high = 100.0, .from = kTrendBottom, .to = kTrendTop};
}

std::string BaseLine() {
  return fmt::format("<path class=\"axis\" d=\"M{:.0f} {:.0f}H{:.0f}\"/>", kTrendLeft, kTrendBottom,
                     kTrendRight);
}

std::string Below(double x, const std::string& label, std::string_view anchor) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"{}\">{}</text>", x,
                     kTrendBottom + 18, anchor, label);
}

std::string Intervals(const std::vector<const TrendWeek*>& weeks, const SvgScale& x,
                      const SvgScale& y) {
  std::string out;
  for (const TrendWeek* week : weeks) {
    out += fmt::format("<path class=\"edge\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/>",
                       x.At(DaysOf(week->start)), y.At(100.0 * week->counts.low),
                       y.At(100.0 * week->counts.high));
  }
  return out;
}

std::string RatePoints(const std::vector<const TrendWeek*>& weeks, const SvgScale& x,
                       const SvgScale& y) {
  std::string line;
  std::string points;
  for (const TrendWeek* week : weeks) {
    const double at = x.At(DaysOf(week->start));
    const double rate = y.At(100.0 * *week->counts.rate);
    line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", at, rate);
    points +=
        fmt::format("<circle class=\"old\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\"/>", at, rate);
  }
  return fmt::format("<path class=\"mean\" fill=\"none\" d=\"{}\"/>{}", line, points);
}

std::string ChangeMarks(const TrendSeries& series, const SvgScale& x) {
  std::string out;
  for (const TrendChange& change : series.changes) {
    const double half = 3.5;  // between this week and the one before
    out += fmt::format("<path class=\"axis\" stroke-width=\"2\" d=\"M{0:.1f} {1:.0f}V{2:.0f}\"/>",
                       x.At(DaysOf(change.week) - half), kTrendTop, kTrendBottom);
  }
  return out;
}

std::string StepLine(const TrendSurvival& survival, const SvgScale& x, const SvgScale& y,
                     double last) {
  std::string line = fmt::format("M{:.1f} {:.1f}", x.At(0.0), y.At(100.0));
  for (const TrendSurvivalStep& step : survival.steps) {
    line += fmt::format("H{:.1f}V{:.1f}", x.At(step.days), y.At(100.0 * step.share));
  }
  return fmt::format("<path class=\"mean\" fill=\"none\" d=\"{}H{:.1f}\"/>", line, x.At(last));
}

std::string StepBand(const TrendSurvival& survival, const SvgScale& x, const SvgScale& y,
                     double last) {
  std::string out;
  for (std::size_t i = 0; i < survival.steps.size(); ++i) {
    const TrendSurvivalStep& step = survival.steps[i];
    if (!step.low || !step.high) continue;
    const double from = x.At(step.days);
    const double to = x.At(i + 1 < survival.steps.size() ? survival.steps[i + 1].days : last);
    const double top = y.At(100.0 * *step.high);
    out += fmt::format(
        "<rect class=\"band\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", from,
        top, std::max(0.0, to - from), std::max(0.0, y.At(100.0 * *step.low) - top));
  }
  return out;
}

}  // namespace

std::string SvgRates(const TrendSeries& series, std::string_view id) {
  std::vector<const TrendWeek*> weeks;
  double lowest = 1.0;
  for (const TrendWeek& week : series.weeks) {
    if (!week.counts.rate) continue;
    weeks.push_back(&week);
    lowest = std::min(lowest, week.counts.low);
  }
  if (weeks.size() < 2) return "";
  const SvgScale x{.low = DaysOf(weeks.front()->start),
                   .high = DaysOf(weeks.back()->start),
                   .from = kTrendLeft + 8,
                   .to = kTrendRight - 8};
  const SvgScale y = PercentScale(lowest);
  const std::string title = series.by == "all"
                                ? "Reproduced, % of runs, by week"
                                : SafeText(series.value, 200) + ": reproduced, % of runs, by week";
  std::string out = SvgOpen(
      kTrendWidth, kTrendHeight, id, title,
      fmt::format("{} weeks from {} to {}; the first {:.3g} %, the last {:.3g} %; each with its "
                  "interval at 95 %; {}.",
                  weeks.size(), DayText(weeks.front()->start), DayText(weeks.back()->start),
                  100.0 * *weeks.front()->counts.rate, 100.0 * *weeks.back()->counts.rate,
                  Counted(series.changes.size(), "change")));
  out += SvgValueAxis(y, kTrendLeft, kTrendRight) + BaseLine();
  out += Intervals(weeks, x, y) + ChangeMarks(series, x) + RatePoints(weeks, x, y);
  out += Below(x.from, DayText(weeks.front()->start), "start");
  out += Below(x.to, DayText(weeks.back()->start), "end");
  return out + "</svg>";
}

std::string SvgSurvival(const TrendSurvival& survival, std::string_view id) {
  if (survival.steps.empty()) return "";
  double lowest = 1.0;
  for (const TrendSurvivalStep& step : survival.steps) {
    lowest = std::min(lowest, step.low.value_or(step.share));
  }
  const double last = std::max(survival.oldest_days, survival.steps.back().days + 1.0);
  const SvgScale x{.low = 0.0, .high = last, .from = kTrendLeft, .to = kTrendRight};
  const SvgScale y = PercentScale(lowest);
  std::string out = SvgOpen(
      kTrendWidth, kTrendHeight, id,
      (survival.family.empty() ? std::string("All runs") : SafeText(survival.family, 200)) +
          ": still reproducible, by days since first seen to be, %",
      fmt::format("{}; {} stopped reproducing; {:.3g} % still did after {}.",
                  Counted(static_cast<std::uint64_t>(survival.runs), "run"), survival.ended,
                  100.0 * survival.steps.back().share, SpanWords(survival.steps.back().days)));
  out += SvgValueAxis(y, kTrendLeft, kTrendRight) + StepBand(survival, x, y, last) + BaseLine();
  out += StepLine(survival, x, y, last);
  out += Below(x.from, "0 days", "start");
  out += Below(x.to, fmt::format("{:.0f} days", last), "end");
  return out + "</svg>";
}

}  // namespace rharness
