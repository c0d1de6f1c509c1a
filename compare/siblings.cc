// Groups of pairs, their middle and their direction.
#include "compare/siblings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "compare/sibling_direction.h"
#include "compare/sibling_shift.h"
#include "compare/stats/distributions.h"

namespace rharness {
namespace {

constexpr double kTypicalMiddle = 0.35;  // twice the largest of the published upgrades, 0.18
constexpr double kMostRoom = 3.0;
constexpr double kStandsOut = 8.0;  // times the middle of the group

// The room needed by an upgrade is known for losses with equal batches.
bool HasBatches(const CurveComparison& curve) {
  return curve.kind == CurveKind::kLoss && curve.basis == "upgrades" && curve.differing > 0;
}

// Those that a margin decides have a shift as well.
bool HasShift(const CurveComparison& curve) {
  return HasBatches(curve) || (curve.kind == CurveKind::kLoss && curve.basis == "margin" &&
                               curve.differing > 0 && curve.vacuity.empty());
}

bool IsOpen(const CurveComparison& curve) {
  return curve.state == CurveState::kUndecided && curve.open_margin > 0.0;
}

double SignTest(const SiblingGroup& group) {
  const double n = static_cast<double>(group.up + group.down);
  if (n == 0.0) return 1.0;
  const double fewer = static_cast<double>(std::min(group.up, group.down));
  return std::min(1.0, 2.0 * stats::BinomialCdf(fewer, n, 0.5));
}

bool BeginsAtOnce(const CurveComparison& curve) {
  return !curve.steps.empty() && curve.first_difference == curve.steps.front();
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// A share of the loss as people read it.
std::string Percent(double relative) { return fmt::format("{:+.2g} %", 100.0 * relative); }

// All curves of one name of a group, and their shifts.
struct Shifts {
  std::vector<const CurveComparison*> curves;
  std::vector<double> shifts;
  double margin = 0.0;  // the smallest that one of them needs
  SiblingShift together;
};

struct Group {
  SiblingGroup summary;
  SiblingDirection direction;                   // of batches
  bool one_change = true;                       // by recorded facts
  std::vector<const CurveComparison*> batches;  // distinct ones with HasBatches
  std::map<std::string, Shifts> shifts;         // by name of the curve, distinct
  bool told = false;                            // of a pair
};

class Judge {
 public:
  Judge(const std::vector<Sibling>& siblings, const std::string& noun)
      : siblings_(siblings), noun_(noun) {}

  std::vector<SiblingGroup> Run() {
    Gather();
    for (auto& [key, group] : groups_) Summarize(&group);
    // Each is judged beside the others in their original state.
    std::vector<std::pair<CurveComparison*, CurveComparison>> judged;
    for (const Sibling& sibling : siblings_) {
      for (CurveComparison& curve : sibling.comparison->curves) {
        CurveComparison changed = curve;
        if (JudgeOne(sibling, &changed)) judged.emplace_back(&curve, std::move(changed));
      }
    }
    for (auto& [curve, changed] : judged) *curve = std::move(changed);
    return Told();
  }

 private:
  void Gather();
  void Summarize(Group* group) const;
  bool JudgeOne(const Sibling& sibling, CurveComparison* curve);
  Group* BatchesOf(const Sibling& sibling);
  double RoomBeside(const Group& group, const CurveComparison& curve) const;
  bool HoldOpen(const Group& group, CurveComparison* curve) const;
  void SayWhatWouldNotShow(const Group& group, CurveComparison* curve) const;
  std::string Described(const Group& group, std::size_t count) const {
    return fmt::format("{} {}{}", count, noun_,
                       group.summary.name.empty() ? "" : " of " + group.summary.name);
  }
  void Admit(const Group& group, double room, CurveComparison* curve) const;
  bool TellByShifts(const Sibling& sibling, CurveComparison* curve);
  bool Tell(SiblingStanding standing, const Group& group, const Shifts& shifts,
            CurveComparison* curve) const;
  void NoteStandsOut(const Group& group, const CurveComparison& curve,
                     Comparison* comparison) const;
  std::string OneWayNote(const Group& all) const;
  std::vector<SiblingGroup> Told() const;

  const std::vector<Sibling>& siblings_;
  const std::string& noun_;
  std::map<std::string, Group> groups_;
};

void Judge::Gather() {
  std::set<std::pair<std::vector<double>, std::vector<double>>> seen;  // copies count once
  for (const Sibling& sibling : siblings_) {
    for (const CurveComparison& curve : sibling.comparison->curves) {
      if (!HasShift(curve)) continue;
      const bool first = seen.emplace(curve.a, curve.b).second;
      for (const Sibling::Place& place : sibling.places) {
        Group& group = groups_[place.key];
        group.summary.name = place.name;
        group.one_change = place.one_change;
        if (first && HasBatches(curve)) group.batches.push_back(&curve);
        if (!first) continue;
        Shifts& shifts = group.shifts[curve.name];
        shifts.curves.push_back(&curve);
        shifts.shifts.push_back(curve.shift);
        if (!IsOpen(curve)) continue;
        const bool smaller = shifts.margin == 0.0 || curve.open_margin < shifts.margin;
        if (smaller) shifts.margin = curve.open_margin;
      }
    }
  }
}

void Judge::Summarize(Group* group) const {
  SiblingGroup& summary = group->summary;
  std::vector<double> shares, shifts;
  std::vector<RunTrend> trends;
  for (const CurveComparison* curve : group->batches) {
    shares.push_back(curve->statistic);
    shifts.push_back(curve->shift);
    trends.push_back(TrendOf(*curve));
  }
  group->direction = DirectionOf(trends);
  summary.up = group->direction.up;
  summary.down = group->direction.down;
  summary.pairs = shares.size();
  if (!shares.empty()) {
    summary.middle = Median(std::move(shares));
    summary.middle_shift = Median(std::move(shifts));
  }
  summary.room = RoomOf(summary);
  if (summary.pairs >= kFewestSiblings && group->direction.p <= kOneWay) {
    summary.note = OneWayNote(*group);
  }
  for (auto& [name, one] : group->shifts) {
    std::vector<bool> beyond;
    for (const CurveComparison* curve : one.curves) {
      beyond.push_back(curve->state == CurveState::kBeyond);
    }
    if (one.margin > 0.0) {
      one.together = ShareShifts(one.shifts, beyond, one.margin, kFewestSiblings);
    }
  }
}

Group* Judge::BatchesOf(const Sibling& sibling) {
  for (const Sibling::Place& place : sibling.places) {
    const auto group = groups_.find(place.key);
    if (group != groups_.end() && group->second.summary.pairs >= kFewestSiblings) {
      return &group->second;
    }
  }
  return nullptr;
}

bool Judge::JudgeOne(const Sibling& sibling, CurveComparison* curve) {
  if (IsOpen(*curve)) return TellByShifts(sibling, curve);
  if (!HasBatches(*curve)) return false;
  Group* group = BatchesOf(sibling);
  if (group == nullptr) return false;
  group->told = true;
  const bool streamlike =
      curve->nature == DifferenceNature::kShifted || curve->nature == DifferenceNature::kSpike;
  NoteStandsOut(*group, *curve, sibling.comparison);
  if (curve->state == CurveState::kWithin) {
    if (HoldOpen(*group, curve)) return true;
    if (curve->nature != DifferenceNature::kNewStream || group->direction.invisible == 0.0) {
      return false;
    }
    SayWhatWouldNotShow(*group, curve);
    return true;
  }
  if (curve->state != CurveState::kBeyond || !streamlike) return false;
  const double room = RoomBeside(*group, *curve);
  if (curve->statistic > room) return false;
  Admit(*group, room, curve);
  return true;
}

// Of the others, so that nothing makes room for itself.
double Judge::RoomBeside(const Group& group, const CurveComparison& curve) const {
  SiblingGroup others;
  std::vector<double> shares;
  std::size_t beyond = 0, alike = 0, at_once = 0;
  for (const CurveComparison* one : group.batches) {
    if (one->a == curve.a && one->b == curve.b) continue;
    shares.push_back(one->statistic);
    others.up += one->shift > 0.0;
    others.down += one->shift < 0.0;
    beyond += one->state == CurveState::kBeyond;
    at_once += BeginsAtOnce(*one) == BeginsAtOnce(curve);
  }
  others.pairs = shares.size();
  if (shares.empty()) return 1.0;
  others.middle = Median(shares);
  if (group.direction.p <= kFavoursDirection) return 1.0;
  constexpr double kAlike = 4.0;  // times the middle, and a share of it
  for (const double share : shares) {
    alike += share <= kAlike * others.middle && kAlike * share >= others.middle;
  }
  const bool one_pattern = 4 * beyond <= others.pairs && 4 * alike >= 3 * others.pairs &&
                           4 * at_once >= 3 * others.pairs;
  return group.one_change || one_pattern ? RoomOf(others) : 1.0;
}

// A random stream has no direction, so the cause of a common direction is unknown.
bool Judge::HoldOpen(const Group& group, CurveComparison* curve) const {
  if (group.summary.pairs < kFewestSiblings || !MovedOneWay(group.direction)) return false;
  const double own = TrendOf(*curve).relative;
  if (own * group.direction.middle <= 0.0 || std::fabs(own) <= kRoundingFloor) return false;
  curve->state = CurveState::kUndecided;
  curve->nature = DifferenceNature::kNone;
  curve->rule += fmt::format(
      "; open where its siblings moved one way (signed-rank test at {:g}) by more than {} in the "
      "middle, and it with them",
      kFavoursDirection, Percent(kRoundingFloor));
  curve->message = fmt::format(
      "{} moved by {} on average, small enough alone for a random stream, which has no direction; "
      "but of {} {} moved up and {} down, {} in the middle (chance alone: {:.1g}).",
      curve->name, Percent(own), Described(group, group.summary.pairs), group.direction.up,
      group.direction.down, Percent(group.direction.middle), group.direction.p);
  return true;
}

void Judge::SayWhatWouldNotShow(const Group& group, CurveComparison* curve) const {
  curve->message += fmt::format(
      " {} show no common direction (p = {:.2g}); a common shift below {:.2g} % would not show.",
      Described(group, group.summary.pairs), group.direction.p, 100.0 * group.direction.invisible);
}

void Judge::Admit(const Group& group, double room, CurveComparison* curve) const {
  const SiblingGroup& summary = group.summary;
  curve->state = CurveState::kWithin;
  curve->nature = DifferenceNature::kNewStream;
  curve->first_beyond.reset();
  curve->rule += fmt::format("; with its siblings times {:.3g}", room);
  curve->message = fmt::format(
      "{} differs by {:.3g} of the limit of accepted upgrades; so do the other {}, at {:.3g} in "
      "the middle and without a direction ({} up, {} down): as another stream of random numbers "
      "does.",
      curve->name, curve->statistic, Described(group, summary.pairs), summary.middle, summary.up,
      summary.down);
  curve->statistic /= room;
}

// The nearest group with enough curves of that name.
bool Judge::TellByShifts(const Sibling& sibling, CurveComparison* curve) {
  for (const Sibling::Place& place : sibling.places) {
    Group& group = groups_.at(place.key);
    const auto found = group.shifts.find(curve->name);
    if (found == group.shifts.end() || found->second.curves.size() < kFewestSiblings) continue;
    const Shifts& shifts = found->second;
    const auto same = [&](const CurveComparison* one) {
      return one->a == curve->a && one->b == curve->b;
    };
    const auto at = std::ranges::find_if(shifts.curves, same);  // a copy stands where it does
    if (at == shifts.curves.end()) return false;
    const auto place_of = static_cast<std::size_t>(at - shifts.curves.begin());
    group.told = true;
    SiblingStanding standing =
        StandingAmongSiblings(place_of, shifts.shifts, shifts.together, shifts.margin);
    // They may be of another change: their scatter does not excuse more than its own.
    constexpr double kErrors = 3.0;
    const double own_room = std::max(
        shifts.margin, kErrors * RelativeErrorOf(*curve, curve->shift_first, curve->shift_last));
    const bool others_room = standing == SiblingStanding::kAmong && !group.one_change &&
                             shifts.together.deviation > shifts.margin &&
                             std::fabs(curve->shift) > own_room;
    if (others_room) standing = SiblingStanding::kOpen;
    return Tell(standing, group, shifts, curve);
  }
  return false;
}

bool Judge::Tell(SiblingStanding standing, const Group& group, const Shifts& shifts,
                 CurveComparison* curve) const {
  const SiblingShift& together = shifts.together;
  const std::string margin = fmt::format("{:.2g} %", 100.0 * shifts.margin);
  const std::string others =
      fmt::format("{} moved by {} on average [{}, {}]", Described(group, together.curves),
                  Percent(together.mean), Percent(together.low), Percent(together.high));
  const std::string own = fmt::format("{} (steps {} to {})", Percent(curve->shift),
                                      curve->shift_first, curve->shift_last);
  if (standing == SiblingStanding::kOpen) return false;
  curve->rule += fmt::format(
      "; of one that scatters too much for that, the mean shift of its siblings by equivalence "
      "(5 %) or difference (1 %) beside the margin of {}, and its own beside theirs (1 % over all)",
      margin);
  if (standing == SiblingStanding::kAmong) {
    curve->state = CurveState::kWithin;
    const bool from_start = !curve->steps.empty() && curve->first_difference == curve->steps[0];
    if (from_start) curve->nature = DifferenceNature::kNewStream;
    curve->message = fmt::format(
        "{} scatters too much to be decided alone, and its siblings decide: {}, shown to be within "
        "the margin of {}, and it by {}, no farther than they do.",
        curve->name, others, margin, own);
    return true;
  }
  curve->state = CurveState::kBeyond;
  curve->nature = DifferenceNature::kShifted;
  curve->first_beyond = curve->shift_first;
  curve->message =
      standing == SiblingStanding::kWith
          ? fmt::format("{} moved by {} with its siblings: {}, beyond the margin of {}.",
                        curve->name, own, others, margin)
          : fmt::format("{} moved by {}, apart from its siblings: {}.", curve->name, own, others);
  return true;
}

void Judge::NoteStandsOut(const Group& group, const CurveComparison& curve,
                          Comparison* comparison) const {
  const SiblingGroup& summary = group.summary;
  if (curve.state != CurveState::kWithin || summary.middle <= 0.0) return;
  if (curve.statistic < kStandsOut * summary.middle) return;
  comparison->findings.push_back(
      {.code = "stands_out",
       .layer = {},
       .subject = "curve " + curve.name,
       .observed = fmt::format("{:.3g} of the limit", curve.statistic),
       .limit = fmt::format("{:.3g} in the middle", summary.middle),
       .rule = fmt::format("{} that one change made move about as far as each other", noun_),
       .message = fmt::format(
           "{} moved {:.2g} times as far as the middle of {} (shift {}, theirs {}): within its "
           "limit, and worth a look",
           curve.name, curve.statistic / summary.middle, Described(group, summary.pairs),
           Percent(curve.shift), Percent(summary.middle_shift))});
}

std::string Judge::OneWayNote(const Group& all) const {
  const SiblingGroup& group = all.summary;
  const bool up = group.up > group.down;
  return fmt::format(
      "{} of {} {}{} that differ moved {} (middle {}; chance alone: {:.1g}): one direction, as a "
      "change of arithmetic with a bias or a change of the training makes it, and noise does not",
      std::max(group.up, group.down), group.pairs, noun_,
      group.name.empty() ? "" : " of " + group.name, up ? "up" : "down",
      Percent(all.direction.middle), all.direction.p);
}

// A wider group of the same curves adds nothing.
std::vector<SiblingGroup> Judge::Told() const {
  std::vector<SiblingGroup> told;
  std::set<std::vector<const CurveComparison*>> seen;
  for (const bool by_told : {true, false}) {
    for (const auto& [key, group] : groups_) {
      if (group.told != by_told || (!group.told && group.summary.note.empty())) continue;
      if (seen.insert(group.batches).second || group.batches.empty()) {
        told.push_back(group.summary);
      }
    }
  }
  return told;
}

}  // namespace

double RoomOf(const SiblingGroup& group) {
  if (group.pairs < kFewestSiblings || SignTest(group) < kFavoursDirection) return 1.0;
  return std::clamp(group.middle / kTypicalMiddle, 1.0, kMostRoom);
}

std::vector<SiblingGroup> JudgeSiblings(const std::vector<Sibling>& siblings,
                                        const std::string& noun) {
  return Judge(siblings, noun).Run();
}

}  // namespace rharness
