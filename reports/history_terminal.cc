// Histories on a terminal: the summary first, then verdicts by date, oldest first.
#include <fmt/format.h>

#include <algorithm>

#include "reports/history_report.h"
#include "reports/history_summary.h"
#include "reports/terminal_parts.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostVerdicts = 60;
constexpr std::size_t kMostRuns = 200;
constexpr std::size_t kMostWords = 12;
constexpr int kRunNameColumns = 14;
constexpr int kLeastHistoryColumns = 40;

// One named line of the head; a long value goes on below itself.
std::string Named(std::string_view name, const std::string& value, int columns) {
  const std::string text = Wrapped(value, std::max(columns, kLeastHistoryColumns), kRunNameColumns);
  return Padded(std::string(name), kRunNameColumns) +
         text.substr(static_cast<std::size_t>(kRunNameColumns));
}

std::string NamedList(std::string_view name, const std::vector<std::string>& words, int columns) {
  std::string out;
  for (std::size_t i = 0; i < std::min(words.size(), kMostWords); ++i) {
    out += Named(i == 0 ? name : "", words[i], columns);
  }
  if (words.size() > kMostWords) {
    out += Named("", fmt::format("… and {} more", words.size() - kMostWords), columns);
  }
  return out;
}

// Each property begins a line.
std::string PropertyLines(const std::string& value, int columns) {
  std::string out;
  for (std::size_t at = 0; at < value.size();) {
    const std::size_t end = std::min(value.find("; ", at), value.size());
    out += Named(at == 0 ? "properties" : "", value.substr(at, end - at), columns);
    at = end + 2;
  }
  return out;
}

std::string PlaceWords(const StoredVerdict& verdict) {
  return fmt::format("{}  {}  drill {}", FormatTime(verdict.decided), VerdictLabel(verdict.verdict),
                     SafeText(verdict.drill_id, 200));
}

std::string VerdictLines(const StoredVerdict& verdict, int columns, bool color) {
  std::string out =
      fmt::format("  {}  {}  {}  drill {}\n", FormatTime(verdict.decided),
                  Painted(Padded(std::string(VerdictName(verdict.verdict)), kRunNameColumns),
                          ColourOf(verdict.verdict), color),
                  Counted(static_cast<std::uint64_t>(verdict.reruns), "rerun"),
                  SafeText(verdict.drill_id, 200));
  if (StandingOf(verdict.verdict) == Standing::kGood) return out;
  for (const Reason& reason : verdict.reasons) {
    out += Wrapped(SafeText(ReasonWords(reason), 600), std::max(columns, kLeastHistoryColumns), 6);
  }
  return out;
}

std::string Verdicts(const RunHistory& history, int columns, bool color) {
  std::string out = "verdicts\n";
  const std::size_t all = history.verdicts.size();
  const std::size_t first = all > kMostVerdicts ? all - kMostVerdicts : 0;
  if (first > 0) {
    out +=
        fmt::format("  … {} earlier ones: --json or --html FILE shows all\n", FormatCount(first));
  }
  for (std::size_t i = first; i < all; ++i) {
    out += VerdictLines(history.verdicts[i], columns, color);
  }
  return out;
}

std::string Outlook(const RunHistory& history, const RunOutlook& outlook, int columns) {
  std::string out = Named("answer", outlook.answer, columns);
  if (outlook.last_good) {
    out += Named("last good", PlaceWords(history.verdicts[*outlook.last_good]), columns);
  }
  if (outlook.first_bad) {
    out += Named("first bad", PlaceWords(history.verdicts[*outlook.first_bad]), columns);
  }
  if (outlook.broke && outlook.first_bad) {
    const VerdictChange& broke = history.changes[*outlook.broke];
    out += NamedList("what changed", ChangeWords(broke.known, broke.layers), columns);
  }
  const std::string flaky = FlakyWords(outlook.steadiness);
  if (!flaky.empty()) out += Named("flaky", flaky, columns);
  return out + Named("next", outlook.next_step, columns);
}

std::string Counts(const FamilyHistory& history, const FamilyOutlook& outlook, bool color) {
  std::string counts = fmt::format("{}", history.runs.size());
  std::string_view before = ": ";
  for (const Verdict verdict : kVerdicts) {
    const int count = outlook.counts.at(std::string(VerdictName(verdict)));
    if (count == 0) continue;
    counts += before;
    counts += Painted(fmt::format("{} {}", count, VerdictLabel(verdict)), ColourOf(verdict), color);
    before = ", ";
  }
  if (outlook.never > 0) counts += fmt::format("{}{} never judged", before, outlook.never);
  return counts;
}

std::string Strip(const std::vector<std::optional<Verdict>>& verdicts, bool color) {
  std::string out;
  for (const std::optional<Verdict>& verdict : verdicts) {
    out += verdict ? Painted(VerdictSign(*verdict), ColourOf(*verdict), color) : "·";
  }
  return out;
}

std::string RunLine(const FamilyRun& run, int width, bool color) {
  const std::optional<Verdict> last = run.run.last_verdict;
  const std::string badge = Padded(last ? VerdictBadge(*last) : "never judged", 18);
  return fmt::format(
      "{}  {}  {}  {}  {}\n", Padded(ElideMiddle(SafeText(run.run.run_id, 300), width), width),
      last ? Painted(badge, ColourOf(*last), color) : badge,
      Padded(run.last_good ? FormatMinute(run.last_good->decided) : std::string("–"), 20),
      Padded(IsFlaky(run) ? "flaky" : "", 5), Strip(run.verdicts, color));
}

constexpr std::size_t kMostTogether = 30;

// The runs of a configuration together, in the columns of a run.
std::string TogetherLine(const FamilyTogether& together, int width, bool color) {
  std::vector<std::optional<Verdict>> verdicts;
  std::optional<WallTime> good;
  for (const std::optional<TogetherVerdict>& one : together.said) {
    verdicts.push_back(one ? std::optional(one->verdict) : std::nullopt);
    if (one && StandingOf(one->verdict) == Standing::kGood) good = one->decided;
  }
  const Verdict last = together.last.verdict;
  return fmt::format("{}  {}  {}  {}  {}\n",
                     Padded(ElideMiddle("all of " + SafeText(together.name, 300), width), width),
                     Painted(Padded(VerdictBadge(last), 18), ColourOf(last), color),
                     Padded(good ? FormatMinute(*good) : std::string("–"), 20), Padded("", 5),
                     Strip(verdicts, color));
}

std::string TogetherWords(const FamilyTogether& together) {
  std::string words =
      fmt::format("{} {} on {}, {}", SafeText(together.name, 200),
                  VerdictLabel(together.last.verdict), FormatMinute(together.last.decided),
                  Counted(static_cast<std::uint64_t>(together.last.runs), "run"));
  for (const Reason& reason : together.last.reasons) {
    words += "; " + SafeText(ReasonWords(reason), 300);
  }
  return words;
}

std::string Grid(const FamilyHistory& history, const FamilyOutlook& outlook, int columns,
                 bool color) {
  int width = 3;
  const std::size_t shown = std::min(outlook.order.size(), kMostRuns);
  for (std::size_t i = 0; i < shown; ++i) {
    width = std::max(width, DisplayWidth(SafeText(outlook.order[i]->run.run_id, 300)));
  }
  for (const FamilyTogether& together : history.together) {
    width = std::max(width, 7 + DisplayWidth(SafeText(together.name, 300)));
  }
  const int others = 18 + 20 + 5 + 8 + static_cast<int>(history.drills.size());
  width = std::min(width, std::max(columns - others, 20));
  std::string out =
      fmt::format("\n{}  {}  {}  {}  {}\n", Padded("RUN", width), Padded("LAST VERDICT", 18),
                  Padded("LAST GOOD", 20), "FLAKY", "DRILLS, NEWEST LAST");
  for (std::size_t i = 0; i < std::min(history.together.size(), kMostTogether); ++i) {
    out += TogetherLine(history.together[i], width, color);
  }
  for (std::size_t i = 0; i < shown; ++i) out += RunLine(*outlook.order[i], width, color);
  if (shown < outlook.order.size()) {
    out += fmt::format("… and {} more runs that are no worse: --json or --html FILE shows them\n",
                       FormatCount(outlook.order.size() - shown));
  }
  return out;
}

}  // namespace

std::string WriteTerminal(const RunHistory& history, int columns, bool color) {
  std::string out;
  for (const auto& [name, value] : history.record) {
    // Commands and digests stay in one piece.
    out += name == "properties"
               ? PropertyLines(SafeText(value), columns)
               : fmt::format("{}{}\n", Padded(name, kRunNameColumns), SafeText(value));
  }
  if (history.run.retired) {
    out += fmt::format("{}{}\n", Padded("retired", kRunNameColumns),
                       RetiredInWords(*history.run.retired, history.run.retirement));
  }
  for (const std::string& note : history.notes) out += Named("note", SafeText(note), columns);
  if (history.verdicts.empty()) {
    return out + Padded("verdicts", kRunNameColumns) +
           (history.run.retired ? "none; it is retired, and no drill reruns it\n"
                                : "none yet; 'rharness drill' reruns the run and judges it\n");
  }
  return out + Outlook(history, Summarize(history), columns) + Verdicts(history, columns, color);
}

std::string WriteTerminal(const FamilyHistory& history, int columns, bool color) {
  const FamilyOutlook outlook = Summarize(history);
  std::string out = Named("family", SafeText(history.family, 300), columns);
  out += fmt::format("{}{}\n", Padded("runs", kRunNameColumns), Counts(history, outlook, color));
  if (!history.drills.empty()) {
    out += Named("drills",
                 fmt::format("the last {} that judged any of them, {} to {}", history.drills.size(),
                             FormatMinute(history.drills.front().started),
                             FormatMinute(history.drills.back().started)),
                 columns);
  }
  out += Named("answer", outlook.answer, columns);
  std::vector<std::string> together;
  for (const FamilyTogether& one : history.together) together.push_back(TogetherWords(one));
  out += NamedList("together", together, columns);
  std::vector<std::string> causes;
  for (const FamilyCause& cause : outlook.causes) {
    causes.push_back(fmt::format("{} of {} broken: {}: {}", cause.broken, outlook.broken,
                                 LayerName(cause.difference.layer),
                                 DifferenceWords(cause.difference)));
  }
  out += NamedList("what changed", causes, columns);
  out += Named("next", outlook.next_step, columns);
  for (const std::string& note : history.notes) out += Named("note", SafeText(note), columns);
  if (history.runs.empty()) return out;
  return out + Grid(history, outlook, columns, color);
}

}  // namespace rharness
