// The files of one offline session of ClearML, in a folder or in a zip archive.
//
// Role: private to ClearML's importer. Unpacks nothing to disk, follows no link.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_CLEARML_SESSION_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_CLEARML_SESSION_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "compare/weights/zip_archive.h"
#include "harness/base/held_folder.h"
#include "harness/records/manifest/artifact.h"

namespace rharness {

// An artifact in a zip archive is read completely, into memory.
inline constexpr std::uint64_t kMostZippedArtifact = std::uint64_t{1} << 30;

class ClearmlSession {
 public:
  // A folder or an archive with task.json. Errors: not_found (no task.json), those of HeldFolder
  // and ReadZipDirectory.
  static Result<ClearmlSession> Open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  // Errors: not_found, unsupported or invalid_input (longer than `most`), io, integrity.
  Result<std::string> Read(const std::string& relative, std::uint64_t most) const;
  // Fills sha256 and size_bytes of the file `relative`; in a folder also its location and, for the
  // roles that have them, tensors. `unread`: why those could not be read.
  Status Describe(const std::string& relative, Artifact* artifact,
                  std::optional<Error>* unread) const;

 private:
  std::filesystem::path path_;
  std::optional<HeldFolder> folder_;
  std::shared_ptr<const InputFile> archive_;  // or
  ZipDirectory directory_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_CLEARML_SESSION_H_
