// Start here: one training run from command line to files, the same for every network.
#ifndef RHARNESS_SCENARIOS_COMMON_TRAINER_H_
#define RHARNESS_SCENARIOS_COMMON_TRAINER_H_

#include "scenarios/common/network.h"

namespace rharness::scenarios {

// Loads the digits, trains for some epochs, evaluates, writes model.safetensors and then
// metrics.json. Prints the metrics on stdout. Exit status: 0 done, 1 a file could not be written,
// 2 bad options or data.
int RunTrainer(int argc, char* const* argv, const NetworkFactory& make_network);

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_COMMON_TRAINER_H_
