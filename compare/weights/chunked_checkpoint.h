// A checkpoint whose tensors are stored in the chunks of a regular grid, perhaps compressed.
//
// Role: private to this folder; the result of the readers of Orbax and of chunks in HDF5. Reads of
// a tensor become reads of its chunks, in the order of the elements; each chunk is decoded forward,
// once if the tensor is read forward. Memory: the windows of at most kMaxOpenChunks compressed
// chunks, whatever their sizes, and kMaxHeldChunkBytes of shuffled ones.
#ifndef RHARNESS_COMPARE_WEIGHTS_CHUNKED_CHECKPOINT_H_
#define RHARNESS_COMPARE_WEIGHTS_CHUNKED_CHECKPOINT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/chunk_stream.h"
#include "compare/weights/input_file.h"

namespace rharness {

inline constexpr std::size_t kMaxOpenChunks = 64;
inline constexpr std::uint64_t kMaxHeldChunkBytes = std::uint64_t{128} << 20;
inline constexpr std::uint64_t kMaxGridChunks = 4'000'000;  // of all tensors together
// Bytes of all tensors over the stored ones: zstd's longest runs; or 1 GiB.
inline constexpr std::uint64_t kMaxChunkedMultiple = 32'768;
inline constexpr std::uint64_t kChunkedFloor = std::uint64_t{1} << 30;

struct ChunkedTensor {
  TensorInfo info;                   // complete (CompleteTensorInfo)
  std::vector<std::uint64_t> chunk;  // elements of a stored chunk along each dimension; positive
  // In C order of the grid, which covers the shape; none: not stored, all bytes 0. Chunks at the
  // upper edges are stored whole, with elements beyond the shape.
  std::vector<std::optional<StoredChunk>> chunks;
  ChunkCoding coding = ChunkCoding::kPlain;
  bool checked = false;   // each stored chunk ends with the CRC-32C of its bytes
  std::string stated_at;  // for errors
};

struct ChunkedParts {
  std::vector<std::unique_ptr<const InputFile>> files;  // that the chunks point to
  std::vector<InputFile> keep;                          // further files that must not change
  std::vector<ChunkedTensor> tensors;                   // in any order
  std::vector<UnreadPart> unread;
};

// The number of chunks along each dimension.
std::vector<std::uint64_t> GridOf(const std::vector<std::uint64_t>& shape,
                                  const std::vector<std::uint64_t>& chunk);

// CheckStored verifies the checksums of a tensor's chunks. Errors: invalid_input (a name that
// occurs twice, a plain chunk of another size than the grid's), unsupported (a limit above).
Result<std::unique_ptr<Checkpoint>> MakeChunkedCheckpoint(ChunkedParts parts);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_CHUNKED_CHECKPOINT_H_
