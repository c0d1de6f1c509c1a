// One pass over the verdicts; see tracks.h.
#include "harness/insight/trends/tracks.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace rharness {
namespace {

constexpr std::int64_t kWeekMs = std::int64_t{7} * 24 * 3600 * 1000;
constexpr std::int64_t kMondayMs = std::int64_t{3} * 24 * 3600 * 1000;  // before a Thursday: 1970

double DaysBetween(WallTime from, WallTime to) {
  return std::max(0.0, std::chrono::duration<double, std::ratio<86400>>(to - from).count());
}

}  // namespace

int WeekOf(WallTime time) {
  const std::int64_t ms = time.time_since_epoch().count() + kMondayMs;
  return static_cast<int>(ms >= 0 ? ms / kWeekMs : -1);
}

WallTime StartOf(int week) {
  return WallTime(std::chrono::milliseconds(week * kWeekMs - kMondayMs));
}

int NameIndex::Of(const std::string& name) {
  const auto [at, fresh] = index_.emplace(name, static_cast<int>(names_.size()));
  if (fresh) names_.push_back(&at->first);
  return at->second;
}

int Tracks::PlaceOf(const std::string& environment, int node) {
  const TrackPlace place{environments_.Of(environment), node};
  const std::uint64_t key = (static_cast<std::uint64_t>(place.environment) << 32) |
                            static_cast<std::uint32_t>(place.node);
  const auto [at, fresh] = place_index_.emplace(key, static_cast<int>(places_.size()));
  if (fresh) places_.push_back(place);
  return at->second;
}

int Tracks::SpreadOf(const VerdictStep& step) {
  const int node = nodes_.Of(step.node);
  std::vector<int> places;
  for (const std::string& environment : step.environments) {
    places.push_back(PlaceOf(environment, node));
  }
  if (places.empty()) places.push_back(PlaceOf("", node));
  std::ranges::sort(places);
  const auto [at, fresh] =
      spread_index_.emplace(std::move(places), static_cast<int>(spreads_.size()));
  if (fresh) spreads_.push_back(at->first);
  return at->second;
}

void Tracks::Take(const VerdictStep& step) {
  if (step.decided > now_) {
    ++left_out_;
    return;
  }
  if (!open_ || step.run_id != run_id_) {
    Close();
    open_ = true;
    ++run_;
    run_id_ = step.run_id;
    family_ = families_.Of(step.family);
    retired_ = step.retired;
  }
  ++verdicts_;
  const Said said{SpreadOf(step), StandingOf(step.verdict)};
  const std::vector<int>& places = spreads_[static_cast<std::size_t>(said.where)];
  if (const int week = WeekOf(step.decided); week >= first_week_) {
    weeks_[week] = said;
    for (const int place : places) {
      std::erase_if(in_span_, [&](const Said& one) { return one.where == place; });
      in_span_.push_back({place, said.standing});
    }
  }
  if (said.standing == Standing::kOpen) return;
  for (const int place : places) by_place_[place] = said.standing;
  if (said.standing == Standing::kGood) {
    if (!std::exchange(was_good_, true)) first_good_ = step.decided;
    is_bad_ = false;
    last_good_ = step.decided;
  } else if (!std::exchange(is_bad_, true)) {
    first_bad_ = step.decided;
  }
}

void Tracks::Finish() {
  Close();
  open_ = false;
}

void Tracks::Count(int week, const Said& said) {
  const std::uint64_t key = (static_cast<std::uint64_t>(family_) << 42) |
                            (static_cast<std::uint64_t>(said.where) << 16) |
                            static_cast<std::uint16_t>(week);
  const auto [at, fresh] = cell_index_.emplace(key, cells_.size());
  if (fresh) cells_.push_back({.family = family_, .week = week, .spread = said.where});
  ++cells_[at->second].counts[static_cast<std::size_t>(said.standing)];
}

void Tracks::Close() {
  if (!open_) return;
  for (const auto& [week, said] : weeks_) Count(week, said);
  for (const Said& said : in_span_) last_at_.push_back({run_, family_, said.where, said.standing});
  const auto family = static_cast<std::size_t>(family_);
  lifetimes_.resize(std::max(lifetimes_.size(), family + 1));
  never_seen_.resize(lifetimes_.size());
  if (was_good_) {
    lifetimes_[family].push_back(
        {.time = DaysBetween(first_good_, is_bad_ ? first_bad_ : last_good_), .ended = is_bad_});
  } else if (is_bad_) {
    ++never_seen_[family];
  }
  ShownRun shown{.run_id = run_id_, .family = family_};
  for (const auto& [place, standing] : by_place_) {
    if (standing == Standing::kGood) shown.places.push_back(place);
  }
  if (!shown.places.empty() && !retired_) shown_.push_back(std::move(shown));
  weeks_.clear();
  by_place_.clear();
  in_span_.clear();
  was_good_ = is_bad_ = false;
}

}  // namespace rharness
