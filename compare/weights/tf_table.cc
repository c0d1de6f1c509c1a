// Blocks of a table: the index of blocks first, then the entries; see tf_table.h.
#include "compare/weights/tf_table.h"

#include <fmt/format.h>

#include <cstring>

#include "harness/base/crc32c.h"

namespace rharness {
namespace {

constexpr std::size_t kFooterBytes = 48;
constexpr std::size_t kTrailerBytes = 5;  // of a block: its compression, then its checksum

struct Handle {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
};

std::uint32_t U32(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// Takes a varint off the front; false if there is none.
bool TakeVarint(std::string_view* bytes, std::uint64_t* value) {
  *value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    *value |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) == 0) return true;
  }
  return false;
}

bool TakeHandle(std::string_view* bytes, Handle* handle) {
  return TakeVarint(bytes, &handle->begin) && TakeVarint(bytes, &handle->size);
}

class TableParser {
 public:
  TableParser(std::string_view bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  Result<std::vector<TableEntry>> Parse() {
    if (bytes_.size() < kFooterBytes || !bytes_.ends_with(kTableMagic)) {
      return Wrong(bytes_.size(), "the file does not end as a sorted table does");
    }
    const std::uint64_t footer = bytes_.size() - kFooterBytes;
    std::string_view rest = bytes_.substr(footer, kFooterBytes - kTableMagic.size());
    Handle meta, index;
    if (!TakeHandle(&rest, &meta) || !TakeHandle(&rest, &index)) {
      return Wrong(footer, "expected two handles of blocks");
    }
    std::vector<TableEntry> blocks;
    RETURN_IF_ERROR(AddEntries(index, &blocks));
    for (const TableEntry& block : blocks) {
      std::string_view value = block.value;
      Handle handle;
      if (!TakeHandle(&value, &handle)) return Wrong(block.at, "expected the handle of a block");
      RETURN_IF_ERROR(AddEntries(handle, &entries_));
    }
    for (std::size_t i = 1; i < entries_.size(); ++i) {
      if (entries_[i].key <= entries_[i - 1].key) {
        return Wrong(entries_[i].at, "keys that do not ascend");
      }
    }
    return std::move(entries_);
  }

 private:
  Error Wrong(std::uint64_t at, std::string message) const {
    return InvalidInput(std::move(message), fmt::format("{}: byte {}", file_, at));
  }

  Status AddEntries(const Handle& handle, std::vector<TableEntry>* entries) const {
    if (handle.begin > bytes_.size() || handle.size > bytes_.size() - handle.begin ||
        bytes_.size() - handle.begin - handle.size < kTrailerBytes) {
      return Wrong(handle.begin, "a block beyond the end of the file");
    }
    const std::string_view block = bytes_.substr(handle.begin, handle.size + 1);
    if (MaskCrc32c(Crc32c(block)) != U32(bytes_, handle.begin + handle.size + 1)) {
      return IntegrityError("the CRC-32C of a block does not match its bytes",
                            fmt::format("{}: byte {}", file_, handle.begin));
    }
    if (block.back() != 0) {
      return Unsupported(fmt::format("a block of compression {}; expected none, as TensorFlow "
                                     "writes it",
                                     static_cast<int>(block.back())),
                         fmt::format("{}: byte {}", file_, handle.begin));
    }
    return SplitBlock(block.substr(0, handle.size), handle.begin, entries);
  }

  // Entries, then the offsets of restarts and their number, which readers in order do not need.
  Status SplitBlock(std::string_view block, std::uint64_t at,
                    std::vector<TableEntry>* entries) const {
    if (block.size() < 4) return Wrong(at, "a block of under 4 bytes");
    const std::uint64_t restarts = 4 * (std::uint64_t{U32(block, block.size() - 4)} + 1);
    if (restarts > block.size()) return Wrong(at, "more restarts than the block has bytes");
    block.remove_suffix(restarts);
    std::string key;
    while (!block.empty()) {
      std::uint64_t shared = 0, own = 0, size = 0;
      if (!TakeVarint(&block, &shared) || !TakeVarint(&block, &own) || !TakeVarint(&block, &size) ||
          shared > key.size() || own > block.size() || size > block.size() - own) {
        return Wrong(at, "an entry beyond the end of its block");
      }
      key.resize(shared);
      key += block.substr(0, own);
      key_bytes_ += key.size();
      if (entries->size() == kMaxTableEntries || key_bytes_ > kMaxTableBytes) {
        return Unsupported(fmt::format("more than {} entries, or {} bytes of keys",
                                       kMaxTableEntries, kMaxTableBytes),
                           std::string(file_));
      }
      entries->push_back({key, block.substr(own, size), at});
      block.remove_prefix(own + size);
    }
    return {};
  }

  const std::string_view bytes_;
  const std::string_view file_;
  std::vector<TableEntry> entries_;
  mutable std::uint64_t key_bytes_ = 0;
};

}  // namespace

Result<std::vector<TableEntry>> ParseTable(std::string_view bytes, std::string_view file) {
  return TableParser(bytes, file).Parse();
}

}  // namespace rharness
