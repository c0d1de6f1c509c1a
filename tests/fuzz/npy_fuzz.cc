// Fuzzes the readers of numpy's files: no crash, no undefined behaviour, and what opens can be
// read.
//
// An input that begins with "PK" is an .npz archive; any other is a .npy file, which is also read
// as the stored and as the deflated member of an archive. Run: rharness-npy-fuzz -max_total_time=60
// -dict=npy.dict CORPUS npy_seeds
#include "tests/compare/weights/zip_file.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  rharness::OpenAndCheck(input);
  if (input.starts_with("PK")) return 0;
  rharness::OpenAndCheck(
      rharness::ZipOf({{.name = "stored.npy", .content = input},
                       {.name = "deflated.npy", .content = input, .deflate = true}}));
  return 0;
}
