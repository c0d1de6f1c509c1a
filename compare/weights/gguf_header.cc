// The GGUF header, read forward: numbers and strings first, then the rules that tie them together.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "compare/weights/forward_reader.h"
#include "compare/weights/gguf.h"
#include "compare/weights/names.h"

namespace rharness {
namespace {

// The kinds of metadata values, by their numbers in the file.
constexpr std::uint32_t kU32Value = 4;
constexpr std::uint32_t kBoolValue = 7;
constexpr std::uint32_t kStringValue = 8;
constexpr std::uint32_t kArrayValue = 9;

struct ValueKind {
  std::string_view name;
  std::size_t size_bytes;  // 0: not fixed
};
constexpr std::array<ValueKind, 13> kValueKinds = {{{"u8", 1},
                                                    {"i8", 1},
                                                    {"u16", 2},
                                                    {"i16", 2},
                                                    {"u32", 4},
                                                    {"i32", 4},
                                                    {"f32", 4},
                                                    {"bool", 1},
                                                    {"string", 0},
                                                    {"array", 0},
                                                    {"u64", 8},
                                                    {"i64", 8},
                                                    {"f64", 8}}};

template <class T>
std::string NumberText(std::uint64_t bits) {
  std::array<std::byte, sizeof(T)> bytes;
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(bits & 0xff);
    bits >>= 8;
  }
  return fmt::format("{}", std::bit_cast<T>(bytes));
}

std::string ScalarText(std::uint32_t kind, std::uint64_t bits) {
  switch (kind) {
    case 1:
      return NumberText<std::int8_t>(bits);
    case 3:
      return NumberText<std::int16_t>(bits);
    case 5:
      return NumberText<std::int32_t>(bits);
    case 6:
      return NumberText<float>(bits);
    case kBoolValue:
      return bits == 0 ? "false" : "true";
    case 11:
      return NumberText<std::int64_t>(bits);
    case 12:
      return NumberText<double>(bits);
    default:
      return fmt::format("{}", bits);
  }
}

// One tensor as the header states it.
struct GgufEntry {
  TensorInfo info;
  std::uint64_t offset = 0;         // from the start of the data
  std::uint64_t header_offset = 0;  // of its description, for messages
};

class Parser {
 public:
  Parser(const ReadBytes& read, std::uint64_t file_bytes, std::string_view file)
      : in_(read, file_bytes, file) {}

  Result<GgufHeader> Parse() {
    RETURN_IF_ERROR(ReadBeginning());
    RETURN_IF_ERROR(ReadMetadata());
    for (std::uint64_t i = 0; i < tensors_; ++i) RETURN_IF_ERROR(ReadTensor());
    RETURN_IF_ERROR(CheckLayout());
    RETURN_IF_ERROR(SortByName());
    for (GgufEntry& entry : entries_) {
      header_.offsets.push_back(data_begin_ + entry.offset);
      header_.tensors.push_back(std::move(entry.info));
    }
    return std::move(header_);
  }

 private:
  Error Refuse(const GgufEntry& entry, std::string_view message) const {
    return InvalidInput(fmt::format("tensor {}: {}", Quoted(entry.info.name), message),
                        in_.At(entry.header_offset));
  }
  Status ReadBeginning();
  Status CheckVersion(std::uint32_t version) const;
  Status ReadMetadata();
  Result<std::string> ReadValue(std::uint32_t kind);
  Result<std::string> ReadName(std::uint64_t limit_bytes, std::string_view what);
  Result<std::string> ReadText();
  Result<std::string> ReadArray(int depth);
  Status SkipElements(std::uint32_t kind, std::uint64_t count, int depth);
  Status ReadAlignment(std::uint32_t kind, const std::string& text, std::uint64_t offset);
  Status CheckKeys(std::vector<std::pair<std::string_view, std::uint64_t>> keys) const;
  Status ReadTensor();
  Status ReadShape(GgufEntry* entry);
  Status ReadType(GgufEntry* entry);
  Status CheckLayout();
  Status SortByName();

  ForwardReader in_;
  std::uint64_t tensors_ = 0;
  std::uint64_t pairs_ = 0;
  std::uint64_t alignment_bytes_ = kDefaultGgufAlignmentBytes;
  std::uint64_t data_begin_ = 0;
  std::vector<GgufEntry> entries_;
  GgufHeader header_;
};

Status Parser::ReadBeginning() {
  ASSIGN_OR_RETURN(const std::uint32_t magic, in_.U32("the mark of a GGUF file"));
  if (magic != 0x46554747) return InvalidInput("no GGUF file; expected 'GGUF'", in_.At(0));
  ASSIGN_OR_RETURN(const std::uint32_t version, in_.U32("the version"));
  RETURN_IF_ERROR(CheckVersion(version));
  ASSIGN_OR_RETURN(tensors_, in_.U64("the number of tensors"));
  ASSIGN_OR_RETURN(pairs_, in_.U64("the number of metadata pairs"));
  if (tensors_ > kMaxGgufTensors) {
    return Unsupported(fmt::format("{} tensors; expected at most {}", tensors_, kMaxGgufTensors),
                       in_.At(8));
  }
  if (pairs_ > kMaxGgufPairs) {
    return Unsupported(fmt::format("{} metadata pairs; expected at most {}", pairs_, kMaxGgufPairs),
                       in_.At(16));
  }
  return {};
}

Status Parser::CheckVersion(std::uint32_t version) const {
  if (version == 2 || version == 3) return {};
  const std::uint32_t swapped = __builtin_bswap32(version);
  if (version != 0 && swapped <= 0xffff) {
    return Unsupported(fmt::format("version {}, read backwards {}: a big-endian file; expected a "
                                   "little-endian one, which gguf_convert_endian.py of llama.cpp "
                                   "makes of it",
                                   version, swapped),
                       in_.At(4));
  }
  return Unsupported(fmt::format("GGUF version {}; expected 2 or 3", version), in_.At(4));
}

Status Parser::ReadMetadata() {
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t i = 0; i < pairs_; ++i) {
    const std::uint64_t begin = in_.position();
    ASSIGN_OR_RETURN(std::string key, ReadName(kMaxGgufKeyBytes, "a metadata key"));
    const std::uint64_t value_begin = in_.position();
    ASSIGN_OR_RETURN(const std::uint32_t kind, in_.U32("the type of a metadata value"));
    if (kind >= kValueKinds.size()) {
      return InvalidInput(
          fmt::format("metadata {} has type {}; expected 0 to 12", Quoted(key), kind),
          in_.At(value_begin));
    }
    ASSIGN_OR_RETURN(std::string text, ReadValue(kind));
    if (key == "general.alignment") RETURN_IF_ERROR(ReadAlignment(kind, text, value_begin));
    header_.metadata.emplace_back(std::move(key), std::move(text));
    header_.value_ranges.emplace_back(value_begin, in_.position() - value_begin);
    offsets.push_back(begin);
  }
  std::vector<std::pair<std::string_view, std::uint64_t>> keys;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    keys.emplace_back(header_.metadata[i].first, offsets[i]);
  }
  return CheckKeys(std::move(keys));
}

Result<std::string> Parser::ReadName(std::uint64_t limit_bytes, std::string_view what) {
  const std::uint64_t begin = in_.position();
  ASSIGN_OR_RETURN(const std::uint64_t size, in_.U64(what));
  if (size <= limit_bytes) return in_.Text(size, what);
  return Unsupported(fmt::format("{} of {} bytes; expected at most {}", what, size, limit_bytes),
                     in_.At(begin));
}

Status Parser::CheckKeys(std::vector<std::pair<std::string_view, std::uint64_t>> keys) const {
  std::ranges::sort(keys);
  const auto twin =
      std::ranges::adjacent_find(keys, {}, &std::pair<std::string_view, std::uint64_t>::first);
  if (twin == keys.end()) return {};
  return InvalidInput(
      fmt::format("metadata key {} occurs twice; expected unique keys", Quoted(twin->first)),
      in_.At((twin + 1)->second));
}

Result<std::string> Parser::ReadValue(std::uint32_t kind) {
  if (kind == kStringValue) return ReadText();
  if (kind == kArrayValue) return ReadArray(1);
  const std::uint64_t begin = in_.position();
  ASSIGN_OR_RETURN(const std::uint64_t bits,
                   in_.Number(kValueKinds[kind].size_bytes, "a metadata value"));
  if (kind == kBoolValue && bits > 1) {
    return InvalidInput(fmt::format("a bool of {}; expected 0 or 1", bits), in_.At(begin));
  }
  return ScalarText(kind, bits);
}

Result<std::string> Parser::ReadText() {
  ASSIGN_OR_RETURN(const std::uint64_t size, in_.U64("the length of a metadata string"));
  if (size <= kMaxGgufTextBytes) return in_.Text(size, "a metadata string");
  RETURN_IF_ERROR(in_.Skip(size, "a metadata string"));
  return fmt::format("[{} bytes of text]", size);
}

Result<std::string> Parser::ReadArray(int depth) {
  const std::uint64_t begin = in_.position();
  ASSIGN_OR_RETURN(const std::uint32_t kind, in_.U32("the type of an array's elements"));
  ASSIGN_OR_RETURN(const std::uint64_t count, in_.U64("the length of an array"));
  if (kind >= kValueKinds.size()) {
    return InvalidInput(fmt::format("an array of type {}; expected 0 to 12", kind), in_.At(begin));
  }
  RETURN_IF_ERROR(SkipElements(kind, count, depth));
  return fmt::format("[{} x {}]", count, kValueKinds[kind].name);
}

Status Parser::SkipElements(std::uint32_t kind, std::uint64_t count, int depth) {
  const std::uint64_t size = kValueKinds[kind].size_bytes;
  if (size != 0) {
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
      return InvalidInput(fmt::format("an array of {} elements; expected fewer", count),
                          in_.Here());
    }
    return in_.Skip(bytes, "an array");
  }
  if (kind == kArrayValue && depth >= kMaxGgufArrayDepth) {
    return Unsupported(
        fmt::format("arrays in arrays; expected at most {} levels", kMaxGgufArrayDepth),
        in_.Here());
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    if (kind == kStringValue) {
      ASSIGN_OR_RETURN(const std::uint64_t length, in_.U64("a string in an array"));
      RETURN_IF_ERROR(in_.Skip(length, "a string in an array"));
    } else {
      ASSIGN_OR_RETURN(const std::string ignored, ReadArray(depth + 1));
    }
  }
  return {};
}

Status Parser::ReadAlignment(std::uint32_t kind, const std::string& text, std::uint64_t offset) {
  std::uint64_t bytes = 0;
  if (kind == kU32Value) bytes = std::stoul(text);
  if (bytes == 0 || bytes % 8 != 0) {
    return InvalidInput(
        fmt::format("general.alignment is {} of type {}; expected a u32, a multiple "
                    "of 8",
                    text, kValueKinds[kind].name),
        in_.At(offset));
  }
  alignment_bytes_ = bytes;
  return {};
}

Status Parser::ReadTensor() {
  GgufEntry entry;
  entry.header_offset = in_.position();
  ASSIGN_OR_RETURN(entry.info.name, ReadName(kMaxGgufNameBytes, "a tensor name"));
  RETURN_IF_ERROR(ReadShape(&entry));
  RETURN_IF_ERROR(ReadType(&entry));
  ASSIGN_OR_RETURN(entry.offset, in_.U64("the offset of a tensor"));
  if (entry.offset % alignment_bytes_ != 0) {
    return Refuse(entry, fmt::format("offset {}; expected a multiple of {}, the alignment",
                                     entry.offset, alignment_bytes_));
  }
  entries_.push_back(std::move(entry));
  return {};
}

Status Parser::ReadShape(GgufEntry* entry) {
  TensorInfo& info = entry->info;
  ASSIGN_OR_RETURN(const std::uint32_t rank, in_.U32("the number of dimensions"));
  if (rank > kMaxGgufRank) {
    return Refuse(*entry, fmt::format("{} dimensions; expected at most {}", rank, kMaxGgufRank));
  }
  for (std::uint32_t i = 0; i < rank; ++i) {
    ASSIGN_OR_RETURN(const std::uint64_t size, in_.U64("a dimension"));
    info.shape.push_back(size);
    if (__builtin_mul_overflow(info.elements, size, &info.elements)) {
      return Refuse(*entry, "the product of its dimensions is above 2^64 - 1");
    }
  }
  std::ranges::reverse(info.shape);
  return {};
}

Status Parser::ReadType(GgufEntry* entry) {
  TensorInfo& info = entry->info;
  ASSIGN_OR_RETURN(const std::uint32_t number, in_.U32("the type of a tensor"));
  const GgufType* type = FindGgufType(number);
  if (type == nullptr) {
    return Unsupported(fmt::format("tensor {}: type {}, which is unknown or was taken out of the "
                                   "format; expected one such as 0 (F32) or 12 (Q4_K)",
                                   Quoted(info.name), number),
                       in_.At(entry->header_offset));
  }
  const std::uint64_t row = info.shape.empty() ? 1 : info.shape.back();
  if (row % type->block_elements != 0) {
    return Refuse(*entry, fmt::format("rows of {} elements; expected a multiple of {}, the block "
                                      "of {}",
                                      row, type->block_elements, type->name));
  }
  info.dtype = type->dtype.value_or(DType::kBlocks);
  if (!type->dtype) info.block_format = type->name;
  if (__builtin_mul_overflow(info.elements / type->block_elements, type->block_bytes,
                             &info.size_bytes)) {
    return Refuse(*entry, "its size is above 2^64 - 1 bytes");
  }
  return {};
}

Status Parser::CheckLayout() {
  const std::uint64_t past = in_.position() % alignment_bytes_;
  data_begin_ = in_.position() + (past == 0 ? 0 : alignment_bytes_ - past);
  std::ranges::sort(entries_, {}, [](const GgufEntry& entry) {
    return std::pair(entry.offset, entry.info.size_bytes);
  });
  const std::uint64_t data_bytes =
      data_begin_ < in_.file_bytes() ? in_.file_bytes() - data_begin_ : 0;
  std::uint64_t end = 0;
  for (const GgufEntry& entry : entries_) {
    const std::uint64_t size = entry.info.size_bytes;
    if (entry.offset > data_bytes || size > data_bytes - entry.offset) {
      return Refuse(entry, fmt::format("{} bytes at offset {} end after the file's {} bytes of "
                                       "data",
                                       size, entry.offset, data_bytes));
    }
    if (entry.offset < end) {
      return Refuse(entry, fmt::format("offset {} lies in another tensor; expected at least {}",
                                       entry.offset, end));
    }
    end = entry.offset + size;
  }
  return {};
}

Status Parser::SortByName() {
  const auto name_of = [](const GgufEntry& entry) -> const std::string& { return entry.info.name; };
  std::ranges::sort(entries_, {}, name_of);
  const auto twin = std::ranges::adjacent_find(entries_, {}, name_of);
  if (twin == entries_.end()) return {};
  const GgufEntry& second = twin->header_offset > (twin + 1)->header_offset ? *twin : *(twin + 1);
  return Refuse(second, "the name occurs twice; expected unique names");
}

}  // namespace

Result<GgufHeader> ParseGguf(const ReadBytes& read, std::uint64_t file_bytes,
                             std::string_view file) {
  return Parser(read, file_bytes, file).Parse();
}

}  // namespace rharness
