// The protocol's bytes, each step within its bounds.
#include "harness/execution/tables/thrift_reader.h"

namespace rharness {
namespace {

constexpr int kDeepest = 32;

std::int64_t Unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

}  // namespace

bool ThriftReader::Enter() {
  if (depth_ >= kDeepest) ok_ = false;
  if (!ok_) return false;
  ++depth_;
  return true;
}

std::uint8_t ThriftReader::Byte() {
  if (!ok_ || at_ >= bytes_.size()) {
    ok_ = false;
    return 0;
  }
  return static_cast<std::uint8_t>(bytes_[at_++]);
}

std::uint64_t ThriftReader::Varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const std::uint8_t byte = Byte();
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  ok_ = false;
  return 0;
}

std::string_view ThriftReader::Take(std::uint64_t size) {
  if (!ok_ || size > bytes_.size() - at_) {
    ok_ = false;
    return {};
  }
  const std::string_view taken = bytes_.substr(at_, size);
  at_ += taken.size();
  return taken;
}

ThriftType ThriftReader::NextField(int* id) {
  const std::uint8_t head = Byte();
  const int type = head & 0x0f;
  if (type > static_cast<int>(ThriftType::kStruct)) ok_ = false;
  if (!ok_ || type == 0) return ThriftType::kStop;
  const int step = head >> 4;
  const std::int64_t next = step != 0 ? *id + step : Unzigzag(Varint());
  if (next < 0 || next > 0x7fff) ok_ = false;
  *id = ok_ ? static_cast<int>(next) : 0;
  return ok_ ? static_cast<ThriftType>(type) : ThriftType::kStop;
}

std::uint64_t ThriftReader::ListHeader(ThriftType* type) {
  const std::uint8_t head = Byte();
  std::uint64_t count = head >> 4;
  if (count == 15) count = Varint();
  *type = static_cast<ThriftType>(head & 0x0f);
  if ((head & 0x0f) > static_cast<int>(ThriftType::kStruct) || count > bytes_.size() - at_) {
    ok_ = false;
  }
  return ok_ ? count : 0;
}

std::int64_t ThriftReader::ReadInt(ThriftType type) {
  if (type == ThriftType::kI8) return static_cast<std::int8_t>(Byte());
  if (type != ThriftType::kI16 && type != ThriftType::kI32 && type != ThriftType::kI64) {
    ok_ = false;
    return 0;
  }
  return Unzigzag(Varint());
}

bool ThriftReader::ReadBool(ThriftType type) {
  if (type != ThriftType::kTrue && type != ThriftType::kFalse) ok_ = false;
  return type == ThriftType::kTrue;
}

std::string_view ThriftReader::ReadBinary(ThriftType type) {
  if (type != ThriftType::kBinary) {
    ok_ = false;
    return {};
  }
  return Take(Varint());
}

void ThriftReader::Skip(ThriftType type) {
  switch (type) {
    case ThriftType::kTrue:
    case ThriftType::kFalse:
      return;
    case ThriftType::kI8:
      Byte();
      return;
    case ThriftType::kI16:
    case ThriftType::kI32:
    case ThriftType::kI64:
      Varint();
      return;
    case ThriftType::kDouble:
      Take(8);
      return;
    case ThriftType::kBinary:
      Take(Varint());
      return;
    case ThriftType::kList:
    case ThriftType::kSet:
      return ReadList([this](ThriftType element) { SkipElement(element); });
    case ThriftType::kMap:
      return SkipMap();
    case ThriftType::kStruct:
      return ReadStruct([this](int, ThriftType field) { Skip(field); });
    case ThriftType::kStop:
      break;
  }
  ok_ = false;
}

void ThriftReader::SkipElement(ThriftType type) {
  if (type == ThriftType::kTrue || type == ThriftType::kFalse) {
    Byte();
  } else {
    Skip(type);
  }
}

void ThriftReader::SkipMap() {
  const std::uint64_t count = Varint();
  if (count == 0 || !Enter()) return;
  const std::uint8_t types = Byte();
  if (count > bytes_.size() - at_ || (types >> 4) > 12 || (types & 0x0f) > 12) ok_ = false;
  for (std::uint64_t i = 0; ok_ && i < count; ++i) {
    SkipElement(static_cast<ThriftType>(types >> 4));
    SkipElement(static_cast<ThriftType>(types & 0x0f));
  }
  --depth_;
}

}  // namespace rharness
