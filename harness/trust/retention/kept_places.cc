// From locations to their files, and from files back to their owners.
#include "harness/trust/retention/kept_places.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "harness/base/digest.h"
#include "harness/base/percent.h"
#include "harness/base/trouble.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// In the form of parsed manifests, where "s3://b/x" is "s3:/b/x".
std::string Normal(const std::string& location) {
  return fs::path(location).lexically_normal().string();
}

// What "file:///srv/x" or "file://localhost/srv/x" may name here (RFC 8089); none: it is no such
// URL. `location`: in its normal form.
std::vector<fs::path> PathsOfUrl(std::string_view location) {
  constexpr std::string_view kFile = "file:/";
  const std::string_view scheme = location.substr(0, kFile.size());
  const auto lower = [](unsigned char c) { return std::tolower(c); };
  if (!std::ranges::equal(kFile, scheme, {}, {}, lower)) return {};
  const std::string path = PercentDecodedWhereEncoded(location.substr(kFile.size() - 1));
  constexpr std::string_view kHere = "/localhost/";
  std::vector<fs::path> paths = {path};
  if (path.starts_with(kHere)) paths.emplace_back(path.substr(kHere.size() - 1));
  return paths;
}

// What lies there, with links followed; empty: nothing that could be reached by this name.
Result<std::optional<struct stat>> Look(const fs::path& path) {
  struct stat seen {};
  if (::stat(path.c_str(), &seen) == 0) return std::optional(seen);
  const Error error = PathError("cannot be looked at", errno, path);
  if (IsTrouble(error)) return error;
  return std::optional<struct stat>();
}

}  // namespace

Result<KeptPlaces> KeptPlaces::Make(const HeldFolder* root, Maps maps) {
  KeptPlaces places(root, std::move(maps));
  ASSIGN_OR_RETURN(places.mounts_, ReadMounts());
  places.root_place_ = FindOnDevice(places.mounts_, root->path());
  for (fs::path at = root->path();; at = at.parent_path()) {
    ASSIGN_OR_RETURN(const auto seen, Look(at));
    if (seen) places.above_.emplace(seen->st_dev, seen->st_ino);
    if (at == at.parent_path()) return places;
  }
}

void KeptPlaces::AddContent(const std::string& sha256, const std::string& who) {
  if (!sha256.empty()) by_content_.try_emplace(sha256, who);
}

std::vector<fs::path> KeptPlaces::PathsOf(const std::string& given) const {
  const std::string location = Normal(given);
  std::vector<fs::path> paths = PathsOfUrl(location);
  for (const auto& [from, to] : maps_) {
    std::string mapped = Normal(from);
    if (location == mapped) paths.push_back(to);
    if (!mapped.ends_with('/')) mapped += '/';
    if (!location.starts_with(mapped)) continue;
    paths.push_back(to / fs::path(location.substr(mapped.size())).relative_path());
  }
  paths.push_back(root_->path() / location);
  return paths;
}

Status KeptPlaces::AddFolder(const fs::path& folder, const std::string& who) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error) return {};
  const PlaceOnDevice place = FindOnDevice(mounts_, real);
  if (place.device == root_place_.device && IsAtOrBelow(root_place_.path, place.path)) {
    everything_ = everything_.empty() ? who : everything_;
  }
  for (const MountPoint& mount : mounts_) {
    if (mount.point == real || !IsAtOrBelow(mount.point, real)) continue;
    ASSIGN_OR_RETURN(const auto seen, Look(mount.point));
    if (!seen) continue;
    const FileId id(seen->st_dev, seen->st_ino);
    if (above_.contains(id) && everything_.empty()) everything_ = who;
    by_id_.try_emplace(id, who);
  }
  return {};
}

Status KeptPlaces::AddPlace(const std::string& location, const std::string& who) {
  if (location.empty()) return {};
  for (const fs::path& path : PathsOf(location)) {
    ASSIGN_OR_RETURN(const auto seen, Look(path));
    if (!seen) continue;
    const FileId id(seen->st_dev, seen->st_ino);
    by_id_.try_emplace(id, who);
    if (above_.contains(id) && everything_.empty()) everything_ = who;
    if (S_ISDIR(seen->st_mode)) RETURN_IF_ERROR(AddFolder(path, who));
  }
  return {};
}

void KeptPlaces::AddCopy(const std::string& sha256, Copy copy) {
  if (!sha256.empty()) copies_[sha256].push_back(std::move(copy));
}

// By its content: a file of the same size may have been written over it.
Result<bool> KeptPlaces::IsThere(const Copy& copy, const std::string& sha256) const {
  if (copy.location.empty()) return false;
  for (const fs::path& path : PathsOf(copy.location)) {
    ASSIGN_OR_RETURN(const auto seen, Look(path));
    const bool like = seen && S_ISREG(seen->st_mode) &&
                      static_cast<std::uint64_t>(seen->st_size) == copy.size_bytes;
    if (!like) continue;
    const auto digest = HashFile(path);
    if (!digest.ok() && IsTrouble(digest.error())) return digest.error();
    if (digest.ok() && digest->sha256 == sha256) return true;
  }
  return false;
}

Result<std::string> KeptPlaces::WhoLacks(const std::string& sha256) const {
  const auto known = lacking_.find(sha256);
  if (known != lacking_.end()) return known->second;
  std::string who;
  const auto copies = copies_.find(sha256);
  if (copies != copies_.end()) {
    for (const Copy& copy : copies->second) {
      ASSIGN_OR_RETURN(const bool there, IsThere(copy, sha256));
      if (!there && who.empty()) who = copy.who;
    }
  }
  lacking_.emplace(sha256, who);
  return who;
}

Result<std::string> KeptPlaces::WhoHasFolder(const fs::path& relative) const {
  if (const auto known = folders_.find(relative); known != folders_.end()) return known->second;
  ASSIGN_OR_RETURN(const HeldFolder folder, root_->OpenFolder(relative));
  struct stat seen {};
  if (::fstat(folder.fd(), &seen) != 0) {
    return IoErrorFromErrno("cannot be looked at", errno, folder.path().string());
  }
  std::string who;
  if (const auto held = by_id_.find({seen.st_dev, seen.st_ino}); held != by_id_.end()) {
    who = held->second;
  } else if (!relative.empty()) {
    ASSIGN_OR_RETURN(who, WhoHasFolder(relative.parent_path()));
  }
  folders_.emplace(relative, who);
  return who;
}

Result<std::string> KeptPlaces::WhoHas(const fs::path& relative, const std::string& sha256) const {
  if (const auto held = by_content_.find(sha256); held != by_content_.end()) return held->second;
  ASSIGN_OR_RETURN(const std::string lacking, WhoLacks(sha256));
  if (!lacking.empty()) return lacking;
  ASSIGN_OR_RETURN(const OpenedFile file, root_->OpenFile(relative));
  if (!everything_.empty()) return everything_;
  struct stat seen {};
  if (::fstat(file.descriptor.get(), &seen) != 0) {
    return IoErrorFromErrno("cannot be looked at", errno, relative.string());
  }
  const auto held = by_id_.find({seen.st_dev, seen.st_ino});
  return held != by_id_.end() ? held->second : WhoHasFolder(relative.parent_path());
}

}  // namespace rharness
