// Messages and heap objects, within the bounds of the file; see hdf5_file.h.
#include "compare/weights/hdf5_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "harness/base/result.h"

namespace rharness {
namespace {

constexpr std::size_t kMostMessageBytes = std::size_t{16} << 20;  // of one object
constexpr std::size_t kMostMessages = 65'536;    // what a header of version 1 counts
constexpr std::size_t kMostRecords = 1'000'000;  // of one B-tree
constexpr std::size_t kMostTreeLevels = 16;
constexpr std::uint64_t kMostBlockBytes = std::uint64_t{1} << 32;  // direct, of a heap
constexpr std::uint64_t kMostRowBytes = std::uint64_t{1} << 40;    // of a block that is a row's
constexpr std::size_t kNodeFrame = 10;  // of a node: signature, version, type and checksum

// H5VM_limit_enc_size: bytes of a number of at most `limit`.
std::size_t EncodedSize(std::uint64_t limit) {
  return (static_cast<std::size_t>(std::bit_width(std::max<std::uint64_t>(limit, 1))) - 1) / 8 + 1;
}

}  // namespace

// Places of further blocks: address and size.
struct Hdf5File::Blocks {
  std::vector<Hdf5Message> messages;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> further;
};

// Section III.G: a doubling table of blocks.
struct Hdf5File::Heap {
  std::uint64_t at = 0;
  std::size_t offset_bytes = 0, length_bytes = 0;  // in an ID
  std::uint64_t width = 0, first_block = 0, largest_block = 0, root = 0;
  std::size_t rows = 0;  // of the root block; 0: it is a direct block
};

std::uint64_t Hdf5Number(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  if (size > sizeof value || at > bytes.size() || size > bytes.size() - at) {
    Abort("a number beyond its bytes");
  }
  std::memcpy(&value, bytes.data() + at, size);
  return value;
}

std::string Hdf5File::Where(std::uint64_t at) const {
  return fmt::format("{}: byte {}", where_, begin_ + at);
}
Error Hdf5File::Wrong(std::uint64_t at, std::string message) const {
  return InvalidInput(std::move(message), Where(at));
}
Error Hdf5File::Other(std::uint64_t at, std::string_view what) const {
  return Unsupported(fmt::format("HDF5 with {}; expected what h5py writes", what), Where(at));
}

Result<std::string> Hdf5File::Take(std::uint64_t at, std::uint64_t size) const {
  if (at > size_ || size > size_ - at) {
    return Wrong(std::min(at, size_), "an address beyond the end of the file");
  }
  std::string bytes(size, '\0');
  RETURN_IF_ERROR(file_.ReadAt(begin_ + at, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

// `prefix`: bytes of a message before its content: 8 in version 1, 4 or 6 in version 2.
Status Hdf5File::AddMessages(const std::string& block, std::uint64_t at, std::size_t prefix,
                             Blocks* all, std::size_t most) const {
  const bool first = prefix == 8;
  for (std::size_t i = 0; i + prefix <= block.size() && all->messages.size() < most;) {
    const std::uint64_t flags = Hdf5Number(block, i + (first ? 4 : 3), 1);
    Hdf5Message message{.type = static_cast<std::uint16_t>(Hdf5Number(block, i, first ? 2 : 1)),
                        .shared = (flags & 2U) != 0,
                        .at = at + i + prefix};
    const std::size_t length = Hdf5Number(block, i + (first ? 2 : 1), 2);
    if (length > block.size() - i - prefix) return Wrong(at + i, "a message beyond its header");
    message.content = block.substr(i + prefix, length);
    if (message.type == kContinuation) {
      if (length < 16) return Wrong(at + i, "a continuation of less than 16 bytes");
      all->further.emplace_back(Hdf5Number(message.content, 0, 8),
                                Hdf5Number(message.content, 8, 8));
    }
    all->messages.push_back(std::move(message));
    i += prefix + length;
  }
  return {};
}

// Sections IV.A.1.a and IV.A.1.b.
Result<std::vector<Hdf5Message>> Hdf5File::MessagesOf(std::uint64_t at) const {
  ASSIGN_OR_RETURN(std::string head,
                   Take(at, std::min<std::uint64_t>(34, size_ - std::min(at, size_))));
  const bool second = head.starts_with("OHDR") && head.size() > 5 && head[4] == 2;
  if (!second && (head.size() < 16 || head[0] != 1)) return Wrong(at, "expected an object header");
  std::size_t prefix = 8, most = kMostMessages;
  Blocks all;
  if (second) {
    const std::uint64_t flags = Hdf5Number(head, 5, 1);
    const std::size_t size_at =
        6 + ((flags & 0x20U) != 0 ? 16U : 0U) + ((flags & 0x10U) != 0 ? 4U : 0U);
    const std::size_t size_bytes = std::size_t{1} << (flags & 3U);
    if (head.size() < size_at + size_bytes) return Wrong(at, "an object header beyond the file");
    prefix = (flags & 4U) != 0 ? 6 : 4;
    all.further.emplace_back(at + size_at + size_bytes, Hdf5Number(head, size_at, size_bytes));
  } else {
    most = Hdf5Number(head, 2, 2);
    all.further.emplace_back(at + 16, Hdf5Number(head, 8, 4));
  }
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < all.further.size() && all.messages.size() < most; ++i) {
    auto [begin, size] = all.further[i];
    bytes += std::min<std::uint64_t>(size, kMostMessageBytes) + 1;
    if (size > kMostMessageBytes || bytes > kMostMessageBytes) {
      return Other(at, fmt::format("an object header of more than {} bytes", kMostMessageBytes));
    }
    ASSIGN_OR_RETURN(std::string block, Take(begin, size));
    if (second && i > 0) {  // OCHK, messages, a checksum
      if (!block.starts_with("OCHK") || size < 8) return Wrong(begin, "expected OCHK");
      block = block.substr(4, size - 8);
      begin += 4;
    }
    RETURN_IF_ERROR(AddMessages(block, begin, prefix, &all, most));
  }
  return std::move(all.messages);
}

Result<Hdf5File::Heap> Hdf5File::ReadHeap(std::uint64_t at) const {
  ASSIGN_OR_RETURN(const std::string head, Take(at, 144));
  if (!head.starts_with("FRHP")) return Wrong(at, "expected FRHP");
  if (Hdf5Number(head, 7, 2) != 0) return Other(at, "a heap through filters");
  Heap heap{.at = at,
            .width = Hdf5Number(head, 110, 2),
            .first_block = Hdf5Number(head, 112, 8),
            .largest_block = Hdf5Number(head, 120, 8),
            .root = Hdf5Number(head, 132, 8),
            .rows = Hdf5Number(head, 140, 2)};
  const std::uint64_t bits = Hdf5Number(head, 128, 2), object = Hdf5Number(head, 10, 4);
  if (bits == 0 || bits > 64 || heap.width == 0 || !std::has_single_bit(heap.first_block) ||
      !std::has_single_bit(heap.largest_block) || heap.first_block > heap.largest_block ||
      heap.largest_block > kMostBlockBytes || heap.rows > 64) {
    return Wrong(at, "a heap whose blocks do not fit one another");
  }
  heap.offset_bytes = (bits + 7) / 8;
  heap.length_bytes = EncodedSize(std::min(heap.largest_block, object));
  return heap;
}

// Where the object at an offset lies in the file, and how many bytes its block has behind it.
Result<std::pair<std::uint64_t, std::uint64_t>> Hdf5File::Locate(const Heap& heap,
                                                                 std::uint64_t block,
                                                                 std::size_t rows,
                                                                 std::uint64_t offset) const {
  for (std::size_t level = 0; rows > 0; ++level) {
    if (level > kMostTreeLevels) return Wrong(block, "a heap without end");
    // Rows 0 and 1 have blocks of the first size; each further row has twice as large ones.
    std::size_t row = 0;
    std::uint64_t size = heap.first_block, before = 0;
    while (row < rows && offset - before >= heap.width * size) {
      before += heap.width * size;
      if (row > 0) size *= 2;
      ++row;
      if (size > kMostRowBytes) break;
    }
    if (row >= rows || size > kMostRowBytes) return Wrong(heap.at, "an object beyond its heap");
    const std::uint64_t column = (offset - before) / size;
    const std::uint64_t entry = 13 + heap.offset_bytes + 8 * (row * heap.width + column);
    ASSIGN_OR_RETURN(const std::string head, Take(block, 4));
    if (head != "FHIB") return Wrong(block, "expected FHIB");
    ASSIGN_OR_RETURN(const std::string child, Take(block + entry, 8));
    block = Hdf5Number(child, 0, 8);
    offset -= before + column * size;
    if (size <= heap.largest_block) return std::pair{block + offset, size - offset};
    rows = static_cast<std::size_t>(std::bit_width(size / (heap.first_block * heap.width)));
  }
  if (offset >= heap.first_block) return Wrong(heap.at, "an object beyond its heap");
  return std::pair{block + offset, heap.first_block - offset};
}

// Section III.A.2.
Result<std::vector<std::string>> Hdf5File::Records(std::uint64_t tree,
                                                   std::optional<unsigned> type) const {
  ASSIGN_OR_RETURN(const std::string head, Take(tree, 38));
  if (!head.starts_with("BTHD")) return Wrong(tree, "expected BTHD");
  if (type && Hdf5Number(head, 5, 1) != *type) {
    return Wrong(tree, fmt::format("a B-tree of records of another type than {}", *type));
  }
  const std::uint64_t node = Hdf5Number(head, 6, 4), record = Hdf5Number(head, 10, 2);
  const std::size_t depth = Hdf5Number(head, 12, 2);
  if (record == 0 || node <= kNodeFrame + record || node > size_ || depth > kMostTreeLevels) {
    return Wrong(tree, "a B-tree whose nodes do not fit their records");
  }
  // Most records of a node of each level, and of all below it.
  std::vector<std::uint64_t> most = {(node - kNodeFrame) / record}, below = {most[0]};
  const std::size_t count_bytes = EncodedSize(most[0]);
  const auto pointer_bytes = [&](std::size_t level) {
    return 8 + count_bytes + (level > 1 ? EncodedSize(below[level - 1]) : 0);
  };
  for (std::size_t level = 1; level <= depth; ++level) {
    const std::uint64_t pointer = pointer_bytes(level);
    if (node < kNodeFrame + pointer) return Wrong(tree, "a B-tree of too small nodes");
    most.push_back((node - kNodeFrame - pointer) / (record + pointer));
    below.push_back(std::min<std::uint64_t>((most[level] + 1) * below[level - 1] + most[level],
                                            std::uint64_t{1} << 48));
  }
  struct Place {
    std::uint64_t at = 0, count = 0;
    std::size_t level = 0;
  };
  std::vector<std::string> records;
  std::vector<Place> places = {{Hdf5Number(head, 16, 8), Hdf5Number(head, 24, 2), depth}};
  if (places[0].at == kHdf5Undefined) return records;
  while (!places.empty()) {
    const Place place = places.back();
    places.pop_back();
    if (place.count > most[place.level]) {
      return Wrong(place.at, "a node of more records than it has room for");
    }
    if (records.size() + place.count > kMostRecords || places.size() > kMostRecords) {
      return Other(place.at, fmt::format("a B-tree of more than {} records", kMostRecords));
    }
    ASSIGN_OR_RETURN(const std::string bytes, Take(place.at, node));
    if (!bytes.starts_with(place.level == 0 ? "BTLF" : "BTIN"))
      return Wrong(place.at, "expected a node of a B-tree");
    for (std::uint64_t i = 0; i < place.count; ++i)
      records.push_back(bytes.substr(6 + i * record, record));
    const std::uint64_t pointer = place.level == 0 ? 0 : pointer_bytes(place.level);
    for (std::uint64_t i = 0; place.level > 0 && i <= place.count; ++i) {
      const std::uint64_t at = 6 + place.count * record + i * pointer;
      places.push_back(
          {Hdf5Number(bytes, at, 8), Hdf5Number(bytes, at + 8, count_bytes), place.level - 1});
    }
  }
  return records;
}

Result<std::vector<Hdf5Message>> Hdf5File::HeapObjects(std::uint64_t heap_at, std::uint64_t tree,
                                                       std::size_t skip) const {
  ASSIGN_OR_RETURN(const Heap heap, ReadHeap(heap_at));
  ASSIGN_OR_RETURN(const std::vector<std::string> records, Records(tree));
  std::vector<Hdf5Message> objects;
  std::uint64_t bytes = 0;
  for (const std::string& record : records) {
    const std::size_t id_bytes = 1 + heap.offset_bytes + heap.length_bytes;
    if (record.size() < skip + id_bytes) return Wrong(tree, "a record without the ID of an object");
    const std::string_view id = std::string_view(record).substr(skip, id_bytes);
    if ((static_cast<unsigned char>(id[0]) & 0xf0U) != 0)
      return Other(tree, "a huge or tiny object of a heap");
    const std::uint64_t length = Hdf5Number(id, 1 + heap.offset_bytes, heap.length_bytes);
    ASSIGN_OR_RETURN(const auto place,
                     Locate(heap, heap.root, heap.rows, Hdf5Number(id, 1, heap.offset_bytes)));
    bytes += length;
    if (length > place.second || bytes > kMostMessageBytes) {
      return Wrong(place.first, "an object beyond its block, or more of them than are read");
    }
    ASSIGN_OR_RETURN(std::string content, Take(place.first, length));
    objects.push_back({.at = place.first, .content = std::move(content)});
  }
  return objects;
}

}  // namespace rharness
