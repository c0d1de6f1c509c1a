// Words shared by all writers of objectives, and the sentences of checks
// (harness/insight/objectives/family_checks.h).
#ifndef RHARNESS_REPORTS_OBJECTIVES_WORDS_H_
#define RHARNESS_REPORTS_OBJECTIVES_WORDS_H_

#include <string>
#include <string_view>

#include "harness/verdict/verdict.h"
#include "reports/objectives_report.h"

namespace rharness {

Verdict VerdictOf(ObjectiveState state);           // whose colour it takes
std::string ObjectiveBadge(ObjectiveState state);  // "✗ missed"
// "92.5 % (79.4 to 97.4)"; "-" without a conclusive verdict.
std::string RateWords(const FamilyObjectives& family);
std::string BudgetWords(const FamilyObjectives& family);      // "-50 % left", "-" without one
std::string ShareWords(std::int64_t part, std::int64_t all);  // "3 of 40", "-" of none
std::string ShareWords(const ShareIndicator& share);          // "3 of 40 (2.6 to 20 %)"
// As RateWords, with the number of open ones: "100 % of 2 (34.2 to 100), 1 open"; "-" for none.
std::string RollbackRateWords(const FamilyObjectives& family);
std::string DaysWords(double days);  // "12 d", "3 h"
// "1.02 of the recorded time, ± 0.05 (standard deviation; 0.04 to 0.07)".
std::string RuntimeWords(const FamilyObjectives& family);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_OBJECTIVES_WORDS_H_
