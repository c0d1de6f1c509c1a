// Ends of reruns.
#include "harness/execution/rerun/rerun_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "harness/base/trouble.h"

namespace rharness {
namespace {

// A program that is not here, or cannot be executed, is not here a few seconds later either.
bool StaysAway(const Outcome& outcome) {
  constexpr std::array kFinal = {ENOENT, ENOTDIR, EACCES, EPERM, ENOEXEC,
                                 E2BIG,  ELOOP,   EISDIR, EINVAL};
  return outcome.kind == OutcomeKind::kNotStarted &&
         std::find(kFinal.begin(), kFinal.end(), outcome.error_number) != kFinal.end();
}

bool HasTroubleWithOutputs(const Evidence& evidence) {
  return std::ranges::any_of(evidence.remarks, [](const Finding& remark) {
    return remark.code == "output_missing" || remark.code == "output_unreadable";
  });
}

std::chrono::milliseconds StopGrace(const Evidence& evidence) {
  constexpr std::array kStops = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGKILL};
  const Outcome& outcome = evidence.outcome;
  if (outcome.Succeeded() && !HasTroubleWithOutputs(evidence)) return std::chrono::milliseconds(0);
  const int signal =
      outcome.kind == OutcomeKind::kSignalled ? outcome.signal : outcome.exit_code - 128;
  const bool stop = std::ranges::find(kStops, signal) != kStops.end();
  return std::chrono::milliseconds(stop ? 1000 : 100);
}

}  // namespace

bool JudgeOutcome(const std::filesystem::path& place, Evidence* evidence) {
  const OutcomeKind kind = evidence->outcome.kind;
  const auto full = WhyFull(place);
  if (full && (kind == OutcomeKind::kExited || kind == OutcomeKind::kSignalled)) {
    evidence->obstacle = fmt::format("the run {} where its file system is full: {}",
                                     evidence->outcome.ToString(), *full);
    return true;
  }
  if (kind != OutcomeKind::kNotStarted && kind != OutcomeKind::kLost &&
      kind != OutcomeKind::kCancelled) {
    return false;
  }
  evidence->obstacle = evidence->outcome.ToString();
  return kind != OutcomeKind::kCancelled && !StaysAway(evidence->outcome);
}

bool WasStopped(const Evidence& evidence, const std::function<bool()>& should_cancel,
                Clock* clock) {
  if (!should_cancel || evidence.outcome.kind == OutcomeKind::kCancelled) return false;
  const auto until = clock->Monotonic() + StopGrace(evidence);
  while (!should_cancel()) {
    if (clock->Monotonic() >= until) return false;
    clock->SleepFor(std::chrono::milliseconds(10));
  }
  return true;
}

void Interrupt(Evidence* evidence) {
  const std::string end =
      evidence->obstacle.empty() ? evidence->outcome.ToString() : evidence->obstacle;
  evidence->outcome.kind = OutcomeKind::kCancelled;
  evidence->outcome.detail = fmt::format("while the drill was being stopped ({})", end);
  evidence->obstacle = evidence->outcome.ToString();
  evidence->obstacle_layer.reset();
}

}  // namespace rharness
