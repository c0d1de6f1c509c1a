// The class of GPUs that a run depends on: the properties that a comparable rerun must share. Pure.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_HARDWARE_CLASS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_HARDWARE_CLASS_H_

#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/json_reader.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// GPUs that may replace the recorded ones, as the drill decided for a run.
struct Substitution {
  std::string recorded;  // globs over models
  std::string here;
  std::string why;  // "signed by ada: the same die (through 2026-12-31)"
};
Json ToJson(const Substitution& substitution);
void ReadSubstitution(JsonReader& reader, Substitution* out);

// "GPU memory": "80 GiB" recorded, "40 GiB" here. A property known on one side only is no
// difference.
struct ClassDifference {
  std::string what;
  std::string recorded;
  std::string here;
};

// The differences for this run on a machine that gives it these GPUs (indices; empty: it may get
// any). A run without GPUs, or recorded without a list of them, depends on none: on a CPU bits
// decide, and the comparison checks the CPU model of a promise for one class. Memory is compared in
// whole GiB, since drivers reserve some of it; interconnects only for runs with several GPUs. The
// UUID names a board and no class.
std::vector<ClassDifference> CompareHardwareClass(const Manifest& run, const Hardware& here,
                                                  const std::vector<int>& gpus);

// The first substitution that allows the GPUs here; nullptr: none.
const Substitution* FindSubstitution(const Manifest& run, const Hardware& here,
                                     const std::vector<Substitution>& substitutions);

// "2 x NVIDIA H100 80GB HBM3 (80 GiB), nvlink"; "no GPU".
std::string DescribeGpus(const Hardware& hardware);

// Of one GPU, as facts and differences name it; empty if not known.
std::string GpuMemory(const Gpu& gpu);  // "80 GiB"

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_HARDWARE_CLASS_H_
