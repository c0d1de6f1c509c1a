// What hangs on what; see last_chance.h.
#include "harness/insight/trends/last_chance.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harness/base/spelling.h"

namespace rharness {
namespace {

constexpr std::size_t kMostListed = 1000;
constexpr std::size_t kMostOnly = 200;
constexpr std::size_t kMostOnlyFamilies = 5;

// The one value that all places of a run have; empty: several, or one is not known.
std::string CommonValue(const ShownRun& run, const std::vector<Stack>& stacks, StackAxis axis) {
  std::string common;
  for (const int place : run.places) {
    const std::string& value = stacks[static_cast<std::size_t>(place)][axis];
    if (value.empty() || (!common.empty() && value != common)) return "";
    common = value;
  }
  return common;
}

// The effect of `gone` on a place.
struct PlaceWithout {
  bool goes = false;   // it has something that goes
  bool known = false;  // a value is known for everything asked
};

std::vector<PlaceWithout> Without(const std::vector<Stack>& stacks, const std::vector<Gone>& gone) {
  std::vector<PlaceWithout> places;
  for (const Stack& stack : stacks) {
    places.push_back(
        {.goes = std::ranges::any_of(gone, [&](const Gone& one) { return one.Has(stack); }),
         .known = std::ranges::all_of(gone, [&](const Gone& one) { return one.Knows(stack); })});
  }
  return places;
}

// Values that nothing known has, perhaps by a typing error.
std::vector<std::string> Nowhere(const std::vector<Stack>& stacks, const std::vector<Gone>& gone,
                                 const std::vector<UnshownRun>& unshown) {
  std::vector<std::string> nowhere;
  for (const Gone& one : gone) {
    bool had = false;
    std::set<std::string> names;
    const auto look = [&](const Stack& stack) {
      had = had || one.Has(stack);
      for (std::string& name : one.NamesIn(stack)) names.insert(std::move(name));
    };
    for (const Stack& stack : stacks) look(stack);
    for (const UnshownRun& run : unshown) {
      if (run.recorded) look(*run.recorded);
    }
    if (had) continue;
    const std::string near = NearestName(one.value(), {names.begin(), names.end()});
    nowhere.push_back(near.empty() ? one.text() : one.text() + "; near is " + near);
  }
  return nowhere;
}

void List(LastChanceRun run, LastChance* chance) {
  if (chance->list.size() < kMostListed) chance->list.push_back(std::move(run));
}

void JudgeShown(const ShownRun& run, const std::string& family,
                const std::vector<PlaceWithout>& places, LastChance* chance) {
  bool kept = false;
  bool all_go = true;
  for (const int place : run.places) {
    const PlaceWithout& without = places[static_cast<std::size_t>(place)];
    kept = kept || (!without.goes && without.known);
    all_go = all_go && without.goes;
  }
  if (kept) {
    ++chance->kept;
  } else if (!all_go) {
    ++chance->unknown;
  } else {
    ++chance->lost;
    List({.run_id = run.run_id,
          .family = family,
          .shown = true,
          .words = run.places.size() == 1
                       ? "reproduced in one environment, which goes"
                       : fmt::format("reproduced in {} environments, and all would be lost",
                                     run.places.size())},
         chance);
  }
}

}  // namespace

std::vector<TrendOnly> OnlyWith(const Tracks& tracks, const std::vector<Stack>& stacks) {
  std::vector<TrendOnly> all;
  for (const StackAxis axis :
       {StackAxis::kImage, StackAxis::kDriver, StackAxis::kGpu, StackAxis::kNode}) {
    std::map<std::string, std::pair<std::int64_t, std::set<std::string>>> by_value;
    for (const ShownRun& run : tracks.shown()) {
      const std::string value = CommonValue(run, stacks, axis);
      if (value.empty() || value == kHost || value == kNone) continue;
      auto& [runs, families] = by_value[value];
      ++runs;
      families.insert(tracks.families().At(run.family));
    }
    for (const auto& [value, counted] : by_value) {
      TrendOnly only{.by = std::string(kAxisNames[static_cast<std::size_t>(axis)]),
                     .value = value,
                     .runs = counted.first};
      for (const std::string& family : counted.second) {
        if (only.families.size() < kMostOnlyFamilies) only.families.push_back(family);
      }
      all.push_back(std::move(only));
    }
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &TrendOnly::runs);
  if (all.size() > kMostOnly) all.resize(kMostOnly);
  return all;
}

LastChance LastChanceOf(const Tracks& tracks, const std::vector<Stack>& stacks,
                        const std::vector<Gone>& gone, const std::vector<UnshownRun>& unshown) {
  LastChance chance;
  for (const Gone& one : gone) chance.gone.push_back(one.text());
  chance.nowhere = Nowhere(stacks, gone, unshown);
  const std::vector<PlaceWithout> places = Without(stacks, gone);
  for (const ShownRun& run : tracks.shown()) {
    JudgeShown(run, tracks.families().At(run.family), places, &chance);
  }
  for (const UnshownRun& run : unshown) {
    const bool known = run.recorded && std::ranges::all_of(gone, [&](const Gone& one) {
                         return one.Knows(*run.recorded);
                       });
    if (run.recorded &&
        std::ranges::any_of(gone, [&](const Gone& one) { return one.Has(*run.recorded); })) {
      ++chance.unproven;
      List({.run_id = run.run_id,
            .family = run.family,
            .shown = false,
            .words = "not shown to reproduce, and recorded with what goes"},
           &chance);
    } else if (known) {
      ++chance.elsewhere;
    } else {
      ++chance.unknown;
    }
  }
  chance.runs = static_cast<std::int64_t>(tracks.shown().size() + unshown.size());
  return chance;
}

}  // namespace rharness
