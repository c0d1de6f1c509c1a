// Judging thing by thing.
#include "harness/experiments/properties/property_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

namespace rharness {
namespace {

std::optional<double> MarginOf(const Apart& apart, const Within& within) {
  if (apart.name.empty()) return within.tensors;
  const auto margin = within.metrics.find(apart.name);
  return margin == within.metrics.end() ? std::nullopt : std::optional(margin->second);
}

// All pairs of one thing.
struct Thing {
  Apart first;  // of the worst pair
  std::optional<double> margin;
  std::map<std::pair<std::size_t, std::size_t>, Apart> pairs;

  bool IsHeld(const Apart& apart) const {
    return apart.equal || (margin && apart.distance <= *margin);
  }
};

std::vector<Thing> ThingsOf(const Pairs& pairs, const Within& within) {
  std::map<std::string, Thing> things;
  for (const auto& [runs, all] : pairs) {
    for (const Apart& apart : all) {
      Thing& thing = things[apart.subject];
      thing.margin = MarginOf(apart, within);
      thing.pairs[runs] = apart;
      const bool is_worst = thing.pairs.size() == 1 || apart.distance > thing.first.distance ||
                            (thing.first.equal && !apart.equal);
      if (is_worst) thing.first = apart;
    }
  }
  std::vector<Thing> list;
  for (auto& [subject, thing] : things) list.push_back(std::move(thing));
  return list;
}

std::uint64_t ItemsOf(const std::vector<Thing>& things) {
  std::uint64_t items = 0;
  for (const Thing& thing : things) items += thing.first.items;
  return items;
}

PropertyReason ReasonOf(const Thing& thing, const Apart& worst, const std::string& behind) {
  return {.subject = worst.subject,
          .message = fmt::format("{}: {}{}", worst.subject, worst.words, behind),
          .distance = worst.distance,
          .margin = thing.margin};
}

std::string ClaimedWords(const Thing& thing) {
  return thing.margin ? fmt::format("; claimed within {:g}", *thing.margin)
                      : "; claimed to the bit";
}

// Of one or more.
const Apart& WorstOf(const std::vector<const Apart*>& aparts) {
  return **std::ranges::max_element(aparts, [](const Apart* a, const Apart* b) {
    return std::pair(!a->equal, a->distance) < std::pair(!b->equal, b->distance);
  });
}

struct JudgedThing {
  PropertyState state = PropertyState::kHeld;
  PropertyReason reason;
  int repeats = 0;
};

PropertyState HeldState(const std::vector<const Apart*>& aparts) {
  const bool equal = std::ranges::all_of(aparts, [](const Apart* one) { return one->equal; });
  return equal ? PropertyState::kHeld : PropertyState::kHeldWithin;
}

// Distances for the statistic: a missing one is far beyond all others.
std::vector<std::vector<double>> DistancesOf(const Thing& thing, std::size_t runs) {
  double largest = 1.0;
  for (const auto& [pair, apart] : thing.pairs) {
    if (std::isfinite(apart.distance)) largest = std::max(largest, apart.distance);
  }
  std::vector<std::vector<double>> distances(runs, std::vector<double>(runs, 0.0));
  for (const auto& [pair, apart] : thing.pairs) {
    const double distance = std::isfinite(apart.distance) ? apart.distance : 1e6 * largest;
    distances[pair.first][pair.second] = distances[pair.second][pair.first] = distance;
  }
  return distances;
}

class StraightJudge {
 public:
  StraightJudge(std::size_t straight, std::size_t legs) : straight_(straight), legs_(legs) {}

  // `alpha`: its share, if it must be tested.
  JudgedThing Judge(const Thing& thing, double alpha) const {
    const std::vector<const Apart*> across = Between(thing, true);
    if (across.empty()) {
      return {.state = PropertyState::kNotJudged,
              .reason = ReasonOf(thing, thing.first, "; no leg was compared with a straight run")};
    }
    if (std::ranges::all_of(across, [&](const Apart* one) { return thing.IsHeld(*one); })) {
      return {.state = HeldState(across), .reason = ReasonOf(thing, WorstOf(across), "")};
    }
    const std::vector<const Apart*> among = Between(thing, false);
    if (straight_ < 2 || among.empty()) {
      return {.state = PropertyState::kNotJudged,
              .reason = ReasonOf(thing, WorstOf(across),
                                 "; not held to a second straight run, which there is none of")};
    }
    if (!IsNoisy(thing)) {
      return {.state = PropertyState::kLost,
              .reason = ReasonOf(thing, WorstOf(across),
                                 fmt::format("{}; {} straight runs are equal in it",
                                             ClaimedWords(thing), straight_))};
    }
    return Test(thing, across, among, alpha);
  }

  // Straight runs differ in it, and some leg is not near enough.
  bool MustBeTested(const Thing& thing) const {
    const std::vector<const Apart*> across = Between(thing, true);
    return IsNoisy(thing) &&
           !std::ranges::all_of(across, [&](const Apart* one) { return thing.IsHeld(*one); });
  }

 private:
  bool IsNoisy(const Thing& thing) const {
    const std::vector<const Apart*> among = Between(thing, false);
    return !std::ranges::all_of(among, [](const Apart* one) { return one->equal; });
  }

  // Legs with straight runs, or straight runs with each other.
  std::vector<const Apart*> Between(const Thing& thing, bool across) const {
    std::vector<const Apart*> aparts;
    for (const auto& [pair, apart] : thing.pairs) {
      const bool first_is_leg = pair.first >= straight_;
      const bool second_is_leg = pair.second >= straight_;
      if (across ? first_is_leg != second_is_leg : !second_is_leg) aparts.push_back(&apart);
    }
    return aparts;
  }

  JudgedThing Test(const Thing& thing, const std::vector<const Apart*>& across,
                   const std::vector<const Apart*>& among, double alpha) const {
    const double p = EnergyPermutationP(DistancesOf(thing, straight_ + legs_), straight_, legs_);
    double mean = 0.0;
    for (const Apart* one : across) mean += one->distance / static_cast<double>(across.size());
    const std::string noise = fmt::format("; {} straight runs lie up to {:g} apart themselves",
                                          straight_, WorstOf(among).distance);
    if (p <= alpha && mean > thing.margin.value_or(0.0)) {
      return {.state = PropertyState::kLost,
              .reason = ReasonOf(thing, WorstOf(across),
                                 fmt::format("{}{}, and by chance legs and straight runs differ so "
                                             "in {:.2g} of cases (energy test; {:.2g} are allowed)",
                                             ClaimedWords(thing), noise, p, alpha))};
    }
    const int repeats = RepeatsFor(alpha);
    const bool too_few = static_cast<int>(std::min(straight_, legs_)) < repeats;
    const std::string open =
        too_few ? fmt::format("{}: {} of each would decide", noise, Counted(repeats))
                : fmt::format("{}, and legs no further from them (p {:.2g})", noise, p);
    return {.state = PropertyState::kNotJudged,
            .reason = ReasonOf(thing, WorstOf(across), ClaimedWords(thing) + open),
            .repeats = too_few ? repeats : 0};
  }

  static std::string Counted(int repeats) { return fmt::format("{} repeats", repeats); }

  const std::size_t straight_;
  const std::size_t legs_;
};

std::string HeldIn(std::uint64_t items, std::size_t things) {
  if (items > 0) return fmt::format("{} {}", items, items == 1 ? "item" : "items");
  return fmt::format("{} {}", things, things == 1 ? "thing" : "things");
}

std::string Headline(const JudgedClaim& judged, std::size_t things) {
  const std::string first = judged.reasons.empty() ? "" : ": " + judged.reasons.front().message;
  const std::string more =
      judged.reasons.size() > 1 ? fmt::format("; and {} more", judged.reasons.size() - 1) : "";
  switch (judged.state) {
    case PropertyState::kHeld:
      return "held to the bit in " + HeldIn(judged.items, things);
    case PropertyState::kHeldWithin:
      return "held within its margins" + first + more;
    case PropertyState::kLost:
      return "lost" + first + more;
    case PropertyState::kNotJudged:
      break;
  }
  return "not decided" + first + more;
}

// The worst state counts; reports its reasons, the furthest apart first.
JudgedClaim Merge(std::vector<JudgedThing> things, std::uint64_t items) {
  JudgedClaim judged;
  judged.items = items;
  if (things.empty()) {
    judged.headline = "not judged: the legs left nothing that could be compared";
    return judged;
  }
  const auto rank = [](PropertyState state) {
    return state == PropertyState::kLost         ? 3
           : state == PropertyState::kNotJudged  ? 2
           : state == PropertyState::kHeldWithin ? 1
                                                 : 0;
  };
  judged.state = std::ranges::max_element(things, {}, [&](const JudgedThing& one) {
                   return rank(one.state);
                 })->state;
  for (JudgedThing& one : things) {
    if (one.state != judged.state) continue;
    judged.repeats = std::max(judged.repeats, one.repeats);
    if (judged.state != PropertyState::kHeld) judged.reasons.push_back(std::move(one.reason));
  }
  std::ranges::stable_sort(judged.reasons, std::ranges::greater(), &PropertyReason::distance);
  judged.headline = Headline(judged, things.size());
  return judged;
}

double Statistic(const std::vector<std::vector<double>>& distances, unsigned chosen,
                 std::size_t straight, std::size_t legs) {
  const auto is_leg = [&](std::size_t i) { return (chosen >> i & 1U) != 0; };
  double across = 0.0;
  double among_legs = 0.0;
  double among_straight = 0.0;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    for (std::size_t j = i + 1; j < distances.size(); ++j) {
      double& sum = is_leg(i) != is_leg(j) ? across : is_leg(i) ? among_legs : among_straight;
      sum += distances[i][j];
    }
  }
  const auto n = static_cast<double>(straight);
  const auto m = static_cast<double>(legs);
  return 2.0 * across / (n * m) - 2.0 * among_straight / (n * n) - 2.0 * among_legs / (m * m);
}

}  // namespace

double EnergyPermutationP(const std::vector<std::vector<double>>& distances, std::size_t straight,
                          std::size_t legs) {
  const std::size_t runs = straight + legs;
  if (straight < 2 || legs < 1 || runs > 2 * kMostRepeats || distances.size() != runs) return 1.0;
  const unsigned all = 1U << runs;
  const double seen = Statistic(distances, all - (1U << straight), straight, legs);
  const double slack = 1e-9 * std::abs(seen);
  int ways = 0;
  int as_large = 0;
  for (unsigned chosen = 0; chosen < all; ++chosen) {
    if (std::popcount(chosen) != static_cast<int>(legs)) continue;
    ++ways;
    if (Statistic(distances, chosen, straight, legs) >= seen - slack) ++as_large;
  }
  return static_cast<double>(as_large) / ways;
}

int RepeatsFor(double alpha) {
  double ways = 2.0;  // 2n over n, of n = 1
  for (int n = 1; n <= kMostRepeats; ++n) {
    // With as many legs as straight runs, the two may also be called the other way round.
    if (2.0 / ways <= alpha) return n;
    ways *= 2.0 * (2.0 * n + 1.0) / (n + 1.0);
  }
  return 0;
}

JudgedClaim JudgeAgainstStraight(const Pairs& pairs, std::size_t straight, std::size_t legs,
                                 const Within& within) {
  const StraightJudge judge(straight, legs);
  const std::vector<Thing> things = ThingsOf(pairs, within);
  const auto tested =
      std::ranges::count_if(things, [&](const Thing& thing) { return judge.MustBeTested(thing); });
  const double alpha = kPropertyAlpha / static_cast<double>(std::max<std::ptrdiff_t>(tested, 1));
  std::vector<JudgedThing> judged;
  for (const Thing& thing : things) judged.push_back(judge.Judge(thing, alpha));
  return Merge(std::move(judged), ItemsOf(things));
}

JudgedClaim JudgeAmongThemselves(const Pairs& pairs, const Within& within) {
  std::vector<JudgedThing> judged;
  const std::vector<Thing> things = ThingsOf(pairs, within);
  for (const Thing& thing : things) {
    std::vector<const Apart*> all;
    for (const auto& [pair, apart] : thing.pairs) all.push_back(&apart);
    const bool held =
        std::ranges::all_of(all, [&](const Apart* one) { return thing.IsHeld(*one); });
    judged.push_back({.state = held ? HeldState(all) : PropertyState::kLost,
                      .reason = ReasonOf(thing, WorstOf(all), held ? "" : ClaimedWords(thing))});
  }
  return Merge(std::move(judged), ItemsOf(things));
}

}  // namespace rharness
