// The legs of a run's properties: the reruns, their order, and their inputs from earlier legs.
// Pure.
//
// The numbers of legs are those of reruns in the folder, and the same in every process: repeat R of
// leg I is (R - 1) * N + I. The straight run is leg 1. The first two repeats of all straight runs
// are always due, and the first repeat of the legs; the rest only for lost properties, or for those
// open because straight runs differ among themselves.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_LEGS_H_
#define RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_LEGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/records/manifest/manifest.h"
#include "harness/records/manifest/property_legs.h"

namespace rharness {

enum class LegRole { kStraight, kStopped, kResumed, kOther, kReshard, kEvaluation };

struct Leg {
  int number = 1;  // of the rerun
  int repeat = 1;
  LegRole role = LegRole::kStraight;
  std::size_t property = 0;  // in the manifest; of a straight run nothing
  std::int64_t step = 0;     // where it is cut; of kBatchInvariant 1 and the place among WaysOf
  std::size_t index = 0;     // of kReshard the step, of kEvaluation 1 the second time
  int from = 0;              // the leg whose checkpoint it gets; 0: none
  std::string given;         // the path there, relative to the working directory
  std::vector<std::string> leaves;  // inputs of later legs, likewise
  std::string words;                // "straight", "stopped after step 4"
};

// One thing that is held, lost or not judged.
struct PropertyClaim {
  std::string name;  // NameOf(property), of kResumed with "@STEP", of kBatchInvariant "@LEG"
  std::size_t property = 0;
  std::int64_t step = 0;
  // By repeat. Of kRepeated `legs` is empty; kResharded and kEvaluatedTwice, which compare their
  // legs with each other and with the loaded checkpoint, have one repeat only.
  std::vector<int> straight;
  std::vector<int> legs;
};

struct LegPlan {
  std::vector<Leg> legs;  // by number, all repeats
  std::vector<PropertyClaim> claims;
};
// `repeats`: 2 or more.
LegPlan PlanLegs(const Manifest& run, int repeats);

const Leg& LegOf(const LegPlan& plan, int number);

// Whether a property's legs are compared with straight runs, and so with the distance between
// these.
bool IsHeldToStraight(PropertyKind kind);

// Whether any property of the run is compared with how it repeats itself.
bool NeedsTwoStraight(const Manifest& run);

// The record of a leg, for its ticket. `given`: the checkpoint of the leg that it resumes from.
Manifest ManifestOf(const Manifest& run, const Leg& leg, const LeftCheckpoint& given);

// Whether a property compares the answers of an inference; its legs leave the files that have them.
bool IsOfAnswers(PropertyKind kind);

// One sentence: the claim of a property.
std::string ClaimWords(const Property& property, std::int64_t step);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_LEGS_H_
