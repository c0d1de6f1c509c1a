// What the end of a rerun means: an answer, the machine's fault, or a stop of the drill.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_RERUN_END_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_RERUN_END_H_

#include <filesystem>
#include <functional>

#include "harness/base/clock.h"
#include "harness/records/manifest/evidence.h"

namespace rharness {

// A child that never ran, or whose end nobody saw, is the machine's fault; so is every end of a
// child that had no space to write at `place`, even if it did not notice: then the evidence has an
// obstacle. Returns whether another attempt is worth it.
bool JudgeOutcome(const std::filesystem::path& place, Evidence* evidence);

// A rerun that ends while the drill stops was interrupted, whatever its end looks like: a stop that
// signals every process ends the run as well. Waits a moment for a stop that may have reached the
// run before it reached this process.
bool WasStopped(const Evidence& evidence, const std::function<bool()>& should_cancel, Clock* clock);
void Interrupt(Evidence* evidence);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_RERUN_END_H_
