// How often kernels ran on the emulator in this process, by name, for tests that must have run
// them.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_EMULATED_LAUNCHES_H_
#define RHARNESS_TESTS_GPU_EMULATOR_EMULATED_LAUNCHES_H_

#include <map>
#include <string>

namespace rharness {

std::map<std::string, int>& EmulatedLaunches();

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_EMULATED_LAUNCHES_H_
