// The data found at an item's place: whether they may be the recorded ones, their digest, and
// whether they are still the same files.
//
// Role: for workspaces, recording and fetching; files, folders and versions of tables.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_FOUND_DATA_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_FOUND_DATA_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/result.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// Why the data at `path` cannot be this item, judged without reading its content; empty if they may
// be. Errors: the machine's trouble, those of PathError.
Result<std::string> UnfitData(const std::filesystem::path& path, const DataItem& item);

// HashTree, or the digest of the table's version that the item names.
Result<TreeDigest> HashData(const std::filesystem::path& path, const DataItem& item);

// The item's empty folders as a record can hold them. The answer: a sentence if it cannot.
std::string NoteEmptyFolders(const std::vector<std::string>& found, DataItem* item);
// Makes `view` as a folder like `folder`, with a link in the place of each of its files / whether
// those links still lead there. Errors: io.
Status LinkFiles(const std::filesystem::path& folder, const std::filesystem::path& view);
bool FileLinksStand(const std::filesystem::path& view, const std::filesystem::path& folder);
// Gives a private copy of a folder, or a view, the recorded empty folders and no other: removes and
// makes what differs. What it is to have must be known. Errors: io; invalid_input where a file has
// the name of one.
Status RestoreEmptyFolders(const std::filesystem::path& copy, const EmptyFolders& recorded,
                           const std::vector<std::string>& found);

// Path, inode, size and times of all files there, in one digest.
std::string IdentityOfData(const std::filesystem::path& path, const DataItem& item);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_FOUND_DATA_H_
