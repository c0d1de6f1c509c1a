// Headers, blocks and pages of arrays; see hdf5_arrays.h.
#include "compare/weights/hdf5_arrays.h"

#include <bit>
#include <utility>

namespace rharness {
namespace {

constexpr std::uint64_t kPrefix = 14;   // of a block: signature, version, client and an address
constexpr std::uint64_t kChecksum = 4;  // behind each header, block and page
constexpr std::uint64_t kMostPageBits = 32;
constexpr std::uint64_t kMostBits = 48;  // of the number of entries: an index stays below 2^64

}  // namespace

Result<Hdf5ChunkArray> Hdf5ChunkArray::Open(const Hdf5File& file, std::uint64_t at,
                                            bool extensible) {
  Hdf5ChunkArray array(file, at);
  array.extensible_ = extensible;
  RETURN_IF_ERROR(extensible ? array.ReadExtensible() : array.ReadFixed());
  if (array.entry_ != 8 && (!array.filtered_ || array.entry_ < 13 || array.entry_ > 20)) {
    return file.Wrong(at, "an array of chunks whose entries have another size");
  }
  if (array.block_ != kHdf5Undefined) {
    RETURN_IF_ERROR(array.Expect(array.block_, extensible ? "EAIB" : "FADB"));
  }
  return array;
}

Result<std::optional<std::uint64_t>> Hdf5ChunkArray::PlaceOf(std::uint64_t index) {
  if (block_ == kHdf5Undefined) return std::optional<std::uint64_t>();
  return extensible_ ? ExtensiblePlace(index) : FixedPlace(index);
}

Status Hdf5ChunkArray::Expect(std::uint64_t at, std::string_view signature) const {
  ASSIGN_OR_RETURN(const std::string found, file_->Take(at, signature.size()));
  if (found != signature) return file_->Wrong(at, "expected " + std::string(signature));
  return {};
}

Status Hdf5ChunkArray::ReadFixed() {
  ASSIGN_OR_RETURN(const std::string head, file_->Take(at_, 28));
  if (!head.starts_with("FAHD")) return file_->Wrong(at_, "expected FAHD");
  filtered_ = head[5] == 1;
  entry_ = Hdf5Number(head, 6, 1);
  const std::uint64_t page_bits = Hdf5Number(head, 7, 1);
  count_ = Hdf5Number(head, 8, 8);
  block_ = Hdf5Number(head, 16, 8);
  if (page_bits > kMostPageBits || count_ >> kMostBits != 0) {
    return file_->Wrong(at_, "a fixed array of too many entries");
  }
  page_ = std::uint64_t{1} << page_bits;
  return {};
}

Result<std::optional<std::uint64_t>> Hdf5ChunkArray::FixedPlace(std::uint64_t index) {
  if (index >= count_) return file_->Wrong(at_, "a fixed array of fewer entries than chunks");
  const std::uint64_t begin = block_ + kPrefix;
  if (count_ <= page_) return std::optional(begin + index * entry_);
  const std::uint64_t pages = (count_ + page_ - 1) / page_, page = index / page_;
  ASSIGN_OR_RETURN(const bool written, IsWritten(begin, page));
  if (!written) return std::optional<std::uint64_t>();
  return std::optional(begin + (pages + 7) / 8 + kChecksum + page * (page_ * entry_ + kChecksum) +
                       index % page_ * entry_);
}

Status Hdf5ChunkArray::ReadExtensible() {
  ASSIGN_OR_RETURN(const std::string head, file_->Take(at_, 68));
  if (!head.starts_with("EAHD")) return file_->Wrong(at_, "expected EAHD");
  filtered_ = head[5] == 1;
  entry_ = Hdf5Number(head, 6, 1);
  most_bits_ = Hdf5Number(head, 7, 1);
  in_index_ = Hdf5Number(head, 8, 1);
  fewest_ = Hdf5Number(head, 9, 1);
  const std::uint64_t pointers = Hdf5Number(head, 10, 1), page_bits = Hdf5Number(head, 11, 1);
  block_ = Hdf5Number(head, 60, 8);
  if (most_bits_ > kMostBits || page_bits > kMostPageBits || !std::has_single_bit(fewest_) ||
      !std::has_single_bit(pointers)) {
    return file_->Wrong(at_, "an extensible array whose blocks do not fit one another");
  }
  page_ = std::uint64_t{1} << page_bits;
  direct_ = 2 * (pointers - 1);
  first_far_ = 2 * static_cast<std::uint64_t>(std::countr_zero(pointers));
  offset_bytes_ = (most_bits_ + 7) / 8;
  return {};
}

// Behind the entries in the index come rows of blocks. Row r has 2^(r/2) blocks, each of
// fewest * 2^((r+1)/2) entries, so that it begins at entry fewest * (2^r - 1). The index points to
// the blocks of the first rows, and to one block of pointers for each further row.
Result<std::optional<std::uint64_t>> Hdf5ChunkArray::ExtensiblePlace(std::uint64_t index) {
  if (index >> most_bits_ != 0) {
    return file_->Wrong(at_, "an extensible array of fewer entries than chunks");
  }
  std::uint64_t pointer = block_ + kPrefix + in_index_ * entry_;
  if (index < in_index_) return std::optional(block_ + kPrefix + index * entry_);
  index -= in_index_;
  const auto row = static_cast<std::uint64_t>(std::bit_width(index / fewest_ + 1)) - 1;
  const std::uint64_t blocks = std::uint64_t{1} << row / 2;
  const std::uint64_t size = fewest_ << (row + 1) / 2;
  index -= fewest_ * ((std::uint64_t{1} << row) - 1);
  const std::uint64_t block = index / size, entry = index % size;
  const std::uint64_t pages = size > page_ ? size / page_ : 0, page = entry / page_;
  if (row < first_far_) {
    if (pages > 0) return file_->Other(at_, "pages of chunks below the index of an array");
    // As many blocks as come before the row: 2 in each two rows, 4 in the next two, and so on.
    const std::uint64_t before = 2 * (blocks - 1) + (row % 2 == 1 ? blocks : 0);
    pointer += 8 * (before + block);
  } else {
    RETURN_IF_ERROR(Follow(pointer + 8 * (direct_ + row - first_far_), "EASB", &pointers_));
    if (pointers_.address == kHdf5Undefined) return std::optional<std::uint64_t>();
    const std::uint64_t bits = pointers_.address + kPrefix + offset_bytes_;
    if (pages > 0) {
      ASSIGN_OR_RETURN(const bool written, IsWritten(bits, block * pages + page));
      if (!written) return std::optional<std::uint64_t>();
    }
    pointer = bits + blocks * ((pages + 7) / 8) + 8 * block;
  }
  RETURN_IF_ERROR(Follow(pointer, "EADB", &entries_));
  if (entries_.address == kHdf5Undefined) return std::optional<std::uint64_t>();
  const std::uint64_t begin = entries_.address + kPrefix + offset_bytes_;
  if (pages == 0) return std::optional(begin + entry * entry_);
  return std::optional(begin + kChecksum + page * (page_ * entry_ + kChecksum) +
                       entry % page_ * entry_);
}

// From the address at `at` to a block that begins with `signature`.
Status Hdf5ChunkArray::Follow(std::uint64_t at, std::string_view signature, Pointer* last) const {
  if (last->at == at) return {};
  ASSIGN_OR_RETURN(const std::string bytes, file_->Take(at, 8));
  const std::uint64_t address = Hdf5Number(bytes, 0, 8);
  if (address != kHdf5Undefined) RETURN_IF_ERROR(Expect(address, signature));
  *last = {.at = at, .address = address};
  return {};
}

// The first page's bit is the highest of its byte.
Result<bool> Hdf5ChunkArray::IsWritten(std::uint64_t bits, std::uint64_t page) {
  if (byte_at_ != bits + page / 8) {
    ASSIGN_OR_RETURN(const std::string byte, file_->Take(bits + page / 8, 1));
    byte_at_ = bits + page / 8;
    byte_ = static_cast<unsigned char>(byte[0]);
  }
  return (byte_ >> (7 - page % 8) & 1U) != 0;
}

}  // namespace rharness
