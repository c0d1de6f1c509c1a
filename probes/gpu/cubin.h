// The sections of a cubin, which is an ELF file, and its code.
//
// Role: a cubin's own digest changes with the assembler's version; the digests of its code and
// constants change when the code does. Bounds are checked: a cubin comes from the stack under test.
#ifndef RHARNESS_PROBES_GPU_CUBIN_H_
#define RHARNESS_PROBES_GPU_CUBIN_H_

#include <map>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace rharness {

// The content of every section by its name; sections without content are left out. Errors:
// integrity with the byte offset or the section's number (not a 64-bit little-endian ELF file, a
// table or section beyond the end, sections that overlap and are together larger than the file).
Result<std::map<std::string, std::string_view>> CubinSections(std::string_view cubin);

// SHA-256 (hex) by kernel of its code and its constants (".text.NAME", ".nv.constant*.NAME").
// Errors: as above; integrity when there is no code at all.
Result<std::map<std::string, std::string>> CodeDigests(std::string_view cubin);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_CUBIN_H_
