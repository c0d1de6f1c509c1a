// Names and wording of a child process's outcome, and the variables passed to it.
#include <fmt/format.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "harness/base/clock.h"
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

// Not sigabbrev_np, which glibc before 2.32 lacks.
constexpr std::array<std::pair<int, std::string_view>, 31> kSignals = {{
    {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},       {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
    {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},     {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
    {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"},     {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
    {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"},     {SIGTERM, "SIGTERM"}, {SIGSTKFLT, "SIGSTKFLT"},
    {SIGCHLD, "SIGCHLD"}, {SIGCONT, "SIGCONT"},     {SIGSTOP, "SIGSTOP"}, {SIGTSTP, "SIGTSTP"},
    {SIGTTIN, "SIGTTIN"}, {SIGTTOU, "SIGTTOU"},     {SIGURG, "SIGURG"},   {SIGXCPU, "SIGXCPU"},
    {SIGXFSZ, "SIGXFSZ"}, {SIGVTALRM, "SIGVTALRM"}, {SIGPROF, "SIGPROF"}, {SIGWINCH, "SIGWINCH"},
    {SIGPOLL, "SIGPOLL"}, {SIGPWR, "SIGPWR"},       {SIGSYS, "SIGSYS"},
}};

std::string SignalName(int signal) {
  for (const auto& [known, name] : kSignals) {
    if (known == signal) return std::string(name);
  }
  return fmt::format("signal {}", signal);
}

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
