// The command line that both C++ trainers share.
#ifndef RHARNESS_SCENARIOS_COMMON_OPTIONS_H_
#define RHARNESS_SCENARIOS_COMMON_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "scenarios/common/network.h"
#include "scenarios/common/plant.h"

namespace rharness::scenarios {

struct Options {
  std::filesystem::path data;
  std::filesystem::path out = ".";
  std::uint64_t init_seed = 1;
  std::uint64_t shuffle_seed = 1;
  std::size_t epochs = 15;
  std::size_t batch = 32;
  std::size_t hidden = 64;
  SgdStep step = {0.1f, 0.9f};
  Plant plant = Plant::kNone;
  bool help = false;
};

// The arguments after the program's name. --init-seed and --shuffle-seed win over --seed, in any
// order. False and an error that names the flag, its value and what was expected.
bool ParseOptions(std::span<char* const> arguments, Options* options, std::string* error);

std::string Usage(const std::string& program);

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_COMMON_OPTIONS_H_
