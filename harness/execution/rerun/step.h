// The steps of one rerun, reported so that a crash can be resumed.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_STEP_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_STEP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rharness {

enum class AttemptState {
  kPrepared,   // workspace made, inputs verified
  kStarted,    // the child runs; pid and start ticks known
  kEnded,      // the child's outcome is known
  kCollected,  // evidence is on disk; the rerun is finished
};
std::string_view AttemptStateName(
    AttemptState state);  // "prepared", "started", "ended", "collected"
std::optional<AttemptState> FindAttemptState(std::string_view name);

struct RerunStep {
  std::string job;  // "RUN.1"
  AttemptState state = AttemptState::kPrepared;
  int attempt = 1;
  int pid = 0;                    // of kStarted
  std::uint64_t start_ticks = 0;  // of kStarted: identity of that pid
  std::string evidence_sha256;    // of kCollected
  std::string logs_sha256;  // of kCollected: stdout.log and stderr.log in one; empty: not known
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_STEP_H_
