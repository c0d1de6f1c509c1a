// Histories of many runs as documents: a family, with a row a run and a sign a drill; a list.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "harness/base/clock.h"
#include "reports/history_report.h"
#include "reports/history_summary.h"
#include "reports/json_parts.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

using As = DocumentCell::As;

constexpr std::size_t kMostHistoryRows = 5000;  // of a page
constexpr std::size_t kMostScreenRuns = 200;
constexpr std::size_t kLargeFamily = 500;  // runs; above it a page leaves steady good ones out
constexpr std::size_t kMostTogether = 200;
constexpr std::size_t kSignsInARow = 20;  // a terminal breaks lines between these

DocumentCell BadgeCell(std::optional<Verdict> verdict, std::string_view without) {
  if (!verdict) return std::string(without);
  return {VerdictBadge(*verdict), As::kBadge};
}

std::string RetiredWords(const HistoryRun& run) {
  return run.retired ? "retired: " + RetiredInWords(*run.retired, run.retirement) : "";
}

template <class T, class VerdictIn>
DocumentCell StripCell(const std::vector<std::optional<T>>& drills, VerdictIn verdict_in) {
  std::string signs;
  for (std::size_t i = 0; i < drills.size(); ++i) {
    if (i > 0 && i % kSignsInARow == 0) signs += " ";
    signs += drills[i] ? VerdictSign(verdict_in(*drills[i])) : "·";
  }
  return {signs, As::kStrip};
}

// A case of JUnit: a run that no drill has judged is skipped.
DocumentRow CaseOf(const std::string& name, std::optional<Verdict> verdict,
                   std::vector<std::string> why) {
  if (!verdict) why.insert(why.begin(), "no drill has judged it yet");
  return {
      .tone = verdict.value_or(Verdict::kInconclusive), .cells = {name}, .details = std::move(why)};
}

DocumentRow CaseOf(const HistoryRun& run) {
  std::vector<std::string> why;
  if (run.retired) why.push_back(RetiredWords(run));
  if (run.last_verdict) {
    why.push_back(fmt::format("{} by its last drill", VerdictLabel(*run.last_verdict)));
  }
  return CaseOf(run.run_id, run.last_verdict, std::move(why));
}

DocumentRow CaseOf(const std::string& name, const TogetherVerdict& last) {
  return CaseOf("all of " + name, last.verdict, ReasonWords(last.reasons));
}

Verdict ToneOf(const FamilyOutlook& outlook) {
  if (outlook.order.empty()) return Verdict::kInconclusive;
  const FamilyRun& worst = *outlook.order.front();
  if (worst.first_bad) return worst.first_bad->verdict;
  return outlook.flaky == 0 && StandingNow(worst) == Standing::kGood ? Verdict::kIdentical
                                                                     : Verdict::kInconclusive;
}

DocumentSection CauseSection(const FamilyOutlook& outlook) {
  DocumentSection section{.title = "What changed in the runs that broke",
                          .columns = {{"What changed"},
                                      {"Layer"},
                                      {.name = "Before", .in_depth = true},
                                      {.name = "After", .in_depth = true},
                                      {"Broken runs", true}}};
  if (outlook.broken == 0) return section;
  if (outlook.causes.empty()) {
    section.words = outlook.explained > 0
                        ? "Nothing that is recorded differs between the last good and the first "
                          "bad drill of any of them."
                        : "Not known: the history does not hold where these drills ran.";
    return section;
  }
  section.words =
      "Between the last good and the first bad drill of each run. A coincidence, not yet a cause.";
  for (const FamilyCause& cause : outlook.causes) {
    const FactDifference& one = cause.difference;
    section.rows.push_back({.cells = {DifferenceWords(one), std::string(LayerName(one.layer)),
                                      DifferenceValue(one.recorded), DifferenceValue(one.observed),
                                      fmt::format("{} of {}", cause.broken, outlook.broken)}});
  }
  return section;
}

const Verdict& SaidIn(const TogetherVerdict& one) { return one.verdict; }

// Joint verdicts on runs that differ in their seeds alone.
DocumentSection TogetherSection(const FamilyHistory& history) {
  DocumentSection section{
      .title = "Together",
      .words = "Runs that differ in their seeds alone: one verdict for all of them.",
      .columns = {{"Runs"}, {"Last verdict"}, {"Decided"}, {"Last good"}, {"Drills, newest last"}},
      .most = {.page = kMostTogether, .screen = 30}};
  for (const FamilyTogether& one : history.together) {
    std::string good = "never";
    for (const std::optional<TogetherVerdict>& said : one.said) {
      if (said && Reproduced(said->verdict)) good = FormatMinute(said->decided);
    }
    section.rows.push_back({.tone = one.last.verdict,
                            .cells = {fmt::format("all of {} ({})", one.name, one.last.runs),
                                      {VerdictBadge(one.last.verdict), As::kBadge},
                                      FormatMinute(one.last.decided),
                                      good,
                                      StripCell(one.said, SaidIn)},
                            .details = ReasonWords(one.last.reasons)});
  }
  if (section.rows.empty()) section.words.clear();
  return section;
}

DocumentSection TogetherByDate(const FamilyHistory& history) {
  DocumentSection section{
      .title = "Together by date",
      .columns = {{"Runs"}, {"Decided"}, {"Verdict"}, {"Of", true}, {"Drill"}, {"Why"}},
      .most = {.page = kMostTogether},
      .in_depth = true};
  for (const FamilyTogether& one : history.together) {
    const std::size_t rows = section.rows.size();
    for (auto said = one.said.rbegin(); said != one.said.rend(); ++said) {
      if (!*said) continue;
      section.rows.push_back(
          {.tone = (*said)->verdict,
           .cells = {one.name,
                     FormatMinute((*said)->decided),
                     {VerdictBadge((*said)->verdict), As::kBadge},
                     std::to_string((*said)->runs),
                     (*said)->drill_id,
                     fmt::format("{}", fmt::join(ReasonWords((*said)->reasons), "; "))}});
    }
    section.folds.push_back({.tone = one.last.verdict,
                             .badge = VerdictBadge(one.last.verdict),
                             .title = one.name,
                             .rows = section.rows.size() - rows});
  }
  return section;
}

bool IsSteady(const FamilyRun& run) { return StandingNow(run) == Standing::kGood && !IsFlaky(run); }

// A flag of its own: a good run may be flaky.
DocumentCell FlakyCell(const Steadiness& steadiness) {
  if (steadiness.unexplained == 0) return "";
  DocumentCell cell(fmt::format("flaky {} of {}", steadiness.unexplained, steadiness.steps),
                    As::kBadge);
  cell.tone = Verdict::kInconclusive;
  return cell;
}

DocumentRow RowOf(const FamilyRun& run) {
  const Steadiness steadiness = SteadinessOf(run.verdicts, run.changes);
  DocumentRow row{
      .tone = run.run.last_verdict.value_or(Verdict::kInfra),
      .cells = {run.run.run_id, BadgeCell(run.run.last_verdict, "never judged"),
                run.last_good ? FormatMinute(run.last_good->decided) : std::string("never"),
                FlakyCell(steadiness),
                StripCell(run.verdicts, [](Verdict verdict) { return verdict; })}};
  if (run.run.retired) row.details.push_back(RetiredWords(run.run));
  return row;
}

// The worst first. In a large family a page leaves out steady good runs, but one of each verdict.
DocumentSection RunSection(const FamilyHistory& history, std::vector<const FamilyRun*> order) {
  DocumentSection section{
      .title = "Runs",
      .columns = {{"Run"}, {"Last verdict"}, {"Last good"}, {"Flaky"}, {"Drills, newest last"}},
      .filter = "Find a run",
      .most = {.page = kMostHistoryRows, .screen = kMostScreenRuns}};
  section.words = fmt::format("{}, the worst first.", Counted(history.runs.size(), "run"));
  if (!history.drills.empty()) {
    section.words += fmt::format(
        " One sign a drill, from {} to {}; · where it did not judge the run.",
        FormatMinute(history.drills.front().started), FormatMinute(history.drills.back().started));
  }
  if (order.size() > kLargeFamily) {
    const auto steady =
        std::ranges::stable_partition(order, [](const FamilyRun* run) { return !IsSteady(*run); });
    std::set<std::optional<Verdict>> seen;
    const auto others = std::ranges::stable_partition(
        steady, [&](const FamilyRun* run) { return seen.insert(run->run.last_verdict).second; });
    const auto shown = static_cast<std::size_t>(others.begin() - order.begin());
    section.most.page = std::min(kMostHistoryRows, shown);
    if (shown < order.size()) {
      section.words += " Steady good runs are left out to keep a page small.";
    }
  }
  section.rows.reserve(order.size());
  for (const FamilyRun* run : order) section.rows.push_back(RowOf(*run));
  return section;
}

DocumentSection DrillSection(const FamilyHistory& history) {
  DocumentSection section{
      .title = "Drills",
      .columns = {{"Started"}, {"Drill"}, {"Runs of this family"}, {"Exit code", true}},
      .most = {.page = 1000},
      .in_depth = true};
  for (std::size_t i = history.drills.size(); i-- > 0;) {
    const FamilyDrill& drill = history.drills[i];
    std::map<Verdict, std::uint64_t> counts;
    for (const FamilyRun& run : history.runs) {
      if (run.verdicts.at(i)) ++counts[*run.verdicts[i]];
    }
    std::vector<std::string> words;
    for (const auto& [verdict, count] : counts) {
      words.push_back(fmt::format("{} {}", VerdictBadge(verdict), FormatCount(count)));
    }
    section.rows.push_back(
        {.cells = {FormatMinute(drill.started), drill.drill_id,
                   fmt::format("{}", fmt::join(words, " · ")),
                   drill.exit_code ? std::to_string(*drill.exit_code) : "not kept"}});
  }
  return section;
}

std::string NeverWords(std::size_t never, std::size_t all) {
  return fmt::format("{} of {} {} never judged by any drill.", never, Counted(all, "run"),
                     never == 1 ? "was" : "were");
}

// Of a list: what a terminal's table has.
DocumentRow RowOf(const HistoryRun& run) {
  DocumentRow row{
      .tone = run.last_verdict.value_or(Verdict::kInfra),
      .cells = {run.run_id, BadgeCell(run.last_verdict, "never judged"), run.family,
                FormatMinute(run.started), FormatDuration(Seconds(run.duration_seconds)),
                run.declared, run.verified ? FormatMinute(*run.verified) : std::string("never"),
                std::string(run.rebuild ? PartStateName(*run.rebuild) : "")}};
  if (run.retired) row.details.push_back(RetiredWords(run));
  return row;
}

Document Base(std::string about, std::string_view version, const std::map<std::string, int>& counts,
              int exit_code) {
  return {.name = "history",
          .about = std::move(about),
          .version = std::string(version),
          .counts = counts,
          .counted = "run",
          .record = "the output of --json",
          .exit_code = exit_code};
}

}  // namespace

Document DocumentOf(const FamilyHistory& history, std::string_view version, int exit_code) {
  const FamilyOutlook outlook = Summarize(history);
  Document document = Base(fmt::format("History of the family {} · {} · {}", history.family,
                                       Counted(history.runs.size(), "run"), history.history),
                           version, outlook.counts, exit_code);
  document.tone = ToneOf(outlook);
  document.headline = outlook.answer;
  document.next = outlook.next_step;
  document.notes = history.notes;
  if (outlook.never > 0) {
    document.notes.push_back(
        NeverWords(static_cast<std::size_t>(outlook.never), history.runs.size()));
  }
  if (!history.drills.empty()) {
    document.made = history.drills.back().started;
    document.facts = {
        {"Drills", fmt::format("the last {} that judged any of them, {} to {}",
                               history.drills.size(), FormatMinute(history.drills.front().started),
                               FormatMinute(history.drills.back().started))}};
  }
  // A list in braces would copy ten thousand rows.
  document.sections.push_back(TogetherSection(history));
  document.sections.push_back(CauseSection(outlook));
  document.sections.push_back(RunSection(history, outlook.order));
  document.sections.push_back(TogetherByDate(history));
  document.sections.push_back(DrillSection(history));
  std::erase_if(document.sections, IsEmpty);
  document.cases = {{.title = history.family, .columns = {{"Run"}}}};
  for (const FamilyTogether& one : history.together) {
    document.cases[0].rows.push_back(CaseOf(one.name, one.last));
  }
  for (const FamilyRun* run : outlook.order) document.cases[0].rows.push_back(CaseOf(run->run));
  return document;
}

Document DocumentOf(const std::vector<HistoryRun>& runs, const std::vector<LastTogether>& together,
                    std::string_view version, int exit_code) {
  std::vector<Verdict> last;
  WallTime newest{};
  for (const HistoryRun& run : runs) {
    if (run.last_verdict) last.push_back(*run.last_verdict);
    if (run.judged) newest = std::max(newest, *run.judged);
  }
  Document document = Base("Runs of a history", version, CountVerdicts(last), exit_code);
  const auto bad = static_cast<std::size_t>(std::ranges::count_if(
      last, [](Verdict verdict) { return StandingOf(verdict) == Standing::kBad; }));
  document.headline = fmt::format(
      "{}; by its last verdict {}.", Counted(runs.size(), "run"),
      bad == 0 ? "none is bad" : fmt::format("{} {} bad", bad, bad == 1 ? "is" : "are"));
  document.made = newest;
  document.tone = bad > 0 ? Verdict::kDrifted : Verdict::kIdentical;
  if (last.size() < runs.size()) {
    document.notes = {NeverWords(runs.size() - last.size(), runs.size())};
    if (bad == 0) document.tone = Verdict::kInconclusive;
  }
  DocumentSection all{.title = "Runs",
                      .columns = {{"Run"},
                                  {"Last verdict"},
                                  {"Family"},
                                  {"Started"},
                                  {"Duration", true},
                                  {"Declared"},
                                  {"Verified"},
                                  {"Rebuild"}},
                      .filter = "Find a run",
                      .most = {.page = kMostHistoryRows, .screen = kMostScreenRuns}};
  document.cases.clear();
  for (const HistoryRun& run : runs) {
    all.rows.push_back(RowOf(run));
    document.cases.push_back({.title = run.family, .columns = {{"Run"}}, .rows = {CaseOf(run)}});
  }
  DocumentSection joint{.title = "Together",
                        .columns = {{"Runs"}, {"Last verdict"}, {"Decided"}, {"Of", true}}};
  for (const LastTogether& one : together) {
    joint.rows.push_back({.tone = one.last.verdict,
                          .cells = {"all of " + one.name,
                                    {VerdictBadge(one.last.verdict), As::kBadge},
                                    FormatMinute(one.last.decided),
                                    std::to_string(one.last.runs)},
                          .details = ReasonWords(one.last.reasons)});
    document.cases.push_back(
        {.title = one.family, .columns = {{"Run"}}, .rows = {CaseOf(one.name, one.last)}});
  }
  std::ranges::stable_sort(all.rows, {}, [](const DocumentRow& row) {
    return row.cells[1].as == As::kBadge ? Severity(row.tone) : 99;
  });
  document.sections.push_back(std::move(all));
  document.sections.push_back(std::move(joint));
  std::erase_if(document.sections, IsEmpty);
  return document;
}

}  // namespace rharness
