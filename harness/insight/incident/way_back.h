// Whether and how a rollback of a family to its last good run is possible, from the files, the
// signatures and the rollback drill.
//
// Role: pure; a part of answers.h.
#ifndef RHARNESS_HARNESS_INSIGHT_INCIDENT_WAY_BACK_H_
#define RHARNESS_HARNESS_INSIGHT_INCIDENT_WAY_BACK_H_

#include <string>

#include "harness/insight/incident/answers.h"
#include "reports/incident_report.h"

namespace rharness {

// proven: every rerun reproduced; refuted: drifted; open: inconclusive; failed: a rerun failed,
// could not be carried out, or was stopped; not_run; none: there is no good run.
IncidentRollback RollbackOf(const IncidentFacts& facts);

IncidentAnswer WayBack(const IncidentFacts& facts, const IncidentRollback& rollback);
// Changed files or invalid signatures take precedence.
int ExitCodeOfIncident(const IncidentFacts& facts, const IncidentRollback& rollback);
std::string HeadlineOf(const IncidentFacts& facts, const IncidentRollback& rollback);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_INCIDENT_WAY_BACK_H_
