// Files that a record keeps beside its manifest, by SHA-256: lock files, and the diff of a changed
// tree.
//
// Role: allows to rerun a run of an uncommitted tree, and to look up its intended packages. The
// folder is laid out as a data cache (data_cache.h), `kept/sha256/ab/ab...` beside the manifest,
// and any number of manifests share it. Files in it are readable by their owner alone: a diff may
// contain text never meant for a repository.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_KEPT_FILES_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_KEPT_FILES_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "harness/base/result.h"
#include "harness/execution/rerun/places.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

inline constexpr char kKeptFolder[] = "kept";
inline constexpr std::uint64_t kKeptFileBytes = std::uint64_t{10} << 20;  // of one, at most

// Contents by their SHA-256.
using KeptFiles = std::map<std::string, std::string>;

// Writes missing files, each atomically. Errors: io.
Status WriteKept(const std::filesystem::path& folder, const KeptFiles& files);

// The path of a record's kept file. Errors: not_found (the record keeps nothing), and those of
// Locate.
Result<std::filesystem::path> LocateKept(const Manifest& manifest, const std::string& sha256,
                                         const Places& places);

// Its content, proved by its hash. Errors: those, not_found, integrity (it has changed),
// invalid_input (larger than any kept file), io.
Result<std::string> ReadKept(const Manifest& manifest, const std::string& sha256,
                             const Places& places);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_KEPT_FILES_H_
