// The outputs of legs, and the distance between two of them. Reads kept checkpoints.
//
// Role: between evidence and the judge. The run's declared metrics, curves and checkpoints count,
// without times and memory. For an evaluation, whose record declares the outputs of another
// program, every metric counts. For an inference its answers do, item by item (leg_answers.h).
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

// For a resumed leg, `before` is the stopped one: it supplies the curves before the cut; the leg's
// own values count if both have a step.
LegOutputs OutputsOf(const Evidence& leg, const Evidence* before);

enum class WhatCounts {
  kDeclared,     // metrics, curves, checkpoints
  kEveryMetric,  // declared or not, and no more
  kAnswers,      // item by item; of legs without any, what is declared, and other files
};

// For every thing that at least one of the two has. Errors: the machine's trouble, integrity if a
// kept checkpoint is damaged, and those of CompareAnswers.
Result<std::vector<Apart>> CompareOutputs(const Manifest& run, const LegOutputs& a,
                                          const LegOutputs& b, WhatCounts counts,
                                          const std::filesystem::path& folder);

// Two checkpoints, files or folders. Errors: those, and an unreadable one with its reason.
Result<std::vector<Apart>> CompareLeft(const std::filesystem::path& a,
                                       const std::filesystem::path& b, const std::string& name);

// Why a stopped leg shows nothing: its curves end no sooner than the straight run's. Empty: they
// do, or there are none to compare.
std::string WhyNotStopped(const Manifest& run, const Evidence& straight, const Evidence& stopped);

// Why nothing shows that a run resumed and did not start over: no declared curve of the leg begins
// after the cut. Empty: one does.
std::string WhyNotGoneOn(const Manifest& run, const Evidence& stopped, const Evidence& resumed);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_LEG_OUTPUTS_H_
