// What legs left, and how far two of them lie apart. Reads kept checkpoints.
//
// Role: between evidence and the judge. What counts is what the run declares: its metrics, curves
// and checkpoints, but for times and memory. Of an evaluation, whose record declares another
// program's, every metric counts.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_LEG_OUTPUTS_H_
#define RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_LEG_OUTPUTS_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/experiments/properties/property_judge.h"
#include "harness/records/manifest/evidence.h"

namespace rharness {

struct LegOutputs {
  RunMetrics metrics;
  std::vector<Artifact> artifacts;  // with locations below the folder
};

// Of a leg that went on, `before` is the stopped one: its curves are what lies before the cut, and
// the leg's own values count where both have a step.
LegOutputs OutputsOf(const Evidence& leg, const Evidence* before);

// In every thing that one of the two has. `every_metric`: whether it is declared or not. Errors:
// the machine's trouble, and integrity where a kept checkpoint is damaged.
Result<std::vector<Apart>> CompareOutputs(const Manifest& run, const LegOutputs& a,
                                          const LegOutputs& b, bool every_metric,
                                          const std::filesystem::path& folder);

// Two checkpoints, files or folders. Errors: those, and why one cannot be read.
Result<std::vector<Apart>> CompareLeft(const std::filesystem::path& a,
                                       const std::filesystem::path& b, const std::string& name);

// Why a stopped leg shows nothing: its curves end no sooner than the straight run's. Empty: they
// do, or there are none to tell.
std::string WhyNotStopped(const Manifest& run, const Evidence& straight, const Evidence& stopped);

// Why nothing shows that a run went on and did not begin anew: no declared curve of the leg begins
// behind the cut. Empty: one does.
std::string WhyNotGoneOn(const Manifest& run, const Evidence& stopped, const Evidence& resumed);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_LEG_OUTPUTS_H_
