// Fuzzes the reader of PyTorch files: no crash, no undefined behaviour, and what opens can be read.
//
// An input that begins with "PK" or the magic number of old files is a whole file; any other is a
// pickle, which the target puts into an archive with three storages, since a mutated pickle in a
// file fails at its CRC-32. Run: rharness-torch-fuzz -max_total_time=60 -dict=pickle.dict CORPUS
// torch_seeds
#include "compare/weights/torch_legacy.h"
#include "tests/compare/weights/pickle_bytes.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  if (input.starts_with("PK") || input.starts_with(rharness::kTorchLegacyMagic)) {
    rharness::OpenAndCheck(input);
    return 0;
  }
  const std::vector<std::string> storages = {std::string(24, 'a'), std::string(8, 'b'), ""};
  rharness::OpenAndCheck(rharness::TorchFileOf(input, storages));
  return 0;
}
