// The files of a source: a file, or a folder and the files below it, reached without any link.
//
// Role: under readers of other programs' files. A source may be untrusted: follows no link in it,
// opens nothing but regular files, and never blocks on them.
#ifndef RHARNESS_HARNESS_BASE_SOURCE_FOLDER_H_
#define RHARNESS_HARNESS_BASE_SOURCE_FOLDER_H_

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "harness/base/held_folder.h"
#include "harness/base/result.h"

namespace rharness {

enum class EntryKind { kFile, kLink, kOther };  // other: FIFOs, sockets, devices

class SourceFolder {
 public:
  static constexpr int kMostLevels = 32;
  static constexpr std::size_t kHeadBytes = std::size_t{64} << 10;

  // The folder, or the one around the file. Follows links in `source` itself. Errors: not_found,
  // io, invalid_input (a FIFO, a device).
  static Result<SourceFolder> Open(const std::string& source);
  // The same below a folder that is held open, without following any link. Errors also: integrity.
  static Result<SourceFolder> OpenBelow(const HeldFolder& folder,
                                        const std::filesystem::path& relative);

  const HeldFolder& folder() const { return folder_; }
  // Absolute, links resolved: gives the names of folders around a file.
  const std::filesystem::path& path() const { return path_; }
  // Of a source that is a file: its name; else empty.
  const std::string& file() const { return file_; }

  // visit(relative path, kind) of the one file, or of every entry below that is no folder, names
  // sorted by bytes, files before subfolders. Leaves out folders whose names begin with '.', and
  // everything below 32 levels. `visit` returns whether to continue. Memory: the names of one
  // folder per level. Errors: io, and those of `visit`.
  using Visit = std::function<Result<bool>(const std::string& relative, EntryKind kind)>;
  Status ForEachFile(const Visit& visit) const;

  // The first bytes of a file, at most `most`. Errors: as HeldFolder::OpenFile.
  Result<std::string> ReadHead(const std::string& relative, std::size_t most = kHeadBytes) const;

 private:
  SourceFolder(HeldFolder folder, std::filesystem::path path, std::string file)
      : folder_(std::move(folder)), path_(std::move(path)), file_(std::move(file)) {}

  HeldFolder folder_;
  std::filesystem::path path_;
  std::string file_;
};

// "is a symbolic link; expected a regular file" and the like, as an error about `where`.
Error NoRegularFile(EntryKind kind, std::string where);

// SOURCE/RELATIVE, or SOURCE if that is the file itself: for messages.
std::string PlaceIn(const std::string& source, const SourceFolder& folder,
                    const std::string& relative);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_SOURCE_FOLDER_H_
