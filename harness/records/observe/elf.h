// The program headers of an ELF file: bounds are checked, since the file may be untrusted.
//
// Source: System V ABI, chapters 4 and 5; gABI notes; the GNU build id is a note of type 3 of
// "GNU". Reads only 64-bit little-endian files.
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
  std::string interpreter;          // PT_INTERP; a program without one is statically linked
  bool is_dynamic = false;          // has PT_DYNAMIC
  std::string soname;               // DT_SONAME; without control characters
  std::string build_id;             // hexadecimal, 64 bytes at most; empty: none
  std::vector<std::string> needed;  // DT_NEEDED, 256 at most
};

// Follows links. Errors: invalid_input for another or a contradictory file, not_found, io. Cost:
// some reads of some KiB.
Result<ElfFile> ReadElf(const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_OBSERVE_ELF_H_
