// A checkpoint whose tensors are stored as they are: runs of bytes in one or several files.
//
// Role: private to this folder; the result of readers whose formats store elements in C order.
// Checks that every byte of every tensor is in its file. Not here: any file format, strides.
#ifndef RHARNESS_COMPARE_WEIGHTS_PLACED_CHECKPOINT_H_
#define RHARNESS_COMPARE_WEIGHTS_PLACED_CHECKPOINT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"

namespace rharness {

// Limits of this reader, far above any published checkpoint.
inline constexpr std::size_t kMaxPlacedTensors = 2'000'000;
inline constexpr std::size_t kMaxPlacedRank = 64;
inline constexpr std::uint64_t kMaxPlacedMultiple = 64;  // bytes of tensors over those of the files
inline constexpr std::uint64_t kPlacedFloor = std::uint64_t{16} << 20;  // or 16 MB

// A run of a tensor's bytes.
struct PlacedRun {
  std::size_t file = 0;  // in PlacedParts::files
  std::uint64_t begin = 0;
  std::uint64_t size_bytes = 0;
};

struct PlacedTensor {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::uint64_t> shape;
  std::vector<PlacedRun> runs;  // in the order of the elements; none: the bytes are in `content`
  std::string content;
  std::optional<std::uint32_t> crc32c;  // of all bytes, as stored (crc32c.h)
  std::string stated_at;                // for errors: "FILE: byte N"
};

struct PlacedParts {
  std::vector<InputFile> files;
  std::vector<PlacedTensor> tensors;  // in any order
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<UnreadPart> unread;
};

// Checks names (unique), shapes, and that the runs are within their files and have as many bytes as
// the shape. CheckStored verifies the checksum. Errors: invalid_input, unsupported (a limit above);
// the message names the tensor.
Result<std::unique_ptr<Checkpoint>> MakePlacedCheckpoint(PlacedParts parts);

// Fills in elements and size_bytes from dtype and shape. Errors: invalid_input when they are above
// 2^64 - 1 or no whole bytes, unsupported above kMaxPlacedRank dimensions, with `where`.
Status CompleteTensorInfo(TensorInfo* info, const std::string& where);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_PLACED_CHECKPOINT_H_
