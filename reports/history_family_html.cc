// The history of a family as a page: common features of broken runs, and a grid of runs by drills.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reports/history_html_parts.h"
#include "reports/history_report.h"
#include "reports/history_summary.h"
#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kLargeFamily = 500;  // runs; above it steady good ones are counted only
constexpr std::size_t kMostFamilyRows = 5000;
constexpr std::string_view kFamilyRecord = "the output of --json";

std::string_view PageClass(const FamilyOutlook& outlook) {
  if (outlook.order.empty()) return "inconclusive";
  const FamilyRun& worst = *outlook.order.front();
  if (worst.first_bad) return VerdictName(worst.first_bad->verdict);
  return outlook.flaky == 0 && StandingNow(worst) == Standing::kGood ? "identical" : "inconclusive";
}

// The class for the colour of a run's row, which the filter also uses.
std::string_view RowClass(const FamilyRun& run) {
  return run.run.last_verdict ? VerdictName(*run.run.last_verdict) : "never";
}

std::string RetiredHtml(const HistoryRun& run) {
  if (!run.retired) return "";
  return fmt::format(" <span class=\"soft\">retired: {}</span>",
                     HtmlText(RetiredInWords(*run.retired, run.retirement), 300));
}

std::string Causes(const FamilyOutlook& outlook) {
  if (outlook.broken == 0) return "";
  std::string out = "<h2 id=\"changed\">What changed in the runs that broke</h2>\n";
  if (outlook.causes.empty()) {
    return out + (outlook.explained > 0
                      ? "<p>Nothing that is recorded differs between the last good and the first "
                        "bad drill of any of them.</p>\n"
                      : "<p>Not known: the history does not hold where these drills ran.</p>\n");
  }
  std::string rows;
  for (const FamilyCause& cause : outlook.causes) {
    rows += fmt::format(
        "<tr><td data-l=\"Layer\">{}</td><th scope=\"row\">{}</th><td data-l=\"Before\">{}</td>"
        "<td data-l=\"After\">{}</td><td class=\"n\" data-l=\"Broken runs\">{} of {}</td></tr>\n",
        LayerName(cause.difference.layer), HtmlText(DifferenceWords(cause.difference), 600),
        HtmlFactValue(cause.difference.recorded), HtmlFactValue(cause.difference.observed),
        cause.broken, outlook.broken);
  }
  return out +
         fmt::format(
             "<p class=\"soft\">Between the last good and the first bad drill of each run. A "
             "coincidence, not yet a cause.</p>\n<div class=\"wide\"><table class=\"stack\"><thead>"
             "<tr>{}<th scope=\"col\" class=\"n\">Broken runs</th></tr></thead><tbody>\n{}</tbody>"
             "</table></div>\n",
             HtmlHeads({"Layer", "What changed", "Before", "After"}), rows);
}

std::string Strip(const FamilyRun& run) {
  std::string cells;
  for (const std::optional<Verdict>& verdict : run.verdicts) {
    cells += verdict ? fmt::format("<i class=\"{}\">{}</i>", VerdictName(*verdict),
                                   VerdictSign(*verdict))
                     : std::string("<i class=\"no\">·</i>");
  }
  return fmt::format("<span class=\"cells\">{}</span>", cells);
}

std::string Row(const FamilyRun& run, bool first) {
  const Steadiness steadiness = SteadinessOf(run.verdicts, run.changes);
  const std::string flaky =
      steadiness.unexplained == 0
          ? std::string()
          : fmt::format(
                "<span class=\"inconclusive\"><span class=\"flag\">flaky</span></span> {} of {}",
                steadiness.unexplained, steadiness.steps);
  const std::string_view verdict = RowClass(run);
  return fmt::format(
      "<tbody class=\"{0}\"><tr{1}><td>{2}</td><th scope=\"row\">{3}</th>"
      "<td data-l=\"last good\">{4}</td><td>{5}</td><td>{6}</td></tr></tbody>\n",
      verdict, first ? fmt::format(" id=\"first-{}\"", verdict) : "",
      run.run.last_verdict ? HtmlBadge(*run.run.last_verdict)
                           : std::string("<span class=\"soft\">never judged</span>"),
      HtmlText(run.run.run_id, 120) + RetiredHtml(run.run),
      run.last_good ? FormatMinute(run.last_good->decided) : "never", flaky, Strip(run));
}

std::string Grid(const FamilyHistory& history, const FamilyOutlook& outlook) {
  if (history.runs.empty()) return "<h2 id=\"runs\">Runs</h2>\n<p>The family has no runs.</p>\n";
  const bool large = history.runs.size() > kLargeFamily;
  std::string rows;
  std::set<std::string_view> seen;
  std::size_t shown = 0;
  for (const FamilyRun* run : outlook.order) {
    const bool steady = StandingNow(*run) == Standing::kGood && !IsFlaky(*run);
    const bool first = !seen.contains(RowClass(*run));
    if (!first &&
        ((large && steady) || shown >= kMostFamilyRows || rows.size() > kPageBytes - 600'000)) {
      continue;
    }
    seen.insert(RowClass(*run));
    rows += Row(*run, first && run->run.last_verdict.has_value());
    ++shown;
  }
  std::string out = "<h2 id=\"runs\">Runs</h2>\n";
  if (shown < history.runs.size()) {
    out += fmt::format(
        "<p class=\"soft\">{} {} left out to keep this page small, steady good ones first; they "
        "are "
        "in {}.</p>\n",
        Counted(history.runs.size() - shown, "run"),
        history.runs.size() - shown == 1 ? "is" : "are", kFamilyRecord);
  }
  const std::string drills =
      history.drills.empty()
          ? std::string()
          : fmt::format(" One cell a drill, from {} to {}; · where it did not judge the run.",
                        FormatMinute(history.drills.front().started),
                        FormatMinute(history.drills.back().started));
  return out + HtmlFilter("Find a run", outlook.counts) +
         fmt::format(
             "<div class=\"wide\"><table class=\"runs grid\"><caption>{}, the worst first.{}"
             "</caption>\n<thead><tr>{}</tr></thead>\n{}</table></div>\n",
             Counted(history.runs.size(), "run"), drills,
             HtmlHeads({"Last verdict", "Run", "Last good", "Flaky", "Drills, newest last"}), rows);
}

// Joint verdicts on runs that differ in their seeds alone, by date.
std::string Together(const FamilyHistory& history) {
  constexpr std::size_t kMostTogether = 200;
  if (history.together.empty()) return "";
  std::string out =
      "<h2 id=\"together\">Together</h2>\n<p class=\"soft\">Runs that differ in their seeds alone: "
      "one verdict for all of them, beside those of each run below.</p>\n";
  std::size_t shown = 0;
  for (const FamilyTogether& one : history.together) {
    if (++shown > kMostTogether) continue;
    std::string cells, rows;
    for (const std::optional<TogetherVerdict>& said : one.said) {
      cells += said ? fmt::format("<i class=\"{}\">{}</i>", VerdictName(said->verdict),
                                  VerdictSign(said->verdict))
                    : std::string("<i class=\"no\">·</i>");
    }
    for (std::size_t i = one.said.size(); i-- > 0;) {
      if (!one.said[i]) continue;
      const TogetherVerdict& said = *one.said[i];
      rows += fmt::format(
          "<tr><th scope=\"row\">{}</th><td data-l=\"Verdict\">{}</td><td class=\"n\" "
          "data-l=\"Runs\">{}</td><td data-l=\"Why\">{}</td><td data-l=\"Drill\">{}</td></tr>\n",
          FormatMinute(said.decided), HtmlBadge(said.verdict), said.runs,
          HtmlText(fmt::format("{}", fmt::join(ReasonWords(said.reasons), "; ")), 800),
          HtmlText(said.drill_id, 120));
    }
    out += fmt::format(
        "<section class=\"{0}\"><h3>{1} {2} <span class=\"cells\">{3}</span></h3>\n<div "
        "class=\"wide\"><table class=\"stack\"><thead><tr>{4}</tr></thead><tbody>\n{5}</tbody>"
        "</table></div></section>\n",
        VerdictName(one.last.verdict), HtmlBadge(one.last.verdict), HtmlText(one.name, 200), cells,
        HtmlHeads({"Decided", "Verdict", Numbers("Runs"), "Why", "Drill"}), rows);
  }
  return out + HtmlLeftOut(history.together.size(), std::min(shown, kMostTogether), kFamilyRecord);
}

std::string Drills(const FamilyHistory& history) {
  if (history.drills.empty()) return "";
  std::string rows;
  for (std::size_t i = history.drills.size(); i-- > 0;) {
    const FamilyDrill& drill = history.drills[i];
    std::map<Verdict, int> counts;
    for (const FamilyRun& run : history.runs) {
      if (run.verdicts.at(i)) ++counts[*run.verdicts[i]];
    }
    std::string badges;
    for (const auto& [verdict, count] : counts) {
      badges += fmt::format("<span class=\"{}\">{} <b>{}</b></span> ", VerdictName(verdict),
                            HtmlBadge(verdict), FormatCount(static_cast<std::uint64_t>(count)));
    }
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td data-l=\"Drill\">{}</td><td data-l=\"Runs\">{}</td>"
        "<td class=\"n\" data-l=\"Exit code\">{}</td></tr>\n",
        FormatMinute(drill.started), HtmlText(drill.drill_id, 120), badges,
        drill.exit_code ? std::to_string(*drill.exit_code) : "not kept");
  }
  return fmt::format(
      "<h2 id=\"drills\">Drills</h2>\n<div class=\"wide\"><table class=\"stack\"><thead><tr>{}"
      "<th scope=\"col\" class=\"n\">Exit "
      "code</th></tr></thead><tbody>\n{}</tbody></table></div>\n",
      HtmlHeads({"Started", "Drill", "Runs of this family"}), rows);
}

}  // namespace

std::string WriteHtml(const FamilyHistory& history, std::string_view version) {
  const FamilyOutlook outlook = Summarize(history);
  std::string out = HtmlHead(fmt::format("{} – {}", SafeText(history.family, 200), outlook.answer));
  out += HtmlTop({.page_class = PageClass(outlook),
                  .eyebrow_html = fmt::format(
                      "History of the family {} · {} · {}", HtmlText(history.family, 200),
                      Counted(history.runs.size(), "run"), HtmlText(history.history, 300)),
                  .answer = outlook.answer,
                  .next_html = HtmlText(outlook.next_step),
                  .skip_id = "runs",
                  .skip_words = "Skip to the runs"});
  out += HtmlTiles(outlook.counts);
  std::vector<std::string> notes = history.notes;
  if (outlook.never > 0) {
    notes.push_back(fmt::format("{} of {} {} never judged by any drill.", outlook.never,
                                Counted(history.runs.size(), "run"),
                                outlook.never == 1 ? "was" : "were"));
  }
  out += HtmlNotes(notes) + Together(history) + Causes(outlook) + Grid(history, outlook) +
         Drills(history);
  return out + HtmlEnd(version, kFamilyRecord, !history.runs.empty());
}

}  // namespace rharness
