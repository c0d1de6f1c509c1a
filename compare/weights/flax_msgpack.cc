// One pass over the frame of a MessagePack file; see flax_msgpack.h.
#include "compare/weights/flax_msgpack.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "compare/weights/forward_reader.h"
#include "compare/weights/names.h"
#include "compare/weights/numpy_names.h"
#include "compare/weights/placed_checkpoint.h"

namespace rharness {
namespace {

enum class MsgpackKind {
  kNil,
  kBool,
  kUnsigned,
  kSigned,
  kFloat,
  kText,
  kBytes,
  kList,
  kMap,
  kExtension
};

// What a value's first bytes say.
struct MsgpackHead {
  MsgpackKind kind = MsgpackKind::kNil;
  std::uint64_t number = 0;  // of kBool, kUnsigned, kSigned: the value; of kFloat: its 64 bits
  std::uint64_t size = 0;    // bytes of a text, of bytes, of an extension; items of a list or map
  int extension = 0;
  std::uint64_t at = 0;  // of its first byte
};

enum MsgpackExtension { kArray = 1, kComplex = 2, kNumpyScalar = 3 };

constexpr std::string_view kChunked = "__msgpack_chunked_array__";

// A row of the specification's table: first bytes from `first` to `last`.
struct MsgpackRow {
  unsigned first = 0, last = 0;
  MsgpackKind kind = MsgpackKind::kNil;
  std::size_t number_bytes = 0;  // of the length, count or number that follows; 0: in the byte
};
constexpr auto kMsgpackRows = std::to_array<MsgpackRow>({
    {0x00, 0x7f, MsgpackKind::kUnsigned, 0},  {0x80, 0x8f, MsgpackKind::kMap, 0},
    {0x90, 0x9f, MsgpackKind::kList, 0},      {0xa0, 0xbf, MsgpackKind::kText, 0},
    {0xc0, 0xc0, MsgpackKind::kNil, 0},       {0xc2, 0xc3, MsgpackKind::kBool, 0},
    {0xc4, 0xc4, MsgpackKind::kBytes, 1},     {0xc5, 0xc5, MsgpackKind::kBytes, 2},
    {0xc6, 0xc6, MsgpackKind::kBytes, 4},     {0xc7, 0xc7, MsgpackKind::kExtension, 1},
    {0xc8, 0xc8, MsgpackKind::kExtension, 2}, {0xc9, 0xc9, MsgpackKind::kExtension, 4},
    {0xca, 0xca, MsgpackKind::kFloat, 4},     {0xcb, 0xcb, MsgpackKind::kFloat, 8},
    {0xcc, 0xcc, MsgpackKind::kUnsigned, 1},  {0xcd, 0xcd, MsgpackKind::kUnsigned, 2},
    {0xce, 0xce, MsgpackKind::kUnsigned, 4},  {0xcf, 0xcf, MsgpackKind::kUnsigned, 8},
    {0xd0, 0xd0, MsgpackKind::kSigned, 1},    {0xd1, 0xd1, MsgpackKind::kSigned, 2},
    {0xd2, 0xd2, MsgpackKind::kSigned, 4},    {0xd3, 0xd3, MsgpackKind::kSigned, 8},
    {0xd4, 0xd8, MsgpackKind::kExtension, 0}, {0xd9, 0xd9, MsgpackKind::kText, 1},
    {0xda, 0xda, MsgpackKind::kText, 2},      {0xdb, 0xdb, MsgpackKind::kText, 4},
    {0xdc, 0xdc, MsgpackKind::kList, 2},      {0xdd, 0xdd, MsgpackKind::kList, 4},
    {0xde, 0xde, MsgpackKind::kMap, 2},       {0xdf, 0xdf, MsgpackKind::kMap, 4},
    {0xe0, 0xff, MsgpackKind::kSigned, 0},
});

std::string Bytes(const void* data, std::size_t size) {
  return {static_cast<const char*>(data), size};
}

class MsgpackReader {
 public:
  explicit MsgpackReader(const InputFile& file)
      : read_([&file](std::uint64_t offset, std::span<std::byte> out) {
          return file.ReadAt(offset, out);
        }),
        in_(read_, file.size_bytes(), file.name()) {}

  Result<PlacedParts> Read() {
    std::string path;
    RETURN_IF_ERROR(ReadValue(&path, 0));
    if (in_.position() != in_.file_bytes()) {
      return InvalidInput(fmt::format("{} bytes after the end of the map; expected none",
                                      in_.file_bytes() - in_.position()),
                          in_.Here());
    }
    return std::move(parts_);
  }

 private:
  Error Wrong(const MsgpackHead& head, std::string message) const {
    return InvalidInput(std::move(message), in_.At(head.at));
  }
  Result<MsgpackHead> ReadHead();
  Status ReadValue(std::string* path, std::size_t depth);
  Status ReadMap(const MsgpackHead& head, std::string* path, std::size_t depth);
  Status ReadList(const MsgpackHead& head, std::string* path, std::size_t depth);
  Status ReadExtension(const MsgpackHead& head, const std::string& path);
  Result<PlacedTensor> ReadArray(const MsgpackHead& head);
  Result<std::string> ReadText(std::string_view what);
  Result<std::uint64_t> ReadUnsigned(std::string_view what);
  Result<std::vector<std::uint64_t>> ReadShape();
  Status ReadChunked(std::uint64_t items, const std::string& path);
  Result<PlacedTensor> JoinChunks(std::uint64_t count);
  Status AddScalar(const MsgpackHead& head, const std::string& path);
  Status AddText(const MsgpackHead& head, const std::string& path);
  Status Add(PlacedTensor tensor, const std::string& path) {
    tensor.name = path.empty() ? "array" : path;
    parts_.tensors.push_back(std::move(tensor));
    if (parts_.tensors.size() <= kMaxPlacedTensors) return {};
    return Unsupported(fmt::format("more than {} leaves", kMaxPlacedTensors), in_.Here());
  }

  const ReadBytes read_;
  ForwardReader in_;
  PlacedParts parts_;
  std::uint64_t text_bytes_ = 0;
};

// MessagePack's numbers are big-endian.
std::uint64_t Reversed(std::uint64_t value, std::size_t bytes) {
  return bytes == 0 ? value : __builtin_bswap64(value) >> (64 - 8 * bytes);
}

std::uint64_t SignExtended(std::uint64_t value, std::size_t bytes) {
  if (bytes == 0 || bytes == 8) return value;
  const std::uint64_t sign = std::uint64_t{1} << (8 * bytes - 1);
  return (value ^ sign) - sign;
}

Result<MsgpackHead> MsgpackReader::ReadHead() {
  MsgpackHead head{.at = in_.position()};
  ASSIGN_OR_RETURN(const std::uint64_t first, in_.Number(1, "a value"));
  const auto row = std::ranges::find_if(kMsgpackRows, [&](const MsgpackRow& each) {
    return first >= each.first && first <= each.last;
  });
  if (row == kMsgpackRows.end()) {
    return Wrong(head, fmt::format("the byte {:02x}; expected a value of MessagePack", first));
  }
  head.kind = row->kind;
  std::uint64_t number = first - row->first;
  if (row->number_bytes != 0) {
    ASSIGN_OR_RETURN(number, in_.Number(row->number_bytes, "a value"));
    number = Reversed(number, row->number_bytes);
  }
  switch (head.kind) {
    case MsgpackKind::kSigned:
      head.number =
          row->number_bytes == 0 ? first - 0x100 : SignExtended(number, row->number_bytes);
      break;
    case MsgpackKind::kFloat:
      head.number = number;
      if (row->number_bytes == 4) {
        const auto bits = static_cast<std::uint32_t>(number);
        float single = 0;
        std::memcpy(&single, &bits, sizeof single);
        const double wide = single;
        std::memcpy(&head.number, &wide, sizeof wide);
      }
      break;
    case MsgpackKind::kExtension: {
      head.size = row->number_bytes == 0 ? std::uint64_t{1} << number : number;
      ASSIGN_OR_RETURN(const std::uint64_t type, in_.Number(1, "the type of an extension"));
      head.extension = static_cast<int>(static_cast<std::int8_t>(type));
      break;
    }
    default:
      head.number = head.size = number;
  }
  return head;
}

Status MsgpackReader::ReadValue(std::string* path, std::size_t depth) {
  ASSIGN_OR_RETURN(const MsgpackHead head, ReadHead());
  if (depth > kMaxMsgpackDepth) {
    return Unsupported(fmt::format("more than {} levels", kMaxMsgpackDepth), in_.At(head.at));
  }
  switch (head.kind) {
    case MsgpackKind::kNil:
      return {};
    case MsgpackKind::kMap:
      return ReadMap(head, path, depth);
    case MsgpackKind::kList:
      return ReadList(head, path, depth);
    case MsgpackKind::kExtension:
      return ReadExtension(head, *path);
    case MsgpackKind::kText:
    case MsgpackKind::kBytes:
      return AddText(head, *path);
    default:
      return AddScalar(head, *path);
  }
}

Status MsgpackReader::ReadMap(const MsgpackHead& head, std::string* path, std::size_t depth) {
  const std::size_t length = path->size();
  for (std::uint64_t i = 0; i < head.size; ++i) {
    ASSIGN_OR_RETURN(const MsgpackHead key, ReadHead());
    std::string name;
    if (key.kind == MsgpackKind::kText && key.size <= kMaxMsgpackPathBytes) {
      ASSIGN_OR_RETURN(name, in_.Text(key.size, "a key"));
    } else if (key.kind == MsgpackKind::kUnsigned) {
      name = std::to_string(key.number);
    } else {
      return Wrong(key,
                   fmt::format("a key that is no text of at most {} bytes", kMaxMsgpackPathBytes));
    }
    if (i == 0 && name == kChunked) return ReadChunked(head.size, *path);
    if (length + name.size() > kMaxMsgpackPathBytes) {
      return Unsupported(fmt::format("a path of more than {} bytes", kMaxMsgpackPathBytes),
                         in_.At(key.at));
    }
    *path += length == 0 ? name : "/" + name;
    RETURN_IF_ERROR(ReadValue(path, depth + 1));
    path->resize(length);
  }
  return {};
}

Status MsgpackReader::ReadList(const MsgpackHead& head, std::string* path, std::size_t depth) {
  const std::size_t length = path->size();
  for (std::uint64_t i = 0; i < head.size; ++i) {
    *path += fmt::format("{}{}", length == 0 ? "" : "/", i);
    RETURN_IF_ERROR(ReadValue(path, depth + 1));
    path->resize(length);
  }
  return {};
}

Result<std::uint64_t> MsgpackReader::ReadUnsigned(std::string_view what) {
  ASSIGN_OR_RETURN(const MsgpackHead head, ReadHead());
  if (head.kind == MsgpackKind::kUnsigned) return head.number;
  return Wrong(head, fmt::format("{}: expected a number that is not negative", what));
}

Result<std::string> MsgpackReader::ReadText(std::string_view what) {
  ASSIGN_OR_RETURN(const MsgpackHead head, ReadHead());
  constexpr std::size_t kMost = 64;
  const bool text = head.kind == MsgpackKind::kText || head.kind == MsgpackKind::kBytes;
  if (text && head.size <= kMost) return in_.Text(head.size, what);
  return Wrong(head, fmt::format("{}: expected a text of at most {} bytes", what, kMost));
}

Result<std::vector<std::uint64_t>> MsgpackReader::ReadShape() {
  ASSIGN_OR_RETURN(const MsgpackHead head, ReadHead());
  if (head.kind != MsgpackKind::kList || head.size > kMaxPlacedRank) {
    return Wrong(head,
                 fmt::format("the shape: expected a list of at most {} numbers", kMaxPlacedRank));
  }
  std::vector<std::uint64_t> shape;
  for (std::uint64_t i = 0; i < head.size; ++i) {
    ASSIGN_OR_RETURN(const std::uint64_t size, ReadUnsigned("the shape"));
    shape.push_back(size);
  }
  return shape;
}

// The content of extension types 1 and 3: a list of shape, name of the dtype and bytes.
Result<PlacedTensor> MsgpackReader::ReadArray(const MsgpackHead& head) {
  const std::uint64_t begin = in_.position();
  if (head.extension != kArray && head.extension != kNumpyScalar) {
    return Unsupported(
        fmt::format("an extension of type {}; expected those of flax, 1 to 3", head.extension),
        in_.At(head.at));
  }
  PlacedTensor tensor{.stated_at = in_.At(head.at)};
  ASSIGN_OR_RETURN(const MsgpackHead list, ReadHead());
  const bool three = list.kind == MsgpackKind::kList && list.size == 3;
  if (!three) return Wrong(list, "expected a list of shape, dtype and bytes");
  ASSIGN_OR_RETURN(tensor.shape, ReadShape());
  ASSIGN_OR_RETURN(const std::string name, ReadText("the dtype"));
  const std::optional<DType> dtype = DTypeOfNumpyName(name);
  if (!dtype) {
    return Unsupported(fmt::format("an array of the dtype {}, which is not read", Quoted(name)),
                       in_.At(head.at));
  }
  tensor.dtype = *dtype;
  ASSIGN_OR_RETURN(const MsgpackHead bytes, ReadHead());
  if (bytes.kind != MsgpackKind::kBytes) return Wrong(bytes, "expected the bytes of an array");
  tensor.runs.push_back({.begin = in_.position(), .size_bytes = bytes.size});
  RETURN_IF_ERROR(in_.Skip(bytes.size, "an array"));
  if (in_.position() - begin == head.size) return tensor;
  return Wrong(head, fmt::format("an extension of {} bytes; expected {}, as its array has",
                                 head.size, in_.position() - begin));
}

Status MsgpackReader::ReadExtension(const MsgpackHead& head, const std::string& path) {
  if (head.extension != kComplex) {
    ASSIGN_OR_RETURN(PlacedTensor tensor, ReadArray(head));
    return Add(std::move(tensor), path);
  }
  PlacedTensor tensor{.dtype = DType::kC128, .stated_at = in_.At(head.at)};
  ASSIGN_OR_RETURN(const MsgpackHead list, ReadHead());
  ASSIGN_OR_RETURN(const MsgpackHead real, ReadHead());
  ASSIGN_OR_RETURN(const MsgpackHead imaginary, ReadHead());
  if (list.kind != MsgpackKind::kList || list.size != 2 || real.kind != MsgpackKind::kFloat ||
      imaginary.kind != MsgpackKind::kFloat) {
    return Wrong(head, "expected a complex number as a list of two floats");
  }
  tensor.content = Bytes(&real.number, 8) + Bytes(&imaginary.number, 8);
  return Add(std::move(tensor), path);
}

Status MsgpackReader::AddScalar(const MsgpackHead& head, const std::string& path) {
  PlacedTensor tensor{.stated_at = in_.At(head.at)};
  tensor.content = Bytes(&head.number, head.kind == MsgpackKind::kBool ? 1 : 8);
  const bool wide = head.kind == MsgpackKind::kUnsigned && head.number >> 63U != 0;
  tensor.dtype = head.kind == MsgpackKind::kBool    ? DType::kBool
                 : head.kind == MsgpackKind::kFloat ? DType::kF64
                 : wide                             ? DType::kU64
                                                    : DType::kI64;
  return Add(std::move(tensor), path);
}

Status MsgpackReader::AddText(const MsgpackHead& head, const std::string& path) {
  text_bytes_ += head.size;
  if (text_bytes_ > kMaxMsgpackTextBytes) {
    return Unsupported(fmt::format("more than {} bytes of texts", kMaxMsgpackTextBytes),
                       in_.At(head.at));
  }
  ASSIGN_OR_RETURN(std::string text, in_.Text(head.size, "a text"));
  parts_.unread.push_back({.name = path,
                           .why = "is a text beside the arrays",
                           .content = (head.kind == MsgpackKind::kText ? "text " : "bytes ") + text,
                           .kind = PartKind::kModel});
  return {};
}

// {"__msgpack_chunked_array__": true, "shape": {"0": N, ...}, "chunks": {"0": array, ...}}, whose
// first key has been read.
Status MsgpackReader::ReadChunked(std::uint64_t items, const std::string& path) {
  ASSIGN_OR_RETURN(const MsgpackHead mark, ReadHead());
  if (items != 3 || mark.kind != MsgpackKind::kBool) return Wrong(mark, "expected a chunked array");
  std::vector<std::uint64_t> shape;
  std::optional<PlacedTensor> tensor;
  for (int i = 0; i < 2; ++i) {
    ASSIGN_OR_RETURN(const std::string key, ReadText("a key of a chunked array"));
    ASSIGN_OR_RETURN(const MsgpackHead map, ReadHead());
    if (map.kind != MsgpackKind::kMap) return Wrong(map, "expected a map of a chunked array");
    if (key == "shape" && map.size <= kMaxPlacedRank) {
      for (std::uint64_t d = 0; d < map.size; ++d) {
        ASSIGN_OR_RETURN(const std::string dimension, ReadText("a dimension"));
        ASSIGN_OR_RETURN(const std::uint64_t size, ReadUnsigned("the shape"));
        if (dimension != std::to_string(d)) return Wrong(map, "expected dimensions in order");
        shape.push_back(size);
      }
    } else if (key == "chunks") {
      ASSIGN_OR_RETURN(tensor, JoinChunks(map.size));
    } else {
      return Wrong(map, "expected the shape and the chunks of a chunked array");
    }
  }
  if (!tensor) return Wrong(mark, "a chunked array without chunks");
  tensor->shape = std::move(shape);
  return Add(std::move(*tensor), path);
}

Result<PlacedTensor> MsgpackReader::JoinChunks(std::uint64_t count) {
  std::optional<PlacedTensor> whole;
  for (std::uint64_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const std::string key, ReadText("the number of a chunk"));
    ASSIGN_OR_RETURN(const MsgpackHead head, ReadHead());
    if (key != std::to_string(i) || head.kind != MsgpackKind::kExtension) {
      return Wrong(head, fmt::format("expected chunk {}, an array", i));
    }
    ASSIGN_OR_RETURN(PlacedTensor chunk, ReadArray(head));
    if (!whole) {
      whole = std::move(chunk);
    } else if (whole->dtype == chunk.dtype) {
      whole->runs.push_back(chunk.runs.front());
    } else {
      return Wrong(head, "chunks of two dtypes");
    }
  }
  if (!whole) return InvalidInput("a chunked array without a chunk", in_.Here());
  return std::move(*whole);
}

}  // namespace

bool LooksLikeMsgpack(std::string_view head) {
  if (head.size() < 8) return false;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(head[i]); };
  const std::size_t key = byte(0) == 0xde ? 3 : byte(0) == 0xdf ? 5 : 1;
  const bool map = key > 1 || (byte(0) > 0x80 && byte(0) < 0x90);
  return map && ((byte(key) > 0xa0 && byte(key) < 0xc0) || byte(key) == 0xd9);
}

Result<std::unique_ptr<Checkpoint>> OpenFlaxMsgpack(InputFile file) {
  ASSIGN_OR_RETURN(PlacedParts parts, MsgpackReader(file).Read());
  parts.files.push_back(std::move(file));
  return MakePlacedCheckpoint(std::move(parts));
}

}  // namespace rharness
