// Eight bytes a step, by tables; see crc32c.h.
#include "harness/base/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

namespace rharness {
namespace {

constexpr std::size_t kSlices = 8;
using CrcTables = std::array<std::array<std::uint32_t, 256>, kSlices>;

// Slicing by eight: table k moves a byte past k further bytes.
constexpr CrcTables MakeCrcTables() {
  constexpr std::uint32_t kReflectedPolynomial = 0x82f63b78u;  // of 0x1edc6f41
  CrcTables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1u) != 0 ? kReflectedPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < kSlices; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = crc >> 8 ^ tables[0][crc & 0xffu];
    }
  }
  return tables;
}
constexpr CrcTables kCrcTables = MakeCrcTables();

}  // namespace

std::uint32_t Crc32c(std::string_view bytes, std::uint32_t crc) {
  static_assert(std::endian::native == std::endian::little);
  crc = ~crc;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= kSlices; at += kSlices, left -= kSlices) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    word ^= crc;
    crc = 0;
    for (std::size_t i = 0; i < kSlices; ++i) {
      crc ^= kCrcTables[kSlices - 1 - i][word >> (8 * i) & 0xffu];
    }
  }
  for (; left > 0; ++at, --left) {
    crc = crc >> 8 ^ kCrcTables[0][(crc ^ static_cast<unsigned char>(*at)) & 0xffu];
  }
  return ~crc;
}

}  // namespace rharness
