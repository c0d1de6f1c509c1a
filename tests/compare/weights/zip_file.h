// Zip archives for tests, well formed or broken at will, written byte by byte.
//
// Role: a writer that shares no code with the reader under test, its CRC-32 included.
#ifndef RHARNESS_TESTS_COMPARE_WEIGHTS_ZIP_FILE_H_
#define RHARNESS_TESTS_COMPARE_WEIGHTS_ZIP_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

inline std::string Little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i)));
  return text;
}

// ITU-T V.42 bit by bit; 0xcbf43926 for "123456789".
inline std::uint32_t Crc32Of(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xedb88320 & (0u - (crc & 1)));
  }
  return ~crc;
}

// RFC 1951 with stored blocks alone, of at most 65535 bytes.
inline std::string DeflateStored(std::string_view bytes) {
  std::string out;
  do {
    const std::string_view block = bytes.substr(0, 0xffff);
    bytes.remove_prefix(block.size());
    out += bytes.empty() ? '\1' : '\0';
    out += Little(block.size(), 2) + Little(~block.size(), 2) + std::string(block);
  } while (!bytes.empty());
  return out;
}

// RFC 8878: a frame of one raw block, of less than 256 bytes, as the data of method 93.
inline std::string ZstdStored(std::string_view bytes) {
  return Little(0xfd2fb528, 4) + " " + Little(bytes.size(), 1) + Little(bytes.size() << 3 | 1, 3) +
         std::string(bytes);
}

struct TestMember {
  std::string name;
  std::string content;
  bool deflate = false;
  bool descriptor = false;  // sizes and CRC-32 after the data, zeros before
  bool zip64 = false;       // sizes in the extra field
  // What to break.
  std::string local_name;    // instead of the name, of its length
  std::string data;          // instead of the content's, deflated or not
  std::uint64_t flags = 0;   // more of them
  std::uint64_t method = 0;  // instead of 0 or 8
  std::uint64_t grow = 0;    // added to the size in the directory
  std::uint64_t local_grow = 0;
  std::uint64_t crc_change = 0;  // flipped in directory, local header and descriptor
};

// The bytes of a member's local header, data and descriptor, and its central header.
struct TestMemberBytes {
  std::string local;
  std::string central;
};

inline TestMemberBytes BytesOfMember(const TestMember& member, std::uint64_t offset) {
  const std::string data = !member.data.empty() ? member.data
                           : member.deflate     ? DeflateStored(member.content)
                                                : member.content;
  const std::uint64_t flags = member.flags | (member.descriptor ? 8u : 0u);
  const std::uint64_t method = member.method != 0 ? member.method : member.deflate ? 8 : 0;
  const std::uint64_t crc = Crc32Of(member.content) ^ member.crc_change;
  const std::uint64_t size = member.content.size();
  const std::uint64_t stored = data.size() + (member.deflate ? 0 : member.grow);
  const auto common = [&](bool local) {
    const bool zeros = local && member.descriptor;
    const std::uint64_t in_stored = zeros ? 0 : local ? data.size() : stored;
    const std::uint64_t in_size = zeros ? 0 : size + (local ? member.local_grow : member.grow);
    const std::string extra =
        member.zip64 ? Little(1, 2) + Little(16, 2) + Little(in_size, 8) + Little(in_stored, 8)
                     : "";
    const std::string fixed = Little(20, 2) + Little(flags, 2) + Little(method, 2) + Little(0, 4) +
                              Little(zeros ? 0 : crc, 4) +
                              Little(member.zip64 ? 0xffffffff : in_stored, 4) +
                              Little(member.zip64 ? 0xffffffff : in_size, 4) +
                              Little(member.name.size(), 2) + Little(extra.size(), 2);
    return std::pair(fixed, extra);
  };
  TestMemberBytes bytes;
  const auto [local, local_extra] = common(true);
  bytes.local = "PK\3\4" + local + (member.local_name.empty() ? member.name : member.local_name) +
                local_extra + data;
  if (member.descriptor) {
    bytes.local += "PK\7\10" + Little(crc, 4) + Little(data.size(), 4) + Little(size, 4);
  }
  const auto [central, central_extra] = common(false);
  bytes.central = "PK\1\2" + Little(20, 2) + central + Little(0, 2) + Little(0, 2) + Little(0, 2) +
                  Little(0, 4) + Little(offset, 4) + member.name + central_extra;
  return bytes;
}

inline std::string EndRecord(std::uint64_t members, std::uint64_t size, std::uint64_t offset,
                             std::string_view comment = {}) {
  return "PK\5\6" + Little(0, 4) + Little(members, 2) + Little(members, 2) + Little(size, 4) +
         Little(offset, 4) + Little(comment.size(), 2) + std::string(comment);
}

inline std::string ZipOf(const std::vector<TestMember>& members, std::string_view comment = {}) {
  std::string file, directory;
  for (const TestMember& member : members) {
    const TestMemberBytes bytes = BytesOfMember(member, file.size());
    file += bytes.local;
    directory += bytes.central;
  }
  const std::uint64_t offset = file.size();
  return file + directory + EndRecord(members.size(), directory.size(), offset, comment);
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_WEIGHTS_ZIP_FILE_H_
