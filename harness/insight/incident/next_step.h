// The next step of an incident: a command ready to run, or one sentence.
//
// Role: pure; a part of answers.h.
#ifndef RHARNESS_HARNESS_INSIGHT_INCIDENT_NEXT_STEP_H_
#define RHARNESS_HARNESS_INSIGHT_INCIDENT_NEXT_STEP_H_

#include <string>
#include <string_view>

#include "harness/insight/incident/answers.h"
#include "reports/incident_report.h"

namespace rharness {

// The run's last conclusive verdict is good: it did not go bad.
bool RunIsGood(const IncidentFacts& facts);

// The verdict that says what is the matter with the run: the last one, or, where that is open, the
// first bad one that no good one followed. nullptr: no drill has judged it.
const StoredVerdict* TellingVerdict(const IncidentFacts& facts);

// Commands name files as given, and so relative to the folder where the incident was begun.
bool NamesRelativePaths(const IncidentGiven& given);

std::string NextOf(const IncidentFacts& facts, const IncidentRollback& rollback);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_INCIDENT_NEXT_STEP_H_
