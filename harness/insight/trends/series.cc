// Rates by week, their changes, and the lifetimes of runs: the pure parts of trends.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "compare/stats/proportions.h"
#include "compare/stats/rate_changes.h"
#include "harness/insight/trends/coincidences.h"
#include "harness/insight/trends/trends.h"

namespace rharness {
namespace {

constexpr double kBandAlpha = 0.05;
constexpr std::size_t kMostFamilies = 2000;
constexpr std::size_t kMostValues = 200;  // of each other axis
constexpr std::size_t kMostSurvivals = 100;
constexpr std::size_t kMostSteps = 500;

void Add(const TrackCell& cell, TrendCounts* counts) {
  counts->good += cell.counts[static_cast<std::size_t>(Standing::kGood)];
  counts->bad += cell.counts[static_cast<std::size_t>(Standing::kBad)];
  counts->open += cell.counts[static_cast<std::size_t>(Standing::kOpen)];
}

void Add(Standing said, TrendCounts* counts) {
  ++(said == Standing::kGood ? counts->good : said == Standing::kBad ? counts->bad : counts->open);
}

void FillRate(TrendCounts* counts) {
  const auto good = static_cast<double>(counts->good);
  const auto conclusive = static_cast<double>(counts->good + counts->bad);
  if (conclusive == 0.0) return;
  counts->rate = good / conclusive;
  const stats::Interval wilson = stats::Wilson(good, conclusive, kBandAlpha);
  counts->low = wilson.low;
  counts->high = wilson.high;
}

using CellList = std::vector<const TrackCell*>;

TrendSeries SeriesFrom(std::string by, std::string value, const CellList& cells,
                       TrendCounts counts) {
  TrendSeries series{.by = std::move(by), .value = std::move(value), .counts = counts};
  FillRate(&series.counts);
  std::map<int, TrendCounts> weeks;
  for (const TrackCell* cell : cells) Add(*cell, &weeks[cell->week]);
  for (auto& [week, of_week] : weeks) {
    FillRate(&of_week);
    series.weeks.push_back({StartOf(week), of_week});
  }
  return series;
}

std::string Percent(double share) { return fmt::format("{:.3g} %", 100.0 * share); }

std::string DayOf(WallTime time) { return FormatTime(time).substr(0, 10); }

std::string WordsOf(const TrendChange& change) {
  std::string words = fmt::format("from {} to {} in the week of {}", Percent(change.before),
                                  Percent(change.after), DayOf(change.week));
  if (change.earliest != change.latest) {
    words += fmt::format(" (or of {} to {})", DayOf(change.earliest), DayOf(change.latest));
  }
  constexpr double kSmallest = 1e-300;
  return words + (change.p < kSmallest ? ", p < 1e-300" : fmt::format(", p = {:.2g}", change.p)) +
         " if repeats of a run were independent";
}

std::vector<TrendChange> ChangesOf(const Tracks& tracks, const TrendSeries& series,
                                   const CellList& cells, const std::vector<Stack>& stacks,
                                   double alpha) {
  std::vector<stats::CountOfTrials> counts;
  for (const TrendWeek& week : series.weeks) {
    counts.push_back({week.counts.good, week.counts.good + week.counts.bad});
  }
  const auto start = [&](std::size_t at) { return series.weeks[at].start; };
  std::vector<TrendChange> changes;
  for (const stats::RateChange& found : stats::FindRateChanges(counts, alpha)) {
    TrendChange change{.week = start(found.at),
                       .earliest = start(found.earliest),
                       .latest = start(found.latest),
                       .before = found.before,
                       .after = found.after,
                       .p = found.p};
    change.coincidences = CoincidencesOf(tracks, cells, stacks,
                                         {.from = WeekOf(start(found.from)),
                                          .at = WeekOf(change.week),
                                          .to = WeekOf(start(found.to - 1)) + 1,
                                          .earliest = WeekOf(change.earliest),
                                          .latest = WeekOf(change.latest)});
    change.words = WordsOf(change);
    changes.push_back(std::move(change));
  }
  return changes;
}

// Cells and counts by a name; `index_of` is of a family and a place the number of its name. A run
// counts once under each name that it was rerun under, in a week and in all.
struct Group {
  CellList cells;
  TrendCounts counts;
};

template <class F>
std::vector<Group> GroupBy(const Tracks& tracks, int names, F index_of) {
  std::vector<Group> groups(static_cast<std::size_t>(names));
  std::set<int> different;
  for (const TrackCell& cell : tracks.cells()) {
    different.clear();
    for (const int place : tracks.spreads()[static_cast<std::size_t>(cell.spread)]) {
      different.insert(index_of(cell.family, place));
    }
    for (const int index : different) {
      groups[static_cast<std::size_t>(index)].cells.push_back(&cell);
    }
  }
  std::map<int, Standing> of_run;
  const auto close = [&] {
    for (const auto& [index, said] : of_run) {
      Add(said, &groups[static_cast<std::size_t>(index)].counts);
    }
    of_run.clear();
  };
  int run = 0;
  for (const LastAt& last : tracks.last_at()) {
    if (last.run != run) close();
    run = last.run;
    of_run[index_of(last.family, last.place)] = last.said;
  }
  close();
  return groups;
}

// Changed ones first, then those with the most unreproduced runs, then by name.
void Rank(std::size_t most, std::vector<TrendSeries>* series) {
  std::ranges::stable_sort(*series, [](const TrendSeries& a, const TrendSeries& b) {
    return std::tuple(a.changes.empty(), -a.counts.bad, std::string_view(a.value)) <
           std::tuple(b.changes.empty(), -b.counts.bad, std::string_view(b.value));
  });
  if (series->size() > most) series->resize(most);
}

std::vector<TrendSeries> Families(const Tracks& tracks, const std::vector<Stack>& stacks,
                                  double alpha) {
  const std::vector<Group> groups =
      GroupBy(tracks, tracks.families().size(), [](int family, int) { return family; });
  std::vector<TrendSeries> families;
  std::vector<const CellList*> cells;
  double tested = 0.0;
  for (int i = 0; i < tracks.families().size(); ++i) {
    const Group& group = groups[static_cast<std::size_t>(i)];
    if (group.cells.empty()) continue;
    families.push_back(SeriesFrom("family", tracks.families().At(i), group.cells, group.counts));
    cells.push_back(&group.cells);
    if (families.back().weeks.size() > 1) tested += 1.0;
  }
  // So that a history in which no family changed names one with a chance of alpha at most.
  for (std::size_t i = 0; i < families.size(); ++i) {
    families[i].changes = ChangesOf(tracks, families[i], *cells[i], stacks, alpha / tested);
  }
  Rank(kMostFamilies, &families);
  return families;
}

std::vector<TrendSeries> ByAxis(const Tracks& tracks, const std::vector<Stack>& stacks,
                                StackAxis axis) {
  NameIndex names;
  std::vector<int> of_place;
  for (const Stack& stack : stacks) of_place.push_back(names.Of(stack[axis]));
  const std::vector<Group> groups = GroupBy(tracks, names.size(), [&](int, int place) {
    return of_place[static_cast<std::size_t>(place)];
  });
  std::vector<TrendSeries> all;
  for (int i = 0; i < names.size(); ++i) {
    const Group& group = groups[static_cast<std::size_t>(i)];
    if (names.At(i).empty() || group.cells.empty()) continue;
    all.push_back(SeriesFrom(std::string(kAxisNames[static_cast<std::size_t>(axis)]), names.At(i),
                             group.cells, group.counts));
  }
  Rank(kMostValues, &all);
  return all;
}

TrendSurvival SurvivalFrom(std::string family, const std::vector<stats::Lifetime>& lifetimes,
                           std::int64_t never_seen) {
  TrendSurvival survival{.family = std::move(family),
                         .runs = static_cast<std::int64_t>(lifetimes.size()),
                         .ended = std::ranges::count_if(lifetimes, &stats::Lifetime::ended),
                         .never_seen = never_seen};
  for (const stats::Lifetime& one : lifetimes) {
    survival.oldest_days = std::max(survival.oldest_days, one.time);
  }
  const auto steps = stats::KaplanMeier(lifetimes, kBandAlpha);
  survival.median_days = stats::MedianSurvival(steps);
  const std::size_t stride = steps.size() / kMostSteps + 1;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const stats::SurvivalStep& step = steps[i];
    if (i % stride != 0 && i + 1 != steps.size()) continue;
    TrendSurvivalStep told{
        .days = step.time, .at_risk = step.at_risk, .ended = step.ended, .share = step.share};
    if (std::isfinite(step.low)) told.low = step.low;
    if (std::isfinite(step.high)) told.high = step.high;
    survival.steps.push_back(told);
  }
  return survival;
}

}  // namespace

std::vector<TrendSeries> SeriesOf(const Tracks& tracks, const std::vector<Stack>& stacks,
                                  double alpha) {
  const Group all = GroupBy(tracks, 1, [](int, int) { return 0; }).front();
  std::vector<TrendSeries> series = {SeriesFrom("all", "", all.cells, all.counts)};
  const auto add = [&](std::vector<TrendSeries> more) {
    std::ranges::move(more, std::back_inserter(series));
  };
  add(Families(tracks, stacks, alpha));
  for (const StackAxis axis : {StackAxis::kImage, StackAxis::kDriver, StackAxis::kGpu}) {
    add(ByAxis(tracks, stacks, axis));
  }
  return series;
}

std::vector<TrendSurvival> SurvivalOf(const Tracks& tracks) {
  std::vector<stats::Lifetime> all;
  std::int64_t all_never_seen = 0;
  std::vector<TrendSurvival> families;
  for (int i = 0; i < static_cast<int>(tracks.lifetimes().size()); ++i) {
    const auto& lifetimes = tracks.lifetimes()[static_cast<std::size_t>(i)];
    const std::int64_t never_seen = tracks.never_seen()[static_cast<std::size_t>(i)];
    if (lifetimes.empty() && never_seen == 0) continue;
    all.insert(all.end(), lifetimes.begin(), lifetimes.end());
    all_never_seen += never_seen;
    families.push_back(SurvivalFrom(tracks.families().At(i), lifetimes, never_seen));
  }
  std::ranges::stable_sort(families, [](const TrendSurvival& a, const TrendSurvival& b) {
    return std::pair(-a.ended, a.family) < std::pair(-b.ended, b.family);
  });
  if (families.size() > kMostSurvivals) families.resize(kMostSurvivals);
  families.insert(families.begin(), SurvivalFrom("", all, all_never_seen));
  return families;
}

}  // namespace rharness
