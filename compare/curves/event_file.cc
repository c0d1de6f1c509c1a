// Frames of a TFRecord file, and the scalars of its events.
#include "compare/curves/event_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "compare/curves/curve_builder.h"
#include "harness/base/crc32c.h"
#include "harness/base/protobuf_reader.h"

namespace rharness {
namespace {

// Length and its checksum come before a record's bytes, their checksum after them.
constexpr std::size_t kHeaderBytes = 12;
constexpr std::size_t kFooterBytes = 4;
constexpr std::size_t kLengthBytes = 8;

template <class T>
T Little(const char* bytes) {
  static_assert(std::endian::native == std::endian::little);
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

std::uint32_t MaskedCrc(std::string_view bytes) { return MaskCrc32c(Crc32c(bytes)); }

// DataType of TensorFlow's types.proto, those of numbers.
enum TensorType : std::uint64_t {
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kInt64 = 9,
  kBool = 10,
  kBfloat16 = 14,
  kUint16 = 17,
  kHalf = 19,
  kUint32 = 22,
  kUint64 = 23,
};

double HalfToDouble(std::uint16_t bits) {
  const double sign = (bits & 0x8000u) != 0 ? -1.0 : 1.0;
  const int exponent = bits >> 10 & 0x1f;
  const int fraction = bits & 0x3ff;
  if (exponent == 0x1f) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  const double size =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 0x400, exponent - 25);
  return sign * size;
}

double Bfloat16ToDouble(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

// One value from its raw bytes; empty for another size or type.
std::optional<double> ValueOfBytes(std::uint64_t type, std::string_view bytes) {
  const auto as = [&]<class T>(T) -> std::optional<double> {
    if (bytes.size() != sizeof(T)) return std::nullopt;
    return static_cast<double>(Little<T>(bytes.data()));
  };
  switch (type) {
    case kFloat:
      return as(float{});
    case kDouble:
      return as(double{});
    case kInt32:
      return as(std::int32_t{});
    case kUint8:
    case kBool:
      return as(std::uint8_t{});
    case kInt16:
      return as(std::int16_t{});
    case kInt8:
      return as(std::int8_t{});
    case kInt64:
      return as(std::int64_t{});
    case kUint16:
      return as(std::uint16_t{});
    case kUint32:
      return as(std::uint32_t{});
    case kUint64:
      return as(std::uint64_t{});
    case kHalf:
    case kBfloat16:
      if (bytes.size() != sizeof(std::uint16_t)) return std::nullopt;
      return type == kHalf ? HalfToDouble(Little<std::uint16_t>(bytes.data()))
                           : Bfloat16ToDouble(Little<std::uint16_t>(bytes.data()));
    default:
      return std::nullopt;
  }
}

// A number of a list as the wire has it: eight or four bytes, or a varint.
double ValueOfWire(std::uint64_t type, std::uint64_t wire) {
  switch (type) {
    case kFloat:
      return std::bit_cast<float>(static_cast<std::uint32_t>(wire));
    case kDouble:
      return std::bit_cast<double>(wire);
    case kHalf:
      return HalfToDouble(static_cast<std::uint16_t>(wire));
    case kBfloat16:
      return Bfloat16ToDouble(static_cast<std::uint16_t>(wire));
    case kUint32:
    case kUint64:
    case kBool:
      return static_cast<double>(wire);
    default:
      return static_cast<double>(static_cast<std::int64_t>(wire));
  }
}

// The lists of TensorProto by field: float, double, int, int64, bool, half, uint32, uint64.
bool IsValueList(std::uint32_t field) {
  constexpr std::array<std::uint32_t, 8> kLists = {5, 6, 7, 10, 11, 13, 16, 17};
  return std::ranges::find(kLists, field) != kLists.end();
}

// A packed list is bytes; it holds one number if exactly one can be read from it.
std::optional<double> ValueOfPacked(std::uint64_t type, std::string_view bytes) {
  if (type == kFloat || type == kDouble) return ValueOfBytes(type, bytes);
  // A varint by itself is the body of a field with the key of a varint.
  const std::string field = "\x08" + std::string(bytes.substr(0, 11));
  ProtobufReader reader(field);
  ProtobufField varint;
  ProtobufField another;
  if (bytes.size() > 10 || !reader.Next(&varint) || reader.Next(&another)) return std::nullopt;
  return ValueOfWire(type, varint.value);
}

// The number of a tensor that holds one; empty for any other tensor.
std::optional<double> ScalarOfTensor(std::string_view tensor) {
  constexpr std::uint32_t kTypeField = 1;
  constexpr std::uint32_t kContentField = 4;
  std::uint64_t type = 0;
  int lists = 0;
  std::string_view content;
  ProtobufField list;
  const bool whole = ForProtobufFields(tensor, [&](const ProtobufField& field) {
    if (field.number == kTypeField) type = field.value;
    if (field.number == kContentField) content = field.content;
    if (!IsValueList(field.number)) return;
    list = field;
    ++lists;
  });
  if (!whole || lists + (content.empty() ? 0 : 1) != 1) return std::nullopt;
  if (!content.empty()) return ValueOfBytes(type, content);
  if (!list.content.empty()) return ValueOfPacked(type, list.content);
  return ValueOfWire(type, list.value);
}

// Of SummaryMetadata: the plugin "scalars", or the class of data that all scalars have.
bool SaysScalar(std::string_view metadata) {
  constexpr std::uint32_t kPluginField = 1;
  constexpr std::uint32_t kClassField = 4;
  constexpr std::uint64_t kScalarClass = 1;
  bool scalar = false;
  ForProtobufFields(metadata, [&](const ProtobufField& field) {
    if (field.number == kClassField) scalar = scalar || field.value == kScalarClass;
    if (field.number != kPluginField) return;
    ForProtobufFields(field.content, [&](const ProtobufField& plugin) {
      scalar = scalar || (plugin.number == 1 && plugin.content == "scalars");
    });
  });
  return scalar;
}

// Reads ahead, so that a small record costs no call of the system.
class BufferedBytes {
 public:
  explicit BufferedBytes(const ReadBytes& read) : read_(read) {}

  // The next `size` bytes, valid until the next call; fewer at the end of the file.
  Result<std::string_view> Take(std::size_t size) {
    if (end_ - begin_ < size) RETURN_IF_ERROR(Fill(size));
    const std::string_view taken(buffer_.data() + begin_, std::min(size, end_ - begin_));
    begin_ += taken.size();
    return taken;
  }

 private:
  Status Fill(std::size_t size) {
    constexpr std::size_t kAhead = std::size_t{1} << 20;
    // At first there is no buffer.
    if (begin_ < end_) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    // Grows as the file gives bytes: a length in it may be a lie.
    while (end_ < size) {
      if (buffer_.size() - end_ < kAhead) buffer_.resize(end_ + kAhead);
      ASSIGN_OR_RETURN(const std::size_t got, read_(buffer_.data() + end_, buffer_.size() - end_));
      if (got == 0) break;
      end_ += got;
    }
    return {};
  }

  const ReadBytes& read_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace

bool LooksLikeEventFile(std::string_view head) {
  if (head.size() < kHeaderBytes + kFooterBytes) return false;
  const auto length = Little<std::uint64_t>(head.data());
  // The first event has a wall time (field 1, eight bytes).
  return length > 0 && length <= kMostEventBytes && head[kHeaderBytes] == '\x09' &&
         MaskedCrc(head.substr(0, kLengthBytes)) ==
             Little<std::uint32_t>(head.data() + kLengthBytes);
}

Status EventFileReader::ReadEvent(std::string_view event,
                                  const std::function<Status(const EventScalar&)>& take) {
  constexpr std::uint32_t kStepField = 2;
  constexpr std::uint32_t kSummaryField = 5;
  constexpr std::uint32_t kTagField = 1;
  constexpr std::uint32_t kSimpleValueField = 2;
  constexpr std::uint32_t kTensorField = 8;
  constexpr std::uint32_t kMetadataField = 9;
  std::int64_t step = 0;
  std::string_view summary;
  const bool whole = ForProtobufFields(event, [&](const ProtobufField& field) {
    if (field.number == kStepField) step = field.AsInt();
    if (field.number == kSummaryField) summary = field.content;
  });
  if (!whole) return InvalidInput("holds an event that is no protocol buffer");
  Status status;
  ForProtobufFields(summary, [&](const ProtobufField& one) {
    if (one.number != 1 || !status.ok()) return;
    EventScalar scalar{.step = step};
    std::optional<double> value;
    std::string_view tensor;
    std::optional<bool> says_scalar;
    ForProtobufFields(one.content, [&](const ProtobufField& field) {
      if (field.number == kTagField) scalar.tag = field.content;
      if (field.number == kSimpleValueField) {
        value = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
      }
      if (field.number == kTensorField) tensor = field.content;
      if (field.number == kMetadataField) says_scalar = SaysScalar(field.content);
    });
    if (!value && !tensor.empty()) {
      const auto known = scalar_tags_.find(scalar.tag);
      const bool is_scalar =
          says_scalar ? *says_scalar : known != scalar_tags_.end() && known->second;
      if (says_scalar && known == scalar_tags_.end() && scalar_tags_.size() < kMaxCurves) {
        scalar_tags_.emplace(scalar.tag, *says_scalar);
      }
      if (is_scalar) value = ScalarOfTensor(tensor);
    }
    if (scalar.tag.empty()) return;
    if (!value) {
      if (scalar_tags_.size() < kMaxCurves)
        scalar_tags_.try_emplace(std::string(scalar.tag), false);
      return;
    }
    scalar.value = *value;
    status = take(scalar);
  });
  return status;
}

Result<EventFileEnd> EventFileReader::Read(const ReadBytes& read, std::string_view file,
                                           const std::function<Status(const EventScalar&)>& take) {
  BufferedBytes bytes(read);
  EventFileEnd end;
  const auto damaged = [&](std::string_view what) -> Result<EventFileEnd> {
    end.damage = fmt::format("{} at byte {}", what, end.bytes);
    if (end.records > 0) return end;
    return InvalidInput(fmt::format("{}; expected an event file of TensorBoard", end.damage),
                        std::string(file));
  };
  for (;;) {
    ASSIGN_OR_RETURN(const std::string_view header, bytes.Take(kHeaderBytes));
    if (header.empty()) break;
    if (header.size() < kHeaderBytes) return damaged("ends inside a record");
    const auto length = Little<std::uint64_t>(header.data());
    if (MaskedCrc(header.substr(0, kLengthBytes)) !=
        Little<std::uint32_t>(header.data() + kLengthBytes)) {
      return damaged("has a record whose length has a wrong checksum");
    }
    if (length > kMostEventBytes) {
      return damaged(
          fmt::format("has a record of {} bytes; at most {} are read", length, kMostEventBytes));
    }
    ASSIGN_OR_RETURN(const std::string_view record, bytes.Take(length + kFooterBytes));
    if (record.size() < length + kFooterBytes) return damaged("ends inside a record");
    const std::string_view event = record.substr(0, length);
    if (MaskedCrc(event) != Little<std::uint32_t>(record.data() + length)) {
      return damaged("has a record with a wrong checksum");
    }
    if (Status taken = ReadEvent(event, take); !taken.ok()) {
      Error error = taken.error();
      if (error.where.empty()) error.where = fmt::format("{}: byte {}", file, end.bytes);
      return error;
    }
    ++end.records;
    end.bytes += kHeaderBytes + length + kFooterBytes;
  }
  if (end.records == 0) return damaged("is empty");
  return end;
}

}  // namespace rharness
