// A row of the history's replicates.
#ifndef RHARNESS_HARNESS_HISTORY_REPLICATE_RECORD_H_
#define RHARNESS_HARNESS_HISTORY_REPLICATE_RECORD_H_

#include <string>

#include "harness/base/clock.h"

namespace rharness {

// One run of an envelope: a rerun that differs from the others of its group by rounding alone, with
// its measurements. Of one configuration, on one stack, of one recorded run with its seeds.
struct ReplicateRecord {
  std::string configuration;  // ConfigurationKey
  std::string stack;          // digest of what it ran on
  std::string run_id;
  int replicate = 0;  // 0: the unperturbed rerun; 1, 2, ...: the perturbed ones
  WallTime made{};
  std::string evidence_sha256;  // of the file in the drill's folder
  std::string body;             // the evidence without files and remarks, as JSON
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_REPLICATE_RECORD_H_
