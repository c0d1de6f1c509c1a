// Start here: one training run from command line to files, the same for every network.
#ifndef RHARNESS_SCENARIOS_COMMON_TRAINER_H_
#define RHARNESS_SCENARIOS_COMMON_TRAINER_H_

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "scenarios/common/network.h"
#include "scenarios/common/options.h"

namespace rharness::scenarios {

// The network of a run, with its initial weights; null and an error when it cannot be made here.
using NetworkFactory = std::function<std::unique_ptr<Network>(const Options&, std::string* error)>;

// Loads the digits, trains for some epochs, evaluates, writes model.safetensors and then
// metrics.json. Prints the metrics on stdout. Exit status: 0 done, 1 no network could be
// made or a file not written, 2 bad options or data. `extra` are flags of this trainer alone.
int RunTrainer(int argc, char* const* argv, const NetworkFactory& make_network,
               std::span<const ExtraFlag> extra = {});

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_COMMON_TRAINER_H_
