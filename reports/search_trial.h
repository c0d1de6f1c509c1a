// What a trial of a search for a cause was for, and what it showed.
//
// Role: the words that the search (harness/experiments/isolate) and its report share.
#ifndef RHARNESS_REPORTS_SEARCH_TRIAL_H_
#define RHARNESS_REPORTS_SEARCH_TRIAL_H_

#include "harness/base/member_facts.h"

namespace rharness {

enum class TrialAnswer {
  kReproduces,  // the same difference
  kDoesNot,     // no difference
  kPartly,      // not that difference, but part of it, or what hid behind it: as kDoesNot, but it
                // does not show that the run is as recorded again
  kOther,       // another difference: no evidence for or against
  kSkipped,     // it could not be tried or judged; likewise
};
inline constexpr NameTable<TrialAnswer, 5> kTrialAnswerNames = {
    {{TrialAnswer::kReproduces, "reproduces"},
     {TrialAnswer::kDoesNot, "does_not"},
     {TrialAnswer::kPartly, "partly"},
     {TrialAnswer::kOther, "other"},
     {TrialAnswer::kSkipped, "skipped"}}};

enum class TrialPurpose { kAllChanged, kNoneChanged, kSearch, kAlone, kNeeded, kSetBack };
inline constexpr NameTable<TrialPurpose, 6> kTrialPurposeNames = {
    {{TrialPurpose::kAllChanged, "all_changed"},
     {TrialPurpose::kNoneChanged, "none_changed"},
     {TrialPurpose::kSearch, "search"},
     {TrialPurpose::kAlone, "alone"},
     {TrialPurpose::kNeeded, "needed"},
     {TrialPurpose::kSetBack, "set_back"}}};

}  // namespace rharness

#endif  // RHARNESS_REPORTS_SEARCH_TRIAL_H_
