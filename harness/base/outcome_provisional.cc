// Names of outcomes, until subprocess.cc has them.
#include "harness/base/subprocess.h"

namespace rharness {

std::string_view OutcomeKindName(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::kExited:
      return "exited";
    case OutcomeKind::kSignalled:
      return "signalled";
    case OutcomeKind::kTimedOut:
      return "timed_out";
    case OutcomeKind::kMemoryLimit:
      return "memory_limit";
    case OutcomeKind::kDiskLimit:
      return "disk_limit";
    case OutcomeKind::kCancelled:
      return "cancelled";
    case OutcomeKind::kLost:
      return "lost";
    case OutcomeKind::kNotStarted:
      return "not_started";
  }
  Abort("unknown OutcomeKind");
}

Result<OutcomeKind> ParseOutcomeKind(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(OutcomeKind::kNotStarted); ++i) {
    const auto kind = static_cast<OutcomeKind>(i);
    if (OutcomeKindName(kind) == name) return kind;
  }
  return InvalidInput("no outcome: " + std::string(name));
}

}  // namespace rharness
