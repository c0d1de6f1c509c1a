// The place of a history, and the journal that its filesystem supports.
#ifndef RHARNESS_HARNESS_HISTORY_LOCATION_H_
#define RHARNESS_HARNESS_HISTORY_LOCATION_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

// The absolute path that "sqlite:PATH" or a bare path names. Errors: unsupported for other
// databases, invalid_input for an empty path or one with a quote or control character. No error
// repeats a URL, which may carry a password.
Result<std::filesystem::path> ParseHistoryUrl(std::string_view url);

// The form that a drill stores, since it may be resumed elsewhere: the absolute path, or the URL of
// a database as it is, which holds no password. Errors: those, and invalid_input for a password.
Result<std::string> ResolveHistoryUrl(const std::string& url);

// The file of a history in a file, and SQLite's files beside it: no output may replace them. Empty
// for other databases and for invalid URLs.
std::vector<std::string> FilesOfHistory(const std::string& url);

// "wal", or "delete" (a rollback journal) on a network filesystem: the write-ahead log's index is
// shared memory, which only processes of one machine share. `magic`: statfs(2)'s f_type. FUSE
// counts as a network filesystem, as it may be one.
// Source: sqlite.org/wal.html; statfs(2), linux/magic.h.
std::string_view JournalModeFor(std::uint64_t magic);
// By the filesystem of the file, or of its folder where the file does not exist yet. Errors: io.
Result<std::string_view> JournalModeAt(const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_LOCATION_H_
