// Finds a zip archive's central directory by the records at the archive's end.
//
// Role: private to this folder; the first step of zip_archive. Source: PKWARE APPNOTE 6.3.10,
// sections 4.3.14 to 4.3.16.
#ifndef RHARNESS_COMPARE_WEIGHTS_ZIP_END_H_
#define RHARNESS_COMPARE_WEIGHTS_ZIP_END_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "compare/weights/input_file.h"
#include "harness/base/result.h"

namespace rharness {

inline constexpr std::size_t kZipCentralHeaderBytes = 46;  // without name, extra field and comment

struct ZipDirectoryPlace {
  std::uint64_t offset = 0;  // from the start of the file
  std::uint64_t size_bytes = 0;
  std::uint64_t members = 0;  // at most what the size has room for
};

// Reads the end records, zip64 or not, of the archive that fills [begin, end). The directory must
// end at them. Errors: invalid_input, unsupported (several disks, a limit of zip_archive.h), io,
// integrity.
Result<ZipDirectoryPlace> FindZipDirectory(const InputFile& file, std::uint64_t begin,
                                           std::uint64_t end);

// The number of `size` bytes at `offset`, little-endian; the bytes must exist.
inline std::uint64_t ZipNumber(std::string_view bytes, std::size_t offset, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[offset + i]);
  }
  return value;
}

// `size` bytes of the file; the caller has checked that they are in it.
Result<std::string> ReadZipBytes(const InputFile& file, std::uint64_t offset, std::uint64_t size);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_ZIP_END_H_
