// Rates by week, where they changed, and how long runs last: the pure parts of trends.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "compare/stats/proportions.h"
#include "compare/stats/rate_changes.h"
#include "harness/trends/coincidences.h"
#include "harness/trends/trends.h"

namespace rharness {
namespace {

constexpr double kBandAlpha = 0.05;
constexpr std::size_t kMostFamilies = 2000;
constexpr std::size_t kMostValues = 200;  // of each other axis
constexpr std::size_t kMostSurvivals = 100;
constexpr std::size_t kMostSteps = 500;

void Add(const TrackCell& cell, TrendCounts* counts) {
  counts->good += cell.counts[static_cast<std::size_t>(Reproduced::kYes)];
  counts->bad += cell.counts[static_cast<std::size_t>(Reproduced::kNo)];
  counts->open += cell.counts[static_cast<std::size_t>(Reproduced::kOpen)];
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
                       const CellList& last_cells) {
  TrendSeries series{.by = std::move(by), .value = std::move(value)};
  for (const TrackCell* cell : last_cells) Add(*cell, &series.counts);
  FillRate(&series.counts);
  std::map<int, TrendCounts> weeks;
  for (const TrackCell* cell : cells) Add(*cell, &weeks[cell->week]);
  for (auto& [week, counts] : weeks) {
    FillRate(&counts);
    series.weeks.push_back({StartOf(week), counts});
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
  return words + fmt::format(", p = {:.2g}", change.p);
}

std::vector<TrendChange> ChangesOf(const TrendSeries& series, const CellList& cells,
                                   const std::vector<Stack>& stacks, double alpha) {
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
    change.coincidences = CoincidencesOf(cells, stacks,
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

using Grouped = std::map<std::string, std::pair<CellList, CellList>>;

template <class F>
Grouped GroupBy(const Tracks& tracks, F value_of) {
  Grouped grouped;
  for (const TrackCell& cell : tracks.cells()) grouped[value_of(cell)].first.push_back(&cell);
  for (const TrackCell& cell : tracks.last_cells()) grouped[value_of(cell)].second.push_back(&cell);
  return grouped;
}

// Those that changed first, then those with most that did not reproduce, then by name.
void Rank(std::size_t most, std::vector<TrendSeries>* series) {
  std::ranges::stable_sort(*series, [](const TrendSeries& a, const TrendSeries& b) {
    return std::pair(a.changes.empty(), -a.counts.bad) <
           std::pair(b.changes.empty(), -b.counts.bad);
  });
  if (series->size() > most) series->resize(most);
}

std::vector<TrendSeries> Families(const Tracks& tracks, const std::vector<Stack>& stacks,
                                  double alpha) {
  const Grouped grouped =
      GroupBy(tracks, [&](const TrackCell& cell) { return tracks.families().At(cell.family); });
  std::vector<TrendSeries> families;
  double tested = 0.0;
  for (const auto& [name, cells] : grouped) {
    families.push_back(SeriesFrom("family", name, cells.first, cells.second));
    if (families.back().weeks.size() > 1) tested += 1.0;
  }
  // So that a history in which no family changed names one with a chance of alpha at most.
  for (TrendSeries& family : families) {
    family.changes = ChangesOf(family, grouped.at(family.value).first, stacks, alpha / tested);
  }
  Rank(kMostFamilies, &families);
  return families;
}

std::vector<TrendSeries> ByAxis(const Tracks& tracks, const std::vector<Stack>& stacks, Axis axis) {
  const Grouped grouped = GroupBy(tracks, [&](const TrackCell& cell) {
    return stacks[static_cast<std::size_t>(cell.place)][axis];
  });
  std::vector<TrendSeries> all;
  for (const auto& [value, cells] : grouped) {
    if (value.empty()) continue;
    all.push_back(SeriesFrom(std::string(kAxisNames[static_cast<std::size_t>(axis)]), value,
                             cells.first, cells.second));
  }
  Rank(kMostValues, &all);
  return all;
}

TrendSurvival SurvivalFrom(std::string family, const std::vector<stats::Lifetime>& lifetimes) {
  TrendSurvival survival{.family = std::move(family),
                         .runs = static_cast<std::int64_t>(lifetimes.size()),
                         .ended = std::ranges::count_if(lifetimes, &stats::Lifetime::ended)};
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
  CellList cells;
  CellList last_cells;
  for (const TrackCell& cell : tracks.cells()) cells.push_back(&cell);
  for (const TrackCell& cell : tracks.last_cells()) last_cells.push_back(&cell);
  std::vector<TrendSeries> series = {SeriesFrom("all", "", cells, last_cells)};
  const auto add = [&](std::vector<TrendSeries> more) {
    std::ranges::move(more, std::back_inserter(series));
  };
  add(Families(tracks, stacks, alpha));
  for (const Axis axis : {Axis::kImage, Axis::kDriver, Axis::kGpu}) {
    add(ByAxis(tracks, stacks, axis));
  }
  return series;
}

std::vector<TrendSurvival> SurvivalOf(const Tracks& tracks) {
  std::vector<stats::Lifetime> all;
  std::vector<TrendSurvival> families;
  for (int i = 0; i < static_cast<int>(tracks.lifetimes().size()); ++i) {
    const auto& lifetimes = tracks.lifetimes()[static_cast<std::size_t>(i)];
    if (lifetimes.empty()) continue;
    all.insert(all.end(), lifetimes.begin(), lifetimes.end());
    families.push_back(SurvivalFrom(tracks.families().At(i), lifetimes));
  }
  std::ranges::stable_sort(families, [](const TrendSurvival& a, const TrendSurvival& b) {
    return std::pair(-a.ended, a.family) < std::pair(-b.ended, b.family);
  });
  if (families.size() > kMostSurvivals) families.resize(kMostSurvivals);
  families.insert(families.begin(), SurvivalFrom("", all));
  return families;
}

}  // namespace rharness
