// The fields of a TensorProto, and which of them may hold the elements of a type.
#include "compare/weights/onnx_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "compare/weights/names.h"
#include "compare/weights/onnx.h"
#include "compare/weights/placed_checkpoint.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

// Fields of TensorProto.
enum Field : std::uint32_t {
  kDims = 1,
  kType = 2,
  kSegment = 3,
  kFloats = 4,
  kInts32 = 5,
  kStrings = 6,
  kInts64 = 7,
  kName = 8,
  kRaw = 9,
  kDoubles = 10,
  kUints64 = 11,
  kExternal = 13,
  kLocation = 14,
};

// A TensorProto.DataType, and the field of its elements beside raw_data.
struct TypeRow {
  std::int64_t number;
  std::string_view name;
  std::uint32_t field;
  std::optional<DType> dtype = std::nullopt;
};
constexpr auto kTypes = std::to_array<TypeRow>({
    {1, "FLOAT", kFloats, DType::kF32},
    {2, "UINT8", kInts32, DType::kU8},
    {3, "INT8", kInts32, DType::kI8},
    {4, "UINT16", kInts32, DType::kU16},
    {5, "INT16", kInts32, DType::kI16},
    {6, "INT32", kInts32, DType::kI32},
    {7, "INT64", kInts64, DType::kI64},
    {8, "STRING", kStrings},
    {9, "BOOL", kInts32, DType::kBool},
    {10, "FLOAT16", kInts32, DType::kF16},
    {11, "DOUBLE", kDoubles, DType::kF64},
    {12, "UINT32", kUints64, DType::kU32},
    {13, "UINT64", kUints64, DType::kU64},
    {14, "COMPLEX64", kFloats, DType::kC64},
    {15, "COMPLEX128", kDoubles, DType::kC128},
    {16, "BFLOAT16", kInts32, DType::kBF16},
    {17, "FLOAT8E4M3FN", kInts32, DType::kF8E4M3},
    {18, "FLOAT8E4M3FNUZ", kInts32, DType::kF8E4M3Fnuz},
    {19, "FLOAT8E5M2", kInts32, DType::kF8E5M2},
    {20, "FLOAT8E5M2FNUZ", kInts32, DType::kF8E5M2Fnuz},
    {21, "UINT4", kInts32},
    {22, "INT4", kInts32},
    {23, "FLOAT4E2M1", kInts32, DType::kF4},
    {24, "FLOAT8E8M0", kInts32, DType::kF8E8M0},
    {25, "UINT2", kInts32},
    {26, "INT2", kInts32},
});

const TypeRow* OnnxTypeOf(std::int64_t type) {
  const auto row = std::ranges::find(kTypes, type, &TypeRow::number);
  return row == kTypes.end() ? nullptr : &*row;
}

class TensorReader {
 public:
  TensorReader(ProtobufFile& file, const FileSpan& message, std::size_t* decoded_bytes)
      : file_(file), message_(message), decoded_bytes_(*decoded_bytes) {
    tensor_.at = message.begin;
  }
  Result<OnnxTensor> Read();

 private:
  Error Refuse(std::string_view text) const {
    return InvalidInput(fmt::format("tensor {}: {}", Quoted(tensor_.name), text),
                        file_.At(message_.begin));
  }
  Error NotRead(std::string_view text) const {
    return Unsupported(fmt::format("tensor {}: {}", Quoted(tensor_.name), text),
                       file_.At(message_.begin));
  }
  Status ReadDescription();
  Status AddDimension(std::uint64_t size);
  Status ReadElements(const TypeRow& row);
  Status AddElements(const TypeRow& row, const FileField& field);
  Status AddNumber(const TypeRow& row, std::uint64_t value);
  Status AddContent(std::string_view bytes);
  Status ReadExternal(const FileSpan& entry);
  Status FinishExternal();

  ProtobufFile& file_;
  const FileSpan message_;
  std::size_t& decoded_bytes_;
  OnnxTensor tensor_;
  OnnxExternalData external_;
  bool elsewhere_ = false;
};

Result<OnnxTensor> TensorReader::Read() {
  RETURN_IF_ERROR(ReadDescription());
  const TypeRow* row = OnnxTypeOf(tensor_.type);
  if (row == nullptr) return NotRead(fmt::format("elements of DataType {}", tensor_.type));
  tensor_.dtype = row->dtype;
  // An odd number of halves of bytes: a product of odd sizes.
  const auto odd = [](std::uint64_t size) { return size % 2 == 1; };
  if (row->dtype == DType::kF4 && std::ranges::all_of(tensor_.shape, odd)) tensor_.dtype.reset();
  if (elsewhere_) {
    RETURN_IF_ERROR(FinishExternal());
  } else {
    RETURN_IF_ERROR(ReadElements(*row));
  }
  return std::move(tensor_);
}

Status TensorReader::AddDimension(std::uint64_t size) {
  if (static_cast<std::int64_t>(size) < 0) return Refuse("a dimension below 0");
  if (tensor_.shape.size() == kMaxPlacedRank) {
    return NotRead(fmt::format("more than {} dimensions", kMaxPlacedRank));
  }
  tensor_.shape.push_back(size);
  return {};
}

// Name, type and shape may follow the elements.
Status TensorReader::ReadDescription() {
  FileField field;
  for (FileSpan rest = message_;;) {
    ASSIGN_OR_RETURN(const bool more, file_.Next(&rest, &field));
    if (!more) return {};
    const bool number = field.wire == ProtobufWire::kVarint;
    const bool text = field.wire == ProtobufWire::kBytes;
    if (field.number == kDims && number) {
      RETURN_IF_ERROR(AddDimension(field.value));
    } else if (field.number == kDims && text) {
      while (field.content.size() > 0) {
        ASSIGN_OR_RETURN(const std::uint64_t size, file_.Varint(&field.content));
        RETURN_IF_ERROR(AddDimension(size));
      }
    } else if (field.number == kType && number) {
      tensor_.type = static_cast<std::int64_t>(field.value);
    } else if (field.number == kName && text) {
      ASSIGN_OR_RETURN(tensor_.name, file_.Text(field.content, kMaxOnnxNameBytes));
    } else if (field.number == kSegment) {
      return NotRead("lies in segments");
    } else if (field.number == kLocation && number) {
      elsewhere_ = field.value == 1;
    } else if (field.number == kExternal && text) {
      RETURN_IF_ERROR(ReadExternal(field.content));
    }
  }
}

Status TensorReader::ReadElements(const TypeRow& row) {
  bool raw = false, typed = false;
  FileField field;
  for (FileSpan rest = message_;;) {
    ASSIGN_OR_RETURN(const bool more, file_.Next(&rest, &field));
    if (!more) return {};
    constexpr auto kOfElements =
        std::to_array<std::uint32_t>({kFloats, kInts32, kStrings, kInts64, kDoubles, kUints64});
    if (field.number == kRaw) {
      if (field.wire != ProtobufWire::kBytes || raw || row.field == kStrings) {
        return Refuse("expected raw_data once, of bytes, and none of texts");
      }
      raw = true;
      tensor_.spans.push_back(field.content);
    } else if (std::ranges::find(kOfElements, field.number) != kOfElements.end()) {
      if (field.number != row.field) {
        return Refuse(fmt::format("elements in field {}; expected {} in field {} or raw_data",
                                  field.number, row.name, row.field));
      }
      typed = true;
      RETURN_IF_ERROR(AddElements(row, field));
    }
    if (raw && typed) return Refuse("elements in raw_data and elsewhere; expected one of the two");
  }
}

Status TensorReader::AddElements(const TypeRow& row, const FileField& field) {
  const bool text = field.wire == ProtobufWire::kBytes;
  if (row.field == kStrings) {
    if (!text) return Refuse("expected texts");
    ASSIGN_OR_RETURN(const std::string item, file_.Text(field.content, kMaxOnnxDecoded));
    return AddContent(fmt::format("{}:{}", item.size(), item));
  }
  if (row.field == kFloats || row.field == kDoubles) {
    if (!text) return NotRead("numbers that are not packed");
    tensor_.spans.push_back(field.content);
    return {};
  }
  if (field.wire == ProtobufWire::kVarint) return AddNumber(row, field.value);
  if (!text) return Refuse("expected whole numbers");
  for (FileSpan rest = field.content; rest.size() > 0;) {
    ASSIGN_OR_RETURN(const std::uint64_t value, file_.Varint(&rest));
    RETURN_IF_ERROR(AddNumber(row, value));
  }
  return {};
}

// The low bytes of a number are the element; elements of 2 or 4 bits are packed into bytes already.
Status TensorReader::AddNumber(const TypeRow& row, std::uint64_t value) {
  const std::size_t size =
      row.dtype ? std::max<std::size_t>(1, static_cast<std::size_t>(BitsOf(*row.dtype)) / 8) : 1;
  return AddContent(std::string_view(reinterpret_cast<const char*>(&value), size));
}

Status TensorReader::AddContent(std::string_view bytes) {
  decoded_bytes_ += bytes.size();
  if (decoded_bytes_ > kMaxOnnxDecoded) {
    return NotRead(
        fmt::format("more than {} bytes of elements that are not raw_data", kMaxOnnxDecoded));
  }
  tensor_.content += bytes;
  return {};
}

// A StringStringEntryProto: key = 1, value = 2.
Status TensorReader::ReadExternal(const FileSpan& entry) {
  std::string key, value;
  FileField field;
  for (FileSpan rest = entry;;) {
    ASSIGN_OR_RETURN(const bool more, file_.Next(&rest, &field));
    if (!more) break;
    if (field.number > 2 || field.wire != ProtobufWire::kBytes) continue;
    ASSIGN_OR_RETURN(std::string text, file_.Text(field.content, kMaxOnnxNameBytes));
    (field.number == 1 ? key : value) = std::move(text);
  }
  if (key == "location") external_.location = value;
  if (key != "offset" && key != "length") return {};
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) {
    return Refuse(
        fmt::format("external data with the {} {}; expected a whole number", key, Quoted(value)));
  }
  if (key == "offset") {
    external_.offset = number;
  } else {
    external_.length = number;
  }
  return {};
}

Status TensorReader::FinishExternal() {
  if (!tensor_.dtype && OnnxTypeOf(tensor_.type)->field == kStrings) {
    return NotRead("texts in external data");
  }
  const auto path = SafeRelativePath(external_.location, "");
  if (!path.ok()) {
    return Refuse(fmt::format("external data in {}; expected a file below the model's folder",
                              Quoted(external_.location)));
  }
  external_.location = path->string();
  tensor_.elsewhere = std::move(external_);
  return {};
}

}  // namespace

std::string OnnxTypeText(const OnnxTensor& tensor) {
  const TypeRow* row = OnnxTypeOf(tensor.type);
  return fmt::format("{} [{}]", row == nullptr ? "?" : row->name, fmt::join(tensor.shape, ", "));
}

Result<OnnxTensor> ReadOnnxTensor(ProtobufFile& file, const FileSpan& message,
                                  std::size_t* decoded_bytes) {
  return TensorReader(file, message, decoded_bytes).Read();
}

}  // namespace rharness
