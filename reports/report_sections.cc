// What is inside a run, and what several have in common; see report_sections.h.
#include "reports/report_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "harness/base/files.h"
#include "reports/comparison_sections.h"
#include "reports/families.h"
#include "reports/names.h"

namespace rharness {
namespace {

constexpr std::size_t kMostFamilyPictures = 20;  // beyond these families numbers have to do
constexpr DocumentLimits kMostOfRun = {.page = 50, .screen = 40, .markdown = 20};
constexpr DocumentLimits kMostGroups = {.page = 200, .screen = 30, .markdown = 200};
using As = DocumentCell::As;

DocumentSection ExactOf(const ReportRun& run) {
  DocumentSection section{.title = "Compared bit for bit",
                          .columns = {{"Subject"}, {"Result"}, {"First difference"}, {"Detail"}},
                          .most = kMostOfRun};
  for (const ExactComparison& exact : run.exact) {
    const bool equal = exact.state == ExactComparison::State::kEqual;
    const std::string detail = exact.tensor ? TensorWords(*exact.tensor) : exact.detail;
    DocumentCell badge(
        fmt::format("{} {}", equal ? "✓" : "✗", NameIn(kExactStateNames, exact.state)), As::kBadge);
    badge.tone = equal ? Verdict::kIdentical : Verdict::kDrifted;
    section.rows.push_back(
        {.tone = *badge.tone,
         .cells = CellsOf(DocumentCell(exact.subject, As::kCode), badge,
                          DocumentCell(exact.first_difference, As::kCode), detail),
         .sign = equal ? "✓" : "✗",
         .sentence = fmt::format("{}: {}{}{}", exact.subject, exact.detail,
                                 exact.tensor ? "; " : "", exact.tensor ? detail : "")});
  }
  return section;
}

// A file that the rerun left, as a link if it lies in the drill's folder.
DocumentCell FileCell(const std::string& path, const char* words) {
  if (path.empty()) return "";
  if (!SafeRelativePath(path, "evidence_path").ok()) return {path, As::kCode};
  return {words, As::kText, path};
}

std::string RerunSentence(const ReportRerun& rerun) {
  return fmt::format(
      "rerun {}{}: {}, {}, {}{}", rerun.index, rerun.node.empty() ? "" : " on " + rerun.node,
      NameIn(kRerunStateNames, rerun.state), rerun.outcome,
      FormatDuration(Seconds(rerun.wall_seconds)), rerun.reason.empty() ? "" : ": " + rerun.reason);
}

DocumentSection RerunsOf(const ReportRun& run) {
  DocumentSection section{
      .title = "Reruns",
      .words =
          fmt::format("The recorded run{} took {}, on {}.",
                      run.declared.empty() ? "" : fmt::format(", declared {},", run.declared),
                      FormatDuration(Seconds(run.recorded_seconds)), FormatMinute(run.recorded)),
      .columns = {{"#"},
                  {"State"},
                  {"Outcome"},
                  {"Wall", true},
                  {"CPU", true},
                  {"Memory", true},
                  {"Evidence"},
                  {"Output"},
                  {"Errors"}},
      .most = kMostOfRun};
  if (run.reruns.empty()) section.words = "There was none. " + section.words;
  for (const ReportRerun& rerun : run.reruns) {
    section.rows.push_back(
        {.cells = CellsOf(
             std::to_string(rerun.index), std::string(NameIn(kRerunStateNames, rerun.state)),
             fmt::format("{}{}{}{}{}", rerun.outcome, rerun.node.empty() ? "" : " on ", rerun.node,
                         rerun.reason.empty() ? "" : ". ", rerun.reason),
             FormatDuration(Seconds(rerun.wall_seconds)),
             FormatDuration(Seconds(rerun.cpu_seconds)),
             rerun.peak_memory_bytes == 0 ? "" : FormatBytes(rerun.peak_memory_bytes),
             FileCell(rerun.evidence_path, "evidence"), FileCell(rerun.stdout_path, "stdout"),
             FileCell(rerun.stderr_path, "stderr")),
         .sentence = RerunSentence(rerun)});
  }
  return section;
}

// "test_accuracy: mean shift 0.001 [0, 0.002], margin ±0.03, spread 0.004, of seeds 0.0043"
std::string MetricSentence(const MetricDecision& metric) {
  return fmt::format("{}: mean shift {}, margin {}, spread {}{}", metric.name, ShiftOf(metric),
                     MarginOf(metric), SpreadOf(metric), metric.primary ? "" : " (advises)");
}

std::vector<DocumentSection> InsideOf(const FamilyComparison& family, const std::string& id,
                                      bool pictures) {
  DocumentSection causes{.title = ""};
  for (const Cause& cause : family.causes) {
    causes.items.push_back(fmt::format(
        "{} cause in all runs that moved with it: {} {}{}{}", StrengthName(cause.strength),
        cause.statement, EvidenceOf(cause), cause.confirm.empty() ? "" : " ", cause.confirm));
  }
  DocumentSection metrics{
      .title = "Metrics",
      .columns = {{"Metric"}, {"Mean shift"}, {"Margin"}, {"Spread of differences"}, {"Role"}},
      .most = kMostOfRun};
  DocumentSection drawn{
      .title = "Recorded values and reruns", .subjects = true, .folded = true, .off_screen = true};
  for (const MetricDecision& metric : family.metrics) {
    metrics.rows.push_back({.cells = {{metric.name, As::kCode},
                                      ShiftOf(metric),
                                      MarginOf(metric),
                                      SpreadOf(metric),
                                      metric.primary ? "decides" : "advises"},
                            .sentence = MetricSentence(metric)});
    drawn.rows.push_back(MetricRowOf(metric, family.verdict == Verdict::kIdentical,
                                     fmt::format("{}-m{}", id, drawn.rows.size() + 1)));
  }
  std::vector<DocumentSection> sections = {
      {.title = "", .words = family.headline}, std::move(causes), std::move(metrics)};
  if (pictures) sections.push_back(std::move(drawn));
  std::erase_if(sections, IsEmpty);
  return sections;
}

std::string CommonName(const SiblingGroup& group) {
  return group.name.empty() ? "all" : group.name;
}

}  // namespace

std::vector<DocumentSection> SectionsOf(const ReportRun& run, const std::string& id, bool in_full) {
  DocumentSection more{.title = ""};
  if (run.more_reruns > 0) {
    more.items.push_back(fmt::format(
        "{} would decide.", Counted(static_cast<std::uint64_t>(run.more_reruns), "further rerun")));
  }
  if (run.more_runs > 0) {
    more.items.push_back(
        fmt::format("{} of other seeds beside it would decide.",
                    Counted(static_cast<std::uint64_t>(run.more_runs), "more run")));
  }
  std::vector<DocumentSection> sections;
  if (!more.items.empty()) sections.push_back(std::move(more));
  std::ranges::move(SectionsOf(static_cast<const Comparison&>(run), id, in_full),
                    std::back_inserter(sections));
  if (run.checkpoints.empty() && run.curves.empty() && !run.exact.empty()) {
    sections.push_back(ExactOf(run));
  }
  sections.push_back(RerunsOf(run));
  for (const ReportRerun& rerun : run.reruns) {
    if (rerun.stderr_tail.empty()) continue;
    sections.push_back({.title = fmt::format("Last lines of stderr of rerun {}", rerun.index),
                        .log = rerun.stderr_tail,
                        .folded = true});
  }
  return sections;
}

DocumentSection FamiliesOf(const Report& report) {
  DocumentSection section{.title = "Families", .most = kMostGroups, .subjects = true};
  if (report.families.empty()) return section;
  section.words =
      "Runs that differ in their seeds alone, judged together: each rerun beside its own record, "
      "and the mean of these differences beside the margin.";
  for (const FamilyComparison* family : FamiliesByWorst(report)) {
    const std::size_t place = section.rows.size() + 1;
    DocumentRow row{
        .tone = family->verdict,
        .cells = {family->name, {VerdictBadge(family->verdict), As::kBadge}, FamilyRuns(*family)},
        .case_class = family->family.empty() ? "families" : family->family,
        .sign = VerdictSign(family->verdict),
        .sentence = fmt::format("family {}, {}: {}: {}", family->name, FamilyRuns(*family),
                                VerdictLabel(family->verdict), family->headline),
        .inside = [family, place](bool) {
          return InsideOf(*family, fmt::format("family-{}", place), place <= kMostFamilyPictures);
        }};
    for (const MetricDecision& metric : family->metrics) {
      row.details.push_back(MetricSentence(metric));
    }
    section.rows.push_back(std::move(row));
  }
  return section;
}

DocumentSection SiblingsOf(const Report& report) {
  DocumentSection section{.title = "Siblings",
                          .columns = {{"Runs of"},
                                      {"Curves that differ", true},
                                      {"Moved"},
                                      {"Middle shift", true},
                                      {"Middle, of the limit", true},
                                      {"Room, times the limit", true}},
                          .most = kMostGroups,
                          .off_screen = true};
  if (report.siblings.empty()) return section;
  section.words =
      "Runs that one change moved: their training losses judged together, beside the limit of "
      "accepted upgrades.";
  for (const SiblingGroup& group : report.siblings) {
    section.rows.push_back(
        {.cells = {CommonName(group), FormatCount(group.pairs),
                   fmt::format("{} up, {} down", FormatCount(group.up), FormatCount(group.down)),
                   fmt::format("{:+.2g} %", 100.0 * group.middle_shift),
                   fmt::format("{:.3g}", group.middle), fmt::format("{:.3g}", group.room)}});
  }
  return section;
}

std::string TellingSentence(const ReportSensitivity& one) {
  return one.stale.empty() ? fmt::format("{}: {}", one.family, one.sentences.front())
                           : fmt::format("{}: the certificate of its sensitivity does not hold: {}",
                                         one.family, one.stale);
}

DocumentSection SensitivityOf(const Report& report) {
  DocumentSection section{.title = "Would it have been noticed?",
                          .most = {.page = 50, .screen = 6, .markdown = 50},
                          .subjects = true};
  if (report.sensitivity.empty()) return section;
  section.words =
      "How often this drill's comparison found faults that were planted on purpose, from the "
      "certificates of game days.";
  for (const ReportSensitivity& one : report.sensitivity) {
    DocumentRow row{
        .tone = one.stale.empty() ? Verdict::kIdentical : Verdict::kInconclusive,
        .cells = {one.family},
        .sentence = TellingSentence(one),
        .inside = [&one](bool) {
          DocumentSection found{.title = "", .items = one.sentences};
          if (!one.stale.empty()) found.items = {one.stale};
          return std::vector<DocumentSection>{std::move(found), {.title = "", .words = one.source}};
        }};
    if (!one.stale.empty()) row.cells.emplace_back("does not hold here", As::kBadge);
    section.rows.push_back(std::move(row));
  }
  return section;
}

}  // namespace rharness
