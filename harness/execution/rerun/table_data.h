// Data that are a version of a table: found, put in place and proved as the recorded snapshot
// (tables/delta_table.h).
//
// Role: workspaces and recording use it for items of the kind "delta". A run gets the recorded
// version as a table of its own, in which it is the newest; the run itself chooses the version to
// read.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_TABLE_DATA_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_TABLE_DATA_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "harness/base/result.h"
#include "harness/execution/rerun/workspace.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

inline bool IsTable(const DataItem& item) { return item.kind == DataKind::kDelta; }

// A table's version as it is today, as a data item: kind, sha256, size, and a source with the
// version, which is the newest if `item.source` names none. `item.location` is set. Errors: those
// of DeltaTable.
struct CapturedTable {
  DataItem item;
  std::uint64_t newest = 0;
};
Result<CapturedTable> CaptureTable(DataItem item, const std::filesystem::path& path);

// Why the table at `path` cannot be this item, judged without reading a data file: a cleaned or
// future version, a missing file. Empty: it may be. Errors: the machine's trouble.
Result<std::string> UnfitTable(const std::filesystem::path& path, const DataItem& item);

// The snapshot's digest; `cache` hashes shared files.
Result<ContentCache::Content> HashTable(const std::filesystem::path& path, const DataItem& item,
                                        ContentCache* cache);

// Writes the version to `to`, with links to the files of the table at `from` or with copies.
Status WriteTable(const std::filesystem::path& from, const DataItem& item,
                  const std::filesystem::path& to, bool linked);

// Inodes, sizes and times of the version's files, in one digest; empty if it cannot be read.
std::string TableIdentity(const std::filesystem::path& path, const DataItem& item);
// Whether each link below `view` that WriteTable made still leads to its file below `table`.
bool LinksStand(const std::filesystem::path& view, const std::filesystem::path& table,
                const DataItem& item);

// The remark about a table with newer versions than the recorded one; empty if it has none.
std::string NewerVersions(const std::filesystem::path& path, const DataItem& item);

// Whether "delta:FOLDER[@VERSION]" has a version.
bool NamesVersion(const std::string& source);
// The remark about a table that gained versions during a recording, if its newest was `before`;
// empty if it did not. With `stated` the recording user chose the version.
std::string GainedDuringRun(const std::filesystem::path& path, const DataItem& item,
                            std::uint64_t before, bool stated);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_TABLE_DATA_H_
