// Moving checkpoints.
#include "harness/experiments/properties/left_checkpoints.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/held_folder.h"
#include "harness/base/json_member_reader.h"
#include "harness/base/json_reader.h"
#include "harness/base/trouble.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kMarker[] = "left.json";

Json ToJson(const LeftByPath& left) {
  Json all = Json::MakeObject();
  for (const auto& [path, one] : left) {
    all.AppendMember(path, Json::MakeObject({{"kind", NameIn(kDataKindNames, one.kind)},
                                             {"sha256", one.sha256},
                                             {"size_bytes", one.size_bytes}}));
  }
  return Json::MakeObject({{"schema", "rharness.left/v1"}, {"left", std::move(all)}});
}

Result<LeftByPath> ReadMarker(const fs::path& file) {
  LeftByPath left;
  const auto json = ReadJsonFile(file);
  if (!json.ok()) {
    if (json.error().code == ErrorCode::kNotFound) return left;
    return json.error();
  }
  JsonReader reader(*json, file.string());
  reader.ReadSchema("rharness.left", 1);
  reader.ForEachMember("left", [&](const std::string& path, JsonReader& one) {
    LeftCheckpoint& checkpoint = left[path];
    MemberReader(&one).Name("kind", checkpoint.kind, kDataKindNames);
    one.Read("sha256", &checkpoint.sha256);
    one.Read("size_bytes", &checkpoint.size_bytes);
  });
  RETURN_IF_ERROR(reader.status());
  return left;
}

// A regular file or a folder, not through a link; nothing if there is none.
Result<std::optional<DataKind>> KindAt(const HeldFolder& folder, const fs::path& relative) {
  const auto parent = folder.OpenFolder(relative.parent_path());
  if (!parent.ok()) {
    if (IsTrouble(parent.error())) return parent.error();
    return std::optional<DataKind>();
  }
  struct stat info {};
  if (::fstatat(parent->fd(), relative.filename().c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<DataKind>();
    return IoErrorFromErrno("cannot look", errno, (folder.path() / relative).string());
  }
  if (S_ISREG(info.st_mode)) return std::optional(DataKind::kFile);
  if (S_ISDIR(info.st_mode)) return std::optional(DataKind::kDirectory);
  return InvalidInput("is neither a file nor a folder", (folder.path() / relative).string());
}

Status Move(const HeldFolder& workspace, const fs::path& relative, const fs::path& to) {
  ASSIGN_OR_RETURN(const HeldFolder from, workspace.OpenFolder(relative.parent_path()));
  RETURN_IF_ERROR(MakeDirectories(to.parent_path()));
  if (::renameat(from.fd(), relative.filename().c_str(), AT_FDCWD, to.c_str()) != 0) {
    return IoErrorFromErrno("cannot move the leg's outputs", errno, to.string());
  }
  return {};
}

// A checkpoint may be an output of the run as well, and already collected: it gets a second name,
// and so do the parts of a folder.
Status AddBroughtHome(const fs::path& kept, const fs::path& to) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(kept, error).type();
  if (type == fs::file_type::directory) {
    fs::directory_iterator entry(kept, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      RETURN_IF_ERROR(AddBroughtHome(entry->path(), to / entry->path().filename()));
    }
    return error ? IoErrorFromErrno("cannot list", error.value(), kept.string()) : Status();
  }
  std::error_code absent;
  if (type != fs::file_type::regular || fs::exists(fs::symlink_status(to, absent))) return {};
  RETURN_IF_ERROR(MakeDirectories(to.parent_path()));
  fs::create_hard_link(kept, to, error);
  if (error) fs::copy_file(kept, to, error);
  if (error) return IoErrorFromErrno("cannot copy to " + to.string(), error.value(), kept.string());
  return {};
}

Result<LeftCheckpoint> Measure(const HeldFolder& left, const std::string& path, DataKind kind) {
  LeftCheckpoint checkpoint{.location = (left.path() / path).string(), .kind = kind, .sha256 = {}};
  if (kind == DataKind::kFile) {
    ASSIGN_OR_RETURN(const FileDigest digest, left.HashFile(path));
    checkpoint.sha256 = digest.sha256;
    checkpoint.size_bytes = digest.size_bytes;
  } else {
    ASSIGN_OR_RETURN(const TreeDigest digest, left.HashTree(path));
    checkpoint.sha256 = digest.sha256;
    checkpoint.size_bytes = digest.size_bytes;
  }
  return checkpoint;
}

}  // namespace

Result<LeftByPath> TakeLeft(const fs::path& rerun_folder, const std::string& working_directory,
                            const std::vector<std::string>& paths) {
  LeftByPath taken;
  if (paths.empty()) return taken;
  ASSIGN_OR_RETURN(const LeftByPath known, ReadMarker(rerun_folder / kMarker));
  RETURN_IF_ERROR(MakeDirectories(rerun_folder / "left"));
  ASSIGN_OR_RETURN(const HeldFolder left, HeldFolder::Open(rerun_folder / "left"));
  std::error_code error;
  const bool has_workspace = fs::is_directory(rerun_folder / "workspace", error);
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(auto kind, KindAt(left, path));
    if (!kind && has_workspace) {
      ASSIGN_OR_RETURN(const HeldFolder workspace, HeldFolder::Open(rerun_folder / "workspace"));
      const fs::path inside = (fs::path(working_directory) / path).lexically_normal();
      ASSIGN_OR_RETURN(kind, KindAt(workspace, inside));
      if (kind) RETURN_IF_ERROR(Move(workspace, inside, left.path() / path));
    }
    if (!known.contains(path)) {
      RETURN_IF_ERROR(AddBroughtHome(rerun_folder / "artifacts" / path, left.path() / path));
      ASSIGN_OR_RETURN(kind, KindAt(left, path));
    }
    if (!kind) continue;
    auto measured = Measure(left, path, *kind);
    if (!measured.ok()) {
      if (IsTrouble(measured.error())) return measured.error();
      return InvalidInput("cannot be taken: " + measured.error().message,
                          measured.error().where);  // a link, as written by the leg
    }
    LeftCheckpoint checkpoint = std::move(*measured);
    const auto before = known.find(path);
    if (before != known.end() && before->second.sha256 != checkpoint.sha256) {
      return IntegrityError("is not the checkpoint that was taken", (left.path() / path).string());
    }
    taken.emplace(path, std::move(checkpoint));
  }
  RETURN_IF_ERROR(WriteJsonFile(rerun_folder / kMarker, ToJson(taken)));
  return taken;
}

}  // namespace rharness
