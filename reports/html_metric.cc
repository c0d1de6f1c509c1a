// One metric of a run on the page: its picture and the numbers that decided; see html_parts.h.
#include <fmt/format.h>

#include "reports/html_escape.h"
#include "reports/html_parts.h"
#include "reports/text.h"

namespace rharness {
namespace {

std::string_view VerdictWords(MetricVerdict verdict) {
  switch (verdict) {
    case MetricVerdict::kWithin:
      return "within its margin";
    case MetricVerdict::kDrifted:
      return "drifted";
    case MetricVerdict::kNeedsConfirmation:
      return "shift seen once, to be confirmed by one more rerun";
    case MetricVerdict::kInconclusive:
      return "inconclusive";
  }
  Abort("unknown MetricVerdict");
}

// The class whose colours the metric takes.
std::string_view ColourClass(MetricVerdict verdict) {
  switch (verdict) {
    case MetricVerdict::kWithin:
      return "equivalent";
    case MetricVerdict::kDrifted:
      return "drifted";
    default:
      return "inconclusive";
  }
}

// Statistics are estimates; more than four digits of them are noise.
std::string Short(double value) { return FormatNumber(value, 4); }

std::string MetricRow(std::string_view name, std::string_view value) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>", name, value);
}

std::string MarginWords(const MetricDecision& metric, const std::string& unit) {
  if (metric.margin <= 0) return "none in force";
  return fmt::format("±{}{} ({})", Short(metric.margin), unit,
                     !metric.default_margin ? "declared"
                     : metric.pairs > 0     ? "default, half the seeds' standard deviation"
                                            : "default, 3 family standard deviations");
}

std::string MoreWords(const MetricDecision& metric) {
  if (metric.verdict == MetricVerdict::kWithin || metric.verdict == MetricVerdict::kDrifted) {
    return "none needed";
  }
  if (metric.more_runs > 0) {
    return fmt::format("none; {} of other seeds, for a decision with 80 % probability",
                       Counted(static_cast<std::uint64_t>(metric.more_runs), "more run"));
  }
  if (metric.more_reruns == 0) return "no number would decide";
  return fmt::format("{}, for a decision with 80 % probability", metric.more_reruns);
}

std::string MetricDifferenceWords(const MetricDecision& metric, bool tested,
                                  const std::string& unit) {
  if (metric.history.empty() || metric.reruns.empty()) return "none: a side has no value";
  if (!tested) return fmt::format("{}{} (interval not known)", Short(metric.difference), unit);
  return fmt::format("{}{} ({} interval {} to {})", Short(metric.difference), unit,
                     IntervalLevel(metric), Short(metric.ci_low), Short(metric.ci_high));
}

std::string Numbers(const MetricDecision& metric) {
  const std::string unit = metric.unit.empty() ? "" : " " + HtmlText(metric.unit, 40);
  std::string out = "<dl class=\"numbers\">";
  const bool tested = metric.standard_error > 0;
  out += MetricRow("Difference", MetricDifferenceWords(metric, tested, unit));
  out += MetricRow("Margin", MarginWords(metric, unit));
  out += MetricRow("Recorded", metric.history.empty()
                                   ? "n = 0"
                                   : fmt::format("n = {}, mean {}{}", metric.history.size(),
                                                 FormatNumber(metric.mean_history), unit));
  out += MetricRow("Reruns", fmt::format("k = {}", metric.reruns.size()));
  if (!tested) {
    return out + MetricRow("Test", "none: " + HtmlText(DescribeReason(metric.reason), 300)) +
           "</dl>";
  }
  out += MetricRow(
      "Spread",
      fmt::format("s = {}, standard error {}, ν = {} (basis: {})", Short(metric.standard_deviation),
                  Short(metric.standard_error), Short(metric.df),
                  metric.variance_basis.empty() ? "none" : HtmlText(metric.variance_basis, 60)));
  if (metric.pairs > 0) {
    out += MetricRow("Pairs", fmt::format("{}; standard deviation of seeds {}", metric.pairs,
                                          metric.seed_deviation > 0.0 ? Short(metric.seed_deviation)
                                                                      : "not known"));
  }
  out += MetricRow("Test of difference",
                   fmt::format("t = {}, p = {} against α = {}", Short(metric.t),
                               Short(metric.p_difference), Short(metric.alpha_drift)));
  out += MetricRow("Power", fmt::format("{:.0f} % to show equivalence at α = {}",
                                        100.0 * metric.power, Short(metric.alpha_equivalence)));
  out += MetricRow("Smallest shift found",
                   fmt::format("{}{} (80 % probability)", Short(metric.minimum_detectable), unit));
  out += MetricRow("Further reruns", MoreWords(metric));
  if (!metric.reason.empty())
    out += MetricRow("Remarks", HtmlText(DescribeReason(metric.reason), 300));
  return out + "</dl>";
}

}  // namespace

std::string HtmlMetric(const MetricDecision& metric, bool bit_equal, std::string_view id) {
  std::string out =
      fmt::format("<div class=\"metric {}\"><h4><code>{}</code> <span class=\"b\">{}</span>{}</h4>",
                  bit_equal ? "identical" : ColourClass(metric.verdict), HtmlText(metric.name, 200),
                  bit_equal ? "equal" : VerdictWords(metric.verdict),
                  metric.primary ? "" : " <span class=\"soft\">secondary, advisory</span>");
  const std::string picture = SvgBand(metric, id);
  if (picture.empty()) {
    out += "<p class=\"soft\">There is no finite value to draw.</p>";
  } else {
    const std::string interval =
        fmt::format(" The bar is the {} interval of the rerun mean.", IntervalLevel(metric));
    out += fmt::format(
        "<figure>{}<figcaption>Circles are recorded runs, diamonds are reruns.{}{}</figcaption>"
        "</figure>",
        picture,
        metric.margin > 0 ? " The shaded band is the margin around the recorded mean." : "",
        picture.find("class=\"ci\"") != std::string::npos ? interval : "");
  }
  return out + Numbers(metric) + "</div>";
}

}  // namespace rharness
