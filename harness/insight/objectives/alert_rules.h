// What calls somebody: rules for Prometheus over the series of `rharness slo` and of drills, and
// routes for Alertmanager to the owners that the policy names.
//
// Role: pure; text in YAML. Whether a budget burns is decided where the verdicts are
// (family_checks.h), and a rule only passes it on: a window over scraped samples would count a
// night's drill as often as it was scraped.
// Source: prometheus.io/docs (recording and alerting rules 2.x; Alertmanager 0.25 configuration).
#ifndef RHARNESS_HARNESS_INSIGHT_OBJECTIVES_ALERT_RULES_H_
#define RHARNESS_HARNESS_INSIGHT_OBJECTIVES_ALERT_RULES_H_

#include <string>

#include "harness/records/policy/policy.h"

namespace rharness {

struct AlertOptions {
  std::string runbooks;         // a page an alert below it, by its name; empty: none is linked
  double measured_days = 2.0;   // objectives that were not measured for longer
  double unknown_days = 7.0;    // an objective of which nothing was known for longer
  double succeeded_days = 7.0;  // no drill in which all reproduced for longer
  std::string webhook;          // of every receiver; empty: receivers that notify nobody yet
};

// Groups "rharness-recorded" and "rharness-alerts". Labels: history, family, owner, severity
// ("page" or "ticket"); a run_id only of RharnessRunBroken, of which one is one run. Violations are
// counted: where one run is mended and another breaks within a day, RharnessRunBroken alone tells.
std::string AlertRules(const AlertOptions& options);

// A whole configuration: by owner and severity to the receivers "OWNER-page" and "OWNER-ticket",
// without an owner to "rharness-page" and "rharness-ticket"; one notification a family, again after
// 12 hours at the earliest (a ticket: 3 days); what a family's burning page explains is held back,
// but for its broken runs: they are what there is to look at. Owners are named as their labels are
// (LabelText in reports/prometheus.h).
std::string AlertRoutes(const Policy& policy, const AlertOptions& options);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_OBJECTIVES_ALERT_RULES_H_
