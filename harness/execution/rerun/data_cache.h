// A content-addressed folder of data: every file and tree under the name of its own hash.
//
// Role: filled by `rharness fetch` before a drill, read when a run's data are put in place. Its
// data are hashed again like all data, so that damage is found and never used.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_DATA_CACHE_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_DATA_CACHE_H_

#include <filesystem>
#include <string_view>

#include "harness/base/result.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// CACHE/sha256/ab/abcdef...; empty unless these are 64 hexadecimal digits.
std::filesystem::path PathInCache(const std::filesystem::path& cache, std::string_view sha256);

// Moves a file or a folder into the cache by renaming it, if it has this hash (HashTree), and makes
// it read-only. An existing one stays, and `from` is removed. `from` must lie in the same file
// system. Errors: integrity (another hash; `from` is removed), io.
Status MoveIntoCache(const std::filesystem::path& cache, std::string_view sha256,
                     const std::filesystem::path& from);
// The same for an item, which may be a version of a table (HashData).
Status MoveIntoCache(const std::filesystem::path& cache, const DataItem& item,
                     const std::filesystem::path& from);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_DATA_CACHE_H_
