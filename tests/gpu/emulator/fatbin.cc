// Entries of a fatbin.
#include "tests/gpu/emulator/fatbin.h"

#include <fmt/format.h>

#include <cstring>

namespace rharness {
namespace {

constexpr std::uint32_t kMagic = 0xba55ed50U;
constexpr std::size_t kHeaderBytes = 16, kEntryBytes = 48;
constexpr std::uint16_t kPtx = 1;
constexpr std::uint64_t kCompressed = 0x2000U | 0x8000U;  // by LZ4, by Zstandard

template <class T>
T At(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

}  // namespace

bool IsFatbin(const void* image) {
  std::uint32_t word = 0;
  std::memcpy(&word, image, sizeof(word));
  return word == kMagic;
}

std::span<const std::byte> FatbinAt(const void* image) {
  const auto* bytes = static_cast<const std::byte*>(image);
  return {bytes, kHeaderBytes + At<std::uint64_t>({bytes, kHeaderBytes}, 8)};
}

Result<std::string> PtxOfFatbin(std::span<const std::byte> fatbin, int compute) {
  if (fatbin.size() < kHeaderBytes || At<std::uint32_t>(fatbin, 0) != kMagic) {
    return InvalidInput("expected a fatbin, which begins with 0xba55ed50", "offset 0");
  }
  std::string text;
  std::uint32_t highest = 0;
  bool compressed = false;
  for (std::size_t at = kHeaderBytes; at < fatbin.size();) {
    const auto rest = fatbin.subspan(at);
    const std::uint64_t header = rest.size() < kEntryBytes ? 0 : At<std::uint32_t>(rest, 4);
    const std::uint64_t bytes = header < kEntryBytes ? 0 : At<std::uint64_t>(rest, 8);
    if (header < kEntryBytes || header > rest.size() || bytes > rest.size() - header) {
      return InvalidInput(fmt::format("an entry does not fit in the {} bytes left", rest.size()),
                          fmt::format("offset {}", at));
    }
    const auto architecture = At<std::uint32_t>(rest, 28);
    if (At<std::uint16_t>(rest, 0) == kPtx && architecture > highest &&
        architecture <= static_cast<std::uint32_t>(compute)) {
      highest = architecture;
      compressed = (At<std::uint64_t>(rest, 40) & kCompressed) != 0;
      text.assign(reinterpret_cast<const char*>(rest.data() + header), bytes);
    }
    at += header + bytes;
  }
  if (highest == 0) return NotFound(fmt::format("no PTX for compute capability {}", compute));
  if (compressed) {
    return Unsupported("compressed PTX; expected it as nvcc --compress-mode=none leaves it");
  }
  return text.substr(0, text.find('\0'));  // the entry is filled up with zeros
}

}  // namespace rharness
