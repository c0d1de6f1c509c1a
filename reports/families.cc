// Families in words; see families.h.
#include "reports/families.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

std::size_t CountFamilies(const Report& report, Verdict verdict) {
  return static_cast<std::size_t>(
      std::ranges::count(report.families, verdict, &FamilyComparison::verdict));
}

// The minimum spread that a test needs for unmoved values is no measurement.
bool IsEqualThroughout(const MetricDecision& metric) {
  return !metric.history.empty() && metric.history == metric.reruns;
}

std::string UnitWords(const MetricDecision& metric) {
  return metric.unit.empty() ? "" : " " + SafeText(metric.unit, 40);
}

}  // namespace

std::vector<const FamilyComparison*> FamiliesByWorst(const Report& report) {
  std::vector<const FamilyComparison*> order;
  for (const FamilyComparison& family : report.families) order.push_back(&family);
  std::ranges::stable_sort(
      order, {}, [](const FamilyComparison* family) { return Severity(family->verdict); });
  return order;
}

std::string FamilyAnswer(const Report& report) {
  if (report.families.empty()) return "";
  if (report.families.size() == 1) {
    const FamilyComparison& only = report.families.front();
    const std::string name = SafeText(only.name, 120);
    switch (only.verdict) {
      case Verdict::kDrifted:
        return fmt::format("The family {} drifted.", name);
      case Verdict::kInconclusive:
        return fmt::format("Whether the family {} moved is not decided.", name);
      default:
        return fmt::format("The family {} is {}.", name, VerdictLabel(only.verdict));
    }
  }
  const std::size_t drifted = CountFamilies(report, Verdict::kDrifted);
  const std::size_t open = CountFamilies(report, Verdict::kInconclusive);
  const std::string families = FormatCount(report.families.size()) + " families";
  if (drifted > 0 && open > 0) {
    return fmt::format("Of {} {} drifted and {} could not be decided.", families,
                       FormatCount(drifted), FormatCount(open));
  }
  if (drifted > 0) return fmt::format("Of {} {} drifted.", families, FormatCount(drifted));
  if (open > 0) return fmt::format("Of {} {} could not be decided.", families, FormatCount(open));
  return fmt::format("All {} reproduced.", families);
}

std::string FamilyNextStep(const Report& report) {
  for (const FamilyComparison* family : FamiliesByWorst(report)) {
    const std::string name = SafeText(family->name, 120);
    if (family->verdict == Verdict::kDrifted) {
      if (!family->causes.empty()) {
        return fmt::format("The runs of {} moved together, and in all of them: {} {}", name,
                           SafeText(family->causes.front().statement, 300),
                           EvidenceOf(family->causes.front()));
      }
      return fmt::format("Find what the runs of {} have in common: they moved together.", name);
    }
    if (family->verdict != Verdict::kInconclusive) continue;
    if (!family->beyond.empty()) {
      return fmt::format(
          "Drill {} again with --replicates 3: they measure how far rounding carries its curves.",
          name);
    }
    if (family->more_runs > 0) {
      return fmt::format(
          "Drill {} of {} with other seeds beside these: more reruns of one seed add no "
          "information.",
          Counted(static_cast<std::uint64_t>(family->more_runs), "more run"), name);
    }
    return fmt::format("More runs of {} would not decide; declare a margin that matters.", name);
  }
  return "";
}

std::string EvidenceOf(const Cause& cause) {
  if (cause.evidence.empty()) return "";
  const std::size_t more = cause.evidence.size() - 1;
  return fmt::format("({}{})", SafeText(cause.evidence.front(), 200),
                     more > 0 ? fmt::format(", and {} more", more) : "");
}

std::string FamilyRuns(const FamilyComparison& family) {
  const std::size_t apart = family.apart.size();
  const std::size_t together = family.runs.size() - std::min(apart, family.runs.size());
  return Counted(together, "run") + (apart == 0 ? "" : fmt::format(", {} apart", apart));
}

std::string ShiftOf(const MetricDecision& metric) {
  if (IsEqualThroughout(metric)) return "none, each is equal to its record";
  if (!(metric.standard_error > 0.0)) return SafeText(DescribeReason(metric.reason), 200);
  return fmt::format("{}{} [{}, {}]", FormatNumber(metric.difference, 3), UnitWords(metric),
                     FormatNumber(metric.ci_low, 3), FormatNumber(metric.ci_high, 3));
}

std::string MarginOf(const MetricDecision& metric) {
  if (!(metric.margin > 0.0)) return "none";
  return fmt::format("±{}{}", FormatNumber(metric.margin, 3),
                     metric.default_margin ? ", half the seeds' standard deviation" : "");
}

std::string SpreadOf(const MetricDecision& metric) {
  if (!(metric.standard_error > 0.0)) return "not known";
  return fmt::format(
      "{}, of seeds {}",
      IsEqualThroughout(metric) ? "none" : FormatNumber(metric.standard_deviation, 3),
      metric.seed_deviation > 0.0 ? FormatNumber(metric.seed_deviation, 3) : "not known");
}

}  // namespace rharness
