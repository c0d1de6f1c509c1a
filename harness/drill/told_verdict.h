// The history's record of the reasons of a verdict: VerdictRecord::reasons.
//
// Role: written when a drill enters its verdicts; read by code that checks a report against them.
// Pure.
#ifndef RHARNESS_HARNESS_DRILL_TOLD_VERDICT_H_
#define RHARNESS_HARNESS_DRILL_TOLD_VERDICT_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "reports/model.h"

namespace rharness {

// "code: message" of each decisive finding.
std::vector<std::string> DecisiveReasons(const std::vector<Finding>& findings);

// The SHA-256 of each run of a report in its JSON form, by run_id: of the text of its member of
// "runs" without white space. A resumed drill with the same results gives the same digests.
std::map<std::string, std::string> RunDigests(const Json& report);

// A run as report.json has it.
struct ToldVerdict {
  std::string headline;
  std::string version;     // of rharness that judged
  std::string run_sha256;  // of RunDigests
  // Paths of checkpoints with a finding file_unproven.
  std::vector<std::string> unproven = {};
};

// A JSON array: the sentences of the decisive findings, followed by an object with the rest;
// without `told` the sentences alone.
std::string WriteReasons(const std::vector<Finding>& findings,
                         const std::optional<ToldVerdict>& told);

// As the history has it.
struct KeptReasons {
  std::optional<std::vector<std::string>> decisive;  // empty: in the format of an older version
  std::optional<ToldVerdict> told;                   // empty: an older version kept none
};
KeptReasons ReadReasons(const std::string& text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_TOLD_VERDICT_H_
