// The last passes of the drill: its report, the report's files, and the history's entries.
#include "harness/drill/drill_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/trouble.h"
#include "harness/base/version.h"
#include "harness/drill/report_of.h"
#include "harness/drill/sensitivity_of.h"
#include "harness/drill/surroundings.h"
#include "harness/drill/told_verdict.h"
#include "harness/drill/verdict_measures.h"
#include "harness/execution/rerun/rerun.h"
#include "harness/judge/file_proof.h"
#include "reports/comparison_report.h"
#include "reports/metrics.h"
#include "reports/report_pieces.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// The end of stderr of a failed run.
void AddStderr(const fs::path& folder, const std::vector<Evidence>& evidence, ReportRun* run) {
  constexpr std::size_t kTail = 2000;
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    if (evidence[i].stderr_path.empty() || run->reruns[i].state == RerunEnd::State::kCompared)
      continue;
    const auto text = ReadFile(folder / evidence[i].stderr_path);
    if (!text.ok()) continue;
    run->reruns[i].stderr_tail =
        text->size() > kTail ? "..." + text->substr(text->size() - kTail) : *text;
  }
}

Report StartReport(const DrillEnd& end) {
  const DrillOptions& options = end.settings.options;
  Report report{.title = fmt::format("Drill of {} {}", end.runs.size(),
                                     end.runs.size() == 1 ? "run" : "runs"),
                .drill_id = end.settings.drill_id,
                .version = kVersion,
                // A clock that was ahead when it began may have been set right since.
                .started = std::min(end.settings.started, end.ended),
                .ended = end.ended,
                .history = options.history,
                .selection = options.selection.empty() ? "all" : options.selection,
                .launcher = options.launcher,
                .executor = options.dispatch,
                .host = DescribeHost(CaptureEnvironment()),
                .last_success = end.last_success,
                .interrupted = end.interrupted,
                .notes = end.notes};
  const std::vector<std::string>& elsewhere = end.settings.elsewhere;
  report.notes.insert(report.notes.end(), elsewhere.begin(), elsewhere.end());
  report.notes.insert(report.notes.end(), end.plan.notes.begin(), end.plan.notes.end());
  for (std::string& note : NotesOf(end.siblings)) report.notes.push_back(std::move(note));
  for (const std::string& damage : end.damage) report.notes.push_back("damaged: " + damage);
  report.notes.insert(report.notes.end(), end.plan.capped.begin(), end.plan.capped.end());
  return report;
}

// A differing run gets a page and a record of its own, complete even if the drill's page is cut.
constexpr std::size_t kMostPages = 500;

std::string PagePath(const ReportRun& run) {
  if (run.verdict == Verdict::kIdentical || (run.checkpoints.empty() && run.curves.empty())) {
    return {};
  }
  return (RerunFolder({}, run.run_id, 1).parent_path() / "comparison.html").string();
}

// Beyond so many runs the drill's report does not repeat the pictures of their own pages: takes
// away what they are drawn from, and gives it back at its end.
class DrawnApart {
 public:
  explicit DrawnApart(Report* report) : report_(*report) {
    constexpr std::size_t kMostDrawn = 500;
    if (report_.runs.size() <= kMostDrawn) return;
    for (ReportRun& run : report_.runs) drawn_.resize(drawn_.size() + run.curves.size());
    Swap();
  }
  ~DrawnApart() {
    if (!drawn_.empty()) Swap();
  }
  DrawnApart(const DrawnApart&) = delete;
  DrawnApart& operator=(const DrawnApart&) = delete;

 private:
  void Swap() {
    auto kept = drawn_.begin();
    for (ReportRun& run : report_.runs) {
      for (CurveComparison& curve : run.curves) {
        curve.steps.swap(kept->steps);
        curve.a.swap(kept->a);
        curve.b.swap(kept->b);
        curve.band.swap(kept->band);
        ++kept;
      }
    }
  }

  Report& report_;
  std::vector<CurveComparison> drawn_;  // of each curve these four alone
};

Status WritePages(const Report& report, const fs::path& folder) {
  for (const ReportRun& run : report.runs) {
    if (run.comparison_path.empty()) continue;
    ComparisonSet set{.title = run.run_id + ", recorded against its reruns",
                      .version = report.version,
                      .made = report.ended};
    set.comparisons.push_back(run);
    Tally(&set);
    const fs::path page = folder / run.comparison_path;
    RETURN_IF_ERROR(WriteJsonFile(fs::path(page).replace_extension(".json"), ToJson(set)));
    RETURN_IF_ERROR(WriteFileAtomic(page, WriteHtml(DocumentOf(set))));
  }
  return {};
}

VerdictRecord VerdictOf(const ReportRun& run, const Report& report, const std::string& sha256) {
  return {.drill_id = report.drill_id,
          .run_id = run.run_id,
          .verdict = run.verdict,
          .decided = report.ended,
          .reruns = static_cast<int>(run.reruns.size()),
          .reasons = WriteReasons(run.findings, ToldVerdict{run.headline, report.version, sha256,
                                                            UnprovenIn(run.findings)})};
}

FamilyRecord VerdictOf(const FamilyComparison& family, const Report& report) {
  Json headline = Json::MakeArray();
  headline.Append(family.headline);
  const bool decided = std::ranges::any_of(family.findings, &Finding::decisive);
  return {.drill_id = report.drill_id,
          .family = family.family,
          .configuration = family.configuration,
          .name = family.name,
          .verdict = family.verdict,
          .decided = report.ended,
          .runs = static_cast<int>(family.runs.size()),
          .reasons = decided ? WriteReasons(family.findings, {}) : headline.Dump()};
}

}  // namespace

Report BuildReport(const DrillEnd& end) {
  Report report = StartReport(end);
  report.runs.reserve(end.settings.run_ids.size());
  for (const std::string& run_id : end.settings.run_ids) {
    const RunState& run = end.runs.at(run_id);
    if (run.evidence.empty()) {
      if (report.interrupted) report.notes.push_back(run_id + ": not reached");
      continue;
    }
    std::vector<Evidence> evidence;
    for (const auto& [rerun, one] : run.evidence) evidence.push_back(one);
    ReportRun reported = BuildReportRun(run.manifest, run.comparison, evidence);
    AddStderr(end.settings.options.out, evidence, &reported);
    reported.comparison_path = PagePath(reported);
    report.runs.push_back(std::move(reported));
  }
  report.families = end.families;
  report.siblings = end.siblings;
  std::vector<const Manifest*> manifests;
  for (const auto& [run_id, run] : end.runs) manifests.push_back(&run.manifest);
  AddSensitivity(end.settings.options, manifests, &report);
  std::size_t pages = 0;
  for (ReportRun& run : report.runs) {
    if (!run.comparison_path.empty() && ++pages > kMostPages) run.comparison_path.clear();
  }
  Tally(&report);
  // What was left out was not verified: a partial drill never looks like a whole one.
  if (report.interrupted) report.exit_code = std::max(report.exit_code, 4);
  report.left_out = end.plan.left_out;
  const bool partial = !report.left_out.empty() || !end.settings.elsewhere.empty();
  if (partial && report.exit_code == 0) report.exit_code = 3;
  if (!end.damage.empty()) report.exit_code = 5;
  if (report.exit_code == 0) report.last_success = report.ended;
  SetFolder(&report, end.settings.options.out);
  return report;
}

Status WriteHistory(const Report& report, const std::vector<Sha256Bytes>& digests,
                    const std::map<std::string, RunState>& runs, const fs::path& drill_folder,
                    HistoryStore* history) {
  DrillResults results;
  for (const FamilyComparison& family : report.families) {
    results.families.push_back(VerdictOf(family, report));
  }
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    const ReportRun& run = report.runs[i];
    const RunState& state = runs.at(run.run_id);
    results.verdicts.push_back(VerdictOf(run, report, ToHex(digests.at(i))));
    results.verdicts.back().measures = MeasuresOf(run, state.manifest, state.evidence);
    for (const ReportRerun& rerun : run.reruns) {
      const auto text = ReadFile(drill_folder / rerun.evidence_path);
      if (!text.ok() && IsTrouble(text.error())) return text.error();
      const Evidence& evidence = state.evidence.at(rerun.index);
      results.reruns.push_back({.drill_id = report.drill_id,
                                .run_id = run.run_id,
                                .rerun = rerun.index,
                                .outcome = rerun.outcome,
                                .wall_seconds = rerun.wall_seconds,
                                .evidence_sha256 = text.ok() ? Sha256HexOf(*text) : "",
                                .surroundings = [&evidence] { return SurroundingsOf(evidence); }});
    }
  }
  return history->AddDrill({.drill_id = report.drill_id,
                            .started = report.started,
                            .ended = report.ended,
                            .exit_code = report.exit_code},
                           results);
}

Result<std::vector<Sha256Bytes>> WriteReports(Report* report, const fs::path& folder) {
  RETURN_IF_ERROR(WritePages(*report, folder));
  const DrawnApart apart(report);
  std::vector<Sha256Bytes> digests;
  RETURN_IF_ERROR(WriteFileAtomic(folder / "report.json", [&](const TakePiece& take) {
    return WriteJson(*report, take, [&](std::string_view run) {
      digests.push_back(Sha256Of(std::as_bytes(std::span(run))));
    });
  }));
  const Document document = DocumentOf(*report);
  RETURN_IF_ERROR(WriteFileAtomic(folder / "junit.xml", WriteJunit(document)));
  RETURN_IF_ERROR(WriteFileAtomic(folder / "summary.md", WriteMarkdown(document)));
  const auto previous = ReadFile(folder / "metrics.prom");
  if (!previous.ok() && IsTrouble(previous.error())) return previous.error();
  RETURN_IF_ERROR(
      WriteFileAtomic(folder / "metrics.prom",
                      CarryLastSuccess(WriteMetrics(*report), previous.ok() ? *previous : "")));
  RETURN_IF_ERROR(WriteFileAtomic(folder / "report.html", WriteHtml(document)));
  return digests;
}

}  // namespace rharness
