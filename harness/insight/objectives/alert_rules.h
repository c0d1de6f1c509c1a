// Alerts: rules for Prometheus over the series of `rharness slo` and of drills, and routes for
// Alertmanager to the policy's owners.
//
// Role: pure; text in YAML. family_checks.h decides from the verdicts whether a budget burns, and a
// rule only passes it on: a window over scraped samples would count a night's drill as often as it
// was scraped.
// Source: prometheus.io/docs (recording and alerting rules 2.x; Alertmanager 0.25 configuration).
#ifndef RHARNESS_HARNESS_INSIGHT_OBJECTIVES_ALERT_RULES_H_
#define RHARNESS_HARNESS_INSIGHT_OBJECTIVES_ALERT_RULES_H_

#include <string>

#include "harness/records/policy/policy.h"

namespace rharness {

struct AlertOptions {
  std::string runbooks;         // base URL of a page per alert, by its name; empty: no links
  double measured_days = 2.0;   // limit on the age of measured objectives
  double unknown_days = 7.0;    // limit on the time without any known objective
  double succeeded_days = 7.0;  // limit on the time without a fully reproduced drill
  std::string webhook;          // of every receiver; empty: receivers that notify nobody yet
};

// Groups "rharness-recorded" and "rharness-alerts". Labels: history, family, owner, severity
// ("page" or "ticket"); a run_id only for RharnessRunBroken, one alert per run. Violations are
// counted: if one run is repaired and a different one breaks within a day, only RharnessRunBroken
// shows it.
std::string AlertRules(const AlertOptions& options);

// A complete configuration: by owner and severity to the receivers "OWNER-page" and "OWNER-ticket",
// without an owner to "rharness-page" and "rharness-ticket"; one notification per family, repeated
// after 12 hours at the earliest (a ticket: 3 days); a family's burning page inhibits the alerts
// that it explains, except its broken runs, which need attention. Owners are named as their labels
// are (LabelText in reports/prometheus.h).
std::string AlertRoutes(const Policy& policy, const AlertOptions& options);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_OBJECTIVES_ALERT_RULES_H_
