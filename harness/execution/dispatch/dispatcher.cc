// The end of an attempt, from its files.
#include "harness/execution/dispatch/dispatcher.h"

#include <utility>

namespace rharness {

AttemptEnd EndOf(std::size_t index, Result<RerunResult> result) {
  AttemptEnd end{.index = index};
  if (!result.ok()) {
    end.failure = result.error();
    return end;
  }
  end.evidence = std::move(result->evidence);
  end.kind = result->infrastructure             ? AttemptEnd::Kind::kInfrastructure
             : end.evidence.outcome.Succeeded() ? AttemptEnd::Kind::kFinal
                                                : AttemptEnd::Kind::kCutShort;
  return end;
}

}  // namespace rharness
