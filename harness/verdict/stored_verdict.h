// What a history keeps of a run and of a drill's word on it, as everything that reads one speaks of
// it.
//
// Role: one struct for each, from the database to the page. A room that has more to say holds one.
#ifndef RHARNESS_HARNESS_VERDICT_STORED_VERDICT_H_
#define RHARNESS_HARNESS_VERDICT_STORED_VERDICT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/verdict/states.h"
#include "harness/verdict/verdict.h"

namespace rharness {

// A decisive finding, as it is kept. `code` is empty in records that are older than codes.
struct Reason {
  std::string code;     // of Finding
  std::string message;  // one sentence

  bool operator==(const Reason&) const = default;
};
// "code: message", or the message alone; and back. A code has lower-case letters, digits and '_'.
std::string ReasonText(const Reason& reason);
std::vector<std::string> ReasonTexts(const std::vector<Reason>& reasons);
Reason ReadReason(std::string_view text);

struct StoredVerdict {
  std::string drill_id;
  Verdict verdict = Verdict::kInconclusive;
  WallTime decided{};
  int reruns = 0;
  std::vector<Reason> reasons;
};

// A recorded run without its manifest's body.
struct RunSummary {
  std::string run_id;
  std::string family;
  std::string configuration;  // ConfigurationKey
  WallTime started{};
  double duration_seconds = 0.0;
  std::string declared;  // "bitwise" or "statistical"
  WallTime added{};
  std::optional<WallTime> verified;     // last compared: identical, equivalent, drifted
  std::optional<WallTime> judged;       // last verdict of any kind
  std::optional<Verdict> last_verdict;  // empty: no drill has judged it
  std::optional<std::string> retired;   // the reason
  std::optional<PartState> rebuild;     // whether its parts can be had; empty: never asked
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_VERDICT_STORED_VERDICT_H_
