// One buffer that moves forward; nothing is allocated or read beyond the file's end.
#include "compare/weights/forward_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace rharness {

std::string ForwardReader::At(std::uint64_t offset) const {
  return fmt::format("{}: byte {}", file_, offset);
}

Result<std::uint64_t> ForwardReader::Number(std::size_t size_bytes, std::string_view what) {
  std::array<std::byte, 8> bytes;
  if (size_bytes > bytes.size()) Abort("a number of more than 8 bytes");
  RETURN_IF_ERROR(Fill(std::span(bytes).first(size_bytes), what));
  std::uint64_t value = 0;
  for (std::size_t i = size_bytes; i-- > 0;) {
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  }
  return value;
}

Result<std::uint32_t> ForwardReader::U32(std::string_view what) {
  ASSIGN_OR_RETURN(const std::uint64_t value, Number(4, what));
  return static_cast<std::uint32_t>(value);
}

Result<std::string> ForwardReader::Text(std::uint64_t size_bytes, std::string_view what) {
  RETURN_IF_ERROR(Require(size_bytes, what));
  std::string text(size_bytes, '\0');
  RETURN_IF_ERROR(Fill(std::as_writable_bytes(std::span(text)), what));
  return text;
}

Status ForwardReader::Skip(std::uint64_t size_bytes, std::string_view what) {
  RETURN_IF_ERROR(Require(size_bytes, what));
  position_ += size_bytes;
  return {};
}

Status ForwardReader::Require(std::uint64_t size_bytes, std::string_view what) const {
  const std::uint64_t left = file_bytes_ - position_;
  if (size_bytes <= left) return {};
  return InvalidInput(
      fmt::format("{} takes {} bytes; expected at most {}, what is left of the file", what,
                  size_bytes, left),
      Here());
}

Status ForwardReader::Fill(std::span<std::byte> out, std::string_view what) {
  RETURN_IF_ERROR(Require(out.size(), what));
  while (!out.empty()) {
    if (position_ < buffer_begin_ || position_ >= buffer_begin_ + buffered_) {
      buffered_ = 0;
      const std::size_t size = std::min<std::uint64_t>(buffer_.size(), file_bytes_ - position_);
      RETURN_IF_ERROR(read_(position_, std::span(buffer_).first(size)));
      buffer_begin_ = position_;
      buffered_ = size;
    }
    const std::size_t at = position_ - buffer_begin_;
    const std::size_t count = std::min(out.size(), buffered_ - at);
    std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(at), count, out.begin());
    out = out.subspan(count);
    position_ += count;
  }
  return {};
}

}  // namespace rharness
