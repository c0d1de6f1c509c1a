// The empty folders below a folder of data: a program that lists folders (one a class, one a shard)
// sees them, and no digest of files does.
//
// Role: for DataItem, and for all who compare one with what is there.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_EMPTY_FOLDERS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_EMPTY_FOLDERS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace rharness {

// Relative paths, sorted by bytes. Without a value: nobody looked, or they are too many.
using EmptyFolders = std::optional<std::vector<std::string>>;

inline constexpr std::size_t kMostEmptyFolders = 1000;

// What a record can hold of those found: none above kMostEmptyFolders, or if one has a name that no
// record may have (SafeRelativePath).
EmptyFolders RecordableFolders(std::vector<std::string> found);

// "has the empty folder 'c', not in the record", "lacks the empty folder 'c' and 2 more". Empty:
// the same, or one side is not known.
std::string OtherEmptyFolders(const EmptyFolders& recorded, const EmptyFolders& found);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_EMPTY_FOLDERS_H_
