// The data found at an item's place: whether they may be the recorded ones, their digest, and
// whether they are still the same files.
//
// Role: for workspaces, recording and fetching; files, folders and versions of tables.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_FOUND_DATA_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_FOUND_DATA_H_

#include <filesystem>
#include <string>

#include "harness/base/digest.h"
#include "harness/base/result.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// Why the data at `path` cannot be this item, judged without reading its content; empty if they may
// be. Errors: the machine's trouble, those of PathError.
Result<std::string> UnfitData(const std::filesystem::path& path, const DataItem& item);

// HashTree, or the digest of the table's version that the item names.
Result<TreeDigest> HashData(const std::filesystem::path& path, const DataItem& item);

// Path, inode, size and times of all files there, in one digest.
std::string IdentityOfData(const std::filesystem::path& path, const DataItem& item);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_FOUND_DATA_H_
