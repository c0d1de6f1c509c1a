// The class of GPUs that a run depends on: what must be equal for a rerun to be one of the same
// thing. Pure.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_HARDWARE_CLASS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_HARDWARE_CLASS_H_

#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/json_reader.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// GPUs that may stand in for the recorded ones, as the drill has decided for a run.
struct Substitution {
  std::string recorded;  // globs over models
  std::string here;
  std::string why;  // "signed by ada: the same die (through 2026-12-31)"
};
Json ToJson(const Substitution& substitution);
void ReadSubstitution(JsonReader& reader, Substitution* out);

// "GPU memory": "80 GiB" recorded, "40 GiB" here. Of what one side alone says nothing is known.
struct ClassDifference {
  std::string what;
  std::string recorded;
  std::string here;
};

// What differs for this run on a machine that gives it these GPUs (indices; empty: it may get any).
// A run without GPUs, or recorded without a list of them, depends on none: on a CPU bits decide,
// and a promise for one class is held to its model by the comparison. Memory is compared in whole
// GiB, since drivers keep back some of it; how GPUs are connected only for runs with several. The
// UUID names a board and no class.
std::vector<ClassDifference> CompareHardwareClass(const Manifest& run, const Hardware& here,
                                                  const std::vector<int>& gpus);

// The first of them by which the GPUs here may stand in for the recorded ones; nullptr: none.
const Substitution* FindSubstitution(const Manifest& run, const Hardware& here,
                                     const std::vector<Substitution>& substitutions);

// "2 x NVIDIA H100 80GB HBM3 (80 GiB), nvlink"; "no GPU".
std::string DescribeGpus(const Hardware& hardware);

// Of one GPU, as facts and differences name it; empty where it is not known.
std::string GpuMemory(const Gpu& gpu);  // "80 GiB"

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_HARDWARE_CLASS_H_
