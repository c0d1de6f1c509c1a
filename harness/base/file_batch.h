// Writes many new files with a few waits for the disk.
#ifndef RHARNESS_HARNESS_BASE_FILE_BATCH_H_
#define RHARNESS_HARNESS_BASE_FILE_BATCH_H_

#include <filesystem>
#include <string_view>
#include <vector>

#include "harness/base/descriptor.h"
#include "harness/base/result.h"

namespace rharness {

// WriteFileAtomic for many new files: each is written without a name, all are synced at once, and
// only then get their names, so that a reader sees a file completely or not at all, also after a
// crash, and a killed process leaves nothing behind. If the file system has no files without names,
// each is written by itself. Not thread-safe.
// Source: open(2) O_TMPFILE, linkat(2), syncfs(2).
class FileBatch {
 public:
  FileBatch() = default;
  FileBatch(const FileBatch&) = delete;
  FileBatch& operator=(const FileBatch&) = delete;

  // No file has a name before Flush, which Add calls once 256 files wait; files still waiting at
  // destruction are dropped. Creates missing folders.
  Status Add(const std::filesystem::path& path, std::string_view content);
  bool Holds(const std::filesystem::path& path) const;
  // Errors: io; a file that exists meanwhile is left alone, and an io error names it.
  Status Flush();

 private:
  struct Waiting {
    Descriptor descriptor;
    std::filesystem::path path;
  };
  std::vector<Waiting> waiting_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_FILE_BATCH_H_
