// Names and wording of a child process's outcome, and the variables passed to it.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "harness/base/clock.h"
#include "harness/base/signal_name.h"
#include "harness/base/subprocess.h"

namespace rharness {
namespace {

constexpr std::array<std::pair<OutcomeKind, std::string_view>, 8> kNames = {{
    {OutcomeKind::kExited, "exited"},
    {OutcomeKind::kSignalled, "signalled"},
    {OutcomeKind::kTimedOut, "timed_out"},
    {OutcomeKind::kMemoryLimit, "memory_limit"},
    {OutcomeKind::kDiskLimit, "disk_limit"},
    {OutcomeKind::kCancelled, "cancelled"},
    {OutcomeKind::kLost, "lost"},
    {OutcomeKind::kNotStarted, "not_started"},
}};

std::string Sentence(const Outcome& outcome) {
  const std::string after = " after " + FormatDuration(outcome.wall);
  switch (outcome.kind) {
    case OutcomeKind::kExited:
      return fmt::format("exited with {}", outcome.exit_code);
    case OutcomeKind::kSignalled:
      return "killed by " + SignalName(outcome.signal);
    case OutcomeKind::kTimedOut:
      return "timed out" + after;
    case OutcomeKind::kMemoryLimit:
      return "killed at its memory limit" + after;
    case OutcomeKind::kDiskLimit:
      return "killed at its disk limit" + after;
    case OutcomeKind::kCancelled:
      return "cancelled" + after;
    case OutcomeKind::kLost:
      return "lost: its end was not seen";
    case OutcomeKind::kNotStarted:
      return "not started";
  }
  Abort("unknown OutcomeKind");
}

}  // namespace

std::string_view OutcomeKindName(OutcomeKind kind) {
  for (const auto& [known, name] : kNames) {
    if (known == kind) return name;
  }
  Abort("unknown OutcomeKind");
}

Result<OutcomeKind> ParseOutcomeKind(std::string_view name) {
  for (const auto& [kind, known] : kNames) {
    if (known == name) return kind;
  }
  return InvalidInput(
      fmt::format("'{}' is no kind of outcome; expected exited, signalled, "
                  "timed_out, memory_limit, disk_limit, cancelled, lost or "
                  "not_started",
                  name));
}

std::string Outcome::ToString() const {
  std::string text = Sentence(*this);
  if (!detail.empty()) text += ": " + detail;
  return text;
}

std::map<std::string, std::string> PickEnvironment(const std::vector<std::string>& names) {
  std::map<std::string, std::string> picked;
  for (const std::string& name : names) {
    if (const char* value = std::getenv(name.c_str()); value != nullptr) picked[name] = value;
  }
  return picked;
}

}  // namespace rharness
