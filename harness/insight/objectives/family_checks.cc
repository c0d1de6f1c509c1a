// What a family keeps, and in which words; see family_checks.h.
#include "harness/insight/objectives/family_checks.h"

#include <fmt/format.h>

#include <cmath>

#include "compare/stats/proportions.h"
#include "reports/objectives_words.h"
#include "reports/text.h"

namespace rharness {
namespace {

// An alarm of 28 days, stretched to a period of another length.
BudgetAlarm AlarmOf(std::string name, const BurnAlarm& alarm, double period_days, bool page,
                    const BurnDecision& decision, const VerdictCounts& window) {
  const double stretch = period_days * 24.0 / kBurnPeriodHours;
  return {.name = std::move(name),
          .long_hours = alarm.long_hours * stretch,
          .short_hours = alarm.short_hours * stretch,
          .threshold = decision.threshold,
          .long_burn = decision.long_burn,
          .short_burn = decision.short_burn,
          .long_checks = window.good + window.bad,
          .page = page,
          .fires = decision.fires};
}

// Three digits, or all of a larger number.
std::string Short(double value) {
  return value >= 100.0 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string Percent(double share) { return fmt::format("{:.4g} %", 100.0 * share); }

std::string BudgetSentence(const FamilyObjectives& family, double asked) {
  const std::int64_t conclusive = family.good + family.bad;
  const double allowed = (1.0 - asked) * static_cast<double>(conclusive);
  return fmt::format(
      "{} of {} reproduced in {:g} days ({}), {} is required: {} did not; the budget is {}",
      family.good, Counted(static_cast<std::uint64_t>(conclusive), "run"), family.period_days,
      Percent(*family.rate), Percent(asked), family.bad, Short(allowed));
}

ObjectiveCheck CheckReproducible(double asked, const FamilyObjectives& family) {
  ObjectiveCheck check{.name = "reproducible", .limit = asked, .value = family.rate};
  if (!family.rate) {
    check.words = fmt::format("no run got a conclusive verdict in {:g} days", family.period_days);
    return check;
  }
  check.words = BudgetSentence(family, asked);
  for (const BudgetAlarm& alarm : family.alarms) {
    if (!alarm.fires) continue;
    check.state = ObjectiveState::kBurning;
    check.words += fmt::format("; over {} h the budget burns {} times as fast as it lasts",
                               Short(alarm.long_hours), Short(alarm.long_burn));
    return check;
  }
  check.state = *family.budget_left < 0.0 ? ObjectiveState::kMissed : ObjectiveState::kMet;
  return check;
}

ObjectiveCheck CheckShare(std::string name, double most, std::int64_t part, std::int64_t all,
                          std::string_view what, std::string_view none) {
  ObjectiveCheck check{.name = std::move(name), .limit = most};
  if (all == 0) {
    check.words = none;
    return check;
  }
  check.value = static_cast<double>(part) / static_cast<double>(all);
  check.state = *check.value > most ? ObjectiveState::kMissed : ObjectiveState::kMet;
  check.words = fmt::format("{} of {} {} ({}), {} may", part, all, what, Percent(*check.value),
                            Percent(most));
  return check;
}

ObjectiveCheck CheckStale(double days, const FamilyObjectives& family) {
  ObjectiveCheck check{.name = "stale", .limit = days, .value = family.oldest_days};
  check.state = family.waiting > 0 ? ObjectiveState::kMissed : ObjectiveState::kMet;
  check.words =
      family.waiting == 0
          ? fmt::format("no run has waited longer than {:g} days to be compared", days)
          : fmt::format("{} of {} {} waited longer than {:g} days to be compared, {}{}",
                        family.waiting, Counted(static_cast<std::uint64_t>(family.runs), "run"),
                        family.waiting == 1 ? "has" : "have", days,
                        family.waiting == 1 ? "" : "one of them ", DaysWords(family.oldest_days));
  return check;
}

}  // namespace

void FillRate(FamilyObjectives* family) {
  const auto rollbacks = RateOf({static_cast<int>(family->rollbacks_held),
                                 static_cast<int>(family->rollbacks - family->rollbacks_held),
                                 static_cast<int>(family->rollbacks_open)},
                                0.0);
  if (rollbacks.ok()) {
    family->rollback_rate = rollbacks->rate;
    family->rollback_low = rollbacks->wilson.low;
    family->rollback_high = rollbacks->wilson.high;
  }
  const auto rate = RateOf({static_cast<int>(family->good), static_cast<int>(family->bad),
                            static_cast<int>(family->open)},
                           0.0);
  if (!rate.ok()) return;  // no conclusive run
  family->rate = rate->rate;
  family->rate_low = rate->wilson.low;
  family->rate_high = rate->wilson.high;
  family->worst_case = rate->worst_case_rate;
}

Status CheckFamily(const Objective& objective, const AlarmWindows& windows,
                   FamilyObjectives* family) {
  if (objective.reproducible) {
    const double asked = *objective.reproducible;
    ASSIGN_OR_RETURN(const BurnDecision fast,
                     DecideBurn(kPageAlarm, asked, windows.day, windows.hours));
    ASSIGN_OR_RETURN(const BurnDecision slow,
                     DecideBurn(kTicketAlarm, asked, windows.week, windows.day));
    family->alarms = {
        AlarmOf("fast", kPageAlarm, objective.period_days, objective.page, fast, windows.day),
        AlarmOf("slow", kTicketAlarm, objective.period_days, false, slow, windows.week)};
    if (family->rate) family->budget_left = 1.0 - (1.0 - *family->rate) / (1.0 - asked);
    family->checks.push_back(CheckReproducible(asked, *family));
  }
  if (objective.inconclusive) {
    family->checks.push_back(
        CheckShare("inconclusive", *objective.inconclusive, family->open,
                   family->good + family->bad + family->open, "judged runs were left open",
                   fmt::format("no run was judged in {:g} days", objective.period_days)));
  }
  if (objective.flaky) {
    family->checks.push_back(
        CheckShare("flaky", *objective.flaky, family->flipped, family->checked_twice,
                   "runs that were judged twice or more did and did not reproduce",
                   fmt::format("no run was judged twice in {:g} days", objective.period_days)));
  }
  if (objective.stale_days) family->checks.push_back(CheckStale(*objective.stale_days, *family));
  return {};
}

std::vector<std::string> FindIdlePages(const Policy& policy) {
  const double needed =
      stats::BurnRateThreshold(kPageAlarm.budget_fraction, kPageAlarm.long_hours, kBurnPeriodHours);
  std::vector<std::string> notes;
  for (const Objective& one : policy.objectives) {
    if (!one.page) continue;
    if (!one.reproducible) {
      notes.push_back(fmt::format(
          "{}: alert: page without reproducible: a page comes of that alone", one.where));
    } else if (1.0 <= needed * (1.0 - *one.reproducible)) {
      notes.push_back(fmt::format(
          "{}: no page can come of reproducible: {:g}, for where no run reproduces the budget "
          "burns {:.3g} times as fast as it lasts, and a page needs more than {:.3g} times; ask "
          "for more than {:.3f}, or for alert: ticket",
          one.where, *one.reproducible, 1.0 / (1.0 - *one.reproducible), needed,
          1.0 - 1.0 / needed));
    }
  }
  return notes;
}

}  // namespace rharness
