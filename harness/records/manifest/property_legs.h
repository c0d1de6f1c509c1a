// The ways of running a program between which a property must hold, as records to rerun. Pure.
//
// Role: for the tickets of `rharness properties` and others. A leg declares the run's own outputs,
// except a leg that is cut short: it leaves its checkpoint.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_PROPERTY_LEGS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_PROPERTY_LEGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/records/manifest/manifest.h"

namespace rharness {

// A checkpoint that one leg left, as data of the next leg. The functions below fill in its name,
// its kind and its path there.
struct LeftCheckpoint {
  std::string location;             // its current place; a place of the next leg's ticket covers it
  DataKind kind = DataKind::kFile;  // or kDirectory
  std::string sha256;               // of the file, or HashTree of the folder
  std::uint64_t size_bytes = 0;
};

// The name of the checkpoint among the data of the leg that resumes from it.
inline constexpr char kLaidCheckpoint[] = "checkpoint of the leg before";

// The output of the stopped leg: `checkpoint` with the step inserted, relative to the working
// directory. For other properties than kResumed: `checkpoint` unchanged.
std::string CheckpointOf(const Property& property, std::int64_t step = 0);

// The other ways of a property, each a leg: of kAccumulated, kLoaderWorkers and kProcesses the one;
// of kBatchInvariant one for each size, labelled by it, then `ways`; of others none.
std::vector<OtherWay> WaysOf(const Property& property);

// The run as it is.
Manifest StraightLeg(const Manifest& run);
// The run stopped after `step`: it declares no artifact, since it ends before them.
Manifest StoppedLeg(const Manifest& run, const Property& property, std::int64_t step);
// The run resumed from there. It declares the outputs of the run.
Manifest ResumedLeg(const Manifest& run, const Property& property, std::int64_t step,
                    const LeftCheckpoint& checkpoint);
// The run in another way (WaysOf).
Manifest OtherLeg(const Manifest& run, const OtherWay& way);
// Whether that way is the recorded one: the same command and variables.
bool IsAsRecorded(const Manifest& run, const OtherWay& way);
// Step `index` of kResharded; it declares nothing: its output is its `saved`.
Manifest ReshardLeg(const Manifest& run, const Property& property, std::size_t index,
                    const LeftCheckpoint& checkpoint);
// The evaluation of kEvaluatedTwice, the first time or again; it declares metrics alone.
Manifest EvaluationLeg(const Manifest& run, const Property& property, bool again,
                       const LeftCheckpoint& checkpoint);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_PROPERTY_LEGS_H_
