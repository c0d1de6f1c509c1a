// Tags, numbers and lengths through one block of the file.
#include "compare/weights/protobuf_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace rharness {
namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t{32} << 10;
constexpr std::uint64_t kMostVarintBytes = 10;

}  // namespace

std::string ProtobufFile::At(std::uint64_t offset) const {
  return fmt::format("{}: byte {}", file_.name(), offset);
}

// Makes [offset, offset + size), which lies in the file and is small, part of the block.
Status ProtobufFile::Fill(std::uint64_t offset, std::uint64_t size) {
  if (offset >= block_begin_ && offset + size <= block_begin_ + block_.size()) return {};
  block_.resize(std::min(kBlockBytes, file_.size_bytes() - offset));
  block_begin_ = offset;
  Status status = file_.ReadAt(offset, std::as_writable_bytes(std::span(block_)));
  if (!status.ok()) block_.clear();
  return status;
}

Result<std::uint64_t> ProtobufFile::Varint(FileSpan* rest) {
  const std::uint64_t most = std::min(rest->size(), kMostVarintBytes);
  RETURN_IF_ERROR(Fill(rest->begin, most));
  std::uint64_t value = 0;
  for (std::uint64_t i = 0; i < most; ++i) {
    const auto byte = static_cast<unsigned char>(block_[rest->begin - block_begin_ + i]);
    if (i + 1 == kMostVarintBytes && byte > 1) break;  // beyond 64 bits
    value |= std::uint64_t{byte & 0x7fU} << (7 * i);
    if ((byte & 0x80U) != 0) continue;
    rest->begin += i + 1;
    return value;
  }
  return InvalidInput("expected a number of at most 64 bits that ends within its message",
                      At(rest->begin));
}

Result<std::uint64_t> ProtobufFile::Fixed(FileSpan* rest, std::size_t size) {
  if (size > rest->size()) {
    return InvalidInput(fmt::format("expected {} bytes of a number within its message", size),
                        At(rest->begin));
  }
  RETURN_IF_ERROR(Fill(rest->begin, size));
  std::uint64_t value = 0;
  std::memcpy(&value, block_.data() + (rest->begin - block_begin_), size);  // little-endian
  rest->begin += size;
  return value;
}

Result<bool> ProtobufFile::Next(FileSpan* rest, FileField* field) {
  if (rest->begin >= rest->end) return false;
  *field = {.at = rest->begin};
  ASSIGN_OR_RETURN(const std::uint64_t key, Varint(rest));
  constexpr std::uint64_t kMostNumber = 0x1fffffff;
  if (key >> 3 == 0 || key >> 3 > kMostNumber) {
    return InvalidInput(
        fmt::format("a field of the number {}; expected 1 to {}", key >> 3, kMostNumber),
        At(field->at));
  }
  field->number = static_cast<std::uint32_t>(key >> 3);
  field->wire = static_cast<ProtobufWire>(key & 7U);
  switch (field->wire) {
    case ProtobufWire::kVarint: {
      ASSIGN_OR_RETURN(field->value, Varint(rest));
      return true;
    }
    case ProtobufWire::kFixed64: {
      ASSIGN_OR_RETURN(field->value, Fixed(rest, 8));
      return true;
    }
    case ProtobufWire::kFixed32: {
      ASSIGN_OR_RETURN(field->value, Fixed(rest, 4));
      return true;
    }
    case ProtobufWire::kBytes: {
      if (rest->begin == rest->end) break;
      ASSIGN_OR_RETURN(const std::uint64_t size, Varint(rest));
      if (size > rest->size()) {
        return InvalidInput(fmt::format("field {} of {} bytes; expected at most the {} that are "
                                        "left of its message",
                                        field->number, size, rest->size()),
                            At(field->at));
      }
      field->content = {rest->begin, rest->begin + size};
      rest->begin += size;
      return true;
    }
  }
  return InvalidInput(fmt::format("a field of the wire type {}; expected 0, 1, 2 or 5", key & 7U),
                      At(field->at));
}

Result<std::string> ProtobufFile::Text(const FileSpan& span, std::uint64_t limit_bytes) {
  if (span.size() > limit_bytes) {
    return Unsupported(
        fmt::format("a text of {} bytes; expected at most {}", span.size(), limit_bytes),
        At(span.begin));
  }
  std::string text(span.size(), '\0');
  RETURN_IF_ERROR(file_.ReadAt(span.begin, std::as_writable_bytes(std::span(text))));
  return text;
}

}  // namespace rharness
