// One metric: its picture and the numbers that decided; see comparison_sections.h.
#include <fmt/format.h>

#include "reports/comparison_sections.h"
#include "reports/svg_plots.h"
#include "reports/text.h"
#include "reports/words.h"

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

// Whose colours the metric takes.
Verdict ToneOf(MetricVerdict verdict) {
  switch (verdict) {
    case MetricVerdict::kWithin:
      return Verdict::kEquivalent;
    case MetricVerdict::kDrifted:
      return Verdict::kDrifted;
    default:
      return Verdict::kInconclusive;
  }
}

// Statistics are estimates; more than four digits of them are noise.
std::string Short(double value) { return FormatNumber(value, 4); }

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

// A divergence over sequences: one margin, above, and no runs on either side.
DocumentFacts NumbersOfSequences(const MetricDecision& metric) {
  DocumentFacts facts = {
      {"Estimate", MetricWords(metric)},
      {"Margin", metric.margin > 0 ? Short(metric.margin) + " nats a token (declared)" : "none"}};
  if (metric.standard_error <= 0) return facts;
  facts.emplace_back("Spread", fmt::format("standard error {}, over {} sequences",
                                           Short(metric.standard_error), Short(metric.df + 1.0)));
  if (metric.margin > 0) {
    facts.emplace_back("Test of drift",
                       fmt::format("t = {}, p = {} against α = {}", Short(metric.t),
                                   Short(metric.p_difference), Short(metric.alpha_drift)));
  }
  return facts;
}

DocumentFacts NumbersOf(const MetricDecision& metric) {
  if (metric.variance_basis == kSequencesBasis) return NumbersOfSequences(metric);
  const std::string unit = metric.unit.empty() ? "" : " " + SafeText(metric.unit, 40);
  const bool tested = metric.standard_error > 0;
  DocumentFacts facts = {
      {"Difference", MetricDifferenceWords(metric, tested, unit)},
      {"Margin", MarginWords(metric, unit)},
      {"Recorded", metric.history.empty() ? "n = 0"
                                          : fmt::format("n = {}, mean {}{}", metric.history.size(),
                                                        FormatNumber(metric.mean_history), unit)},
      {"Reruns", fmt::format("k = {}", metric.reruns.size())}};
  if (!tested) {
    facts.emplace_back("Test", "none: " + DescribeReason(metric.reason));
    return facts;
  }
  facts.emplace_back(
      "Spread",
      fmt::format("s = {}, standard error {}, ν = {} (basis: {})", Short(metric.standard_deviation),
                  Short(metric.standard_error), Short(metric.df),
                  metric.variance_basis.empty() ? "none" : metric.variance_basis));
  if (metric.pairs > 0) {
    facts.emplace_back(
        "Pairs",
        fmt::format("{}; standard deviation of seeds {}", metric.pairs,
                    metric.seed_deviation > 0.0 ? Short(metric.seed_deviation) : "not known"));
  }
  facts.emplace_back("Test of difference",
                     fmt::format("t = {}, p = {} against α = {}", Short(metric.t),
                                 Short(metric.p_difference), Short(metric.alpha_drift)));
  facts.emplace_back("Power", fmt::format("{:.0f} % to show equivalence at α = {}",
                                          100.0 * metric.power, Short(metric.alpha_equivalence)));
  facts.emplace_back("Smallest shift found", fmt::format("{}{} (80 % probability)",
                                                         Short(metric.minimum_detectable), unit));
  facts.emplace_back("Further reruns", MoreWords(metric));
  if (!metric.reason.empty()) facts.emplace_back("Remarks", DescribeReason(metric.reason));
  return facts;
}

std::vector<DocumentSection> InsideOf(const MetricDecision& metric, const std::string& id) {
  DocumentSection section{.title = "", .facts = NumbersOf(metric)};
  if (metric.variance_basis == kSequencesBasis) return {section};
  DocumentPicture picture{.svg = SvgBand(metric, id),
                          .caption = "Circles are recorded runs, diamonds are reruns."};
  if (picture.svg.empty()) {
    section.words = "There is no finite value to draw.";
    return {section};
  }
  if (metric.margin > 0) {
    picture.caption += " The shaded band is the margin around the recorded mean.";
  }
  if (picture.svg.find("class=\"ci\"") != std::string::npos) {
    picture.caption +=
        fmt::format(" The bar is the {} interval of the rerun mean.", IntervalLevel(metric));
  }
  section.pictures = {std::move(picture)};
  return {section};
}

}  // namespace

DocumentRow MetricRowOf(const MetricDecision& metric, bool bit_equal, const std::string& id) {
  DocumentCell badge(bit_equal ? "equal" : std::string(VerdictWords(metric.verdict)),
                     DocumentCell::As::kBadge);
  return {.tone = bit_equal ? Verdict::kIdentical : ToneOf(metric.verdict),
          .cells = {{metric.name, DocumentCell::As::kCode}, badge, metric.primary ? "" : "advises"},
          .sentence = fmt::format("{}: {}", metric.name, MetricWords(metric)),
          .inside = [&metric, id](bool) { return InsideOf(metric, id); }};
}

}  // namespace rharness
