// What to do now, and what would have prevented or detected the failure earlier.
//
// Role: pure; a part of answers.h.
#ifndef RHARNESS_HARNESS_INSIGHT_INCIDENT_PREVENTION_H_
#define RHARNESS_HARNESS_INSIGHT_INCIDENT_PREVENTION_H_

#include <string>

#include "harness/insight/incident/answers.h"
#include "reports/incident_report.h"

namespace rharness {

// The next step, the runbook's advice on the verdict's reasons, and a measure for each layer that
// differs where the run turned bad; if no drill saw it turn, between the last good run and it.
IncidentAnswer Prevention(const IncidentFacts& facts, const std::string& next);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_INCIDENT_PREVENTION_H_
