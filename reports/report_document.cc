// A drill as a document.
//
// All runs have a row; what is inside them is left out for reproduced runs of a large drill and
// beyond a page's size, with a sentence that says so.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reports/families.h"
#include "reports/model.h"
#include "reports/outputs.h"
#include "reports/report_sections.h"
#include "reports/summary.h"

namespace rharness {
namespace {

constexpr std::size_t kAllRuns = 1'000'000;
// A page of 5 MB has no room for more; the first of each verdict, where its counts lead, comes in
// any case.
constexpr std::size_t kMostRunRows = 15'000;
constexpr std::size_t kMostListedRuns = 200;
constexpr std::size_t kMostScreenGood = 30;  // beyond: counted, not listed
using As = DocumentCell::As;

bool HasVerdict(const Report& report, Verdict verdict) {
  return std::ranges::find(report.runs, verdict, &ReportRun::verdict) != report.runs.end();
}

Verdict ToneOf(const Report& report) {
  const bool family_drifted =
      std::ranges::find(report.families, Verdict::kDrifted, &FamilyComparison::verdict) !=
      report.families.end();
  if (family_drifted || HasVerdict(report, Verdict::kDrifted)) return Verdict::kDrifted;
  if (HasVerdict(report, Verdict::kFailed) || HasVerdict(report, Verdict::kInfra)) {
    return Verdict::kFailed;
  }
  return report.exit_code == 0 && !report.interrupted ? Verdict::kIdentical
                                                      : Verdict::kInconclusive;
}

// What reproduced runs have as often sets nothing apart.
bool SharedTells(const Summary& summary) {
  if (summary.shared.empty()) return false;
  const SharedDifference& first = summary.shared.front();
  return summary.reproduced == 0 ||
         first.drifted * summary.reproduced > first.reproduced * summary.drifted;
}

DocumentSection SharedOf(const Summary& summary) {
  DocumentSection section{
      .title = "What changed in the drifted runs",
      .words =
          "A change that most drifted runs have and few reproduced ones is where to look "
          "first. It is a coincidence, not yet a cause.",
      .columns = {{"Fact"},
                  {"Layer"},
                  {"Recorded"},
                  {"Now"},
                  {"Drifted runs", true},
                  {"Reproduced runs", true}},
      .off_screen = true};
  for (const SharedDifference& shared : summary.shared) {
    DocumentCell recorded(shared.recorded, As::kCode);
    DocumentCell observed(shared.observed, As::kCode);
    recorded.other = shared.observed;
    observed.other = shared.recorded;
    section.rows.push_back(
        {.cells = {{shared.key, As::kCode},
                   std::string(LayerName(shared.layer)),
                   recorded,
                   observed,
                   fmt::format("{} of {}", shared.drifted, summary.drifted),
                   fmt::format("{} of {}", shared.reproduced, summary.reproduced)}});
  }
  return section;
}

// What several runs have in common. Headlines follow their runs on a screen. On a green night it is
// context, and nothing to act on.
void AddTold(const Report& report, const Summary& summary, bool verbose, Document* document) {
  DocumentSection headlines{.title = "Why several runs did not reproduce", .off_screen = true};
  DocumentSection others{.title = report.runs.size() > 1 ? "The same in several runs" : "Remarks",
                         .folded = report.exit_code == 0};
  const auto add = [&](const ToldOnce& one) {
    DocumentSection& section = one.kind == ToldKind::kHeadline ? headlines : others;
    section.items.push_back(ToldWords(one));
  };
  if (SharedTells(summary)) {
    document->sections.push_back(SharedOf(summary));
    for (const ToldOnce* one : ToldBesideShared(summary)) add(*one);
  } else {
    std::ranges::for_each(summary.told, add);
  }
  if (others.folded && !others.items.empty()) {
    others.title += ": " + Counted(others.items.size(), "remark");
  }
  others.most.items = verbose ? others.items.size() : 6;
  document->sections.push_back(std::move(headlines));
  document->sections.push_back(std::move(others));
}

// A headline of several runs stands above, once.
std::string Why(const ReportRun& run, const Summary& summary) {
  const std::size_t runs = RunsWithHeadline(summary.told, run.headline);
  return runs < 2 ? run.headline : fmt::format("as in {}, see above", Counted(runs, "run"));
}

DocumentRow RowOf(const ReportRun& run, const Summary& summary, std::size_t place) {
  DocumentRow row{
      .tone = run.verdict,
      .cells = CellsOf(DocumentCell(run.run_id, As::kText, run.comparison_path),
                       DocumentCell(VerdictBadge(run.verdict), As::kBadge), run.family,
                       ComparedInShort(run), DocumentCell(LayerMarks(run.layers), As::kMarks),
                       std::to_string(run.reruns.size()), RerunTime(run), Why(run, summary)),
      .details = {run.headline},
      .case_class = run.family.empty() ? "runs" : run.family,
      .case_seconds = RerunSeconds(run),
      .inside = [&run, id = fmt::format("run-{}", place)](bool in_full) {
        return SectionsOf(run, id, in_full);
      }};
  if (run.verdict == Verdict::kFailed) row.details.push_back(ErrorOf(run));
  if (!run.sensitivity.empty()) row.details.push_back(run.sensitivity);
  return row;
}

DocumentSection RunsOf(const Report& report, const Summary& summary) {
  DocumentSection section{
      .title = "Runs",
      .columns = {{"Run"},
                  {"Verdict"},
                  {.name = "Family", .in_depth = true},
                  {.name = "Compared", .in_depth = true},
                  {.name = "Layers", .in_depth = true},
                  {"Reruns", true},
                  {"Time", true},
                  {.name = "Why", .in_depth = true, .off_page = true}},
      .filter = "Find a run or family",
      .caption =
          fmt::format("{}, the worst first. Layers: data, code, env(ironment), hw (hardware), rng "
                      "(randomness); = as recorded, ≠ changed, ? not known, all or in part.",
                      Counted(report.runs.size(), "run")),
      .most = {.page = kAllRuns, .markdown = kAllRuns},
      .cases = true};
  if (report.runs.empty()) {
    section.words = report.left_out.empty() ? "No runs were selected."
                                            : "No selected run was rerun; the notes say why.";
  }
  std::set<Verdict> seen;
  for (const ReportRun* run : summary.order) {
    if (seen.insert(run->verdict).second || section.rows.size() < kMostRunRows) {
      section.rows.push_back(RowOf(*run, summary, section.rows.size() + 1));
    } else {
      ++section.beyond[run->verdict];
    }
  }
  const auto good = static_cast<std::size_t>(std::ranges::count_if(
      report.runs, [](const ReportRun& run) { return Reproduced(run.verdict); }));
  const std::size_t open = report.runs.size() - good;
  section.most.screen = std::min(kMostListedRuns, open + std::min(good, kMostScreenGood));
  return section;
}

// The case of a family, whose name is not that of a run.
DocumentSection FamilyCases(DocumentSection families) {
  families.title = "";
  for (DocumentRow& row : families.rows) {
    row.cells.front().text = fmt::format("the family {} together", row.cells.front().text);
    row.message = row.sentence;
    row.details.clear();
  }
  return families;
}

void AddOutputs(const Report& report, bool verbose, Document* document) {
  const std::vector<std::string> all = OutputLines(report, true);
  DocumentSection section{.title = "Outputs, and how they were compared",
                          .items = OutputLines(report, verbose)};
  section.most.items = verbose ? section.items.size() : 20;
  if (verbose || section.items.size() == all.size()) {
    document->sections.push_back(std::move(section));
    return;
  }
  section.title = "Outputs compared by less than their tensors";
  document->sections.push_back(std::move(section));
  document->sections.push_back(
      {.title = fmt::format("How outputs were compared: {}", Counted(all.size(), "output")),
       .items = all,
       .folded = true,
       .off_screen = true});
}

DocumentSection FactsOf(const Report& report) {
  DocumentSection section{.title = "The drill", .off_screen = true};
  const auto add = [&](const char* name, std::string value) {
    section.facts.emplace_back(name, std::move(value));
  };
  add("Drill", report.drill_id);
  add("Started", FormatMinute(report.started));
  add("Took", FormatDuration(report.ended - report.started));
  add("History", report.history);
  add("Selection", report.selection);
  add("Launcher", report.launcher);
  add("Dispatch", report.executor);
  add("Host", report.host);
  add("rharness", report.version);
  add("Exit code", std::to_string(report.exit_code));
  return section;
}

std::string FamilyLine(const Report& report) {
  if (report.families.size() < 2) return "";  // the answer names a single one
  std::string line = "Families: ";
  std::string_view comma;
  for (const FamilyComparison& family : report.families) {
    line += fmt::format("{}{} {} ({})", comma, SafeText(family.name, 160),
                        VerdictLabel(family.verdict), FamilyRuns(family));
    comma = ", ";
  }
  return line + ".";
}

std::string OutputLine(const Report& report) {
  const std::vector<std::string> lines = OutputLines(report, false);
  if (lines.empty()) return "";
  return "Output " + lines.front() +
         (lines.size() == 1 ? "." : fmt::format("; {}.", Counted(lines.size() - 1, "more output")));
}

// Counts, families, changes, a line or two each.
std::vector<std::string> InShort(const Report& report) {
  std::vector<std::string> remarks = {FamilyLine(report), NotComparedLine(report),
                                      ChangesInShort(report), OutputLine(report)};
  for (const ReportSensitivity& one : report.sensitivity) {
    remarks.push_back(TellingSentence(one));
  }
  for (const std::string& note : report.notes) remarks.push_back("Note: " + note);
  std::erase(remarks, "");
  return remarks;
}

DocumentFacts PropertiesOf(const Report& report) {
  DocumentFacts properties = {{"drill_id", report.drill_id},   {"history", report.history},
                              {"selection", report.selection}, {"launcher", report.launcher},
                              {"executor", report.executor},   {"host", report.host}};
  for (const std::string& note : NotesOf(report.siblings)) properties.emplace_back("note", note);
  return properties;
}

}  // namespace

Document DocumentOf(const Report& report, bool verbose) {
  const Summary summary = Summarize(report);
  const std::chrono::duration<double> span = report.ended - report.started;
  Document document{.name = "drill",
                    .about = report.title,
                    .version = report.version,
                    .made = report.started,
                    .tone = ToneOf(report),
                    .headline = summary.answer,
                    .next = summary.next_step,
                    .notes = report.notes,
                    .counts = report.counts,
                    .counted = "run",
                    .record = std::string(kReportRecord),
                    .unanswered = "the drill reached a verdict on every run",
                    .properties = PropertiesOf(report),
                    .seconds = span.count(),
                    .answer_last = true,
                    .exit_code = report.exit_code};
  AddTold(report, summary, verbose, &document);
  DocumentSection families = FamiliesOf(report);
  if (!families.rows.empty()) document.cases = {FamilyCases(families)};
  document.sections.push_back(std::move(families));
  document.sections.push_back(SiblingsOf(report));
  document.sections.push_back(SensitivityOf(report));
  document.sections.push_back(RunsOf(report, summary));
  AddOutputs(report, verbose, &document);
  std::erase_if(document.sections, IsEmpty);
  document.sections.push_back(FactsOf(report));
  if (report.exit_code == 0 && !verbose) document.in_short = InShort(report);
  return document;
}

}  // namespace rharness
