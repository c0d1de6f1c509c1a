// Descriptions first, then the cells of each grid; see zarr_arrays.h.
#include "compare/weights/zarr_arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "compare/weights/names.h"
#include "compare/weights/placed_checkpoint.h"
#include "compare/weights/zarr.h"
#include "harness/base/crc32c.h"

namespace rharness {
namespace {

using Sizes = std::vector<std::uint64_t>;

constexpr std::array<std::string_view, 2> kDescriptions = {"/.zarray", "/zarr.json"};
constexpr std::uint64_t kMostShardChunks = 1'000'000;

// Moves to the next place of a grid in C order; false after the last.
bool Advance(const Sizes& grid, Sizes* place) {
  for (std::size_t i = grid.size(); i-- > 0;) {
    if (++(*place)[i] < grid[i]) return true;
    (*place)[i] = 0;
  }
  return false;
}

Result<std::uint64_t> CountOf(const Sizes& grid, std::uint64_t most, const std::string& where) {
  std::uint64_t count = 1;
  for (const std::uint64_t size : grid) {
    if (!__builtin_mul_overflow(count, size, &count) && count <= most) continue;
    return Unsupported(fmt::format("more than {} chunks", most), where);
  }
  return count;
}

class ZarrFinder {
 public:
  ZarrFinder(const KeyValues& store, std::set<std::string, std::less<>>* used)
      : store_(store), used_(*used) {}

  Result<ChunkedTensor> Find(const std::string& key, std::string_view array, std::string name) {
    const StoredChunk& stored = store_.values.find(key)->second;
    used_.insert(key);
    const std::string where = fmt::format(
        "{}: {}", stored.file == nullptr ? "a value" : stored.file->name(), Quoted(key));
    if (stored.size_bytes > kMaxZarrText) {
      return Unsupported(fmt::format("a description of {} bytes; expected at most {}",
                                     stored.size_bytes, kMaxZarrText),
                         where);
    }
    std::string text(stored.size_bytes, '\0');
    RETURN_IF_ERROR(ReadStored(stored, 0, std::as_writable_bytes(std::span(text))));
    ASSIGN_OR_RETURN(const ZarrArray zarr, ParseZarr(text, where));
    ChunkedTensor tensor{
        .info = {.name = std::move(name), .dtype = zarr.dtype, .shape = zarr.shape},
        .chunk = zarr.chunk,
        .coding = zarr.coding,
        .checked = zarr.chunk_checked,
        .stated_at = where};
    RETURN_IF_ERROR(CompleteTensorInfo(&tensor.info, where));
    const Sizes grid = GridOf(zarr.shape, zarr.chunk);
    ASSIGN_OR_RETURN(const std::uint64_t count, CountOf(grid, kMaxGridChunks - chunks_, where));
    chunks_ += count;
    Sizes place(grid.size());
    for (std::uint64_t i = 0; i < count; ++i, Advance(grid, &place)) {
      ASSIGN_OR_RETURN(auto chunk, ChunkAt(zarr, array, place, where));
      if (!chunk && !zarr.zero_fill) {
        return Unsupported("a chunk that is not stored, whose elements are not 0", where);
      }
      tensor.chunks.push_back(std::move(chunk));
    }
    return tensor;
  }

 private:
  // The chunk at a place of the grid of chunks; none: not stored.
  Result<std::optional<StoredChunk>> ChunkAt(const ZarrArray& zarr, std::string_view array,
                                             const Sizes& place, const std::string& where) {
    Sizes cell(place.size());
    for (std::size_t i = 0; i < place.size(); ++i)
      cell[i] = place[i] * zarr.chunk[i] / zarr.cell[i];
    const std::string key = fmt::format("{}/{}", array, CellKey(zarr, cell));
    const auto stored = store_.values.find(key);
    if (stored == store_.values.end()) return std::optional<StoredChunk>();
    used_.insert(key);
    if (!zarr.sharded) return std::optional<StoredChunk>(stored->second);
    RETURN_IF_ERROR(ReadShardIndex(zarr, key, stored->second, where));
    std::uint64_t inner = 0;  // in C order of the shard
    for (std::size_t i = 0; i < place.size(); ++i) {
      const std::uint64_t per_cell = zarr.cell[i] / zarr.chunk[i];
      inner = inner * per_cell + place[i] % per_cell;
    }
    const std::uint64_t begin = index_[2 * inner], size = index_[2 * inner + 1];
    constexpr std::uint64_t kNone = ~std::uint64_t{0};
    if (begin == kNone && size == kNone) return std::optional<StoredChunk>();
    StoredChunk chunk = stored->second;
    if (begin > chunk.size_bytes || size > chunk.size_bytes - begin) {
      return InvalidInput(fmt::format("a chunk beyond the end of the shard {}", Quoted(key)),
                          where);
    }
    if (chunk.memory != nullptr) {
      chunk.memory = std::make_shared<const std::string>(chunk.memory->substr(begin, size));
    }
    chunk.begin += begin;
    chunk.size_bytes = size;
    return std::optional<StoredChunk>(std::move(chunk));
  }

  // The places of a shard's chunks, into index_: begin and size of each.
  Status ReadShardIndex(const ZarrArray& zarr, const std::string& key, const StoredChunk& shard,
                        const std::string& where) {
    if (key == index_of_) return {};
    Sizes grid;
    for (std::size_t i = 0; i < zarr.cell.size(); ++i) grid.push_back(zarr.cell[i] / zarr.chunk[i]);
    ASSIGN_OR_RETURN(const std::uint64_t count, CountOf(grid, kMostShardChunks, where));
    const std::uint64_t size = 16 * count + (zarr.index_checked ? 4 : 0);
    if (shard.size_bytes < size) {
      return InvalidInput(fmt::format("the shard {} has {} bytes; expected its index of {}",
                                      Quoted(key), shard.size_bytes, size),
                          where);
    }
    std::string bytes(size, '\0');
    RETURN_IF_ERROR(ReadStored(shard, zarr.index_first ? 0 : shard.size_bytes - size,
                               std::as_writable_bytes(std::span(bytes))));
    index_.resize(2 * count);
    std::memcpy(index_.data(), bytes.data(), 16 * count);
    index_of_ = key;
    if (!zarr.index_checked) return {};
    std::uint32_t stated = 0;
    std::memcpy(&stated, bytes.data() + 16 * count, 4);
    if (Crc32c(std::string_view(bytes).substr(0, 16 * count)) == stated) return {};
    return IntegrityError(
        fmt::format("the CRC-32C of the index of the shard {} does not match its bytes",
                    Quoted(key)),
        where);
  }

  const KeyValues& store_;
  std::set<std::string, std::less<>>& used_;
  std::uint64_t chunks_ = 0;
  std::string index_of_;  // the key of the shard whose index was read last
  Sizes index_;
};

}  // namespace

bool IsZarrKey(std::string_view key) {
  return std::ranges::any_of(kDescriptions, [&](std::string_view ending) {
    return key.size() > ending.size() && key.ends_with(ending);
  });
}

Result<std::vector<ChunkedTensor>> FindZarrArrays(
    const KeyValues& store, const std::function<std::string(std::string_view array)>& name_of,
    std::set<std::string, std::less<>>* used) {
  ZarrFinder finder(store, used);
  std::vector<ChunkedTensor> tensors;
  for (const auto& [key, value] : store.values) {
    if (!IsZarrKey(key)) continue;
    const std::string_view array = std::string_view(key).substr(0, key.rfind('/'));
    ASSIGN_OR_RETURN(ChunkedTensor tensor, finder.Find(key, array, name_of(array)));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace rharness
