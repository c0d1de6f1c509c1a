// Sentences of trends; see trends_words.h.
#include "reports/trends_words.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <vector>

#include "reports/text.h"

namespace rharness {
namespace {

// The end of a sentence, with the number left out.
std::string NeverSeenWords(const TrendSurvival& survival) {
  if (survival.never_seen == 0) return ".";
  return fmt::format(". {} that never reproduced since {} first judged {} left out.",
                     Counted(static_cast<std::uint64_t>(survival.never_seen), "run"),
                     survival.never_seen == 1 ? "it was" : "they were",
                     survival.never_seen == 1 ? "is" : "are");
}

}  // namespace

std::string TrendRateWords(const TrendCounts& counts) {
  if (!counts.rate) return "-";
  return fmt::format("{:.4g} % ({:.3g} to {:.3g})", 100.0 * *counts.rate, 100.0 * counts.low,
                     100.0 * counts.high);
}

std::string LastWeekWords(const TrendSeries& series, WallTime at) {
  if (series.weeks.empty()) return "-";
  const TrendCounts& last = series.weeks.back().counts;
  const auto ago = (at - series.weeks.back().start) / std::chrono::hours(7 * 24);
  return fmt::format("{} of {}", last.good, last.good + last.bad) +
         (ago > 0 ? fmt::format(", {} ago", Counted(static_cast<std::uint64_t>(ago), "week")) : "");
}

std::string CoincidenceWords(const TrendCoincidence& one) {
  std::string words =
      fmt::format("coincides with {}: {} -> {} (in {} of {} judged before, {} of {} after)",
                  one.what, SafeText(one.before, 150), SafeText(one.after, 150), one.before_runs,
                  one.before_all, one.after_runs, one.after_all);
  if (!one.detail.empty()) words += ": " + SafeText(one.detail, 400);
  return words;
}

std::string ChanceWords(const LastChance& chance) {
  std::vector<std::string> gone;
  for (const std::string& one : chance.gone) gone.push_back(SafeText(one, 150));
  return fmt::format(
      "Without {}: of {}, {} were shown to reproduce with it alone and {} without it; of those "
      "that "
      "were not shown to, {} were recorded with it and {} without it; of {} it is not known.",
      fmt::join(gone, " and "), Counted(static_cast<std::uint64_t>(chance.runs), "run"),
      chance.lost, chance.kept, chance.unproven, chance.elsewhere, chance.unknown);
}

std::string SpanWords(double days) {
  if (days >= 1.0) {
    const std::string shown = fmt::format("{:.4g}", days);
    return shown + (shown == "1" ? " day" : " days");
  }
  const double minutes = 24.0 * 60.0 * days;
  if (minutes >= 59.5) {
    return Counted(static_cast<std::uint64_t>(std::llround(minutes / 60.0)), "hour");
  }
  if (minutes < 1.0) return "less than a minute";
  return Counted(static_cast<std::uint64_t>(std::llround(minutes)), "minute");
}

std::string SurvivalWords(const TrendSurvival& survival) {
  std::string words = fmt::format("Of {} that {} seen to reproduce, {} did not any more",
                                  Counted(static_cast<std::uint64_t>(survival.runs), "run"),
                                  survival.runs == 1 ? "was" : "were", survival.ended);
  if (survival.steps.empty()) return words + NeverSeenWords(survival);
  words += ". Still reproducible, counted from then:";
  const char* separator = "";
  for (const double days : {30.0, 90.0, 365.0, 730.0}) {
    const TrendSurvivalStep* last = nullptr;
    for (const TrendSurvivalStep& step : survival.steps) {
      if (step.days <= days) last = &step;
    }
    if (last == nullptr || days > survival.oldest_days) continue;
    words += fmt::format("{} {:.4g} % after {:.0f} days", separator, 100.0 * last->share, days);
    if (last->low && last->high) {
      words += fmt::format(" ({:.3g} to {:.3g})", 100.0 * *last->low, 100.0 * *last->high);
    }
    separator = ",";
  }
  if (*separator == '\0') {
    words += fmt::format(" {:.4g} % after {}", 100.0 * survival.steps.back().share,
                         SpanWords(survival.steps.back().days));
  }
  if (survival.median_days) words += "; half after " + SpanWords(*survival.median_days);
  return words + NeverSeenWords(survival);
}

}  // namespace rharness
