// Values that change with a rate; see coincidences.h.
#include "harness/insight/trends/coincidences.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rharness {
namespace {

constexpr double kLeastGain = 0.5;

// The values of one axis in a range of weeks, with the number of judged runs of each.
class Values {
 public:
  // Of runs that were rerun on all of these.
  void Add(const std::vector<const Stack*>& stacks, StackAxis axis, std::int64_t runs) {
    std::map<std::string_view, const Stack*> different;
    for (const Stack* stack : stacks) {
      if (!(*stack)[axis].empty()) different.emplace((*stack)[axis], stack);
    }
    if (different.empty()) return;
    for (const auto& [value, stack] : different) {
      auto& [count, one] = by_value_[std::string(value)];
      count += runs;
      one = stack;
    }
    all_ += runs;
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& [value, counted] : by_value_) names.push_back(value);
    return names;
  }
  const Stack& OneWith(const std::string& value) const { return *by_value_.at(value).second; }
  std::int64_t With(const std::string& value) const {
    const auto found = by_value_.find(value);
    return found == by_value_.end() ? 0 : found->second.first;
  }
  double Share(const std::string& value) const {
    return all_ == 0 ? 0.0 : static_cast<double>(With(value)) / static_cast<double>(all_);
  }
  std::int64_t all() const { return all_; }

 private:
  std::map<std::string, std::pair<std::int64_t, const Stack*>> by_value_;
  std::int64_t all_ = 0;
};

std::int64_t Conclusive(const TrackCell& cell) {
  return cell.counts[static_cast<std::size_t>(Standing::kGood)] +
         cell.counts[static_cast<std::size_t>(Standing::kBad)];
}

class Stretches {
 public:
  Stretches(const Tracks& tracks, const std::vector<const TrackCell*>& cells,
            const std::vector<Stack>& stacks)
      : cells_(cells) {
    for (const std::vector<int>& spread : tracks.spreads()) {
      auto& all = spreads_.emplace_back();
      for (const int place : spread) all.push_back(&stacks[static_cast<std::size_t>(place)]);
    }
  }

  Values In(StackAxis axis, int from, int to) const {
    Values values;
    for (const TrackCell* cell : cells_) {
      if (cell->week < from || cell->week >= to) continue;
      values.Add(spreads_[static_cast<std::size_t>(cell->spread)], axis, Conclusive(*cell));
    }
    return values;
  }
  // The last week before this one with a conclusive verdict, and the first from it on.
  int LastBefore(int week) const {
    int last = std::numeric_limits<int>::min();
    for (const TrackCell* cell : cells_) {
      if (cell->week < week && Conclusive(*cell) > 0) last = std::max(last, cell->week);
    }
    return last;
  }

 private:
  const std::vector<const TrackCell*>& cells_;
  std::vector<std::vector<const Stack*>> spreads_;
};

// The value whose share grew most from one range to the other; of equal ones the first by name.
std::optional<std::string> GrewMost(std::vector<std::string> values, const Values& from,
                                    const Values& to) {
  const auto most = std::ranges::max_element(
      values, {}, [&](const std::string& one) { return to.Share(one) - from.Share(one); });
  return most == values.end() ? std::nullopt : std::optional(*most);
}

}  // namespace

std::vector<TrendCoincidence> CoincidencesOf(const Tracks& tracks,
                                             const std::vector<const TrackCell*>& cells,
                                             const std::vector<Stack>& stacks,
                                             const ChangedWeeks& weeks) {
  const Stretches stretches(tracks, cells, stacks);
  const int old_week = stretches.LastBefore(weeks.earliest);
  std::vector<TrendCoincidence> found;
  for (std::size_t i = 0; i < kAxes; ++i) {
    const StackAxis axis = static_cast<StackAxis>(i);
    const Values old_values = stretches.In(axis, old_week, old_week + 1);
    const Values new_values = stretches.In(axis, weeks.latest, weeks.latest + 1);
    const Values then = stretches.In(axis, weeks.from, weeks.at);
    const Values now = stretches.In(axis, weeks.at, weeks.to);
    const auto after = GrewMost(new_values.Names(), then, now);
    if (!after || now.Share(*after) - then.Share(*after) < kLeastGain) continue;
    std::vector<std::string> others = old_values.Names();
    std::erase(others, *after);
    const auto before = GrewMost(std::move(others), now, then);
    if (!before) continue;
    found.push_back({.what = std::string(kAxisNames[i]),
                     .before = *before,
                     .after = *after,
                     .before_runs = then.With(*after),
                     .before_all = then.all(),
                     .after_runs = now.With(*after),
                     .after_all = now.all(),
                     .detail = axis == StackAxis::kPackages
                                   ? PackageChanges(old_values.OneWith(*before).packages,
                                                    new_values.OneWith(*after).packages)
                                   : std::string()});
  }
  return found;
}

}  // namespace rharness
