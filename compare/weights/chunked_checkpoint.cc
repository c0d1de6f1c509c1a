// Runs of elements of a grid, and the chunks that are being decoded; see chunked_checkpoint.h.
#include "compare/weights/chunked_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>

#include "compare/weights/names.h"
#include "harness/base/crc32c.h"

namespace rharness {
namespace {

using Sizes = std::vector<std::uint64_t>;

constexpr std::uint64_t kChunkChecksumBytes = 4;

// Elements that follow one another in the tensor and in one chunk.
struct ChunkRun {
  std::size_t chunk = 0;    // in C order of the grid
  std::uint64_t first = 0;  // flat index in the stored chunk
  std::uint64_t count = 0;
};

std::uint64_t ElementsOf(const Sizes& shape) {
  std::uint64_t elements = 1;
  for (const std::uint64_t size : shape) elements *= size;
  return elements;
}

// The run that begins with the element of flat index `flat`.
ChunkRun ChunkRunAt(const ChunkedTensor& tensor, std::uint64_t flat) {
  const Sizes& shape = tensor.info.shape;
  ChunkRun run{.count = 1};
  std::uint64_t stride = 1;       // of the stored chunk
  std::uint64_t grid_stride = 1;  // of the grid
  std::uint64_t row = 1;          // elements of the part of the chunk within the shape, behind i
  std::uint64_t past = 0;         // of them, those before the element
  bool whole = true;              // all dimensions behind i are one chunk without a margin
  for (std::size_t i = shape.size(); i-- > 0;) {
    const std::uint64_t index = flat % shape[i], size = tensor.chunk[i];
    flat /= shape[i];
    const std::uint64_t cell = index / size, inside = index % size;
    run.chunk += cell * grid_stride;
    run.first += inside * stride;
    grid_stride *= (shape[i] - 1) / size + 1;
    stride *= size;
    if (!whole) continue;
    past += inside * row;
    row *= std::min(size, shape[i] - cell * size);
    run.count = row - past;
    whole = size == shape[i];
  }
  return run;
}

// Chunks that are being decoded: each at the position after its last read, the latest used first.
class OpenChunks {
 public:
  struct Entry {
    std::size_t tensor = 0;
    std::size_t chunk = 0;
    ChunkStream stream;
  };

  // The stream of a chunk that is nearest before `position`; none: a new one has to begin.
  std::optional<Entry> Take(std::size_t tensor, std::size_t chunk, std::uint64_t position) {
    const std::lock_guard lock(mutex_);
    auto best = entries_.end();
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (entry->tensor != tensor || entry->chunk != chunk) continue;
      const std::uint64_t at = entry->stream.position();
      if (at <= position && (best == entries_.end() || at > best->stream.position())) best = entry;
    }
    if (best == entries_.end()) return std::nullopt;
    Count(*best, -1);
    std::optional<Entry> taken(std::move(*best));
    entries_.erase(best);
    return taken;
  }

  void Keep(Entry entry) {
    const std::lock_guard lock(mutex_);
    Count(entry, 1);
    entries_.push_front(std::move(entry));
    while (streams_ > kMaxOpenChunks || held_bytes_ > kMaxHeldChunkBytes) {
      Count(entries_.back(), -1);
      entries_.pop_back();
    }
  }

 private:
  // A chunk in memory counts by its bytes, one that is being decoded as one.
  void Count(const Entry& entry, int sign) {
    const std::uint64_t held = entry.stream.held_bytes();
    if (sign > 0) {
      (held > 0 ? held_bytes_ : streams_) += held > 0 ? held : 1;
    } else {
      (held > 0 ? held_bytes_ : streams_) -= held > 0 ? held : 1;
    }
  }

  std::mutex mutex_;
  std::list<Entry> entries_;
  std::uint64_t held_bytes_ = 0;
  std::uint64_t streams_ = 0;
};

bool IsPlain(const ChunkedTensor& tensor, const StoredChunk& chunk) {
  return tensor.coding == ChunkCoding::kPlain || chunk.plain;
}

class ChunkedCheckpoint : public Checkpoint {
 public:
  explicit ChunkedCheckpoint(ChunkedParts parts) : parts_(std::move(parts)) {
    for (const ChunkedTensor& tensor : parts_.tensors) tensors_.push_back(tensor.info);
  }

  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  const std::vector<std::pair<std::string, std::string>>& metadata() const override {
    static const std::vector<std::pair<std::string, std::string>> kNone;
    return kNone;
  }
  const std::vector<UnreadPart>& unread() const override { return parts_.unread; }
  Status Read(std::size_t index, std::uint64_t offset, std::span<std::byte> out) const override;
  Status CheckStored(std::size_t index) const override;
  Status CheckUnchanged() const override {
    for (const auto& file : parts_.files) RETURN_IF_ERROR(file->CheckUnchanged());
    for (const InputFile& file : parts_.keep) RETURN_IF_ERROR(file.CheckUnchanged());
    return {};
  }

 private:
  Status ReadChunk(std::size_t index, std::size_t chunk, std::uint64_t offset,
                   std::span<std::byte> out) const;

  ChunkedParts parts_;
  std::vector<TensorInfo> tensors_;
  mutable OpenChunks open_;
};

Status ChunkedCheckpoint::Read(std::size_t index, std::uint64_t offset,
                               std::span<std::byte> out) const {
  const TensorInfo& info = tensors_.at(index);
  if (offset > info.size_bytes || out.size() > info.size_bytes - offset) {
    Abort("read beyond the end of a tensor");
  }
  const auto item = static_cast<std::uint64_t>(BitsOf(info.dtype) / 8);
  while (!out.empty()) {
    const std::uint64_t inside = offset % item;  // of the first element
    const ChunkRun run = ChunkRunAt(parts_.tensors[index], offset / item);
    const std::size_t size = std::min<std::uint64_t>(out.size(), run.count * item - inside);
    RETURN_IF_ERROR(ReadChunk(index, run.chunk, run.first * item + inside, out.first(size)));
    out = out.subspan(size);
    offset += size;
  }
  return {};
}

Status ChunkedCheckpoint::ReadChunk(std::size_t index, std::size_t chunk, std::uint64_t offset,
                                    std::span<std::byte> out) const {
  const ChunkedTensor& tensor = parts_.tensors[index];
  const std::optional<StoredChunk>& stored = tensor.chunks[chunk];
  if (!stored) {
    std::ranges::fill(out, std::byte{0});
    return {};
  }
  if (IsPlain(tensor, *stored) && stored->shuffled == 0) return ReadStored(*stored, offset, out);
  std::optional<OpenChunks::Entry> entry = open_.Take(index, chunk, offset);
  if (!entry) {
    const auto item = static_cast<std::uint64_t>(BitsOf(tensor.info.dtype) / 8);
    StoredChunk content = *stored;
    if (tensor.checked) content.size_bytes -= kChunkChecksumBytes;
    entry.emplace(OpenChunks::Entry{
        index, chunk,
        ChunkStream(std::move(content), tensor.coding, ElementsOf(tensor.chunk) * item)});
  }
  RETURN_IF_ERROR(entry->stream.Skip(offset - entry->stream.position()));
  RETURN_IF_ERROR(entry->stream.Read(out));
  open_.Keep(std::move(*entry));
  return {};
}

Status ChunkedCheckpoint::CheckStored(std::size_t index) const {
  const ChunkedTensor& tensor = parts_.tensors.at(index);
  if (!tensor.checked) return {};
  for (const std::optional<StoredChunk>& stored : tensor.chunks) {
    if (!stored) continue;
    const std::uint64_t size = stored->size_bytes - kChunkChecksumBytes;
    std::uint32_t crc = 0, stated = 0;
    std::string block;
    for (std::uint64_t at = 0; at < size; at += block.size()) {
      block.resize(std::min<std::uint64_t>(kReadBlockBytes, size - at));
      RETURN_IF_ERROR(ReadStored(*stored, at, std::as_writable_bytes(std::span(block))));
      crc = Crc32c(block, crc);
    }
    RETURN_IF_ERROR(ReadStored(*stored, size, std::as_writable_bytes(std::span(&stated, 1))));
    if (crc == stated) continue;
    return IntegrityError(fmt::format("tensor {}: a chunk's CRC-32C is {:08x}; expected {:08x}",
                                      Quoted(tensor.info.name), crc, stated),
                          tensor.stated_at);
  }
  return {};
}

Status CheckChunks(const ChunkedTensor& tensor) {
  const auto item = static_cast<std::uint64_t>(BitsOf(tensor.info.dtype) / 8);
  std::uint64_t bytes = item;
  for (const std::uint64_t size : tensor.chunk) {
    if (!__builtin_mul_overflow(bytes, size, &bytes)) continue;
    return InvalidInput(
        fmt::format("tensor {}: a chunk of more than 2^64 - 1 bytes", Quoted(tensor.info.name)),
        tensor.stated_at);
  }
  const std::uint64_t further = tensor.checked ? kChunkChecksumBytes : 0;
  for (const std::optional<StoredChunk>& stored : tensor.chunks) {
    if (!stored) continue;
    const bool plain = IsPlain(tensor, *stored);
    if (stored->size_bytes >= further && (!plain || stored->size_bytes - further == bytes)) {
      continue;
    }
    return InvalidInput(fmt::format("tensor {}: a stored chunk of {} bytes; expected {}{}",
                                    Quoted(tensor.info.name), stored->size_bytes,
                                    plain ? "" : "more than ", plain ? bytes + further : further),
                        tensor.stated_at);
  }
  return {};
}

}  // namespace

std::vector<std::uint64_t> GridOf(const Sizes& shape, const Sizes& chunk) {
  Sizes grid;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    grid.push_back(shape[i] / chunk[i] + (shape[i] % chunk[i] == 0 ? 0 : 1));
  }
  return grid;
}

Result<std::unique_ptr<Checkpoint>> MakeChunkedCheckpoint(ChunkedParts parts) {
  const auto name = [](const ChunkedTensor& tensor) -> const std::string& {
    return tensor.info.name;
  };
  std::ranges::stable_sort(parts.tensors, {}, name);
  const auto twin = std::ranges::adjacent_find(parts.tensors, {}, name);
  if (twin != parts.tensors.end()) {
    return InvalidInput(fmt::format("tensor {}: the name occurs twice; expected unique names",
                                    Quoted(twin->info.name)),
                        (twin + 1)->stated_at);
  }
  std::uint64_t bytes = 0, stored_bytes = 0, memory_bytes = 0;
  bool above = false;
  for (const ChunkedTensor& tensor : parts.tensors) {
    RETURN_IF_ERROR(CheckChunks(tensor));
    for (const auto& chunk : tensor.chunks) {
      if (!chunk) continue;
      (chunk->file == nullptr ? memory_bytes : stored_bytes) += chunk->size_bytes;
    }
    above |= __builtin_add_overflow(bytes, tensor.info.size_bytes, &bytes);
  }
  // Chunks may lie in the same bytes.
  std::uint64_t file_bytes = 0;
  for (const auto& file : parts.files) file_bytes += file->size_bytes();
  stored_bytes = std::min(stored_bytes, file_bytes) + memory_bytes;
  if (above || (bytes > kChunkedFloor && bytes / kMaxChunkedMultiple > stored_bytes)) {
    return Unsupported(fmt::format("{} stored bytes stand for {}; expected at most {} times as "
                                   "many, or {}",
                                   stored_bytes, bytes, kMaxChunkedMultiple, kChunkedFloor),
                       parts.tensors.front().stated_at);
  }
  std::ranges::stable_sort(parts.unread, {}, &UnreadPart::name);
  return std::unique_ptr<Checkpoint>(std::make_unique<ChunkedCheckpoint>(std::move(parts)));
}

}  // namespace rharness
