// Bits, lengths and differences, each step within its bounds.
#include "harness/execution/tables/parquet_values.h"

#include <algorithm>
#include <cstring>

namespace rharness {
namespace {

bool TakeVarint(std::string_view* bytes, std::uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(bytes->front());
    bytes->remove_prefix(1);
    *value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

// `bits` bits from bit `at` on, least significant first; within `bytes`.
std::uint64_t BitsAt(std::string_view bytes, std::uint64_t at, int bits) {
  std::uint64_t value = 0;
  for (int got = 0; got < bits;) {
    const auto byte = static_cast<std::uint8_t>(bytes[(at + static_cast<unsigned>(got)) / 8]);
    const int from = static_cast<int>((at + static_cast<unsigned>(got)) % 8);
    const int take = std::min(8 - from, bits - got);
    const auto part = static_cast<std::uint64_t>(byte >> from) & ((1U << take) - 1);
    value |= part << got;
    got += take;
  }
  return value;
}

template <class T>
bool TakeNumber(std::string_view* bytes, T* value) {
  if (bytes->size() < sizeof(T)) return false;
  std::memcpy(value, bytes->data(), sizeof(T));
  bytes->remove_prefix(sizeof(T));
  return true;
}

}  // namespace

bool HybridReader::NextRun() {
  std::uint64_t head = 0;
  if (!TakeVarint(&bytes_, &head) || (head >> 1) == 0) return false;
  packed_ = (head & 1) != 0;
  left_ = head >> 1;
  if (!packed_) {
    const auto size = static_cast<std::size_t>((bits_ + 7) / 8);
    if (bytes_.size() < size) return false;
    repeated_ = 0;
    std::memcpy(&repeated_, bytes_.data(), size);
    bytes_.remove_prefix(size);
    return true;
  }
  // Groups of eight. The last may be cut off if no more values follow.
  const std::uint64_t groups = left_;
  if (bits_ > 0 && groups > bytes_.size() / static_cast<unsigned>(bits_) + 1) return false;
  if (bits_ == 0 && groups > (std::uint64_t{1} << 32)) return false;
  const std::uint64_t wanted = groups * static_cast<unsigned>(bits_);
  packed_bytes_ = bytes_.substr(0, wanted);
  bytes_.remove_prefix(packed_bytes_.size());
  packed_bit_ = 0;
  left_ = groups * 8;
  if (bits_ > 0) left_ = std::min(left_, packed_bytes_.size() * 8 / static_cast<unsigned>(bits_));
  return left_ > 0;
}

bool HybridReader::Next(std::uint32_t* value) {
  if (left_ == 0 && !NextRun()) return false;
  --left_;
  if (!packed_) {
    *value = repeated_;
    return true;
  }
  *value = static_cast<std::uint32_t>(BitsAt(packed_bytes_, packed_bit_, bits_));
  packed_bit_ += static_cast<unsigned>(bits_);
  return true;
}

bool PlainReader::Next(ParquetValue* value) {
  if (type_ == ParquetType::kInt64) return TakeNumber(&bytes_, &value->number);
  if (type_ == ParquetType::kInt32) {
    std::int32_t number = 0;
    if (!TakeNumber(&bytes_, &number)) return false;
    value->number = number;
    return true;
  }
  std::uint32_t size = 0;
  if (!TakeNumber(&bytes_, &size) || size > bytes_.size()) return false;
  value->text = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return true;
}

DeltaReader::DeltaReader(std::string_view bytes) : bytes_(bytes) {
  std::uint64_t block = 0;
  std::uint64_t first = 0;
  ok_ = TakeVarint(&bytes_, &block) && TakeVarint(&bytes_, &miniblocks_) &&
        TakeVarint(&bytes_, &left_) && TakeVarint(&bytes_, &first) && miniblocks_ > 0 &&
        miniblocks_ <= 1024 && block % miniblocks_ == 0 && block <= (1 << 20);
  if (!ok_) return;
  miniblock_size_ = block / miniblocks_;
  ok_ = miniblock_size_ > 0 && miniblock_size_ % 32 == 0;
  value_ = (first >> 1) ^ (~(first & 1) + 1);
}

bool DeltaReader::NextBlock() {
  std::uint64_t smallest = 0;
  if (!TakeVarint(&bytes_, &smallest) || bytes_.size() < miniblocks_) return false;
  smallest_ = (smallest >> 1) ^ (~(smallest & 1) + 1);
  widths_ = bytes_.substr(0, miniblocks_);
  bytes_.remove_prefix(miniblocks_);
  return true;
}

bool DeltaReader::NextMiniblock() {
  if (widths_.empty() && !NextBlock()) return false;
  width_ = static_cast<std::uint8_t>(widths_.front());
  widths_.remove_prefix(1);
  const std::uint64_t size = miniblock_size_ / 8 * static_cast<unsigned>(width_);
  if (width_ > 64 || bytes_.size() < size) return false;
  packed_ = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  bit_ = 0;
  in_miniblock_ = miniblock_size_;
  return true;
}

bool DeltaReader::Next(std::int64_t* value) {
  if (!ok_ || left_ == 0) return false;
  --left_;
  if (!std::exchange(first_, false)) {
    if (in_miniblock_ == 0 && !NextMiniblock()) {
      ok_ = false;
      return false;
    }
    --in_miniblock_;
    value_ += smallest_ + BitsAt(packed_, bit_, width_);
    bit_ += static_cast<unsigned>(width_);
  }
  *value = static_cast<std::int64_t>(value_);
  return true;
}

namespace {

// What follows all numbers of a reader, which keeps its place.
std::string_view AfterAll(DeltaReader reader) {
  std::int64_t unused = 0;
  while (reader.Next(&unused)) {
  }
  return reader.ok() ? reader.rest() : std::string_view();
}

}  // namespace

DeltaTextReader::DeltaTextReader(std::string_view bytes, bool prefixes) : prefixes_(prefixes) {
  if (prefixes_) {
    prefix_ = DeltaReader(bytes);
    bytes = AfterAll(prefix_);
  }
  length_ = DeltaReader(bytes);
  texts_ = AfterAll(length_);
}

bool DeltaTextReader::Next(ParquetValue* value) {
  std::int64_t shared = 0;
  std::int64_t length = 0;
  if (prefixes_ && !prefix_.Next(&shared)) return false;
  if (!length_.Next(&length) || length < 0 || shared < 0) return false;
  if (static_cast<std::uint64_t>(length) > texts_.size() ||
      static_cast<std::uint64_t>(shared) > last_.size()) {
    return false;
  }
  last_.resize(static_cast<std::size_t>(shared));
  last_.append(texts_.substr(0, static_cast<std::size_t>(length)));
  texts_.remove_prefix(static_cast<std::size_t>(length));
  value->text = last_;
  return true;
}

}  // namespace rharness
