// Reads a history: standings, changes, and the summary.
#include "reports/history_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <tuple>
#include <utility>

#include "compare/fact_order.h"
#include "reports/json_parts.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostFamilyCauses = 12;

std::vector<std::optional<Verdict>> VerdictsOf(const RunHistory& history) {
  std::vector<std::optional<Verdict>> verdicts;
  for (const StoredVerdict& one : history.verdicts) verdicts.emplace_back(one.verdict);
  return verdicts;
}

std::string When(const StoredVerdict& verdict) { return FormatMinute(verdict.decided); }

void FindTurn(const RunHistory& history, RunOutlook* outlook) {
  for (std::size_t i = 0; i < history.verdicts.size(); ++i) {
    const Standing standing = StandingOf(history.verdicts[i].verdict);
    if (standing == Standing::kGood) {
      outlook->last_good = i;
      outlook->first_bad.reset();
    } else if (standing == Standing::kBad && !outlook->first_bad) {
      outlook->first_bad = i;
    }
  }
  for (std::size_t i = 0; i < history.changes.size(); ++i) {
    const Verdict before = history.verdicts.at(history.changes[i].before).verdict;
    if (StandingOf(before) == Standing::kGood) outlook->broke = i;
  }
}

// Of drills after the last one that could tell.
std::string OpenSince(const std::vector<StoredVerdict>& verdicts) {
  const auto told =
      std::ranges::find_if(verdicts.rbegin(), verdicts.rend(),
                           [](const StoredVerdict& one) { return IsConclusive(one.verdict); });
  const auto open = static_cast<std::uint64_t>(told - verdicts.rbegin());
  if (open == 0) return "";
  return fmt::format(" {} since then decided nothing: {} on {}.", Counted(open, "drill"),
                     VerdictLabel(verdicts.back().verdict), When(verdicts.back()));
}

std::string AnswerOf(const RunHistory& history, const RunOutlook& outlook) {
  const auto& verdicts = history.verdicts;
  if (verdicts.empty()) return "No drill has judged this run yet.";
  if (outlook.first_bad) {
    const StoredVerdict& bad = verdicts[*outlook.first_bad];
    const std::string since = fmt::format("{} since {}", VerdictLabel(bad.verdict), When(bad));
    std::string answer = since + "; no drill has seen it reproduce.";
    if (outlook.last_good) {
      const StoredVerdict& good = verdicts[*outlook.last_good];
      answer =
          fmt::format("{}; it last reproduced on {}{}.", since, When(good),
                      good.decided > bad.decided ? ", by a verdict that was entered before" : "");
    }
    answer.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(answer.front())));
    return answer + OpenSince(verdicts);
  }
  if (!outlook.last_good) {
    return fmt::format("No drill has decided whether it reproduces: {} so far.",
                       Counted(verdicts.size(), "drill"));
  }
  const StoredVerdict& good = verdicts[*outlook.last_good];
  return fmt::format("It reproduces{}: {} on {}{}.", outlook.broke ? " again" : "",
                     VerdictLabel(good.verdict), When(good),
                     outlook.steadiness.unexplained > 0 ? "; but it is flaky" : "") +
         OpenSince(verdicts);
}

std::string NextOfBroken(const RunHistory& history, const RunOutlook& outlook) {
  if (!outlook.broke) {
    return "read its entry in the drill's report; no good drill is known to compare it with.";
  }
  const VerdictChange& broke = history.changes[*outlook.broke];
  const std::vector<std::string> words = WordsOf(broke.layers);
  if (!broke.known) {
    return "what changed in between is not kept; compare the evidence of the two drills, if their "
           "folders are still there (rharness compare).";
  }
  if (words.empty()) {
    return "nothing that is recorded differs between the two drills: rerun it several times "
           "(rharness drill --reruns 5) and see whether the reruns agree.";
  }
  return fmt::format("put back what changed, one at a time, beginning with {}{}.", words.front(),
                     words.size() > 1 ? fmt::format(" (and {} more)", words.size() - 1) : "");
}

std::string NextOf(const RunHistory& history, const RunOutlook& outlook) {
  if (history.run.retired) return "nothing to do: it is retired, and no drill reruns it.";
  if (history.verdicts.empty()) return "rharness drill reruns it and judges it.";
  if (outlook.first_bad) return NextOfBroken(history, outlook);
  if (!outlook.last_good)
    return "find out why the last drills decided nothing, and drill it again.";
  if (outlook.steadiness.unexplained > 0) {
    return "its verdict changes by itself: rerun it several times (rharness drill --reruns 5) and "
           "look for a seed that is not set.";
  }
  return "nothing to do.";
}

// Packages that no process of the run was seen to use explain nothing: hosts change every night.
bool AnyExplains(const std::array<LayerComparison, 5>& layers) {
  return std::ranges::any_of(layers, [](const LayerComparison& layer) {
    return std::ranges::any_of(layer.differences, [](const FactDifference& difference) {
      return TellingOf(difference) != Telling::kNotInUse;
    });
  });
}

// Severity of a run's known state, the worst first.
std::tuple<int, int, int> Rank(const FamilyRun& run) {
  const int flaky = IsFlaky(run) ? 0 : 1;
  switch (StandingNow(run)) {
    case Standing::kBad:
      return {0, run.first_bad ? Severity(run.first_bad->verdict) : 9, flaky};
    case Standing::kOpen:
      return {flaky == 0 ? 1 : 2, run.run.last_verdict ? 0 : 1, 0};
    case Standing::kGood:
      return {flaky == 0 ? 1 : 3, 0, 0};
  }
  Abort("unknown Standing");
}

std::vector<FamilyCause> CausesOf(const std::vector<const FamilyRun*>& broken) {
  std::map<std::tuple<Layer, std::string, std::optional<std::string>, std::optional<std::string>>,
           FamilyCause>
      causes;
  for (const FamilyRun* run : broken) {
    if (!run->known) continue;
    for (const LayerComparison& layer : run->layers) {
      for (const FactDifference& one : layer.differences) {
        FamilyCause& cause =
            causes.try_emplace({one.layer, one.key, one.recorded, one.observed}, FamilyCause{one})
                .first->second;
        ++cause.broken;
      }
    }
  }
  std::vector<FamilyCause> list;
  for (auto& [key, cause] : causes) list.push_back(std::move(cause));
  std::stable_sort(list.begin(), list.end(), [](const FamilyCause& a, const FamilyCause& b) {
    return a.broken != b.broken ? a.broken > b.broken : TellsMore(a.difference, b.difference);
  });
  if (list.size() > kMostFamilyCauses) list.resize(kMostFamilyCauses);
  return list;
}

void Describe(const FamilyHistory& history, FamilyOutlook* outlook) {
  const std::string runs = Counted(history.runs.size(), "run");
  const auto count = [&](Standing standing) {
    return std::ranges::count_if(
        history.runs, [&](const FamilyRun& run) { return StandingNow(run) == standing; });
  };
  const auto good = count(Standing::kGood), bad = count(Standing::kBad);
  if (history.runs.empty() || outlook->never == static_cast<int>(history.runs.size())) {
    outlook->answer = fmt::format("No drill has judged this family yet ({}).", runs);
    outlook->next_step = "rharness drill reruns its runs and judges them.";
    return;
  }
  const auto open = count(Standing::kOpen) - outlook->never;
  if (bad > 0) {
    outlook->answer = fmt::format("{} of {} {} not reproduce; {} of them did before.", bad, runs,
                                  bad == 1 ? "does" : "do", outlook->broken);
  } else if (open == 0) {
    outlook->answer = fmt::format("Every run that was judged reproduces: {} of {}.", good, runs);
  } else {
    outlook->answer = fmt::format("{} of {} {} shown to reproduce, and none is bad.", good, runs,
                                  good == 1 ? "is" : "are");
  }
  if (open > 0) outlook->answer += fmt::format(" No drill has decided about {} of them.", open);
  if (outlook->flaky > 0) {
    outlook->answer +=
        fmt::format(" {} {} flaky.", outlook->flaky, outlook->flaky == 1 ? "is" : "are");
  }
  // What few of them share leads nowhere.
  if (!outlook->causes.empty() && 4 * outlook->causes.front().broken >= 3 * outlook->explained) {
    const FamilyCause& first = outlook->causes.front();
    outlook->next_step =
        fmt::format("look first at what {} of {} broken runs have in common: {}.", first.broken,
                    outlook->broken, DifferenceWords(first.difference));
  } else if (bad > 0) {
    outlook->next_step =
        outlook->explained > 0
            ? "nothing that is recorded differs between the last good and the first bad drills: "
              "rerun the broken runs several times (rharness drill --reruns 5)."
            : "look at the broken runs one by one: rharness history show RUN.";
  } else {
    outlook->next_step = outlook->flaky > 0
                             ? "rerun the flaky runs several times (rharness drill --reruns 5)."
                             : "nothing to do.";
  }
}

}  // namespace

std::vector<VerdictChange> FindChanges(const std::vector<std::optional<Verdict>>& verdicts) {
  std::vector<VerdictChange> changes;
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (!verdicts[i] || !IsConclusive(*verdicts[i])) continue;
    if (last && StandingOf(*verdicts[*last]) != StandingOf(*verdicts[i])) {
      changes.push_back({.before = *last, .after = i, .known = false, .layers = {}});
    }
    last = i;
  }
  return changes;
}

Steadiness SteadinessOf(const std::vector<std::optional<Verdict>>& verdicts,
                        const std::vector<VerdictChange>& changes) {
  const auto told = std::ranges::count_if(verdicts, [](const std::optional<Verdict>& verdict) {
    return verdict && IsConclusive(*verdict);
  });
  Steadiness steadiness{.steps = static_cast<std::size_t>(std::max<std::ptrdiff_t>(told - 1, 0)),
                        .changes = changes.size()};
  for (const VerdictChange& change : changes) {
    if (!change.known) ++steadiness.not_known;
    if (change.known && !AnyExplains(change.layers)) ++steadiness.unexplained;
  }
  return steadiness;
}

std::vector<Streak> StreaksOf(const std::vector<StoredVerdict>& verdicts) {
  std::vector<Streak> streaks;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (i > 0 && verdicts[i].verdict == verdicts[i - 1].verdict) {
      ++streaks.back().count;
    } else {
      streaks.push_back({i, 1});
    }
  }
  return streaks;
}

RunOutlook Summarize(const RunHistory& history) {
  RunOutlook outlook;
  std::vector<Verdict> verdicts;
  for (const StoredVerdict& one : history.verdicts) verdicts.push_back(one.verdict);
  outlook.counts = CountVerdicts(verdicts);
  outlook.steadiness = SteadinessOf(VerdictsOf(history), history.changes);
  FindTurn(history, &outlook);
  outlook.answer = AnswerOf(history, outlook);
  outlook.next_step = NextOf(history, outlook);
  return outlook;
}

bool IsFlaky(const FamilyRun& run) {
  return SteadinessOf(run.verdicts, run.changes).unexplained > 0;
}

Standing StandingNow(const FamilyRun& run) {
  if (run.first_bad) return Standing::kBad;
  return run.last_good ? Standing::kGood : Standing::kOpen;
}

FamilyOutlook Summarize(const FamilyHistory& history) {
  FamilyOutlook outlook;
  std::vector<Verdict> last;
  std::vector<const FamilyRun*> broken;
  for (const FamilyRun& run : history.runs) {
    outlook.order.push_back(&run);
    if (IsFlaky(run)) ++outlook.flaky;
    if (run.first_bad && run.last_good) broken.push_back(&run);
    if (run.run.last_verdict) {
      last.push_back(*run.run.last_verdict);
    } else {
      ++outlook.never;
    }
  }
  std::map<const FamilyRun*, std::tuple<int, int, int>> ranks;
  for (const FamilyRun* run : outlook.order) ranks[run] = Rank(*run);
  std::ranges::stable_sort(outlook.order, {}, [&](const FamilyRun* run) { return ranks.at(run); });
  outlook.counts = CountVerdicts(last);
  outlook.broken = static_cast<int>(broken.size());
  outlook.explained = static_cast<int>(
      std::ranges::count_if(broken, [](const FamilyRun* run) { return run->known; }));
  outlook.causes = CausesOf(broken);
  Describe(history, &outlook);
  return outlook;
}

}  // namespace rharness
