// Fuzzes the readers of models of other libraries: no crash, no undefined behaviour, and what opens
// can be read.
//
// An input is a whole file; its first bytes choose the reader. Run: rharness-model-file-fuzz
// -max_total_time=60 CORPUS model_file_seeds
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rharness::OpenAndCheck({reinterpret_cast<const char*>(data), size});
  return 0;
}
