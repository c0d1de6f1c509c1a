// Finds the current place of a path that DVC knows by its MD5, and hashes it.
//
// Role: private to DVC's importer. Searches the workspace and the caches; hashes each find
// completely, once, and accepts it only if its MD5 is the recorded one. The author of both files
// can forge an MD5: it shows that this is what DVC had, not that nobody meant harm. Follows no link
// below a workspace or a cache.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_DVC_CONTENTS_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_DVC_CONTENTS_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/descriptor.h"
#include "harness/base/digest.h"
#include "harness/base/held_folder.h"
#include "harness/records/intake/dvc_files.h"

namespace rharness {

struct DvcHashes {
  std::string md5;
  Sha256Bytes sha256{};
  std::uint64_t size_bytes = 0;
  bool text = false;  // of "md5-dos2unix": some of it counts as text, whose line ends do not count
};

// Of a file, read once. "md5-dos2unix" takes 1 MiB at a time; if its first 512 bytes have no NUL
// and at most 30 % of non-text bytes, CRLF counts as LF (but not across two such pieces). Errors:
// io; unsupported without MD5. Source: dvc_data/hashfile/hash.py and istextfile.py.
Result<DvcHashes> HashForDvc(const OpenedFile& file, bool dos2unix, std::string where);

// The same hash of a text. Whether the entry's hashes treat CRLF as LF: those of DVC before 3.0.
inline bool IsDos2Unix(const DvcEntry& entry) { return entry.algorithm != "md5"; }
Result<std::string> DvcMd5Of(std::string_view text, bool dos2unix);

struct DvcFoundFile {
  std::string path;  // relative to its directory; "" of what is a file itself
  std::string sha256;
  std::uint64_t size_bytes = 0;
  std::filesystem::path at;  // absolute
};

struct DvcContent {
  std::string sha256;  // of the file, or HashTree of the directory
  std::uint64_t size_bytes = 0;
  std::filesystem::path at;  // a path with exactly this content; empty: it lies in pieces
  std::vector<DvcFoundFile> files;
  bool line_ends_open = false;  // an old hash, which ignores CRLF versus LF
  std::string changed;          // the workspace has other content: a sentence
};

class DvcContents {
 public:
  // `caches` are folders with files/md5/ab/cdef... (DVC 3) and ab/cdef... (before) in them; missing
  // ones are ignored.
  DvcContents(const HeldFolder& root, const std::vector<std::filesystem::path>& caches,
              std::function<bool()> should_cancel);

  // Of an entry with an MD5; `path` is its place below the root, or "". Errors: not_found (it is
  // nowhere, or parts of it), integrity (the content differs; with both hashes), process
  // (cancelled), unsupported.
  const Result<DvcContent>& Find(const DvcEntry& entry, const std::string& path);
  // The text of a file, of at most kMostDvcBytes. Errors: as Find.
  Result<std::string> Read(const DvcEntry& entry, const std::string& path) const;

 private:
  struct Walk;
  Result<DvcContent> Look(const DvcEntry& entry, const std::string& path);
  Result<DvcContent> LookForFile(const DvcEntry& entry, const std::string& path);
  Result<DvcContent> LookForDirectory(const DvcEntry& entry, const std::string& path);
  Result<DvcContent> WorkspaceDirectory(const DvcEntry& entry, const std::string& path);
  Result<DvcFoundFile> CachedFile(const std::string& md5, bool dos2unix, bool* text) const;
  Result<std::vector<DvcListed>> CachedListing(const std::string& md5) const;
  Status WalkFolder(const HeldFolder& folder, const std::string& below, int levels, Walk* walk);
  bool Cancelled() const { return should_cancel_ && should_cancel_(); }

  const HeldFolder& root_;
  std::vector<HeldFolder> caches_;
  std::function<bool()> should_cancel_;
  std::map<std::pair<std::string, std::string>, Result<DvcContent>> known_;
};

// HashTree of a directory of these files.
std::string TreeDigestOf(std::vector<DvcFoundFile> files);

// "files/md5/ab/cdef", "ab/cdef": the places of this object in a cache.
std::vector<std::filesystem::path> DvcObjectPaths(const std::string& hash, bool directory);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_DVC_CONTENTS_H_
