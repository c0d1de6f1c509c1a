// Event files of TensorBoard, written here from the published formats without the reader's code.
#ifndef RHARNESS_TESTS_COMPARE_CURVES_BUILD_EVENT_FILE_H_
#define RHARNESS_TESTS_COMPARE_CURVES_BUILD_EVENT_FILE_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace rharness {

// Bit by bit, as RFC 3720 states it; slow.
inline std::uint32_t SlowCrc32c(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffu;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1u) != 0 ? 0x82f63b78u : 0u);
  }
  return ~crc;
}

template <class T>
std::string LittleBytes(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

inline std::string Varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

inline std::string Key(unsigned field, unsigned wire) { return Varint(field << 3 | wire); }
inline std::string Bytes(unsigned field, std::string_view content) {
  return Key(field, 2) + Varint(content.size()) + std::string(content);
}

inline std::string Record(std::string_view event) {
  const auto masked = [](std::string_view bytes) {
    const std::uint32_t crc = SlowCrc32c(bytes);
    return LittleBytes((crc >> 15 | crc << 17) + 0xa282ead8u);
  };
  const std::string length = LittleBytes(std::uint64_t{event.size()});
  return length + masked(length) + std::string(event) + masked(event);
}

inline std::string EventRecord(std::int64_t step, std::string_view rest) {
  const std::string at =
      step == 0 ? std::string() : Key(2, 0) + Varint(static_cast<std::uint64_t>(step));
  return Record(Key(1, 1) + LittleBytes(1.5) + at + std::string(rest));
}

inline std::string FileHead() { return EventRecord(0, Bytes(3, "brain.Event:2")); }

// Version 1: a simple value.
inline std::string SimpleScalar(std::int64_t step, std::string_view tag, float value) {
  return EventRecord(step, Bytes(5, Bytes(1, Bytes(1, tag) + Key(2, 5) + LittleBytes(value))));
}

// Version 2: a tensor, with the plugin's name in the first event of a tag.
inline std::string TensorScalar(std::int64_t step, std::string_view tag, std::string_view tensor,
                                std::string_view plugin = "") {
  const std::string metadata = plugin.empty() ? "" : Bytes(9, Bytes(1, Bytes(1, plugin)));
  return EventRecord(step, Bytes(5, Bytes(1, Bytes(1, tag) + Bytes(8, tensor) + metadata)));
}
inline std::string FloatTensor(float value) {
  return Key(1, 0) + "\x01" + Bytes(5, LittleBytes(value));
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_CURVES_BUILD_EVENT_FILE_H_
