// Varints, fixed fields and lengths, each within the rest of the message.
#include "harness/base/protobuf_reader.h"

namespace rharness {

bool ProtobufReader::Fail() {
  failed_ = true;
  rest_ = {};
  return false;
}

bool ProtobufReader::ReadVarint(std::uint64_t* value) {
  *value = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    if (shift == 63 && byte > 1) return false;  // beyond 64 bits
    *value |= std::uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80u) == 0) return true;
  }
  return false;
}

bool ProtobufReader::ReadFixed(std::size_t bytes, std::uint64_t* value) {
  if (rest_.size() < bytes) return false;
  *value = 0;
  for (std::size_t i = bytes; i-- > 0;) {
    *value = *value << 8 | static_cast<unsigned char>(rest_[i]);
  }
  rest_.remove_prefix(bytes);
  return true;
}

bool ProtobufReader::Next(ProtobufField* field) {
  if (failed_ || rest_.empty()) return false;
  std::uint64_t key = 0;
  if (!ReadVarint(&key) || key >> 3 == 0 || key >> 3 > 0x1fffffff) return Fail();
  *field = {};
  field->number = static_cast<std::uint32_t>(key >> 3);
  switch (key & 7) {
    case 0:
      return ReadVarint(&field->value) || Fail();
    case 1:
      return ReadFixed(8, &field->value) || Fail();
    case 5:
      return ReadFixed(4, &field->value) || Fail();
    case 2: {
      std::uint64_t length = 0;
      if (!ReadVarint(&length) || length > rest_.size()) return Fail();
      field->content = rest_.substr(0, length);
      rest_.remove_prefix(length);
      return true;
    }
    default:
      return Fail();
  }
}

}  // namespace rharness
