// The history of one run as a page: the answer, verdicts by date, and the changes behind them.
#include <fmt/format.h>

#include <algorithm>

#include "reports/history_html_parts.h"
#include "reports/history_report.h"
#include "reports/history_summary.h"
#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostHistoryCells = 2000;
constexpr std::size_t kMostStreaks = 500;
constexpr std::size_t kMostOfStreak = 40;
constexpr std::size_t kMostVerdictReasons = 8;
constexpr std::size_t kMostChanges = 50;
constexpr std::string_view kHistoryRecord = "the output of --json";

std::string_view PageClass(const RunHistory& history, const RunOutlook& outlook) {
  if (outlook.first_bad) return VerdictName(history.verdicts[*outlook.first_bad].verdict);
  return outlook.last_good && outlook.steadiness.unexplained == 0 ? "identical" : "inconclusive";
}

// One cell a drill, the newest last.
std::string Timeline(const RunHistory& history) {
  const std::size_t all = history.verdicts.size();
  const std::size_t first = all > kMostHistoryCells ? all - kMostHistoryCells : 0;
  std::string cells;
  for (std::size_t i = first; i < all; ++i) {
    const StoredVerdict& one = history.verdicts[i];
    cells +=
        fmt::format("<li class=\"{}\" title=\"{}: {}\">{}</li>", VerdictName(one.verdict),
                    FormatMinute(one.decided), VerdictLabel(one.verdict), VerdictSign(one.verdict));
  }
  return fmt::format(
      "<h2 id=\"verdicts\">Verdict by date</h2>\n<p class=\"soft\">One cell a drill, from {} to "
      "{}; the newest is the last.</p>\n<ol class=\"strip\">{}</ol>\n{}",
      FormatMinute(history.verdicts[first].decided), FormatMinute(history.verdicts.back().decided),
      cells, HtmlLeftOut(all, all - first, kHistoryRecord));
}

std::string Reasons(const StoredVerdict& verdict) {
  std::string items;
  const std::size_t shown = std::min(verdict.reasons.size(), kMostVerdictReasons);
  for (std::size_t i = 0; i < shown; ++i) {
    items += fmt::format("<li>{}</li>", HtmlText(ReasonWords(verdict.reasons[i]), 600));
  }
  return items.empty() ? ""
                       : fmt::format("<ul>{}</ul>{}", items,
                                     HtmlLeftOut(verdict.reasons.size(), shown, kHistoryRecord));
}

std::string DrillsOf(const RunHistory& history, const Streak& streak) {
  std::string rows;
  const std::size_t shown = std::min(streak.count, kMostOfStreak);
  for (std::size_t i = 0; i < shown; ++i) {
    const StoredVerdict& one = history.verdicts[streak.first + streak.count - 1 - i];
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td data-l=\"Drill\">{}</td>"
        "<td class=\"n\" data-l=\"Reruns\">{}</td><td>{}</td></tr>",
        FormatMinute(one.decided), HtmlText(one.drill_id, 120), one.reruns, Reasons(one));
  }
  return HtmlTable("Drills", HtmlHeads({"Decided", "Drill", Numbers("Reruns"), "Because"}), rows,
                   "stack") +
         HtmlLeftOut(streak.count, shown, kHistoryRecord);
}

// The newest streak first: the reader's main interest.
std::string Streaks(const RunHistory& history) {
  const std::vector<Streak> streaks = StreaksOf(history.verdicts);
  const std::size_t shown = std::min(streaks.size(), kMostStreaks);
  std::string rows;
  for (std::size_t i = 0; i < shown; ++i) {
    const Streak& streak = streaks[streaks.size() - 1 - i];
    const StoredVerdict& first = history.verdicts[streak.first];
    const StoredVerdict& last = history.verdicts[streak.first + streak.count - 1];
    rows += fmt::format(
        "<li class=\"{}\"><details><summary>{} <b>{}</b> {}</summary><div class=\"more\">{}</div>"
        "</details></li>\n",
        VerdictName(last.verdict), HtmlBadge(last.verdict), Counted(streak.count, "drill"),
        streak.count == 1
            ? FormatMinute(last.decided)
            : fmt::format("from {} to {}", FormatMinute(first.decided), FormatMinute(last.decided)),
        DrillsOf(history, streak));
  }
  return fmt::format("<ul class=\"streaks\">\n{}</ul>\n{}", rows,
                     HtmlLeftOut(streaks.size(), shown, kHistoryRecord));
}

std::string ChangeSection(const RunHistory& history, const VerdictChange& change) {
  const StoredVerdict& before = history.verdicts.at(change.before);
  const StoredVerdict& after = history.verdicts.at(change.after);
  return fmt::format(
      "<section class=\"turn {}\"><h3>{} on {}, {} before on {}</h3>\n<p>{}</p>\n{}</section>\n",
      VerdictName(after.verdict), VerdictLabel(after.verdict), FormatMinute(after.decided),
      VerdictLabel(before.verdict), FormatMinute(before.decided), HtmlLayerMarks(change.layers),
      HtmlDifferences(change.known, change.layers));
}

// The changes over which something differs, newest first; the others are counted.
std::string Changes(const RunHistory& history, const Steadiness& steadiness) {
  if (history.changes.empty()) return "";
  std::string out = "<h2 id=\"changes\">What changed when the verdict did</h2>\n";
  const auto say = [&](std::size_t count, std::string_view words) {
    if (count > 0)
      out += fmt::format(
          "<p>{} {}.</p>\n",
          count == 1 ? "One change of verdict" : FormatCount(count) + " changes of verdict", words);
  };
  say(steadiness.unexplained, "although nothing differed that is recorded of what it uses");
  say(steadiness.not_known, "over what is not known: the history does not hold where both ran");
  std::size_t all = 0, shown = 0;
  for (std::size_t i = history.changes.size(); i-- > 0;) {
    const VerdictChange& change = history.changes[i];
    if (!change.known || WordsOf(change.layers).empty()) continue;
    if (++all > kMostChanges) continue;
    ++shown;
    out += ChangeSection(history, change);
  }
  return out + HtmlLeftOut(all, shown, kHistoryRecord);
}

std::string Record(const RunHistory& history) {
  std::string out = "<h2 id=\"record\">The run as recorded</h2>\n<dl class=\"facts\">\n";
  for (const auto& [name, value] : history.record) {
    out += HtmlFact(HtmlText(name, 60), HtmlText(value, 600));
  }
  out += HtmlFact("history", HtmlText(history.history, 300));
  return out + "</dl>\n";
}

std::string Turn(const RunHistory& history, const RunOutlook& outlook) {
  if (!outlook.last_good && !outlook.first_bad) return "";
  const auto fact = [&](std::string_view name, const std::optional<std::size_t>& at) {
    if (!at) return HtmlFact(name, "<span class=\"soft\">none</span>");
    const StoredVerdict& one = history.verdicts[*at];
    return HtmlFact(name, fmt::format("<span class=\"{}\">{}</span> {}<br>drill {}",
                                      VerdictName(one.verdict), HtmlBadge(one.verdict),
                                      FormatMinute(one.decided), HtmlText(one.drill_id, 120)));
  };
  const std::string flaky = FlakyWords(outlook.steadiness);
  return fmt::format(
      "<h2 class=\"sr\">Since when</h2>\n<dl class=\"facts turns\">\n{}{}{}</dl>\n",
      fact("last good drill", outlook.last_good),
      fact("first bad drill after it", outlook.first_bad),
      HtmlFact("flaky", flaky.empty()
                            ? fmt::format("no: {} of {} verdicts differed from the one before",
                                          outlook.steadiness.changes, outlook.steadiness.steps)
                            : HtmlText(flaky)));
}

}  // namespace

std::string HtmlDifferences(bool known, const std::array<LayerComparison, 5>& layers) {
  std::string rows;
  std::size_t all = 0, shown = 0;
  for (const LayerComparison& layer : layers) {
    for (const FactDifference& one : layer.differences) {
      if (++all > kMostDifferences) continue;
      ++shown;
      rows += fmt::format(
          "<tr><td data-l=\"Layer\">{}</td><th scope=\"row\">{}</th><td data-l=\"Before\">{}</td>"
          "<td data-l=\"After\">{}</td></tr>\n",
          LayerName(layer.layer), HtmlText(DifferenceWords(one), 600), HtmlFactValue(one.recorded),
          HtmlFactValue(one.observed));
    }
  }
  if (rows.empty()) return fmt::format("<p>{}.</p>", HtmlText(ChangeWords(known, layers).front()));
  return fmt::format(
      "<div class=\"wide\"><table class=\"stack\"><thead><tr>{}</tr></thead><tbody>\n"
      "{}</tbody></table></div>\n{}",
      HtmlHeads({"Layer", "What changed", "Before", "After"}), rows,
      HtmlLeftOut(all, shown, kHistoryRecord));
}

std::string WriteHtml(const RunHistory& history, std::string_view version) {
  const RunOutlook outlook = Summarize(history);
  std::string out =
      HtmlHead(fmt::format("{} – {}", SafeText(history.run.run_id, 200), outlook.answer));
  out += HtmlTop({.page_class = PageClass(history, outlook),
                  .eyebrow_html = fmt::format("History of the run {} · family {}",
                                              HtmlText(history.run.run_id, 200),
                                              HtmlText(history.run.family, 200)),
                  .answer = outlook.answer,
                  .next_html = HtmlText(outlook.next_step),
                  .skip_id = history.verdicts.empty() ? "record" : "verdicts",
                  .skip_words = "Skip to the verdicts"});
  std::vector<std::string> notes = history.notes;
  if (history.run.retired) {
    notes.push_back("retired: " + RetiredInWords(*history.run.retired, history.run.retirement));
  }
  out += HtmlNotes(notes);
  if (!history.verdicts.empty()) {
    out += Turn(history, outlook) + Timeline(history) + Streaks(history) +
           Changes(history, outlook.steadiness);
  }
  return out + Record(history) + HtmlEnd(version, kHistoryRecord, false);
}

}  // namespace rharness
