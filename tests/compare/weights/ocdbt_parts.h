// Databases of OCDBT for tests, put together part by part, with right checksums.
//
// Role: a writer that shares no code with the reader under test but the CRC-32C.
#ifndef RHARNESS_TESTS_COMPARE_WEIGHTS_OCDBT_PARTS_H_
#define RHARNESS_TESTS_COMPARE_WEIGHTS_OCDBT_PARTS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/crc32c.h"
#include "tests/compare/weights/zip_file.h"

namespace rharness {

inline constexpr std::string_view kOcdbtNodeMagic = "\x0c\xdb\x20\xde";
inline constexpr std::string_view kOcdbtManifestMagic = "\x0c\xdb\x3a\x2a";

// A manifest or node around an uncompressed body, with the checksum that it needs.
inline std::string OcdbtPart(std::string_view magic, const std::string& body) {
  std::string part =
      std::string(magic) + Little(14 + body.size() + 4, 8) + std::string(2, '\0') + body;
  return part + Little(Crc32c(part), 4);
}

inline std::string LeafOf(const std::vector<std::pair<std::string, std::string>>& values) {
  std::string prefixes(values.size() - 1, '\0'), sizes, keys, lengths, kinds, content;
  for (const auto& [key, value] : values) {
    sizes += static_cast<char>(key.size());
    keys += key;
    lengths += static_cast<char>(value.size());
    kinds += '\0';
    content += value;
  }
  return std::string(2, '\0') + static_cast<char>(values.size()) + prefixes + sizes + keys +
         lengths + kinds + content;
}

// Of a database whose root is the node of this many bytes in the file d/x.
inline std::string ManifestBodyOf(std::size_t node_bytes) {
  return std::string(16, 'u') + std::string("\0\x01\x01\x04\0", 5) +
         std::string("\x01\x03\0d/x", 6) + std::string("\x01\x01\0\0\0", 5) +
         static_cast<char>(node_bytes | 0x80) + static_cast<char>(node_bytes >> 7) +
         std::string(3 + 8 + 1, '\0');
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_WEIGHTS_OCDBT_PARTS_H_
