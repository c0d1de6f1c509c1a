// Fuzzes the descriptions of zarr's arrays: no crash, no undefined behaviour, and a grid that the
// rest of the code relies on.
//
// An input is a .zarray or zarr.json. Run: rharness-zarr-fuzz -max_total_time=60 CORPUS zarr_seeds
#include "compare/weights/zarr.h"
#include "tests/fuzz/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto array = rharness::ParseZarr(rharness::TextOf(data, size), "fuzz");
  if (!array.ok()) {
    rharness::RequireError(array.error(),
                           {rharness::ErrorCode::kInvalidInput, rharness::ErrorCode::kUnsupported},
                           "fuzz");
    return 0;
  }
  rharness::Require(array->cell.size() == array->shape.size() &&
                    array->chunk.size() == array->shape.size());
  for (std::size_t i = 0; i < array->shape.size(); ++i) {
    rharness::Require(array->cell[i] > 0 && array->chunk[i] > 0);
    rharness::Require(array->cell[i] % array->chunk[i] == 0);
  }
  rharness::Require(
      !rharness::CellKey(*array, std::vector<std::uint64_t>(array->shape.size())).empty());
  return 0;
}
