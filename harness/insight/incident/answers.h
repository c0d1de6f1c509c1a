// The postmortem's five answers, from the facts on both runs, each with its source.
//
// Role: pure; fills headline, next, exit code and answers of the report. Parts without a fact are
// reported as not known.
#ifndef RHARNESS_HARNESS_INSIGHT_INCIDENT_ANSWERS_H_
#define RHARNESS_HARNESS_INSIGHT_INCIDENT_ANSWERS_H_

#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "harness/insight/incident/held_files.h"
#include "harness/insight/incident/last_good.h"
#include "harness/records/manifest/manifest.h"
#include "reports/history_report.h"
#include "reports/incident_report.h"
#include "reports/model.h"

namespace rharness {

// A good run that was skipped, since its files are damaged.
struct PassedRun {
  std::string run_id;
  std::string damage;  // HeldFiles::damage
  bool tampered = false;
};

// Arguments for commands in the report: as given, so that they run where the incident was run.
struct IncidentGiven {
  std::string history;  // URL without credentials
  std::string root;     // empty: none
  std::string policy;   // empty: none
  std::string out;      // the bundle
};

// What was found out of an incident.
struct IncidentFacts {
  Manifest run;
  RunHistory run_history;
  LastGood found;
  std::optional<Manifest> good;
  std::optional<RunHistory> good_history;
  HeldFiles files;                       // of the good run
  std::vector<PassedRun> passed;         // newer good runs with damaged files; newest first
  bool older_tampered = false;           // no good run has intact files, and some were changed
  std::optional<Comparison> comparison;  // the good run with the run
  std::optional<Report> rollback;
  std::string not_rerun;  // why the rollback drill could not start; empty: it could
  std::string nowhere;    // why it was not tried: no checkpoint of the good run found; empty: found
  std::string owner;      // of the family; empty: not known
  bool policy = false;    // there is one
  bool rerun = true;      // false: no rollback drill was requested
  bool planned = false;   // nothing was rerun yet
  bool named = false;     // --good named the good run
  double planned_seconds = 0.0;
  int planned_reruns = 0;
  std::size_t newer_good = 0;     // NewerGood
  std::vector<std::string> uses;  // runs of the family that use a file of the run
  IncidentGiven given;
};

// Everything but version, made, history, pages, bundle and notes.
IncidentReport BuildIncidentReport(const IncidentFacts& facts);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_INCIDENT_ANSWERS_H_
