// The safetensors format: u64 header length, JSON header, tensor bytes without gaps.
//
// Role: one reader of Checkpoint. Strict: refuses what the format forbids, even if other readers
// accept it. Source: the README and format description of huggingface/safetensors.
#ifndef RHARNESS_COMPARE_WEIGHTS_SAFETENSORS_H_
#define RHARNESS_COMPARE_WEIGHTS_SAFETENSORS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"

namespace rharness {

inline constexpr std::uint64_t kMaxSafetensorsHeaderBytes = 100'000'000;  // the format's own limit

// Limits of this reader. They bound the memory of a hostile header by a small multiple of its size
// and lie far above any published checkpoint.
inline constexpr std::size_t kMaxSafetensorsTensors = 500'000;
inline constexpr std::size_t kMaxSafetensorsRank = 64;
inline constexpr std::size_t kMaxSafetensorsEntryBytes = std::size_t{64} << 10;     // name or entry
inline constexpr std::size_t kMaxSafetensorsMetadata = 100'000;                     // members
inline constexpr std::size_t kMaxSafetensorsMetadataBytes = std::size_t{16} << 20;  // of one value

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;     // sorted by name bytes
  std::vector<std::uint64_t> offsets;  // of each tensor's first byte, from the start of the data
  std::vector<std::pair<std::string, std::string>> metadata;  // in the order of the file
};

// Parses the header's JSON text and checks that the tensors cover [0, data_bytes) without hole or
// overlap. Pure. Errors: invalid_input (a rule of the format), unsupported (a limit above); `where`
// is "FILE: byte N" with N counted from the start of the file, 8 bytes before the header.
Result<SafetensorsHeader> ParseSafetensorsHeader(std::string_view header, std::uint64_t data_bytes,
                                                 std::string_view file);

// Reads and checks the header; the tensors stay in the file. Errors: those of
// ParseSafetensorsHeader and InputFile.
Result<std::unique_ptr<Checkpoint>> OpenSafetensors(InputFile file);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_SAFETENSORS_H_
