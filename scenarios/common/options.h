// The command line that the C++ trainers share; a trainer may add flags of its own.
#ifndef RHARNESS_SCENARIOS_COMMON_OPTIONS_H_
#define RHARNESS_SCENARIOS_COMMON_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

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

// A flag that one trainer adds. `set` takes the value, empty for a switch, which has none, and
// returns whether it is one that was expected.
struct ExtraFlag {
  std::string name;
  std::string expected;
  std::function<bool(std::string_view)> set;
  bool is_switch = false;
};

// The arguments after the program's name; a flag given twice has its last value. --init-seed and
// --shuffle-seed win over --seed, in any order. False and an error that names the flag, its value
// and what was expected.
bool ParseOptions(std::span<char* const> arguments, std::span<const ExtraFlag> extra,
                  Options* options, std::string* error);

std::string Usage(const std::string& program, std::span<const ExtraFlag> extra);

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_COMMON_OPTIONS_H_
