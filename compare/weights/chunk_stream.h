// The content of a stored chunk from its first byte on: as it is, or through zstd, gzip or zlib.
//
// Role: private to this folder; under chunked_checkpoint. Memory: 128 KB and the window of the
// compressed stream, at most 8 MB, whatever the chunk's size; of a shuffled chunk all of it.
#ifndef RHARNESS_COMPARE_WEIGHTS_CHUNK_STREAM_H_
#define RHARNESS_COMPARE_WEIGHTS_CHUNK_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "compare/weights/input_file.h"
#include "harness/base/result.h"

namespace rharness {

// Of a shuffled chunk in memory, beside its content: its decoder.
inline constexpr std::uint64_t kHeldChunkExtra = std::uint64_t{64} << 10;

enum class ChunkCoding { kPlain, kZstd, kGzip, kZlib };

// Where a chunk's stored bytes lie.
struct StoredChunk {
  const InputFile* file = nullptr;  // null: in `memory`
  std::uint64_t begin = 0;
  std::uint64_t size_bytes = 0;
  std::shared_ptr<const std::string> memory;
  bool plain = false;  // stored as it is, whatever its tensor's coding
  // Bytes of a shuffled element: the first bytes of all elements, then the second ones; 0: as they
  // are.
  std::uint64_t shuffled = 0;
};

// Not thread-safe. The chunk's file must outlive it. Spent after an error.
class ChunkStream {
 public:
  // `content_bytes`: of the decoded chunk.
  ChunkStream(StoredChunk stored, ChunkCoding coding, std::uint64_t content_bytes);
  ~ChunkStream();
  ChunkStream(ChunkStream&&) noexcept;
  ChunkStream& operator=(ChunkStream&&) noexcept;

  std::uint64_t position() const;    // of the next byte of content
  std::uint64_t held_bytes() const;  // of a shuffled chunk that is in memory
  // Fills `out`; aborts when the content ends before. Errors: invalid_input, with the byte offset
  // (malformed; a content of another size, noticed at its end), io, integrity.
  Status Read(std::span<std::byte> out);
  Status Skip(std::uint64_t count);  // Read into nothing

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A whole small value, decoded. Errors: as above; unsupported for a content of more than `most`.
Result<std::string> DecodeZstd(std::string_view bytes, std::size_t most, const std::string& where);

// Bytes [begin, begin + size) of a stored chunk as they are. Aborts beyond its end.
Status ReadStored(const StoredChunk& stored, std::uint64_t begin, std::span<std::byte> out);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_CHUNK_STREAM_H_
