// Reads the history once, and words its tracks; see trends.h.
#include "harness/insight/trends/trends.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "harness/base/shell_word.h"
#include "harness/insight/trends/last_chance.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr int kMostEnvironments = 20'000;      // read; each is some queries
constexpr std::size_t kMostManifests = 5'000;  // of runs that were never shown to reproduce

std::string NamesOf(const std::vector<const TrendSeries*>& series) {
  constexpr std::size_t kMostNames = 3;
  std::vector<std::string> names;
  for (const TrendSeries* one : series) {
    if (names.size() < kMostNames) names.push_back(one->value);
  }
  const std::size_t more = series.size() - names.size();
  return fmt::format("{}{}", fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

// A rerun names it: if it is missing, the history has changed.
Error Unheld(const Error& error) {
  if (error.code != ErrorCode::kNotFound) return error;
  return IntegrityError("is not in the history any more, and a rerun took place in it",
                        error.where);
}

// By place, as far as the history says it.
Result<std::vector<Stack>> StacksOf(HistoryStore* history, const Tracks& tracks,
                                    std::vector<std::string>* notes) {
  std::vector<Stack> by_environment(static_cast<std::size_t>(tracks.environments().size()));
  int read = 0;
  for (int i = 0; i < tracks.environments().size(); ++i) {
    const std::string& sha256 = tracks.environments().At(i);
    if (sha256.empty() || read >= kMostEnvironments) continue;
    ++read;
    const auto parts = history->GetSurroundings(sha256);
    if (!parts.ok()) return Unheld(parts.error());
    auto stack = StackOf(*parts, "environment " + sha256);
    if (stack.ok()) {
      by_environment[static_cast<std::size_t>(i)] = std::move(*stack);
    } else {
      notes->push_back(stack.error().ToString());
    }
  }
  if (tracks.environments().size() > read + 1) {
    notes->push_back(fmt::format("{} of {} environments are read; nothing is known of the others",
                                 read, tracks.environments().size()));
  }
  std::vector<Stack> stacks;
  for (const TrackPlace& place : tracks.places()) {
    stacks.push_back(by_environment[static_cast<std::size_t>(place.environment)]);
    stacks.back()[StackAxis::kNode] = tracks.nodes().At(place.node);
  }
  return stacks;
}

// Runs that are not retired and were never shown to reproduce, with their recorded environments.
Result<std::vector<UnshownRun>> UnshownRuns(HistoryStore* history, const Tracks& tracks,
                                            std::vector<std::string>* notes) {
  std::unordered_set<std::string> shown;
  for (const ShownRun& run : tracks.shown()) shown.insert(run.run_id);
  ASSIGN_OR_RETURN(const auto entries, history->List(false));
  std::vector<UnshownRun> unshown;
  for (const HistoryEntry& entry : entries) {
    if (shown.contains(entry.run_id)) continue;
    UnshownRun run{.run_id = entry.run_id, .family = entry.family, .recorded = {}};
    if (unshown.size() < kMostManifests) {
      ASSIGN_OR_RETURN(const Manifest manifest, history->Get(entry.run_id));
      run.recorded = StackOf(manifest);
    }
    unshown.push_back(std::move(run));
  }
  if (unshown.size() > kMostManifests) {
    notes->push_back(fmt::format(
        "{} runs were never shown to reproduce; the records of the first {} are looked at",
        unshown.size(), kMostManifests));
  }
  return unshown;
}

std::string RateSentence(const TrendsReport& report) {
  const TrendCounts& all = report.series.front().counts;
  const std::int64_t judged = all.good + all.bad + all.open;
  if (!all.rate) {
    return fmt::format("No run got a conclusive verdict in {}.",
                       Counted(static_cast<std::uint64_t>(report.weeks), "week"));
  }
  const std::string weeks = Counted(static_cast<std::uint64_t>(report.weeks), "week");
  const auto conclusive = static_cast<std::uint64_t>(judged - all.open);
  std::string words =
      fmt::format("{:.4g} % of {} reproduced in {} ({:.4g} to {:.4g} %)", 100.0 * *all.rate,
                  Counted(conclusive, "run"), weeks, 100.0 * all.low, 100.0 * all.high);
  if (all.open > 0) {
    words += fmt::format("; {} of {} judged {} left open: with {} as bad {:.4g} %", all.open,
                         judged, all.open == 1 ? "was" : "were", all.open == 1 ? "it" : "these",
                         100.0 * static_cast<double>(all.good) / static_cast<double>(judged));
  }
  return words + ".";
}

std::string ChangeSentence(const TrendsReport& report) {
  std::vector<const TrendSeries*> changed;
  std::size_t families = 0;
  for (const TrendSeries& one : report.series) {
    if (one.by != "family") continue;
    ++families;
    if (!one.changes.empty()) changed.push_back(&one);
  }
  if (families == 0) return "";
  if (changed.empty()) return " No family's rate is shown to have changed.";
  return fmt::format(" The rate of {} of {} families changed: {}.", changed.size(), families,
                     NamesOf(changed));
}

std::string NextOf(const TrendsReport& report) {
  for (const TrendSeries& series : report.series) {
    if (series.changes.empty()) continue;
    return fmt::format(
        "rharness history show {}: which runs broke; rharness isolate RUN: which of what "
        "changed did it",
        ShellWord(series.value));
  }
  return "drill on: a change shows where there are verdicts before and after it";
}

void Conclude(TrendsReport* report) {
  if (report->verdicts == 0) {
    report->headline = "The history has no verdicts: there is no trend yet.";
    report->next = "drill its runs: rharness drill --history URL --out DIR";
  } else {
    report->headline = RateSentence(*report) + ChangeSentence(*report);
    report->next = NextOf(*report);
  }
  if (!report->last_chance) return;
  const LastChance& chance = *report->last_chance;
  report->exit_code = chance.lost > 0 ? 1 : chance.nowhere.empty() ? 0 : 3;
  report->headline += fmt::format(
      " Without {}: {} of {} runs could not be rerun where they were shown to reproduce.",
      fmt::join(chance.gone, " and "), chance.lost, chance.runs);
  if (!chance.nowhere.empty()) {
    report->headline +=
        fmt::format(" No run is known to have had {}.", fmt::join(chance.nowhere, ", or "));
    report->next =
        "look at what runs have had: rharness history show RUN, or its evidence; a name is matched "
        "as a whole, with * and ? as wildcards";
  }
  if (chance.lost > 0) {
    report->next =
        "drill these on something else before it goes: each is a last chance to see whether they "
        "reproduce there";
  }
}

}  // namespace

Result<TrendsReport> MeasureTrends(HistoryStore* history, const TrendsAsked& asked, WallTime now) {
  if (asked.weeks < 1 || asked.weeks > kMostTrendWeeks) {
    return InvalidInput(fmt::format("expected 1 to {} weeks", kMostTrendWeeks), "--weeks");
  }
  const int first_week = WeekOf(now) - asked.weeks + 1;
  Tracks tracks(first_week, now);
  RETURN_IF_ERROR(history->EachVerdict([&] { tracks = Tracks(first_week, now); },
                                       [&](const VerdictStep& step) { tracks.Take(step); }));
  tracks.Finish();
  TrendsReport report{.at = now, .weeks = asked.weeks, .verdicts = tracks.verdicts()};
  if (tracks.left_out() > 0) {
    report.notes.push_back(
        fmt::format("{} {} decided later than now, by a clock that is ahead, and left out",
                    Counted(static_cast<std::uint64_t>(tracks.left_out()), "verdict"),
                    tracks.left_out() == 1 ? "was" : "were"));
  }
  ASSIGN_OR_RETURN(const auto stacks, StacksOf(history, tracks, &report.notes));
  report.series = SeriesOf(tracks, stacks, report.alpha);
  report.survival = SurvivalOf(tracks);
  report.only = OnlyWith(tracks, stacks);
  if (!asked.gone.empty()) {
    ASSIGN_OR_RETURN(const auto unshown, UnshownRuns(history, tracks, &report.notes));
    report.last_chance = LastChanceOf(tracks, stacks, asked.gone, unshown);
  }
  Conclude(&report);
  return report;
}

}  // namespace rharness
