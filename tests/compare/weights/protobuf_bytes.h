// Messages of Protocol Buffers for tests, field by field.
//
// Role: a writer that shares no code with the reader under test.
#ifndef RHARNESS_TESTS_COMPARE_WEIGHTS_PROTOBUF_BYTES_H_
#define RHARNESS_TESTS_COMPARE_WEIGHTS_PROTOBUF_BYTES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace rharness {

inline std::string VarintBytes(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(0x80 | (value & 0x7f));
  return bytes + static_cast<char>(value);
}
// A field with a varint, and one with bytes, a text or a message.
inline std::string NumberField(std::uint32_t number, std::uint64_t value) {
  return VarintBytes(std::uint64_t{number} << 3) + VarintBytes(value);
}
inline std::string BytesField(std::uint32_t number, const std::string& content) {
  return VarintBytes(std::uint64_t{number} << 3 | 2) + VarintBytes(content.size()) + content;
}
inline std::string PackedField(std::uint32_t number, const std::vector<std::uint64_t>& values) {
  std::string content;
  for (const std::uint64_t value : values) content += VarintBytes(value);
  return BytesField(number, content);
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_WEIGHTS_PROTOBUF_BYTES_H_
