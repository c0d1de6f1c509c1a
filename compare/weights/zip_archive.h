// A ZIP archive's central directory, checked against the archive, and the bytes of its members.
//
// Role: under every reader whose format is a zip file (PyTorch, numpy .npz, parts of a distributed
// checkpoint). Extracts nothing to disk. Stricter than unzippers: refuses anything that two readers
// could understand in two ways. Not here: the meaning of the members. Source: PKWARE
// APPNOTE 6.3.10, sections 4.3 to 4.5.
#ifndef RHARNESS_COMPARE_WEIGHTS_ZIP_ARCHIVE_H_
#define RHARNESS_COMPARE_WEIGHTS_ZIP_ARCHIVE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compare/weights/input_file.h"
#include "harness/base/result.h"

namespace rharness {

// Limits of this reader; they bound its memory by a small multiple of the directory's size.
inline constexpr std::size_t kMaxZipMembers = 1'000'000;
inline constexpr std::size_t kMaxZipDirectoryBytes = std::size_t{128} << 20;

// All offsets count from the start of the file, even if the archive begins later.
struct ZipMember {
  std::string name;                 // UTF-8, relative, '/' between its parts; ends in '/': a folder
  std::uint64_t header_offset = 0;  // of its local header
  std::uint64_t data_offset = 0;    // of its bytes as they lie in the file
  std::uint64_t stored_bytes = 0;   // that it takes there
  std::uint64_t size_bytes = 0;     // of its content: stored_bytes unless deflated
  std::uint32_t crc32 = 0;          // of its content
  bool deflated = false;            // else stored: [data_offset, data_offset + size_bytes)
  bool zstd = false;                // compressed by zstd (method 93); only if asked for
};

// Which methods of compression are read.
enum class ZipMethods { kDeflate, kDeflateAndZstd };

struct ZipDirectory {
  std::uint64_t begin = 0;  // of the archive in the file
  std::uint64_t size_bytes = 0;
  std::vector<ZipMember> members;  // sorted by name bytes; names are unique

  const ZipMember* Find(std::string_view name) const;  // nullptr: there is none
};

// Reads the directory of the archive that fills [begin, begin + size) of `file` to its last byte
// (aborts when that range is not in the file), with the local header and the data descriptor of
// every member. Its members lie between `begin` and the directory and do not overlap. Zip64 is
// read. Errors: invalid_input (a rule of the format, a name that leaves its folder, an overlap,
// headers that contradict each other), unsupported (encryption, several disks, a method other than
// stored, deflate and those asked for, a limit above), io, integrity; `where` is "FILE: byte N",
// the message names the member.
Result<ZipDirectory> ReadZipDirectory(const InputFile& file, std::uint64_t begin,
                                      std::uint64_t size,
                                      ZipMethods methods = ZipMethods::kDeflate);
// The whole file.
Result<ZipDirectory> ReadZipDirectory(const InputFile& file,
                                      ZipMethods methods = ZipMethods::kDeflate);

// The content of a member, its CRC-32 checked. Errors: unsupported when it has more than
// `limit_bytes` (nothing is read), integrity when the CRC-32 or the inflated size is not the stated
// one, invalid_input when the compressed bytes are malformed, io.
Result<std::string> ReadZipMember(const InputFile& file, const ZipMember& member,
                                  std::uint64_t limit_bytes);

// Reads all of a member in blocks and checks its CRC-32 (and its size, if deflated). Otherwise
// bytes of stored members read through `data_offset` are not checked. Errors: those of
// ReadZipMember.
Status CheckZipMember(const InputFile& file, const ZipMember& member);

// "member 'NAME'" for messages: safe on a terminal, cut when long.
std::string ZipMemberText(const ZipMember& member);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_ZIP_ARCHIVE_H_
