// Filling and verifying workspaces.
#include "harness/execution/rerun/workspace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/trouble.h"
#include "harness/execution/rerun/data_cache.h"
#include "harness/execution/rerun/found_data.h"
#include "harness/execution/rerun/outputs_before.h"
#include "harness/execution/rerun/place_code.h"
#include "harness/execution/rerun/table_data.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

Status CopyTree(const fs::path& from, const fs::path& to) {
  RETURN_IF_ERROR(MakeDirectories(to.parent_path()));
  std::error_code error;
  if (fs::is_directory(from, error)) {
    // Folder by folder: a copy of one that nobody may write to could not be filled.
    fs::create_directory(to, error);
    for (fs::recursive_directory_iterator entry(from, error), end; !error && entry != end;
         entry.increment(error)) {
      const fs::path at = to / entry->path().lexically_relative(from);
      if (entry->is_directory(error) && !error) {
        fs::create_directory(at, error);
      } else if (!error) {
        fs::copy(entry->path(), at, error);
      }
      if (error) break;
    }
  } else if (!error) {
    fs::copy(from, to, error);
  }
  if (error) return IoErrorFromErrno("cannot copy to " + to.string(), error.value(), from.string());
  return {};
}

Status Link(const fs::path& from, const fs::path& to) {
  RETURN_IF_ERROR(MakeDirectories(to.parent_path()));
  std::error_code error;
  fs::create_symlink(from, to, error);
  if (error) return IoErrorFromErrno("cannot link " + to.string(), error.value(), from.string());
  return {};
}

// A private copy that shares blocks until one side is written, if the file system can.
bool Clone(const fs::path& from, const fs::path& to) {
  const Descriptor source(::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!source.valid() || ::fstat(source.get(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  const Descriptor copy(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (copy.valid() && ::ioctl(copy.get(), FICLONE, source.get()) == 0) return true;
  if (copy.valid()) ::unlink(to.c_str());
  return false;
}

// Removes what a checkout has put in the place of data; returns the place, without any link on the
// way. A link of the checkout that leads out of it, as one to a folder of data does, gives way to a
// folder. Refuses a place outside of the workspace.
Result<fs::path> ClearPlace(const fs::path& workspace, const fs::path& place) {
  fs::path reached = workspace;
  std::error_code error;
  for (const fs::path& part : place.parent_path().lexically_relative(workspace)) {
    const bool is_inside = ResolveBelow(workspace, reached.lexically_relative(workspace)).ok();
    reached /= part;
    if (!fs::is_symlink(fs::symlink_status(reached, error))) continue;
    const bool leads_out = !ResolveBelow(workspace, reached.lexically_relative(workspace)).ok();
    if (is_inside && leads_out) fs::remove(reached, error);
  }
  RETURN_IF_ERROR(MakeDirectories(place.parent_path()));
  ASSIGN_OR_RETURN(const fs::path parent,
                   ResolveBelow(workspace, place.parent_path().lexically_relative(workspace)));
  RETURN_IF_ERROR(RemoveTree(parent / place.filename()));
  return parent / place.filename();
}

// The place of its bytes: its location, or the cache if the location does not have them.
Result<fs::path> FindData(const Places& places, const DataItem& item) {
  const auto located = Locate(places, item.location.empty() ? item.path : item.location);
  if (places.cache.empty()) return located;
  std::error_code error;
  if (located.ok() && fs::exists(*located, error)) {
    const auto unfit = UnfitData(*located, item);
    if (!unfit.ok() || unfit->empty()) return located;
  }
  const fs::path cached = PathInCache(places.cache, item.sha256);
  return !cached.empty() && fs::exists(cached, error) ? cached : located;
}

// Puts a version of a table in place: few bytes as copies, more as links to its files.
Status PlaceTable(const fs::path& real, const DataItem& item, const fs::path& place,
                  const fs::path& inside, Workspace* workspace, PlacedData* placed) {
  const bool small = item.size_bytes <= kCopyLimitBytes;
  RETURN_IF_ERROR(WriteTable(real, item, place, !small));
  if (small) {
    *placed = {.at = inside, .shared = false, .link = {}, .view = {}, .identity = {}};
  } else {
    placed->view = inside;
    workspace->mounts.push_back(Mount{real, real.string()});
  }
  return {};
}

// Puts one data item in place; returns the obstacle if it is not available.
Result<std::optional<Obstacle>> PlaceData(const Manifest& manifest, const DataItem& item,
                                          const Places& places, Workspace* workspace,
                                          PlacedData* placed) {
  const auto source = FindData(places, item);
  if (!source.ok())
    return Blocked(Layer::kData, fmt::format("data '{}': {}", item.name, source.error().message));
  std::error_code error;
  const fs::path real = fs::canonical(*source, error);
  if (error) {
    const Error unreachable = PathError("cannot resolve", error.value(), *source);
    if (IsTrouble(unreachable)) return unreachable;
    return Blocked(Layer::kData, fmt::format("data '{}' is not at {}: {}", item.name,
                                             source->string(), error.message()));
  }
  *placed = {.at = real, .shared = true, .link = {}, .view = {}, .identity = {}};
  if (fs::path(item.path).is_absolute()) {
    workspace->mounts.push_back(Mount{real, item.path});
    const std::string newer = IsTable(item) ? NewerVersions(real, item) : "";
    if (!newer.empty()) {
      workspace->remarks.push_back(
          {.code = "table_has_newer_versions", .subject = item.name, .message = newer});
    }
    return std::optional<Obstacle>();
  }
  const std::string name = fmt::format("data '{}': ", item.name);
  const auto unfit = UnfitData(real, item);
  if (!unfit.ok()) return BlockedBy(Layer::kData, name, unfit.error());
  if (!unfit->empty()) {
    return Blocked(Layer::kData,
                   fmt::format("data '{}' is not the recorded one: {}", item.name, *unfit));
  }
  const auto place =
      ClearPlace(workspace->path, workspace->path / manifest.working_directory / item.path);
  if (!place.ok()) {
    return BlockedBy(Layer::kData, name, place.error());
  }
  ASSIGN_OR_RETURN(const fs::path root, ResolveBelow(workspace->path, "."));
  const fs::path inside = place->lexically_relative(root);
  if (IsTable(item)) {
    const Status wrote = PlaceTable(real, item, *place, inside, workspace, placed);
    return wrote.ok() ? std::optional<Obstacle>() : BlockedBy(Layer::kData, name, wrote.error());
  }
  const bool small = item.size_bytes <= kCopyLimitBytes;
  if (small) RETURN_IF_ERROR(CopyTree(real, *place));
  if (small || Clone(real, *place)) {
    *placed = {.at = inside, .shared = false, .link = {}, .view = {}, .identity = {}};
  } else {
    RETURN_IF_ERROR(Link(real, *place));
    placed->link = inside;
    workspace->mounts.push_back(Mount{real, real.string()});
  }
  return std::optional<Obstacle>();
}

Result<ContentCache::Content> HashPlaced(const Workspace& workspace, const DataItem& item,
                                         const PlacedData& placed, ContentCache* cache) {
  if (IsTable(item)) {
    const fs::path own = workspace.folder->through() / placed.at;
    return HashTable(placed.shared ? placed.at : own, item, cache);
  }
  if (placed.shared) return cache->Hash(placed.at);
  ASSIGN_OR_RETURN(TreeDigest digest, workspace.folder->HashTree(placed.at));
  return ContentCache::Content{digest.sha256, digest.size_bytes, std::move(digest.empty_folders)};
}

// Gives the item's folder the recorded empty folders where that can be done: in a copy, and in a
// folder of links to large data. The answer: how they differ where it cannot. `seen`: the item.
Result<std::string> PlaceEmptyFolders(const ContentCache::Content& content, DataItem* seen,
                                      PlacedData* placed, Workspace* workspace) {
  const EmptyFolders recorded = std::exchange(seen->empty_folders,  //
                                              RecordableFolders(content.empty_folders));
  if (!recorded && !content.empty_folders.empty()) {
    workspace->remarks.push_back(
        {.code = "empty_folders_not_recorded",
         .subject = seen->name,
         .message = fmt::format("data '{}' has empty folders, and the record does not say which it "
                                "had",
                                seen->name)});
  }
  const std::string others = OtherEmptyFolders(recorded, content.empty_folders);
  const bool mounted = placed->shared && placed->link.empty();
  if (others.empty() || mounted || content.sha256 != seen->sha256) return others;
  fs::path folder = placed->at;
  if (placed->shared) {
    folder = placed->view = std::exchange(placed->link, fs::path());
    RETURN_IF_ERROR(RemoveTreeBelow(workspace->path, folder));
    RETURN_IF_ERROR(LinkFiles(placed->at, workspace->folder->through() / folder));
  }
  RETURN_IF_ERROR(
      RestoreEmptyFolders(workspace->folder->through() / folder, recorded, content.empty_folders));
  workspace->remarks.push_back(
      {.code = "empty_folders_restored",
       .subject = seen->name,
       .message =
           fmt::format("data '{}' {}; the rerun has the recorded ones", seen->name, others)});
  seen->empty_folders = recorded;
  return std::string();
}

// Hashes an item in its place and compares it with the manifest.
Result<std::optional<Obstacle>> VerifyData(const DataItem& item, PlacedData placed,
                                           Workspace* workspace, ContentCache* cache) {
  if (placed.shared) placed.identity = IdentityOfData(placed.at, item);
  const auto content = HashPlaced(*workspace, item, placed, cache);
  if (!content.ok()) {
    return BlockedBy(Layer::kData, fmt::format("data '{}': ", item.name), content.error());
  }
  DataItem seen = item;
  std::string other_folders;
  if (item.kind == DataKind::kDirectory) {
    auto others = PlaceEmptyFolders(*content, &seen, &placed, workspace);
    if (!others.ok()) {
      return BlockedBy(Layer::kData, fmt::format("data '{}': ", item.name), others.error());
    }
    other_folders = std::move(*others);
  }
  seen.made_by.reset();  // bytes do not show who made them
  seen.sha256 = content->sha256;
  seen.size_bytes = content->size_bytes;
  workspace->data.push_back(seen);
  workspace->placed.push_back(std::move(placed));
  if (content->sha256 == item.sha256 && !other_folders.empty()) {
    return Blocked(Layer::kData, fmt::format("data '{}' is not the recorded one: its files are the "
                                             "same, but it {}",
                                             item.name, other_folders));
  }
  if (content->sha256 == item.sha256) return std::optional<Obstacle>();
  return Blocked(Layer::kData,
                 fmt::format("data '{}' is not the recorded one: sha256 {} ({} bytes), "
                             "recorded {} ({} bytes)",
                             item.name, content->sha256, content->size_bytes,
                             item.sha256.empty() ? "no hash" : item.sha256, item.size_bytes));
}

// Whether data replaced this tracked file, or link to their folder; they are verified as data.
bool IsData(const Manifest& manifest, const fs::path& relative) {
  const auto is_below = [](const fs::path& path, const fs::path& folder) {
    const fs::path rest = path.lexically_relative(folder);
    return !rest.empty() && *rest.begin() != "..";
  };
  for (const DataItem& item : manifest.data) {
    const fs::path place = (fs::path(manifest.working_directory) / item.path).lexically_normal();
    if (is_below(relative, place) || is_below(place, relative)) return true;
  }
  return false;
}

Finding Changed(Layer layer, std::string subject, std::string observed, std::string recorded) {
  return Finding{.code = fmt::format("{}_changed_during_run", LayerName(layer)),
                 .layer = layer,
                 .subject = subject,
                 .observed = std::move(observed),
                 .limit = std::move(recorded),
                 .message = fmt::format("{} changed while the run was using it", subject)};
}

// How shared data with unchanged content were touched; empty: not at all.
std::string HowTouched(const Workspace& workspace, const DataItem& item, const PlacedData& placed) {
  std::error_code error;
  if (!placed.link.empty() &&
      fs::read_symlink(workspace.folder->through() / placed.link, error) != placed.at) {
    return "the link to them was replaced";
  }
  const fs::path view = workspace.folder->through() / placed.view;
  const bool stand = IsTable(item) ? LinksStand(view, placed.at, item)
                                   : placed.view.empty() || FileLinksStand(view, placed.at);
  if (!placed.view.empty() && !stand) {
    return "a link to one of its files was replaced";
  }
  if (IdentityOfData(placed.at, item) == placed.identity) return {};
  return "the same content, but other inodes, sizes or times: written, or swapped and put back";
}

// Last, after code and data: existing files at its place stay.
Status PlacePython(const Manifest& manifest, const Places& places,
                   const std::function<bool()>& should_cancel, Workspace* workspace) {
  ASSIGN_OR_RETURN(workspace->python, ChoosePython(manifest, places, should_cancel));
  const PythonPlace& python = workspace->python;
  workspace->remarks.insert(workspace->remarks.end(), python.remarks.begin(), python.remarks.end());
  workspace->obstacle = python.obstacle;
  if (workspace->obstacle) return {};
  RETURN_IF_ERROR(LinkPython(manifest, python, workspace->path));
  workspace->obstacle = MissingProgram(manifest, python, workspace->path);
  return {};
}

}  // namespace

Result<Workspace> PrepareWorkspace(const Manifest& manifest, const fs::path& path,
                                   const Places& places, ContentCache* cache,
                                   const CheckoutLimits& limits) {
  Workspace workspace{.path = path};
  RETURN_IF_ERROR(RemoveTree(path));
  RETURN_IF_ERROR(MakeDirectories(path.parent_path()));
  if (::mkdir(path.c_str(), 0700) != 0) {
    return IoErrorFromErrno("cannot create folder", errno, path.string());
  }
  ASSIGN_OR_RETURN(HeldFolder folder, HeldFolder::Open(path));
  workspace.folder = std::make_shared<const HeldFolder>(std::move(folder));
  ASSIGN_OR_RETURN(workspace.obstacle, PlaceCode(manifest, places, limits, &workspace));
  if (workspace.obstacle) return workspace;
  for (const DataItem& item : manifest.data) {
    PlacedData placed;
    ASSIGN_OR_RETURN(workspace.obstacle, PlaceData(manifest, item, places, &workspace, &placed));
    if (!workspace.obstacle) {
      ASSIGN_OR_RETURN(workspace.obstacle, VerifyData(item, std::move(placed), &workspace, cache));
    }
    if (workspace.obstacle) return workspace;
  }
  std::erase_if(workspace.checkout,
                [&](const TreeFile& file) { return IsData(manifest, file.path); });
  SetOutputsApart(manifest, &workspace);
  const Status made = MakeDirectoriesBelow(path, manifest.working_directory);
  if (!made.ok()) {
    ASSIGN_OR_RETURN(workspace.obstacle, BlockedBy(Layer::kCode, "", made.error()));
    return workspace;
  }
  RETURN_IF_ERROR(PlacePython(manifest, places, limits.should_cancel, &workspace));
  return workspace;
}

Result<std::vector<Finding>> VerifyAfterRun(const Workspace& workspace, ContentCache* cache) {
  std::vector<Finding> remarks;
  for (std::size_t i = 0; i < workspace.data.size(); ++i) {
    const DataItem& item = workspace.data[i];
    const PlacedData& placed = workspace.placed[i];
    const auto content = HashPlaced(workspace, item, placed, cache);
    if (!content.ok() && IsTrouble(content.error())) return content.error();
    std::string observed = content.ok() ? content->sha256 : content.error().ToString();
    const std::string& expected = item.sha256;
    if (observed == expected && placed.shared) {
      const std::string touched = HowTouched(workspace, item, placed);
      if (!touched.empty()) observed = touched;
    }
    if (observed != expected) {
      remarks.push_back(
          Changed(Layer::kData, fmt::format("data '{}'", item.name), observed, expected));
    }
  }
  const auto check_code = [&](const std::string& path, const Result<std::string>& seen,
                              const std::string& expected) -> Status {
    if (!seen.ok() && IsTrouble(seen.error())) return seen.error();
    const std::string observed = seen.ok() ? *seen : seen.error().ToString();
    if (observed != expected) {
      remarks.push_back(
          Changed(Layer::kCode, fmt::format("code file '{}'", path), observed, expected));
    }
    return {};
  };
  for (const CodeFile& file : workspace.code_files) {
    const auto digest = workspace.folder->HashFile(file.path);
    const auto seen = digest.ok() ? Result<std::string>(digest->sha256) : digest.error();
    RETURN_IF_ERROR(check_code(file.path, seen, file.sha256));
  }
  for (const TreeFile& file : workspace.checkout) {
    RETURN_IF_ERROR(check_code(file.path, NameOf(file, *workspace.folder), file.name));
  }
  return remarks;
}

}  // namespace rharness
