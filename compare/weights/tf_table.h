// A sorted table of LevelDB's format, as TensorFlow writes the index of a checkpoint.
//
// Role: private to this folder; under tf_checkpoint. Pure: bytes in, entries out. Source: "leveldb
// File format", https://github.com/google/leveldb/blob/main/doc/table_format.md; blocks carry a
// masked CRC-32C, which is checked.
#ifndef RHARNESS_COMPARE_WEIGHTS_TF_TABLE_H_
#define RHARNESS_COMPARE_WEIGHTS_TF_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

// Limits of this reader: an index has about 100 bytes a tensor.
inline constexpr std::uint64_t kMaxTableBytes = std::uint64_t{512} << 20;
inline constexpr std::size_t kMaxTableEntries = 2'000'000;

inline constexpr std::string_view kTableMagic{"\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8};  // at its end

struct TableEntry {
  std::string key;
  std::string_view value;  // within the bytes that were parsed
  std::uint64_t at = 0;    // of its block in the file
};

// All entries, in ascending order of their keys. Errors, with `where` "FILE: byte N": invalid_input
// (malformed, keys out of order), integrity (a wrong checksum), unsupported (a compressed block, a
// limit above).
Result<std::vector<TableEntry>> ParseTable(std::string_view bytes, std::string_view file);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TF_TABLE_H_
