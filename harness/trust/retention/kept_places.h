// Contents and places that stay, and the check whether a file is one of them, under any name.
//
// Role: private to this folder. Files and folders are compared by device and inode with links
// followed, so neither another spelling of a place, a link to it, nor a second mount of it hides
// it. Links below a folder are not followed: no folder with one has a hash (HashTree).
#ifndef RHARNESS_HARNESS_TRUST_RETENTION_KEPT_PLACES_H_
#define RHARNESS_HARNESS_TRUST_RETENTION_KEPT_PLACES_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/held_folder.h"
#include "harness/base/mounts.h"
#include "harness/base/result.h"

namespace rharness {

class KeptPlaces {
 public:
  // From the prefix of a recorded location to its place here; as --map of a drill.
  using Maps = std::vector<std::pair<std::string, std::filesystem::path>>;

  // Relative locations lie below the root, whose path has every link resolved. Errors: io.
  static Result<KeptPlaces> Make(const HeldFolder* root, Maps maps);

  // `who`: the text of WhoHas, "data 'init' of run mlp-2". The first owner of a thing is reported.
  // An empty digest is none.
  void AddContent(const std::string& sha256, const std::string& who);
  // A file, or a folder with all below it, at each possible place of the location here. Errors: io.
  Status AddPlace(const std::string& location, const std::string& who);
  // What a kept run made: where it has no file with this content, any other one belongs to it.
  struct Copy {
    std::string location;
    std::uint64_t size_bytes = 0;
    std::string who;
  };
  void AddCopy(const std::string& sha256, Copy copy);

  // The owner of the file at root/relative, if its content is this; empty: nobody here. Hashes what
  // kept runs have of this content, once. Errors: as of HeldFolder::OpenFile; the machine's
  // trouble.
  Result<std::string> WhoHas(const std::filesystem::path& relative,
                             const std::string& sha256) const;

 private:
  using FileId = std::pair<std::uint64_t, std::uint64_t>;  // device and inode

  KeptPlaces(const HeldFolder* root, Maps maps) : root_(root), maps_(std::move(maps)) {}
  std::vector<std::filesystem::path> PathsOf(const std::string& location) const;
  Status AddFolder(const std::filesystem::path& folder, const std::string& who);
  Result<std::string> WhoHasFolder(const std::filesystem::path& relative) const;
  Result<bool> IsThere(const Copy& copy, const std::string& sha256) const;
  Result<std::string> WhoLacks(const std::string& sha256) const;

  const HeldFolder* root_;
  Maps maps_;
  std::vector<MountPoint> mounts_;
  PlaceOnDevice root_place_;
  std::set<FileId> above_;  // the root and the folders above it
  std::map<std::string, std::string> by_content_;
  std::map<std::string, std::vector<Copy>> copies_;     // by content
  mutable std::map<std::string, std::string> lacking_;  // WhoLacks, as far as it was asked
  std::map<FileId, std::string> by_id_;
  std::string everything_;  // owner of a folder that contains the root; empty: none
  mutable std::map<std::filesystem::path, std::string> folders_;  // of those below the root
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_RETENTION_KEPT_PLACES_H_
