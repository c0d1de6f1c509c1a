// What an ELF file says of itself in its program headers: bounds are checked, as it is a
// stranger's.
//
// Source: System V ABI, chapters 4 and 5; gABI notes; the GNU build id is a note of type 3 of
// "GNU". 64-bit little-endian files alone are read.
#ifndef RHARNESS_HARNESS_RECORDS_OBSERVE_ELF_H_
#define RHARNESS_HARNESS_RECORDS_OBSERVE_ELF_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

struct ElfFile {
  std::uint64_t size_bytes = 0;
  std::uint16_t machine = 0;        // e_machine
  std::string interpreter;          // PT_INTERP; of a program without one: statically linked
  bool is_dynamic = false;          // has PT_DYNAMIC
  std::string soname;               // DT_SONAME; without control characters
  std::string build_id;             // hexadecimal, 64 bytes at most; empty: none
  std::vector<std::string> needed;  // DT_NEEDED, 256 at most
};

// Follows links. Errors: invalid_input for what is no such file or contradicts itself, not_found,
// io. Cost: some reads of some KiB.
Result<ElfFile> ReadElf(const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_OBSERVE_ELF_H_
