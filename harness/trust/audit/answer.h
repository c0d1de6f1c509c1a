// The auditor's question about one run: how was it made and from what, when was it last reproduced,
// by whom, with which exceptions, and is all of that unchanged since its entry?
//
// Role: gathers the answer (reports/audit_report.h) out of history, log, policies and signed
// statements. Reads the lines of the log, and only this run's rows of the history.
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_ANSWER_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_ANSWER_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/trust/attestation/trust.h"
#include "reports/audit_report.h"

namespace rharness {

struct AnswerRequest {
  std::string history;
  std::filesystem::path log;
  std::string run_id;
  std::vector<std::string> policies;    // their waivers and substitutes are exceptions
  std::vector<std::string> statements;  // signed ones, or folders of them; they need `trust`
  const TrustPolicy* trust = nullptr;
  WallTime now{};
};

// Everything but `version`. Errors: not_found (no such run, no log), invalid_input, io; integrity
// if the run's record itself cannot be trusted. Changed entries, refused statements, and a
// retirement that differs from its signed form are reported, and give exit code 5.
Result<AuditReport> AnswerFor(const AnswerRequest& request);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_ANSWER_H_
