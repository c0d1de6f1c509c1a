// Magic, version, length, literal; then the size of the rest.
#include "compare/weights/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "compare/weights/view_checkpoint.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

constexpr std::size_t kVersionOffset = 6;
constexpr std::size_t kLengthOffset = 8;

struct DescrRow {
  std::string_view descr;  // kind and bytes an element
  DType dtype;
};

constexpr std::array<DescrRow, 14> kDescrs = {{
    {"b1", DType::kBool},
    {"i1", DType::kI8},
    {"i2", DType::kI16},
    {"i4", DType::kI32},
    {"i8", DType::kI64},
    {"u1", DType::kU8},
    {"u2", DType::kU16},
    {"u4", DType::kU32},
    {"u8", DType::kU64},
    {"f2", DType::kF16},
    {"f4", DType::kF32},
    {"f8", DType::kF64},
    {"c8", DType::kC64},
    {"c16", DType::kC128},
}};

class LiteralParser {
 public:
  // `begin` is the literal's place in the file.
  LiteralParser(std::string_view text, std::uint64_t begin, std::string_view where)
      : text_(text), begin_(begin), where_(where) {}
  Result<NpyHeader> Parse();

 private:
  std::string Where() const { return fmt::format("{}: byte {}", where_, begin_ + at_); }
  Error Expected(std::string_view what) const {
    return InvalidInput(fmt::format("the .npy header is malformed: expected {}", what), Where());
  }
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void SkipSpace() {
    while (Peek() == ' ') ++at_;
  }
  bool Take(std::string_view token) {
    SkipSpace();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  Result<std::string_view> TakeString(std::string_view what);
  Result<std::uint64_t> TakeNumber();
  Status TakeMember(std::string_view key);
  Status TakeDescr();
  Status TakeShape();

  std::string_view text_;
  std::uint64_t begin_;
  std::string_view where_;
  std::size_t at_ = 0;
  NpyHeader header_;
  std::vector<std::string_view> keys_;
};

Result<NpyHeader> LiteralParser::Parse() {
  if (!Take("{")) return Expected("'{'");
  while (!Take("}")) {
    if (!keys_.empty() && !Take(",")) return Expected("',' or '}'");
    if (!keys_.empty() && Take("}")) break;
    const std::size_t key_at = at_;
    ASSIGN_OR_RETURN(const std::string_view key, TakeString("a key in quotes"));
    if (std::ranges::find(keys_, key) != keys_.end()) {
      at_ = key_at;
      return Expected("every key once");
    }
    if (!Take(":")) return Expected("':'");
    keys_.push_back(key);
    RETURN_IF_ERROR(TakeMember(key));
  }
  if (keys_.size() != 3) return Expected("the members descr, fortran_order and shape before '}'");
  SkipSpace();
  if (at_ + 1 == text_.size() && Peek() == '\n') return std::move(header_);
  return Expected("spaces and a line break at the end");
}

Status LiteralParser::TakeMember(std::string_view key) {
  if (key == "descr") return TakeDescr();
  if (key == "shape") return TakeShape();
  if (key == "fortran_order") {
    header_.fortran = Take("True");
    if (header_.fortran || Take("False")) return {};
    return Expected("True or False");
  }
  return Expected("a value of descr, fortran_order or shape and of no other key");
}

Result<std::string_view> LiteralParser::TakeString(std::string_view what) {
  SkipSpace();
  const char quote = Peek();
  if (quote != '\'' && quote != '"') return Expected(what);
  const std::size_t end = text_.find_first_of("'\"\\\n", at_ + 1);
  if (end == std::string_view::npos || text_[end] != quote) {
    return Expected(fmt::format("{}, without escapes", what));
  }
  const std::string_view text = text_.substr(at_ + 1, end - at_ - 1);
  at_ = end + 1;
  return text;
}

Status LiteralParser::TakeDescr() {
  SkipSpace();
  const std::string where = Where();
  if (Peek() == '[') {
    return Unsupported("a structured dtype; expected a plain one such as '<f4'", where);
  }
  ASSIGN_OR_RETURN(const std::string_view descr, TakeString("a dtype in quotes"));
  const std::string_view format = descr.substr(std::min<std::size_t>(1, descr.size()));
  const auto dtype = DTypeOfNpyFormat(format);
  const char order = descr.empty() ? '\0' : descr[0];
  const bool has_order = order == '<' || order == '>' || order == '|';
  if (!dtype || !has_order) {
    return Unsupported(fmt::format("dtype '{}'{}; expected a bool, integer, float or complex dtype "
                                   "such as '<f4'",
                                   TerminalSafe(descr.substr(0, 40)),
                                   format.starts_with('O') ? " (pickled objects)" : ""),
                       where);
  }
  if (order == '|' && BitsOf(*dtype) != 8)
    return Expected("'<' or '>' before " + std::string(format));
  header_.dtype = *dtype;
  header_.swapped = order == '>';
  return {};
}

Result<std::uint64_t> LiteralParser::TakeNumber() {
  SkipSpace();
  std::uint64_t number = 0;
  const char* const begin = text_.data() + at_;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
  if (error != std::errc()) return Expected("an integer from 0 to 2^64 - 1");
  at_ += static_cast<std::size_t>(end - begin);
  if (Peek() == 'L') ++at_;  // as Python 2 wrote it
  return number;
}

// "()", "(3,)", "(3, 4)"
Status LiteralParser::TakeShape() {
  if (!Take("(")) return Expected("'(' of a tuple");
  bool comma = true;
  while (!Take(")")) {
    if (!comma) return Expected("',' or ')'");
    if (header_.shape.size() == kMaxViewRank) {
      return Unsupported(fmt::format("more than {} dimensions", kMaxViewRank), Where());
    }
    ASSIGN_OR_RETURN(const std::uint64_t dimension, TakeNumber());
    header_.shape.push_back(dimension);
    comma = Take(",");
  }
  if (header_.shape.size() == 1 && !comma) return Expected("',' in a tuple of one");
  return {};
}

// The bytes of an array, unless that is beyond 64 bits.
std::optional<std::uint64_t> DataBytes(const NpyHeader& header) {
  if (std::ranges::find(header.shape, 0u) != header.shape.end()) return 0;
  std::uint64_t size = static_cast<std::uint64_t>(BitsOf(header.dtype)) / 8;
  for (const std::uint64_t dimension : header.shape) {
    if (__builtin_mul_overflow(size, dimension, &size)) return std::nullopt;
  }
  return size;
}

}  // namespace

std::optional<DType> DTypeOfNpyFormat(std::string_view format) {
  const auto row = std::ranges::find(kDescrs, format, &DescrRow::descr);
  if (row == kDescrs.end()) return std::nullopt;
  return row->dtype;
}

Result<NpyHeader> ReadNpyHeader(const ReadSource& read, std::uint64_t size_bytes,
                                std::string_view where) {
  const auto at = [&](std::uint64_t offset) { return fmt::format("{}: byte {}", where, offset); };
  std::array<char, 12> start{};
  const auto too_short = [&](std::uint64_t expected) {
    return InvalidInput(
        fmt::format("the .npy data end after {} bytes; expected at least {}", size_bytes, expected),
        at(size_bytes));
  };
  if (size_bytes < kLengthOffset + 2) return too_short(kLengthOffset + 2);
  RETURN_IF_ERROR(read(0, std::as_writable_bytes(std::span(start).first(kLengthOffset))));
  if (!std::string_view(start.data(), start.size()).starts_with(kNpyMagic)) {
    return InvalidInput("expected the mark of a .npy file, \\x93NUMPY", at(0));
  }
  const int major = start[kVersionOffset], minor = start[kVersionOffset + 1];
  if (major < 1 || major > 3 || minor != 0) {
    return Unsupported(fmt::format(".npy version {}.{}; expected 1.0, 2.0 or 3.0", major, minor),
                       at(kVersionOffset));
  }
  const std::size_t width = major == 1 ? 2 : 4;
  const std::uint64_t begin = kLengthOffset + width;
  if (size_bytes < begin) return too_short(begin);
  RETURN_IF_ERROR(
      read(kLengthOffset, std::as_writable_bytes(std::span(start).subspan(kLengthOffset, width))));
  std::uint64_t length = 0;
  for (std::size_t i = width; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(start[kLengthOffset + i]);
  }
  if (length > size_bytes - begin) return too_short(begin + length);
  if (length > kMaxNpyHeaderBytes) {
    return Unsupported(
        fmt::format("a .npy header of {} bytes; expected at most {}", length, kMaxNpyHeaderBytes),
        at(kLengthOffset));
  }
  std::string text(length, '\0');
  RETURN_IF_ERROR(read(begin, std::as_writable_bytes(std::span(text))));
  ASSIGN_OR_RETURN(NpyHeader header, LiteralParser(text, begin, where).Parse());
  header.data_offset = begin + length;
  const auto expected = DataBytes(header);
  const std::uint64_t data_bytes = size_bytes - header.data_offset;
  if (expected == data_bytes) return header;
  return InvalidInput(
      fmt::format("{} bytes of data; expected {} by dtype and shape [{}]", data_bytes,
                  expected ? fmt::to_string(*expected) : "more than 2^64",
                  fmt::join(header.shape, ", ")),
      at(header.data_offset));
}

}  // namespace rharness
