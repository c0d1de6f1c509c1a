// The PTX in a fatbin, which holds machine code and PTX for several architectures.
//
// Role: before ParsePtx, for whoever is given what nvcc embeds. The format is not documented; these
// are the fields that files of nvcc 13.0 show: a header of 16 bytes, its first word 0xba55ed50,
// then entries, each with a header that names its kind, its architecture and whether it is
// compressed.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_FATBIN_H_
#define RHARNESS_TESTS_GPU_EMULATOR_FATBIN_H_

#include <cstddef>
#include <span>
#include <string>

#include "harness/base/result.h"

namespace rharness {

bool IsFatbin(const void* image);  // by its first word
// All of the fatbin that begins at `image`, by the size in its header.
std::span<const std::byte> FatbinAt(const void* image);

// The text for the highest architecture that a device of `compute` (90 for 9.0) runs. Errors:
// invalid_input with the offset; not_found if no PTX is there for the device; unsupported if it is
// compressed (nvcc --compress-mode=none leaves it as it is).
Result<std::string> PtxOfFatbin(std::span<const std::byte> fatbin, int compute);

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_FATBIN_H_
