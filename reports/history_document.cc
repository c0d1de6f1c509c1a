// The history of one run as a document: since when, verdicts by date, the changes behind them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/base/clock.h"
#include "reports/history_report.h"
#include "reports/history_summary.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

using As = DocumentCell::As;

constexpr std::size_t kMostStreaks = 500;
constexpr std::size_t kMostChanges = 50;
constexpr char kLastGood[] = "last good drill";
constexpr char kFirstBad[] = "first bad drill after it";

std::string PlaceWords(const StoredVerdict& one) {
  return fmt::format("{} {}, drill {}", FormatTime(one.decided), VerdictBadge(one.verdict),
                     one.drill_id);
}

// Good verdicts say why on request, the others below their row.
DocumentRow RowOf(const StoredVerdict& one) {
  DocumentRow row{.tone = one.verdict,
                  .cells = {FormatTime(one.decided),
                            {VerdictBadge(one.verdict), As::kBadge},
                            std::to_string(one.reruns),
                            one.drill_id}};
  const std::vector<std::string> reasons = ReasonWords(one.reasons);
  if (StandingOf(one.verdict) == Standing::kGood) {
    row.cells.emplace_back(fmt::format("{}", fmt::join(reasons, "; ")));
  } else {
    row.details = reasons;
  }
  return row;
}

DocumentSection SinceWhen(const RunHistory& history, const RunOutlook& outlook) {
  DocumentSection section{.title = "Since when"};
  if (!outlook.last_good && !outlook.first_bad) return section;
  const auto place = [&](const std::optional<std::size_t>& at) {
    return at ? PlaceWords(history.verdicts[*at]) : "none";
  };
  section.facts = {{kLastGood, place(outlook.last_good)}, {kFirstBad, place(outlook.first_bad)}};
  if (outlook.last_good) section.badges[kLastGood] = history.verdicts[*outlook.last_good].verdict;
  if (outlook.first_bad) section.badges[kFirstBad] = history.verdicts[*outlook.first_bad].verdict;
  const std::string flaky = FlakyWords(outlook.steadiness);
  section.facts.emplace_back(
      "flaky", flaky.empty() ? fmt::format("no: {} of {} verdicts differed from the one before",
                                           outlook.steadiness.changes, outlook.steadiness.steps)
                             : flaky);
  if (outlook.broke && outlook.first_bad) {
    const VerdictChange& broke = history.changes[*outlook.broke];
    for (const std::string& words : ChangeWords(broke.known, broke.layers)) {
      section.items.push_back("what changed: " + words);
    }
  }
  return section;
}

// The newest first: the reader's main interest.
DocumentSection VerdictSection(const RunHistory& history) {
  DocumentSection section{.title = "Verdict by date",
                          .columns = {{"Decided"},
                                      {"Verdict"},
                                      {"Reruns", true},
                                      {"Drill"},
                                      {.name = "Because", .in_depth = true}},
                          .most = {.page = kMostStreaks}};
  if (history.verdicts.empty()) return section;
  for (const StoredVerdict& one : history.verdicts) {
    section.strip.push_back(
        {one.verdict, fmt::format("{}: {}", FormatMinute(one.decided), VerdictLabel(one.verdict))});
  }
  for (std::size_t i = history.verdicts.size(); i-- > 0;) {
    section.rows.push_back(RowOf(history.verdicts[i]));
  }
  const std::vector<Streak> streaks = StreaksOf(history.verdicts);
  for (auto streak = streaks.rbegin(); streak != streaks.rend(); ++streak) {
    const StoredVerdict& first = history.verdicts[streak->first];
    const StoredVerdict& last = history.verdicts[streak->first + streak->count - 1];
    const std::string when =
        streak->count == 1
            ? FormatMinute(last.decided)
            : fmt::format("from {} to {}", FormatMinute(first.decided), FormatMinute(last.decided));
    section.folds.push_back({.tone = last.verdict,
                             .badge = VerdictBadge(last.verdict),
                             .title = fmt::format("{} {}", Counted(streak->count, "drill"), when),
                             .rows = streak->count});
  }
  section.words = fmt::format(
      "One sign a drill, {} from {} to {}; of the signs the newest is the last.",
      Counted(history.verdicts.size(), "drill"), FormatMinute(history.verdicts.front().decided),
      FormatMinute(history.verdicts.back().decided));
  return section;
}

// "data same · environment differs"
std::string LayerStates(const std::array<LayerComparison, 5>& layers) {
  std::vector<std::string> words;
  for (const LayerComparison& layer : layers) {
    const SubjectState state = StateOf(layer);
    words.push_back(fmt::format("{} {} {}", state.sign, LayerName(layer.layer), state.label));
  }
  return fmt::format("{}", fmt::join(words, " · "));
}

void AddDifferences(const VerdictChange& change, const StoredVerdict& before,
                    const StoredVerdict& after, DocumentSection* section) {
  const std::size_t rows = section->rows.size();
  const std::string then =
      fmt::format("{} on {}", VerdictLabel(after.verdict), FormatMinute(after.decided));
  for (const LayerComparison& layer : change.layers) {
    for (const FactDifference& one : layer.differences) {
      section->rows.push_back(
          {.tone = after.verdict,
           .cells = {DifferenceWords(one), std::string(LayerName(layer.layer)),
                     DifferenceValue(one.recorded), DifferenceValue(one.observed), then}});
    }
  }
  section->folds.push_back(
      {.tone = after.verdict,
       .badge = VerdictBadge(after.verdict),
       .title = fmt::format("on {}, {} before on {}; {}", FormatMinute(after.decided),
                            VerdictLabel(before.verdict), FormatMinute(before.decided),
                            LayerStates(change.layers)),
       .rows = section->rows.size() - rows,
       .open = true});
}

// The changes over which something differs, newest first; the others are counted.
DocumentSection ChangeSection(const RunHistory& history, const Steadiness& steadiness) {
  DocumentSection section{.title = "What changed when the verdict did",
                          .columns = {{"What changed"}, {"Layer"}, {"Before"}, {"After"}, {"Then"}},
                          .most = {.page = kMostChanges},
                          .in_depth = true};
  const auto count = [&](std::size_t changes, std::string_view words) {
    if (changes == 0) return;
    section.items.push_back(fmt::format(
        "{} {}.",
        changes == 1 ? "One change of verdict" : FormatCount(changes) + " changes of verdict",
        words));
  };
  count(steadiness.unexplained, "although nothing differed that is recorded of what it uses");
  count(steadiness.not_known, "over what is not known: the history does not hold where both ran");
  for (auto change = history.changes.rbegin(); change != history.changes.rend(); ++change) {
    if (!change->known || WordsOf(change->layers).empty()) continue;
    AddDifferences(*change, history.verdicts.at(change->before), history.verdicts.at(change->after),
                   &section);
  }
  return section;
}

DocumentSection RecordSection(const RunHistory& history) {
  DocumentSection section{.title = "The run as recorded", .whole = true};
  for (const auto& [name, value] : history.record) {
    if (name != "properties") {
      section.facts.emplace_back(name, value);
      continue;
    }
    for (std::size_t at = 0; at < value.size();) {
      const std::size_t end = std::min(value.find("; ", at), value.size());
      section.facts.emplace_back("property", value.substr(at, end - at));
      at = end + 2;
    }
  }
  section.facts.emplace_back("history", history.history);
  return section;
}

Verdict ToneOf(const RunHistory& history, const RunOutlook& outlook) {
  if (outlook.first_bad) return history.verdicts[*outlook.first_bad].verdict;
  return outlook.last_good && outlook.steadiness.unexplained == 0 ? Verdict::kIdentical
                                                                  : Verdict::kInconclusive;
}

}  // namespace

std::string DifferenceValue(const std::optional<std::string>& value) {
  return value ? SafeText(*value, 600) : "absent";
}

Document DocumentOf(const RunHistory& history, std::string_view version) {
  const RunOutlook outlook = Summarize(history);
  Document document{.name = "history",
                    .about = fmt::format("History of the run {} · family {}", history.run.run_id,
                                         history.run.family),
                    .version = std::string(version),
                    .tone = ToneOf(history, outlook),
                    .headline = outlook.answer,
                    .next = outlook.next_step,
                    .notes = history.notes,
                    .record = "the output of --json",
                    .exit_code = 0};
  if (!history.verdicts.empty()) document.made = history.verdicts.back().decided;
  if (history.run.retired) {
    document.notes.push_back("retired: " +
                             RetiredInWords(*history.run.retired, history.run.retirement));
  }
  document.sections = {SinceWhen(history, outlook), VerdictSection(history),
                       ChangeSection(history, outlook.steadiness), RecordSection(history)};
  std::erase_if(document.sections, IsEmpty);
  DocumentRow test{
      .tone = Verdict::kInconclusive, .cells = {history.run.run_id}, .details = {outlook.answer}};
  if (!history.verdicts.empty()) {
    test.tone = history.verdicts.back().verdict;
    std::ranges::copy(ReasonWords(history.verdicts.back().reasons),
                      std::back_inserter(test.details));
  }
  document.cases = {{.title = history.run.family, .columns = {{"Run"}}, .rows = {test}}};
  return document;
}

}  // namespace rharness
