// Combines the counts of windows, family by family; see objectives.h.
#include "harness/insight/objectives/objectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "compare/stats/distributions.h"
#include "compare/stats/proportions.h"
#include "harness/insight/objectives/family_checks.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr double kDefaultPeriodDays = 28.0;
constexpr std::size_t kMostBroken = 100;
constexpr double kDay = 24.0 * 3600.0 * 1000.0;  // ms

WallTime Before(WallTime now, double days) {
  return now - std::chrono::milliseconds(static_cast<std::int64_t>(days * kDay));
}

double DaysSince(WallTime then, WallTime now) {
  return std::max(0.0, static_cast<double>((now - then).count()) / kDay);
}

using Tallies = std::map<std::string, std::vector<VerdictTally>>;  // by family

// The windows of one length of period, each read once.
struct Period {
  Tallies whole;
  Tallies week;
  Tallies day;
  Tallies hours;
  std::map<std::string, FlakeTally> flakes;
  std::map<std::string, RuntimeTally> runtimes;
  std::map<std::string, MeasureTally> measures;
  std::map<std::string, RollbackTally> rollbacks;
};

Tallies ByFamily(std::vector<VerdictTally> tallies) {
  Tallies by_family;
  for (VerdictTally& one : tallies) by_family[one.family].push_back(std::move(one));
  return by_family;
}

Result<Period> PeriodOf(HistoryStore* history, WallTime now, double days) {
  const double hour = days / kBurnPeriodHours;                // of a period of 28 days an hour
  const WallTime until = now + std::chrono::milliseconds(1);  // includes verdicts of this moment
  ASSIGN_OR_RETURN(auto windows, history->TallyWindows({Before(now, days),
                                                        Before(now, kTicketAlarm.long_hours * hour),
                                                        Before(now, kPageAlarm.long_hours * hour),
                                                        Before(now, kPageAlarm.short_hours * hour)},
                                                       until));
  Period period{.whole = ByFamily(std::move(windows[0])),
                .week = ByFamily(std::move(windows[1])),
                .day = ByFamily(std::move(windows[2])),
                .hours = ByFamily(std::move(windows[3]))};
  ASSIGN_OR_RETURN(auto flakes, history->TallyFlakes(Before(now, days), until));
  for (FlakeTally& one : flakes) period.flakes[one.family] = std::move(one);
  ASSIGN_OR_RETURN(auto runtimes, history->TallyRuntimes(Before(now, days), until));
  for (RuntimeTally& one : runtimes) period.runtimes[one.family] = std::move(one);
  ASSIGN_OR_RETURN(auto measures, history->TallyMeasures(Before(now, days), until));
  for (MeasureTally& one : measures) period.measures[one.family] = std::move(one);
  ASSIGN_OR_RETURN(auto rollbacks,
                   history->TallyRollbacks(Before(now, days), now + std::chrono::milliseconds(1)));
  for (RollbackTally& one : rollbacks) period.rollbacks[one.family] = std::move(one);
  return period;
}

VerdictCounts CountsOf(const Tallies& tallies, const std::string& family) {
  VerdictCounts counts;
  const auto found = tallies.find(family);
  if (found == tallies.end()) return counts;
  for (const VerdictTally& one : found->second) {
    const auto runs = static_cast<int>(std::min<std::int64_t>(one.runs, 1'000'000'000));
    const Standing standing = StandingOf(one.verdict);
    (standing == Standing::kGood  ? counts.good
     : standing == Standing::kBad ? counts.bad
                                  : counts.inconclusive) += runs;
  }
  return counts;
}

ShareIndicator ShareOf(std::int64_t part, std::int64_t all) {
  ShareIndicator share{.part = part, .all = all};
  if (all == 0) return share;
  const stats::Interval wilson =
      stats::Wilson(static_cast<double>(part), static_cast<double>(all), 0.05);
  share.low = wilson.low;
  share.high = wilson.high;
  return share;
}

void FillRuntimes(const RuntimeTally& tally, FamilyObjectives* family) {
  family->reruns = tally.reruns;
  family->mean_seconds = tally.wall_seconds / static_cast<double>(tally.reruns);
  family->mean_ratio = tally.mean_ratio;
  family->seconds_to_verdict =
      tally.wall_seconds / static_cast<double>(std::max<std::int64_t>(tally.verdicts, 1));
  family->ratio_sd = tally.ratio_sd;
  if (!tally.ratio_sd) return;
  // Of a variance of normal values; (n - 1) s^2 / sigma^2 is chi-squared.
  const auto df = static_cast<double>(tally.reruns - 1);
  family->ratio_sd_low = *tally.ratio_sd * std::sqrt(df / stats::ChiSquaredQuantile(0.975, df));
  family->ratio_sd_high = *tally.ratio_sd * std::sqrt(df / stats::ChiSquaredQuantile(0.025, df));
}

void FillMeasures(const Period& period, FamilyObjectives* family) {
  const auto found = period.measures.find(family->family);
  if (found == period.measures.end()) return;
  const MeasureTally& tally = found->second;
  family->weights = tally.weights;
  family->weights_equal = tally.weights_equal;
  family->metrics = tally.metrics;
  if (tally.metrics > 0) {
    family->spread = std::sqrt(tally.margins_squared / static_cast<double>(tally.metrics));
  }
  family->looked_at = tally.looked_at;
  family->warned = tally.warned;
  family->data = tally.data;
  family->data_had = tally.data_had;
  family->records = tally.records;
  family->records_whole = tally.admitted;
}

void FillRollbacks(const Period& period, FamilyObjectives* family) {
  const auto found = period.rollbacks.find(family->family);
  if (found == period.rollbacks.end()) return;
  const RollbackTally& tally = found->second;
  family->rollbacks = tally.held + tally.lost;
  family->rollbacks_held = tally.held;
  family->rollbacks_open = tally.runs - tally.held - tally.lost;
}

void FillVerdicts(const Period& period, FamilyObjectives* family) {
  const VerdictCounts counts = CountsOf(period.whole, family->family);
  family->good = counts.good;
  family->bad = counts.bad;
  family->open = counts.inconclusive;
  std::int64_t attested = 0;
  if (const auto found = period.whole.find(family->family); found != period.whole.end()) {
    for (const VerdictTally& one : found->second) {
      family->checked_twice += one.checked_twice;
      family->flipped += one.flipped;
      attested += one.attested;
      if (one.verdict == Verdict::kIdentical) family->identical += one.runs;
      if (one.declared == "bitwise") family->violations += one.drifted;
    }
  }
  family->attested = ShareOf(attested, family->good + family->bad + family->open);
  if (const auto found = period.flakes.find(family->family); found != period.flakes.end()) {
    family->flakes = ShareOf(found->second.flaked, found->second.unchanged);
  }
  if (const auto found = period.runtimes.find(family->family); found != period.runtimes.end()) {
    FillRuntimes(found->second, family);
  }
  FillMeasures(period, family);
  FillRollbacks(period, family);
  FillRate(family);
}

// Whatever the history is asked once for all families.
class Measuring {
 public:
  Measuring(HistoryStore* history, const Policy& policy, WallTime now)
      : history_(history), policy_(policy), now_(now) {}

  Result<std::vector<FamilyObjectives>> Measure() {
    ASSIGN_OR_RETURN(const auto waiting, history_->TallyWaiting(now_));
    ASSIGN_OR_RETURN(const auto rebuilds, history_->TallyRebuilds());
    for (const RebuildTally& one : rebuilds) {
      if (one.state == PartState::kHad) rebuilds_[one.family].first = one.runs;
      if (one.state == PartState::kGone) rebuilds_[one.family].second = one.runs;
    }
    std::vector<FamilyObjectives> families;
    for (const WaitingTally& one : waiting) {
      ASSIGN_OR_RETURN(FamilyObjectives family, Family(one));
      families.push_back(std::move(family));
    }
    return families;
  }

 private:
  Result<FamilyObjectives> Family(const WaitingTally& waiting) {
    const Objective* objective = policy_.FindObjective(waiting.family);
    FamilyObjectives family{.family = waiting.family,
                            .period_days = objective ? objective->period_days : kDefaultPeriodDays,
                            .runs = waiting.runs,
                            .never = waiting.never,
                            .oldest_days = DaysSince(waiting.oldest, now_)};
    if (const auto found = rebuilds_.find(family.family); found != rebuilds_.end()) {
      std::tie(family.had, family.gone) = found->second;
    }
    ASSIGN_OR_RETURN(const Period* period, Of(family.period_days));
    FillVerdicts(*period, &family);
    if (objective == nullptr) return family;
    family.owner = objective->owner;
    family.where = objective->where;
    if (objective->stale_days) {
      ASSIGN_OR_RETURN(family.waiting, Waiting(*objective->stale_days, family.family));
    }
    const AlarmWindows windows{.week = CountsOf(period->week, family.family),
                               .day = CountsOf(period->day, family.family),
                               .hours = CountsOf(period->hours, family.family)};
    RETURN_IF_ERROR(CheckFamily(*objective, windows, &family));
    return family;
  }

  Result<const Period*> Of(double days) {
    auto found = periods_.find(days);
    if (found == periods_.end()) {
      ASSIGN_OR_RETURN(Period period, PeriodOf(history_, now_, days));
      found = periods_.emplace(days, std::move(period)).first;
    }
    return &found->second;
  }

  Result<std::int64_t> Waiting(double days, const std::string& family) {
    auto found = waiting_.find(days);
    if (found == waiting_.end()) {
      ASSIGN_OR_RETURN(const auto tallies, history_->TallyWaiting(Before(now_, days)));
      std::map<std::string, std::int64_t> by_family;
      for (const WaitingTally& one : tallies) by_family[one.family] = one.waiting;
      found = waiting_.emplace(days, std::move(by_family)).first;
    }
    const auto at = found->second.find(family);
    return at == found->second.end() ? 0 : at->second;
  }

  HistoryStore* history_;
  const Policy& policy_;
  WallTime now_;
  std::map<double, Period> periods_;                                       // by days
  std::map<double, std::map<std::string, std::int64_t>> waiting_;          // by days, family
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> rebuilds_;  // had, gone
};

int RankOf(const FamilyObjectives& family) {
  if (family.checks.empty()) return 4;
  switch (family.state()) {
    case ObjectiveState::kBurning:
      return 0;
    case ObjectiveState::kMissed:
      return 1;
    case ObjectiveState::kUnknown:
      return 2;
    case ObjectiveState::kMet:
      break;
  }
  return 3;
}

// Objectives that no family has: a slip in a name would else be met for ever. What is left for all
// others has no name.
std::vector<std::string> FindIdleObjectives(const Policy& policy,
                                            const std::vector<FamilyObjectives>& families) {
  std::vector<std::string> notes;
  for (const Objective& one : policy.objectives) {
    const bool has_one = std::ranges::any_of(families, [&](const FamilyObjectives& family) {
      return family.where == one.where && policy.FindObjective(family.family) == &one;
    });
    if (has_one || one.families == "*") continue;
    notes.push_back(fmt::format(
        "{}: no family of the history has the objective of '{}': none matches it, or those that do "
        "have an earlier one",
        one.where, one.families));
  }
  return notes;
}

std::string NamesOf(const std::vector<FamilyObjectives>& families, ObjectiveState state) {
  constexpr std::size_t kMostNames = 3;
  std::string names;
  std::size_t count = 0;
  for (const FamilyObjectives& family : families) {
    if (family.checks.empty() || family.state() != state) continue;
    if (count++ < kMostNames) names += (names.empty() ? "" : ", ") + family.family;
  }
  return count > kMostNames ? fmt::format("{} and {} more", names, count - kMostNames) : names;
}

void Conclude(ObjectivesReport* report) {
  const auto count = [&](ObjectiveState state) {
    return std::ranges::count_if(report->families, [&](const FamilyObjectives& family) {
      return !family.checks.empty() && family.state() == state;
    });
  };
  const auto asked = std::ranges::count_if(
      report->families, [](const FamilyObjectives& family) { return !family.checks.empty(); });
  if (report->families.empty()) {
    report->headline = "The history has no runs, so there is nothing to measure.";
    report->next = "add recorded runs: rharness history add";
    return;
  }
  if (asked == 0) {
    report->headline = report->families.size() == 1
                           ? std::string("1 family, and no objective for it.")
                           : fmt::format("{} families, and no objective for any of them.",
                                         report->families.size());
    report->next =
        "write objectives into a policy (rharness policy --help) and name it with --policy";
    return;
  }
  const auto burning = count(ObjectiveState::kBurning);
  const auto missed = count(ObjectiveState::kMissed);
  const auto unknown = count(ObjectiveState::kUnknown);
  if (burning + missed > 0) {
    const ObjectiveState worst = burning > 0 ? ObjectiveState::kBurning : ObjectiveState::kMissed;
    report->exit_code = 1;
    const std::string misses =
        asked == 1 ? std::string("The one family with objectives misses them")
                   : fmt::format("{} of {} families with objectives {} them", burning + missed,
                                 asked, burning + missed == 1 ? "misses" : "miss");
    const std::string burn = asked == 1 ? std::string(" and burns its budget now")
                                        : fmt::format(", {} {} budget now", burning,
                                                      burning == 1 ? "burns its" : "burn their");
    report->headline = fmt::format("{}{}: {}.", misses, burning > 0 ? burn : std::string(),
                                   NamesOf(report->families, worst));
    report->next = "rharness history show FAMILY: since when, and what changed";
    return;
  }
  report->exit_code = unknown > 0 ? 3 : 0;
  if (unknown == 0) {
    report->headline = asked == 1
                           ? std::string("The one family with objectives keeps them.")
                           : fmt::format("All {} families with objectives keep them.", asked);
    return;
  }
  const std::string names = NamesOf(report->families, ObjectiveState::kUnknown);
  report->headline =
      asked == 1
          ? fmt::format("It is not known whether the one family with objectives keeps them: {}.",
                        names)
          : fmt::format("Of {} of {} families with objectives it is not known whether {}: {}.",
                        unknown, asked, unknown == 1 ? "it keeps them" : "they keep them", names);
  report->next = "drill them: rharness drill --select \"family = NAME\"";
}

// Objectives meant for somebody apply to nobody.
void TellIdle(ObjectivesReport* report) {
  if (report->notes.empty() || report->exit_code != 0) return;
  report->exit_code = 3;
  const std::size_t idle = report->notes.size();
  report->headline += fmt::format(" {} of the policy {} for no family of this history.",
                                  Counted(idle, "objective"), idle == 1 ? "is" : "are");
  report->next = "correct or remove the entries that the notes name, so that nobody relies on them";
}

}  // namespace

Result<ObjectivesReport> MeasureObjectives(HistoryStore* history, const Policy& policy,
                                           WallTime now) {
  ObjectivesReport report;
  report.at = now;
  Measuring measuring(history, policy, now);
  ASSIGN_OR_RETURN(report.families, measuring.Measure());
  std::ranges::stable_sort(report.families, {}, RankOf);
  report.notes = FindIdleObjectives(policy, report.families);
  ASSIGN_OR_RETURN(const auto broken, history->LastBad(kMostBroken));
  for (const HistoryEntry& entry : broken) {
    const Objective* objective = policy.FindObjective(entry.family);
    report.broken.push_back({.run_id = entry.run_id,
                             .family = entry.family,
                             .owner = objective == nullptr ? "" : objective->owner,
                             .verdict = entry.last_verdict.value_or(Verdict::kFailed)});
  }
  Conclude(&report);
  TellIdle(&report);
  for (std::string& note : FindIdlePages(policy)) report.notes.push_back(std::move(note));
  return report;
}

}  // namespace rharness
