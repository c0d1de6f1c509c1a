// Retirements: requested, approved, withdrawn, or different from their signed form. Model and
// writers.
//
// Role: pure; harness/trust/approval fills it.
#ifndef RHARNESS_REPORTS_RETIREMENTS_REPORT_H_
#define RHARNESS_REPORTS_RETIREMENTS_REPORT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/json.h"

namespace rharness {

enum class RetirementState {
  kNone,       // nobody asked
  kAsked,      // by one person
  kExpired,    // nobody approved in time
  kWithdrawn,  // taken back
  kRetired,    // two people signed
  kUnsigned,   // retired, and nobody signed
  kDoubtful,   // the history differs from the signed statement
};
std::string_view RetirementStateName(RetirementState state);  // "asked", "retired", ...

struct RetirementTold {
  std::string run_id;
  RetirementState state = RetirementState::kNone;
  std::string reason;
  std::string statement_sha256;  // empty: none
  std::string asked_by;
  std::optional<WallTime> asked;
  std::optional<WallTime> expires;
  std::string approved_by;
  std::optional<WallTime> approved;
  std::string ended_by;  // who took it back
  std::optional<WallTime> ended;
  std::string ended_reason;
  std::string doubt;      // a sentence, of kDoubtful
  bool verified = false;  // the signatures were checked against a trust policy
  // Time of an unsigned retirement before two people signed, from the history alone; empty: none.
  std::optional<WallTime> unsigned_since = {};
};

// "rharness.retirements/v1".
Json ToJson(const std::vector<RetirementTold>& retirements);
// One line each: "mlp-1: retired: its data is gone (asked for by Ada on 2026-06-01, approved by Bob
// on 2026-06-02)".
std::string WriteTerminal(const std::vector<RetirementTold>& retirements);
std::string LineOf(const RetirementTold& told);

// For a retired run, beside the reason: requester and approver; "unsigned" without.
struct RunRetirement {
  std::string asked_by = {};
  WallTime asked{};
  std::string approved_by = {};
  WallTime approved{};
  std::string statement_sha256 = {};
  std::string doubt = {};  // it differs from its signed form: then nobody is named
};
// "its data is gone (asked for by Ada on 2026-06-01, approved by Bob on 2026-06-02)",
// "its data is gone (unsigned)", "doubtful: the history gives ...".
std::string RetiredInWords(const std::string& reason, const std::optional<RunRetirement>& by);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_RETIREMENTS_REPORT_H_
