// Groups of pairs, their middle and their direction.
#include "compare/siblings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "compare/stats/distributions.h"

namespace rharness {
namespace {

constexpr double kTypicalMiddle = 0.35;  // twice the largest of the published upgrades, 0.18
constexpr double kMostRoom = 3.0;
constexpr double kOneWay = 1e-4;  // of the sign test
constexpr double kFavoursDirection = 0.05;
constexpr double kStandsOut = 8.0;  // times the middle of the group

struct Sibling {
  Comparison* comparison = nullptr;
  CurveComparison* curve = nullptr;
};
using Group = std::vector<Sibling>;

bool Counts(const CurveComparison& curve) {
  return curve.kind == CurveKind::kLoss && curve.basis == "upgrades" && curve.differing > 0;
}

std::string GroupName(const std::string& pair) {
  return pair.substr(0, std::min(pair.find("__"), pair.find('/')));
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Distinct pairs of each group that is large enough, and all of them under "".
std::map<std::string, Group> GroupsOf(const std::vector<Comparison*>& comparisons) {
  std::map<std::string, Group> groups;
  std::set<std::pair<std::vector<double>, std::vector<double>>> seen;
  for (Comparison* comparison : comparisons) {
    for (CurveComparison& curve : comparison->curves) {
      if (!Counts(curve) || !seen.emplace(curve.a, curve.b).second) continue;
      groups[""].push_back({comparison, &curve});
      const std::string name = GroupName(comparison->name);
      if (!name.empty()) groups[name].push_back({comparison, &curve});
    }
  }
  std::erase_if(groups, [](const auto& group) { return group.second.size() < kFewestSiblings; });
  return groups;
}

SiblingGroup Summarize(const std::string& name, const Group& group) {
  SiblingGroup summary{.name = name, .pairs = group.size()};
  std::vector<double> shares, shifts;
  for (const Sibling& sibling : group) {
    shares.push_back(sibling.curve->statistic);
    shifts.push_back(sibling.curve->shift);
    summary.up += sibling.curve->shift > 0.0;
    summary.down += sibling.curve->shift < 0.0;
  }
  summary.middle = Median(std::move(shares));
  summary.middle_shift = Median(std::move(shifts));
  return summary;
}

double SignTest(const SiblingGroup& group) {
  const double n = static_cast<double>(group.up + group.down);
  if (n == 0.0) return 1.0;
  const double fewer = static_cast<double>(std::min(group.up, group.down));
  return std::min(1.0, 2.0 * stats::BinomialCdf(fewer, n, 0.5));
}

std::string Described(const SiblingGroup& group) {
  return fmt::format("{} pairs{}", group.pairs, group.name.empty() ? "" : " of " + group.name);
}

// A share of the loss as people read it.
std::string Percent(double relative) { return fmt::format("{:+.2g} %", 100.0 * relative); }

void Admit(const SiblingGroup& group, double room, CurveComparison* curve) {
  curve->state = CurveState::kWithin;
  curve->nature = DifferenceNature::kNewStream;
  curve->first_beyond.reset();
  curve->rule += fmt::format("; with its siblings times {:.3g}", room);
  curve->message = fmt::format(
      "{} differs by {:.3g} of the limit of accepted upgrades; so do the other {}, at {:.3g} in "
      "the "
      "middle and without a direction ({} up, {} down): as another stream of random numbers does.",
      curve->name, curve->statistic, Described(group), group.middle, group.up, group.down);
  curve->statistic /= room;
}

void NoteStandsOut(const SiblingGroup& group, const Sibling& sibling) {
  const CurveComparison& curve = *sibling.curve;
  if (curve.state != CurveState::kWithin || group.middle <= 0.0) return;
  if (curve.statistic < kStandsOut * group.middle) return;
  sibling.comparison->findings.push_back(
      {.code = "stands_out",
       .layer = {},
       .subject = "curve " + curve.name,
       .observed = fmt::format("{:.3g} of the limit", curve.statistic),
       .limit = fmt::format("{:.3g} in the middle", group.middle),
       .rule = "pairs that one change made move about as far as each other",
       .message = fmt::format(
           "{} moved {:.2g} times as far as the middle of {} (shift {}, theirs {}): within its "
           "limit, and worth a look",
           curve.name, curve.statistic / group.middle, Described(group), Percent(curve.shift),
           Percent(group.middle_shift))});
}

std::string OneWayNote(const SiblingGroup& group) {
  const bool up = group.up > group.down;
  return fmt::format(
      "{} of {} that differ moved {} (middle {}; chance alone: {:.1g}): one direction, as a change "
      "of arithmetic with a bias or a change of the training makes it, and noise does not",
      std::max(group.up, group.down), Described(group), up ? "up" : "down",
      Percent(group.middle_shift), SignTest(group));
}

}  // namespace

double RoomOf(const SiblingGroup& group) {
  if (group.pairs < kFewestSiblings || SignTest(group) < kFavoursDirection) return 1.0;
  return std::clamp(group.middle / kTypicalMiddle, 1.0, kMostRoom);
}

std::vector<std::string> JudgeSiblings(const std::vector<Comparison*>& comparisons) {
  const std::map<std::string, Group> groups = GroupsOf(comparisons);
  std::map<std::string, SiblingGroup> summaries;
  std::vector<std::string> notes;
  for (const auto& [name, group] : groups) {
    const SiblingGroup& summary = summaries[name] = Summarize(name, group);
    if (SignTest(summary) < kOneWay) notes.push_back(OneWayNote(summary));
  }
  for (Comparison* comparison : comparisons) {
    auto found = summaries.find(GroupName(comparison->name));
    if (found == summaries.end()) found = summaries.find("");
    if (found == summaries.end()) continue;
    const SiblingGroup& group = found->second;
    const double room = RoomOf(group);
    for (CurveComparison& curve : comparison->curves) {
      if (!Counts(curve)) continue;
      const bool streamlike =
          curve.nature == DifferenceNature::kShifted || curve.nature == DifferenceNature::kSpike;
      if (curve.state == CurveState::kBeyond && streamlike && curve.statistic <= room) {
        Admit(group, room, &curve);
      }
      NoteStandsOut(group, {comparison, &curve});
    }
  }
  return notes;
}

}  // namespace rharness
