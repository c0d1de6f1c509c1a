// States of objectives, shares and times in words; see objectives_words.h.
#include "reports/objectives_words.h"

#include <fmt/format.h>

namespace rharness {

std::string_view ObjectiveStateName(ObjectiveState state) {
  switch (state) {
    case ObjectiveState::kMet:
      return "met";
    case ObjectiveState::kMissed:
      return "missed";
    case ObjectiveState::kBurning:
      return "burning";
    case ObjectiveState::kUnknown:
      break;
  }
  return "unknown";
}

ObjectiveState FamilyObjectives::state() const {
  ObjectiveState worst = ObjectiveState::kMet;
  const auto rank = [](ObjectiveState state) {
    switch (state) {
      case ObjectiveState::kMet:
        return 0;
      case ObjectiveState::kUnknown:
        return 1;
      case ObjectiveState::kMissed:
        return 2;
      case ObjectiveState::kBurning:
        break;
    }
    return 3;
  };
  for (const ObjectiveCheck& check : checks) {
    if (rank(check.state) > rank(worst)) worst = check.state;
  }
  return worst;
}

Verdict VerdictOf(ObjectiveState state) {
  switch (state) {
    case ObjectiveState::kMet:
      return Verdict::kIdentical;
    case ObjectiveState::kMissed:
    case ObjectiveState::kBurning:
      return Verdict::kDrifted;
    case ObjectiveState::kUnknown:
      break;
  }
  return Verdict::kInconclusive;
}

std::string ObjectiveBadge(ObjectiveState state) {
  const std::string_view sign = state == ObjectiveState::kMet       ? "✓"
                                : state == ObjectiveState::kUnknown ? "?"
                                : state == ObjectiveState::kBurning ? "!"
                                                                    : "✗";
  return fmt::format("{} {}", sign, ObjectiveStateName(state));
}

std::string RateWords(const FamilyObjectives& family) {
  if (!family.rate) return "-";
  return fmt::format("{:.4g} % ({:.3g} to {:.3g})", 100.0 * *family.rate, 100.0 * family.rate_low,
                     100.0 * family.rate_high);
}

std::string BudgetWords(const FamilyObjectives& family) {
  if (!family.budget_left) return "-";
  if (*family.budget_left < 0.0) return fmt::format("{:.0f} % over", -100.0 * *family.budget_left);
  return fmt::format("{:.0f} % left", 100.0 * *family.budget_left);
}

std::string ShareWords(std::int64_t part, std::int64_t all) {
  return all == 0 ? "-" : fmt::format("{} of {}", part, all);
}

std::string ShareWords(const ShareIndicator& share) {
  if (share.all == 0) return "-";
  return fmt::format("{} of {} ({:.3g} to {:.3g} %)", share.part, share.all, 100.0 * share.low,
                     100.0 * share.high);
}

std::string RollbackRateWords(const FamilyObjectives& family) {
  std::string words;
  if (family.rollback_rate) {
    words =
        fmt::format("{:.4g} % of {} ({:.3g} to {:.3g})", 100.0 * *family.rollback_rate,
                    family.rollbacks, 100.0 * family.rollback_low, 100.0 * family.rollback_high);
  }
  if (family.rollbacks_open > 0) {
    words += fmt::format("{}{} open", words.empty() ? "" : ", ", family.rollbacks_open);
  }
  return words.empty() ? "-" : words;
}

std::string DaysWords(double days) {
  if (days >= 1.0) return fmt::format("{:.0f} d", days);
  return fmt::format("{:.0f} h", 24.0 * days);
}

std::string RuntimeWords(const FamilyObjectives& family) {
  if (family.reruns == 0) return "-";
  std::string words = fmt::format("{:.3g} times the recorded time", family.mean_ratio);
  if (family.ratio_sd) {
    words += fmt::format(" (standard deviation {:.2g}, which lies between {:.2g} and {:.2g})",
                         *family.ratio_sd, family.ratio_sd_low, family.ratio_sd_high);
  }
  return words;
}

}  // namespace rharness
