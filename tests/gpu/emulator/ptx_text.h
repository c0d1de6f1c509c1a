// PTX text to a program.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_PTX_TEXT_H_
#define RHARNESS_TESTS_GPU_EMULATOR_PTX_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "tests/gpu/emulator/ptx_program.h"

namespace rharness {

struct PtxToken {
  enum class Kind { kWord, kNumber, kText, kSign, kEnd } kind = Kind::kEnd;
  std::string_view text;  // a sign is one character
  int line = 0;
};

// Without comments; the last one is kEnd. Errors: invalid_input with the line.
Result<std::vector<PtxToken>> TokensOfPtx(std::string_view text);

// Errors: invalid_input, or unsupported for an instruction or a directive that the emulator does
// not have; both with the line.
Result<PtxProgram> ParsePtx(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_PTX_TEXT_H_
