// Values that change with a rate; see coincidences.h.
#include "harness/trends/coincidences.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>

namespace rharness {
namespace {

constexpr double kLeastGain = 0.5;

struct Commonest {
  std::string value;
  const Stack* stack = nullptr;  // one that has it
};

// The values of one axis in a stretch of weeks, and how many judged runs had each.
class Values {
 public:
  void Add(const Stack& stack, StackAxis axis, std::int64_t runs) {
    const std::string& value = stack[axis];
    if (value.empty()) return;
    auto& [count, one] = by_value_[value];
    count += runs;
    one = &stack;
    all_ += runs;
  }
  std::optional<Commonest> First() const {
    const auto most =
        std::ranges::max_element(by_value_, {}, [](const auto& one) { return one.second.first; });
    if (most == by_value_.end()) return std::nullopt;
    return Commonest{most->first, most->second.second};
  }
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
  return cell.counts[static_cast<std::size_t>(Reproduced::kYes)] +
         cell.counts[static_cast<std::size_t>(Reproduced::kNo)];
}

class Stretches {
 public:
  Stretches(const std::vector<const TrackCell*>& cells, const std::vector<Stack>& stacks)
      : cells_(cells), stacks_(stacks) {}

  Values In(StackAxis axis, int from, int to) const {
    Values values;
    for (const TrackCell* cell : cells_) {
      if (cell->week < from || cell->week >= to) continue;
      values.Add(stacks_[static_cast<std::size_t>(cell->place)], axis, Conclusive(*cell));
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
  const std::vector<Stack>& stacks_;
};

}  // namespace

std::vector<TrendCoincidence> CoincidencesOf(const std::vector<const TrackCell*>& cells,
                                             const std::vector<Stack>& stacks,
                                             const ChangedWeeks& weeks) {
  const Stretches stretches(cells, stacks);
  const int old_week = stretches.LastBefore(weeks.earliest);
  std::vector<TrendCoincidence> found;
  for (std::size_t i = 0; i < kAxes; ++i) {
    const StackAxis axis = static_cast<StackAxis>(i);
    const auto before = stretches.In(axis, old_week, old_week + 1).First();
    const auto after = stretches.In(axis, weeks.latest, weeks.latest + 1).First();
    if (!before || !after || before->value == after->value) continue;
    const Values then = stretches.In(axis, weeks.from, weeks.at);
    const Values now = stretches.In(axis, weeks.at, weeks.to);
    if (now.Share(after->value) - then.Share(after->value) < kLeastGain) continue;
    found.push_back({.what = std::string(kAxisNames[i]),
                     .before = before->value,
                     .after = after->value,
                     .before_runs = then.With(after->value),
                     .before_all = then.all(),
                     .after_runs = now.With(after->value),
                     .after_all = now.all(),
                     .detail = axis == StackAxis::kPackages
                                   ? PackageChanges(before->stack->packages, after->stack->packages)
                                   : std::string()});
  }
  return found;
}

}  // namespace rharness
