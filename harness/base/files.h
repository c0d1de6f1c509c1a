// Atomic writes, bounded reads, and paths that stay in their folder.
#ifndef RHARNESS_HARNESS_BASE_FILES_H_
#define RHARNESS_HARNESS_BASE_FILES_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

// Content of a regular file; refuses anything else (invalid_input) and never blocks on it.
// `limit_bytes` refuses larger files before reading them (invalid_input). Errors: not_found, io,
// invalid_input.
Result<std::string> ReadFile(const std::filesystem::path& path,
                             std::uint64_t limit_bytes = std::uint64_t{1} << 30);
// ReadFile and ParseJson in one; the path names the source in errors.
Result<Json> ReadJsonFile(const std::filesystem::path& path,
                          std::uint64_t limit_bytes = std::uint64_t{256} << 20);

// Lists the folder, which makes a shared file system show other machines' writes.
void Refresh(const std::filesystem::path& folder);
bool IsThere(const std::filesystem::path& path);  // no error: what cannot be seen is not there

// Writes a temporary file beside `path`, fsyncs it, renames it over `path`, fsyncs the folder:
// a reader sees the old content or the new, also after a crash. Creates missing parent folders.
// A symbolic link is replaced, its target is not touched; a device or pipe, or a link to one, is
// refused.
Status WriteFileAtomic(const std::filesystem::path& path, std::string_view content);
Status WriteJsonFile(const std::filesystem::path& path, const Json& json);  // indented by 2
// Makes new, renamed and removed names in it survive a crash. Errors: io.
Status SyncFolder(const std::filesystem::path& folder);

Status MakeDirectories(const std::filesystem::path& path);
// Creates root/relative with all its folders. None of them may be a symbolic link: for a folder
// that an untrusted program filled. Errors: integrity, io.
Status MakeDirectoriesBelow(const std::filesystem::path& root,
                            const std::filesystem::path& relative);
// Removes a tree, including read-only folders if the owner may change them; a missing one is fine.
// Never follows symbolic links. Foreign mounts in it are unmounted first; if that is not allowed
// nothing is removed. Errors: io. Source: proc(5), mountinfo.
Status RemoveTree(const std::filesystem::path& path);

// A relative path in normal form that stays below its root: not empty, not absolute, no "..", no
// NUL, nothing that TerminalSafe would change, no line breaks or tabs. Else invalid_input.
Result<std::filesystem::path> SafeRelativePath(std::string_view text, std::string_view where);
// root/relative with every symbolic link resolved must still be below root (integrity otherwise).
// For reading files of an untrusted program. Errors: integrity, those of PathError.
Result<std::filesystem::path> ResolveBelow(const std::filesystem::path& root,
                                           const std::filesystem::path& relative);

// A private folder under $TMPDIR (or /tmp), removed with the object.
class ScopedTempDir {
 public:
  // In `folder`; empty: in that of temporary files.
  static Result<ScopedTempDir> Make(std::string_view prefix = "rharness-",
                                    const std::filesystem::path& folder = {});
  // Exactly this one, which is not there yet. Errors: io.
  static Result<ScopedTempDir> At(const std::filesystem::path& path);
  ScopedTempDir(ScopedTempDir&& other) noexcept;
  ScopedTempDir& operator=(ScopedTempDir&& other) noexcept;
  ~ScopedTempDir();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScopedTempDir(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// Text that is safe on a terminal: control characters (C0 but for line breaks and tabs, C1, DEL),
// line separators, marks that reorder text, and bytes that are not UTF-8 become \xNN each.
std::string TerminalSafe(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_FILES_H_
