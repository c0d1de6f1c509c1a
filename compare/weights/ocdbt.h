// OCDBT, the key-value database in which TensorStore keeps arrays: keys, and where their values
// lie.
//
// Role: private to this folder; under orbax. Reads the latest version of a database in one folder:
// manifest.ocdbt and the data files that it names, below the folder. Source: "Storage format" of
// https://google.github.io/tensorstore/kvstore/ocdbt/; the manifest's kind, which follows its
// uuid, is in TensorStore's code alone.
#ifndef RHARNESS_COMPARE_WEIGHTS_OCDBT_H_
#define RHARNESS_COMPARE_WEIGHTS_OCDBT_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compare/weights/chunk_stream.h"
#include "compare/weights/input_file.h"

namespace rharness {

inline constexpr std::string_view kOcdbtManifest = "manifest.ocdbt";

// Limits of this reader.
inline constexpr std::size_t kMaxOcdbtNodeBytes = std::size_t{256} << 20;  // decoded
inline constexpr std::size_t kMaxOcdbtKeys = 4'000'000;
inline constexpr std::size_t kMaxOcdbtKeyBytes = std::size_t{256} << 20;  // of all keys together
inline constexpr std::size_t kMaxOcdbtNodes = 1'000'000;

// Values by key. The files must not move while `values` is used.
struct KeyValues {
  std::vector<std::unique_ptr<const InputFile>> files;
  std::map<std::string, StoredChunk, std::less<>> values;
};

// Errors: not_found (a data file), invalid_input (malformed, with the byte offset; a path that
// leaves the folder), integrity (a checksum), unsupported (a version, a limit above), io.
Result<KeyValues> ReadOcdbt(const std::filesystem::path& folder,
                            const std::shared_ptr<const HeldFolder>& below);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_OCDBT_H_
