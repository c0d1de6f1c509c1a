// The description of a zarr array: .zarray of version 2, zarr.json of version 3.
//
// Role: private to this folder; under orbax. Pure: text in, description out. Reads what TensorStore
// writes for Orbax: C order, little-endian numbers, a regular grid; chunks as they are, or through
// zstd or gzip; chunks of version 3 within shards. Names and refuses everything else. Source:
// https://zarr-specs.readthedocs.io (version 2; core of version 3, sharding-indexed codec);
// bfloat16 and the 8-bit floats as TensorStore's drivers zarr and zarr3 name them.
#ifndef RHARNESS_COMPARE_WEIGHTS_ZARR_H_
#define RHARNESS_COMPARE_WEIGHTS_ZARR_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/chunk_stream.h"

namespace rharness {

inline constexpr std::size_t kMaxZarrText = std::size_t{1} << 20;
inline constexpr std::size_t kMaxZarrRank = 32;

struct ZarrArray {
  DType dtype = DType::kF32;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> cell;   // of the grid; positive; as many as the shape has
  std::vector<std::uint64_t> chunk;  // in a cell that is a shard; else as `cell`
  bool sharded = false;
  bool index_first = false;    // of a shard: where its index lies, else last
  bool index_checked = false;  // the index ends with its CRC-32C
  bool chunk_checked = false;  // a chunk ends with the CRC-32C of its bytes
  ChunkCoding coding = ChunkCoding::kPlain;
  bool zero_fill = true;  // what is not stored is 0; else a value that is not read
  std::string key_start;  // of a cell's key: "c/" in version 3
  char separator = '.';   // of a cell's key between its numbers
};

// Parses either version, by its zarr_format. Errors, with `where` as given: invalid_input,
// unsupported.
Result<ZarrArray> ParseZarr(std::string_view text, const std::string& where);

// The key of a cell below its array: "0.3", "c/0/3"; "0" or "c" of an array without dimensions.
std::string CellKey(const ZarrArray& array, const std::vector<std::uint64_t>& cell);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_ZARR_H_
