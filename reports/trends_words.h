// Sentences of trends; private to this folder.
#ifndef RHARNESS_REPORTS_TRENDS_WORDS_H_
#define RHARNESS_REPORTS_TRENDS_WORDS_H_

#include <string>

#include "reports/trends_report.h"

namespace rharness {

std::string TrendRateWords(const TrendCounts& counts);  // "92.5 % (79.4 to 97.4)"; "-" of none
// The last week with verdicts: "12 of 40, 3 weeks ago"; "12 of 40" in that of `at`; "-" without.
std::string LastWeekWords(const TrendSeries& series, WallTime at);
std::string CoincidenceWords(const TrendCoincidence& one);
std::string ChanceWords(const LastChance& chance);
std::string SpanWords(double days);  // "23 days", "5 hours", "less than a minute"
// How many still reproduce 30, 90, 365 days after they were first seen to, as far as known.
std::string SurvivalWords(const TrendSurvival& survival);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_TRENDS_WORDS_H_
