// From a layout and its filters to stored chunks; see hdf5_chunks.h.
#include "compare/weights/hdf5_chunks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "compare/weights/hdf5_arrays.h"
#include "compare/weights/names.h"

namespace rharness {
namespace {

constexpr std::size_t kMostLevels = 32;  // of a B-tree

// "lzf (32000)". Source: "Registered Filter Plugins" (The HDF Group).
std::string FilterInWords(std::uint16_t id) {
  constexpr std::array<std::pair<std::uint16_t, std::string_view>, 13> kNames = {
      {{4, "szip"},
       {5, "nbit"},
       {6, "scaleoffset"},
       {305, "lzo"},
       {307, "bzip2"},
       {32000, "lzf"},
       {32001, "blosc"},
       {32004, "lz4"},
       {32008, "bitshuffle"},
       {32013, "zfp"},
       {32015, "zstd"},
       {32017, "sz"},
       {32026, "blosc2"}}};
  const auto known =
      std::ranges::find(kNames, id, &std::pair<std::uint16_t, std::string_view>::first);
  return known == kNames.end() ? fmt::format("{}", id) : fmt::format("{} ({})", known->second, id);
}

// What was done to each chunk, the first filter first.
struct Filters {
  std::vector<std::uint16_t> ids;
  bool has(std::uint16_t id) const { return std::ranges::find(ids, id) != ids.end(); }
};
enum FilterId : std::uint16_t { kDeflate = 1, kShuffle = 2, kFletcher = 3 };

class ChunkIndexReader {
 public:
  ChunkIndexReader(const Hdf5File& file, TensorInfo info, std::uint64_t at) : file_(file), at_(at) {
    tensor_.stated_at = file.Where(at);
    tensor_.info = std::move(info);
  }

  Result<ChunkedTensor> Read(const Hdf5Message& layout, const std::vector<Hdf5Message>& messages,
                             std::uint64_t* grid_chunks) {
    for (const Hdf5Message& message : messages) {
      if (message.type == kFilters) RETURN_IF_ERROR(ReadFilters(message));
      if (message.type == kFillValue) fill_ = IsFilled(message.content);
      if (message.type == kDataspace) RETURN_IF_ERROR(ReadMost(message.content));
    }
    const std::string& content = layout.content;
    if (content.size() < 11) return file_.Wrong(at_, "a layout of under 11 bytes");
    if (content[0] == 3) {
      RETURN_IF_ERROR(
          ReadGrid(content, 11, static_cast<unsigned char>(content[2]), 4, grid_chunks));
      const std::uint64_t tree = Hdf5Number(content, 3, 8);
      if (tree != kHdf5Undefined) RETURN_IF_ERROR(ReadTree(tree, 0));
    } else {
      RETURN_IF_ERROR(ReadNewer(content, grid_chunks));
    }
    return Finish();
  }

 private:
  Error Other(std::string_view what) const {
    return file_.Other(at_, fmt::format("{}, of {}", what, Quoted(tensor_.info.name)));
  }
  Error Wrong(std::string_view what) const {
    return file_.Wrong(at_, fmt::format("{}: {}", Quoted(tensor_.info.name), what));
  }

  // Section IV.A.2.l.
  Status ReadFilters(const Hdf5Message& message) {
    const std::string& content = message.content;
    if (message.shared || content.size() < 2) return Other("filters that are stored elsewhere");
    const bool first = content[0] == 1;
    const std::size_t count = static_cast<unsigned char>(content[1]);
    std::size_t at = first ? 8 : 2;
    for (std::size_t i = 0; i < count; ++i) {
      if (at + 6 > content.size()) return Wrong("filters beyond their message");
      const auto id = static_cast<std::uint16_t>(Hdf5Number(content, at, 2));
      const bool named = first || id >= 256;
      if (named && at + 8 > content.size()) return Wrong("filters beyond their message");
      std::size_t name = named ? Hdf5Number(content, at + 2, 2) : 0;
      if (first) name = (name + 7) / 8 * 8;
      const std::size_t values = Hdf5Number(content, at + (named ? 6 : 4), 2);
      at += (named ? 8 : 6) + name + 4 * values + (first && values % 2 == 1 ? 4 : 0);
      if (at > content.size()) return Wrong("filters beyond their message");
      if (id != kDeflate && id != kShuffle && id != kFletcher) {
        return Unsupported(
            fmt::format("HDF5 with the filter {}, of {}; expected gzip, shuffle or fletcher32",
                        FilterInWords(id), Quoted(tensor_.info.name)),
            file_.Where(at_));
      }
      filters_.ids.push_back(id);
    }
    const auto order = [](std::uint16_t id) { return id == kShuffle ? 0 : int{id}; };
    for (std::size_t i = 1; i < filters_.ids.size(); ++i) {
      if (order(filters_.ids[i - 1]) >= order(filters_.ids[i])) {
        return Other("filters in an order that is not read");
      }
    }
    return {};
  }

  // Section IV.A.2.f: whether elements of missing chunks are other than 0.
  static bool IsFilled(const std::string& content) {
    if (content.size() < 2) return false;
    const std::size_t version = static_cast<unsigned char>(content[0]);
    const std::size_t at = version == 3 ? 2 : 4;
    const bool defined = version == 3 ? (Hdf5Number(content, 1, 1) & 0x20U) != 0
                                      : content.size() > 3 && content[3] != 0;
    if (!defined || content.size() < at + 4) return false;
    return content.find_first_not_of('\0', at + 4) != content.npos;
  }

  // The sizes of a chunk; the last is that of an element.
  Status ReadGrid(const std::string& content, std::size_t at, std::size_t dimensions,
                  std::size_t width, std::uint64_t* grid_chunks) {
    const TensorInfo& info = tensor_.info;
    if (width == 0 || width > 8 || dimensions != info.shape.size() + 1 ||
        content.size() < at + width * dimensions) {
      return Wrong("chunks of another number of dimensions");
    }
    for (std::size_t i = 0; i + 1 < dimensions; ++i) {
      tensor_.chunk.push_back(Hdf5Number(content, at + width * i, width));
      if (tensor_.chunk.back() == 0 ||
          __builtin_mul_overflow(bytes_, tensor_.chunk.back(), &bytes_)) {
        return Wrong("a chunk of no elements, or of more than 2^64 bytes");
      }
    }
    const auto item = static_cast<std::uint64_t>(BitsOf(info.dtype)) / 8;
    if (Hdf5Number(content, at + width * (dimensions - 1), width) != item ||
        __builtin_mul_overflow(bytes_, item, &bytes_)) {
      return Wrong("chunks of elements of another size");
    }
    std::uint64_t count = 1;
    grid_ = GridOf(info.shape, tensor_.chunk);
    for (const std::uint64_t size : grid_) {
      if (__builtin_mul_overflow(count, size, &count)) count = ~std::uint64_t{0};
    }
    if (info.elements == 0) count = 0;
    // Each place takes memory, whether a chunk is stored there or not.
    if (count > kMaxGridChunks - std::min(kMaxGridChunks, *grid_chunks) ||
        count > 1024 + file_.size() / 8) {
      return Other(fmt::format("{} chunks", count));
    }
    *grid_chunks += count;
    tensor_.chunks.resize(count);
    return {};
  }

  // Of the chunks that a read in the order of the elements passes again and again: those along all
  // dimensions behind the first in which a chunk has several elements.
  std::uint64_t BytesSideBySide() const {
    const auto several = [](std::uint64_t size) { return size > 1; };
    const auto first = std::ranges::find_if(tensor_.chunk, several) - tensor_.chunk.begin();
    std::uint64_t bytes = 0;
    if (__builtin_add_overflow(bytes_, kHeldChunkExtra, &bytes)) return ~std::uint64_t{0};
    for (auto d = static_cast<std::size_t>(first) + 1; d < grid_.size(); ++d) {
      if (__builtin_mul_overflow(bytes, grid_[d], &bytes)) return ~std::uint64_t{0};
    }
    return bytes;
  }

  // The place of a chunk in the file. `skipped`: the filters that were not applied to it.
  Status Store(std::uint64_t index, std::uint64_t at, std::uint64_t size, std::uint64_t skipped) {
    const auto applied = [&](std::uint16_t id) {
      const auto found = std::ranges::find(filters_.ids, id);
      return found != filters_.ids.end() &&
             (skipped >> static_cast<unsigned>(found - filters_.ids.begin()) & 1U) == 0;
    };
    if (index >= tensor_.chunks.size() || tensor_.chunks[index]) {
      return Wrong("a chunk beyond the shape, or stored twice");
    }
    const std::uint64_t checksum = applied(kFletcher) ? 4 : 0;
    if (at > file_.size() || size > file_.size() - at || size < checksum) {
      return Wrong("a chunk beyond the end of the file");
    }
    const auto item = static_cast<std::uint64_t>(BitsOf(tensor_.info.dtype)) / 8;
    tensor_.chunks[index] = StoredChunk{.begin = file_.begin() + at,
                                        .size_bytes = size - checksum,
                                        .plain = !applied(kDeflate),
                                        .shuffled = applied(kShuffle) && item > 1 ? item : 0};
    if (tensor_.chunks[index]->shuffled != 0 && BytesSideBySide() > kMaxShuffledBytes) {
      return Other(fmt::format("shuffled chunks of {} bytes side by side", BytesSideBySide()));
    }
    return {};
  }

  // Section III.A.1, of chunks.
  Status ReadTree(std::uint64_t at, std::size_t level) {
    ASSIGN_OR_RETURN(const std::string head, file_.Take(at, 24));
    if (!head.starts_with("TREE") || head[4] != 1) {
      return file_.Wrong(at, "expected a node of chunks");
    }
    const std::size_t height = static_cast<unsigned char>(head[5]);
    if (level > kMostLevels || (level > 0 && height + 1 != height_)) {
      return file_.Wrong(at, "a B-tree without end");
    }
    const std::size_t rank = grid_.size(), key = 8 + 8 * (rank + 1);
    const std::size_t count = Hdf5Number(head, 6, 2);
    ASSIGN_OR_RETURN(const std::string entries, file_.Take(at + 24, (key + 8) * count));
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t entry = (key + 8) * i;
      const std::uint64_t child = Hdf5Number(entries, entry + key, 8);
      if (height > 0) {
        height_ = height;
        RETURN_IF_ERROR(ReadTree(child, level + 1));
        continue;
      }
      std::uint64_t index = 0;
      for (std::size_t d = 0; d < rank; ++d) {
        const std::uint64_t offset = Hdf5Number(entries, entry + 8 + 8 * d, 8);
        if (offset % tensor_.chunk[d] != 0 || offset / tensor_.chunk[d] >= grid_[d]) {
          return file_.Wrong(at, "a chunk beside the grid");
        }
        index = index * grid_[d] + offset / tensor_.chunk[d];
      }
      RETURN_IF_ERROR(
          Store(index, child, Hdf5Number(entries, entry, 4), Hdf5Number(entries, entry + 4, 4)));
    }
    return {};
  }

  // Version 4: flags, dimensions, width of sizes, sizes, kind of index, its parameters, an address.
  Status ReadNewer(const std::string& content, std::uint64_t* grid_chunks) {
    const std::uint64_t flags = Hdf5Number(content, 2, 1);
    const std::size_t dimensions = Hdf5Number(content, 3, 1), width = Hdf5Number(content, 4, 1);
    RETURN_IF_ERROR(ReadGrid(content, 5, dimensions, width, grid_chunks));
    std::size_t at = 5 + width * dimensions;
    enum Kind { kSingle = 1, kImplicit = 2, kFixedArray = 3, kExtensibleArray = 4, kTree = 5 };
    if (content.size() < at + 9) return Wrong("a layout without an index");
    const std::uint64_t kind = Hdf5Number(content, at++, 1);
    if ((flags & 1U) != 0) return Other("edges of chunks without filters");
    std::uint64_t size = bytes_, skipped = 0;
    if (kind == kSingle && (flags & 2U) != 0) {
      if (content.size() < at + 20) return Wrong("a layout without an index");
      size = Hdf5Number(content, at, 8), skipped = Hdf5Number(content, at + 8, 4), at += 12;
    }
    // Parameters that the header of the index repeats.
    if (kind == kFixedArray) at += 1;
    if (kind == kExtensibleArray) at += 5;
    if (kind == kTree) at += 6;
    if (kind < kSingle || kind > kTree) return Other("an unknown index of chunks");
    if (content.size() < at + 8) return Wrong("a layout without an index");
    const std::uint64_t address = Hdf5Number(content, at, 8);
    if (address == kHdf5Undefined || tensor_.chunks.empty()) return {};
    if (kind == kSingle) return Store(0, address, size, skipped);
    if (kind == kTree) return ReadNewerTree(address);
    ASSIGN_OR_RETURN(const std::vector<std::uint64_t> strides, StridesOf(kind == kExtensibleArray));
    if (kind != kImplicit) return ReadArray(address, strides, kind == kExtensibleArray);
    return ForEachChunk(strides, [&](std::uint64_t chunk, std::uint64_t index) {
      return Store(chunk, address + index * bytes_, bytes_, 0);
    });
  }

  // Section IV.A.2.b: the sizes up to which the shape may grow.
  Status ReadMost(const std::string& content) {
    const std::vector<std::uint64_t>& shape = tensor_.info.shape;
    const std::size_t begin = content[0] == 2 ? 4 : 8;  // the shape itself was read
    most_.clear();
    if ((Hdf5Number(content, 2, 1) & 1U) == 0) return {};
    if (content.size() < begin + 16 * shape.size()) return Wrong("a shape beyond its message");
    for (std::size_t d = 0; d < shape.size(); ++d) {
      most_.push_back(Hdf5Number(content, begin + 8 * (shape.size() + d), 8));
      if (most_[d] < shape[d]) return Wrong("a shape that is larger than it may grow");
    }
    return {};
  }

  // How far chunks that are neighbours along each dimension lie apart in an array. It has room for
  // all chunks that there may be once the shape has grown, in C order; with `grows` the dimension
  // that grows without limit goes before the others.
  Result<std::vector<std::uint64_t>> StridesOf(bool grows) const {
    std::vector<std::uint64_t> room = grid_, strides(grid_.size(), 1);
    std::size_t slowest = grid_.size();
    for (std::size_t d = 0; d < most_.size(); ++d) {
      room[d] = most_[d] / tensor_.chunk[d] + (most_[d] % tensor_.chunk[d] != 0 ? 1 : 0);
      if (most_[d] != kHdf5Undefined) continue;
      if (!grows || slowest != grid_.size()) return Wrong("an array of chunks without limits");
      slowest = d;
    }
    if (grows && slowest == grid_.size()) return Wrong("an extensible array of a fixed shape");
    std::uint64_t stride = 1;
    for (std::size_t d = grid_.size(); d-- > 0;) {
      strides[d] = stride;
      if (d != slowest && __builtin_mul_overflow(stride, room[d], &stride)) {
        return Wrong("an array of more than 2^64 chunks");
      }
    }
    if (grows) strides[slowest] = stride;
    std::uint64_t last = 0;
    for (std::size_t d = 0; d < grid_.size(); ++d) {
      std::uint64_t along = 0;
      if (__builtin_mul_overflow(grid_[d], strides[d], &along) ||
          __builtin_add_overflow(last, along, &last)) {
        return Wrong("an array of more than 2^64 chunks");
      }
    }
    return strides;
  }

  // Calls with the number of each chunk in the grid and in the array.
  template <typename Take>
  Status ForEachChunk(const std::vector<std::uint64_t>& strides, const Take& take) {
    std::vector<std::uint64_t> at(grid_.size(), 0);
    std::uint64_t index = 0;
    for (std::uint64_t chunk = 0; chunk < tensor_.chunks.size(); ++chunk) {
      RETURN_IF_ERROR(take(chunk, index));
      for (std::size_t d = grid_.size(); d-- > 0;) {
        index += strides[d];
        if (++at[d] < grid_[d]) break;
        index -= strides[d] * grid_[d];
        at[d] = 0;
      }
    }
    return {};
  }

  Status ReadArray(std::uint64_t address, const std::vector<std::uint64_t>& strides, bool grows) {
    ASSIGN_OR_RETURN(Hdf5ChunkArray array, Hdf5ChunkArray::Open(file_, address, grows));
    return ForEachChunk(strides, [&](std::uint64_t chunk, std::uint64_t index) -> Status {
      ASSIGN_OR_RETURN(const auto place, array.PlaceOf(index));
      if (!place) return {};
      ASSIGN_OR_RETURN(const std::string entry, file_.Take(*place, array.entry_bytes()));
      return StoreEntry(chunk, entry, array.filtered());
    });
  }

  // An address; where chunks have filters their stored size and those that were skipped, too.
  Status StoreEntry(std::uint64_t chunk, std::string_view entry, bool filtered) {
    const std::uint64_t address = Hdf5Number(entry, 0, 8);
    if (address == kHdf5Undefined) return {};
    if (!filtered) return Store(chunk, address, bytes_, 0);
    return Store(chunk, address, Hdf5Number(entry, 8, entry.size() - 12),
                 Hdf5Number(entry, entry.size() - 4, 4));
  }

  // Section III.A.2, records of types 10 and 11: an entry, and the chunk's place in the grid.
  Status ReadNewerTree(std::uint64_t at) {
    const bool filtered = !filters_.ids.empty();
    ASSIGN_OR_RETURN(const std::vector<std::string> records, file_.Records(at, filtered ? 11 : 10));
    const std::size_t places = 8 * grid_.size();
    for (const std::string& record : records) {
      const std::size_t entry = record.size() - std::min(record.size(), places);
      if (filtered ? entry < 13 || entry > 20 : entry != 8) {
        return file_.Wrong(at, "records of chunks of another size");
      }
      std::uint64_t index = 0;
      for (std::size_t d = 0; d < grid_.size(); ++d) {
        const std::uint64_t place = Hdf5Number(record, entry + 8 * d, 8);
        if (place >= grid_[d]) return file_.Wrong(at, "a chunk beside the grid");
        index = index * grid_[d] + place;
      }
      RETURN_IF_ERROR(StoreEntry(index, std::string_view(record).substr(0, entry), filtered));
    }
    return {};
  }

  Result<ChunkedTensor> Finish() {
    tensor_.coding = filters_.has(kDeflate) ? ChunkCoding::kZlib : ChunkCoding::kPlain;
    const auto& chunks = tensor_.chunks;
    if (fill_ && std::ranges::any_of(chunks, [](const auto& chunk) { return !chunk; })) {
      return Other("chunks that were never written, and whose values are not 0");
    }
    return std::move(tensor_);
  }

  const Hdf5File& file_;
  const std::uint64_t at_;
  ChunkedTensor tensor_;
  std::vector<std::uint64_t> grid_;
  std::vector<std::uint64_t> most_;  // elements along each dimension, ~0 for any; empty: as it is
  Filters filters_;
  std::uint64_t bytes_ = 1;  // of a chunk
  std::size_t height_ = 0;   // of the B-tree's node above
  bool fill_ = false;
};

}  // namespace

Result<ChunkedTensor> ReadHdf5Chunks(const Hdf5File& file, TensorInfo info,
                                     const Hdf5Message& layout,
                                     const std::vector<Hdf5Message>& messages,
                                     std::uint64_t* grid_chunks) {
  return ChunkIndexReader(file, std::move(info), layout.at).Read(layout, messages, grid_chunks);
}

}  // namespace rharness
