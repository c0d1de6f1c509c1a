// The ways of running a program between which a property must hold, as records to rerun. Pure.
//
// Role: what `rharness properties` and others put into tickets. The outputs that a leg declares are
// the run's own, but of one that is cut short: what that leaves is its checkpoint.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_PROPERTY_LEGS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_PROPERTY_LEGS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/records/manifest/manifest.h"

namespace rharness {

// A checkpoint that one leg left, as the next is given it: an entry of its data. Its name, its kind
// and its path in the next leg are filled in by the functions below.
struct LeftCheckpoint {
  std::string location;  // where it lies now; a place of the next leg's ticket covers it
  std::string kind;      // "file" or "directory"
  std::string sha256;    // of the file, or HashTree of the folder
  std::uint64_t size_bytes = 0;
};

// The name of the checkpoint among the data of the leg that goes on from it.
inline constexpr char kLaidCheckpoint[] = "checkpoint of the leg before";

// What the stopped leg leaves: `checkpoint` with the step put in, relative to the working
// directory. Other properties than kResumed: `checkpoint` as it is.
std::string CheckpointOf(const Property& property, std::int64_t step = 0);

// The run as it is.
Manifest StraightLeg(const Manifest& run);
// The run as it stops after `step`: no artifact is declared, since it ends before them.
Manifest StoppedLeg(const Manifest& run, const Property& property, std::int64_t step);
// The run as it goes on from there. It declares what the run declares.
Manifest ResumedLeg(const Manifest& run, const Property& property, std::int64_t step,
                    const LeftCheckpoint& checkpoint);
// The other way of kAccumulated, kLoaderWorkers and kProcesses.
Manifest OtherLeg(const Manifest& run, const Property& property);
// Step `index` of kResharded; it declares nothing: what it leaves is its `saved`.
Manifest ReshardLeg(const Manifest& run, const Property& property, std::size_t index,
                    const LeftCheckpoint& checkpoint);
// The evaluation of kEvaluatedTwice, the first time or again; it declares metrics alone.
Manifest EvaluationLeg(const Manifest& run, const Property& property, bool again,
                       const LeftCheckpoint& checkpoint);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_PROPERTY_LEGS_H_
