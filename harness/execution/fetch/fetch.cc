// The ladder of one item: cached, in place, within the budget, copied or downloaded.
#include "harness/execution/fetch/fetch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>

#include "harness/base/descriptor.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/shown_url.h"
#include "harness/base/trouble.h"
#include "harness/execution/fetch/dvc_source.h"
#include "harness/execution/rerun/data_cache.h"
#include "harness/execution/rerun/found_data.h"
#include "harness/execution/rerun/table_data.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Its place, if data of the recorded kind and size are there.
std::optional<fs::path> InPlace(const Places& places, const DataItem& item) {
  const auto path = Locate(places, item.location.empty() ? item.path : item.location);
  std::error_code error;
  if (!path.ok() || !fs::exists(*path, error)) return std::nullopt;
  if (IsTable(item)) {
    const auto unfit = UnfitData(*path, item);
    return unfit.ok() && unfit->empty() ? std::optional(*path) : std::nullopt;
  }
  if (fs::is_directory(*path, error)) return *path;
  const auto size = fs::file_size(*path, error);
  return !error && size == item.size_bytes ? std::optional(*path) : std::nullopt;
}

// Why a table is not available: for a vacuumed or cleaned version, that fact.
std::string WhyNot(const Places& places, const DataItem& item) {
  const auto path = Locate(places, item.location.empty() ? item.path : item.location);
  if (!path.ok()) return path.error().ToString();
  const auto unfit = UnfitData(*path, item);
  return unfit.ok() ? *unfit : unfit.error().ToString();
}

// Of a file, or of all files of a folder; nothing for anything else, such as a link.
std::optional<std::uint64_t> SizeOf(const fs::path& path) {
  std::error_code error;
  const auto status = fs::symlink_status(path, error);
  if (fs::is_regular_file(status)) {
    const auto size = fs::file_size(path, error);
    return error ? std::nullopt : std::optional<std::uint64_t>(size);
  }
  if (!fs::is_directory(status)) return std::nullopt;
  std::uint64_t total = 0;
  fs::recursive_directory_iterator entry(path, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (fs::is_regular_file(entry->symlink_status(error))) total += entry->file_size(error);
  }
  return error ? std::nullopt : std::optional(total);
}

// By its kind and size: its hash was checked when it came in, and its user checks it again.
bool MayBe(const DataItem& item, const fs::path& cached) {
  std::error_code error;
  const bool folder = fs::is_directory(fs::symlink_status(cached, error));
  if ((item.kind == DataKind::kFile && folder) || (item.kind == DataKind::kDirectory && !folder))
    return false;
  const auto size = SizeOf(cached);
  return size && (IsTable(item) || item.size_bytes == 0 || *size == item.size_bytes);
}

// What was left by a fetch that was killed. What is younger than a day may be another's that goes
// on.
void ClearLeftovers(const fs::path& incoming) {
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(24);
  std::error_code error;
  std::vector<fs::path> leftovers;
  for (fs::directory_iterator entry(incoming, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unknown;
    if (entry->is_symlink(unknown)) continue;
    auto newest = entry->last_write_time(unknown);
    if (unknown) continue;
    for (fs::recursive_directory_iterator below(entry->path(), unknown), last;
         !unknown && below != last; below.increment(unknown)) {
      if (!below->is_symlink()) newest = std::max(newest, below->last_write_time(unknown));
    }
    if (newest < old) leftovers.push_back(entry->path());
  }
  for (const fs::path& path : leftovers) {
    if (const Status removed = RemoveTree(path); !removed.ok()) {
      LogWarning(
          fmt::format("the files of a fetch could not be removed: {}", removed.error().ToString()));
    }
  }
}

// In the cache's own file system, so that it can be renamed into place.
fs::path Incoming(const fs::path& cache, const DataItem& item) {
  return cache / "incoming" / fmt::format("{}.{}", item.sha256, ::getpid());
}

Status WriteAll(int fd, std::string_view text, const fs::path& path) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0) {
      if (errno == EINTR) continue;
      return PathError("cannot be written", errno, path);
    }
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

}  // namespace

std::string_view FetchStateName(FetchState state) {
  switch (state) {
    case FetchState::kCached:
      return "cached";
    case FetchState::kInPlace:
      return "in place";
    case FetchState::kFetched:
      return "fetched";
    case FetchState::kOverBudget:
      return "over budget";
    case FetchState::kUnpinned:
      return "unpinned";
    case FetchState::kNowhere:
      return "nowhere";
    case FetchState::kFailed:
      break;
  }
  return "failed";
}

Status Fetcher::Copy(const fs::path& from, const DataItem& item) {
  const fs::path incoming = Incoming(options_.cache, item);
  RETURN_IF_ERROR(MakeDirectories(incoming.parent_path()));
  RETURN_IF_ERROR(RemoveTree(incoming));
  if (IsTable(item)) {
    const Status wrote = WriteTable(from, item, incoming, false);
    if (wrote.ok()) return MoveIntoCache(options_.cache, item, incoming);
    const Status removed = RemoveTree(incoming);
    return removed.ok() ? wrote : removed;
  }
  std::error_code error;
  fs::copy(from, incoming, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
  if (error) {
    const Status removed = RemoveTree(incoming);
    return removed.ok() ? Status(PathError("cannot be copied", error.value(), from)) : removed;
  }
  return MoveIntoCache(options_.cache, item.sha256, incoming);
}

Status Fetcher::CopyFromDvc(const DataItem& item) {
  const fs::path incoming = Incoming(options_.cache, item);
  RETURN_IF_ERROR(MakeDirectories(incoming.parent_path()));
  RETURN_IF_ERROR(RemoveTree(incoming));
  const Status status =
      CopyFromDvcCache(options_.dvc_caches, item, incoming, options_.should_cancel);
  if (status.ok()) return MoveIntoCache(options_.cache, item.sha256, incoming);
  const Status removed = RemoveTree(incoming);
  return removed.ok() ? status : removed;
}

Status Fetcher::Download(const DataItem& item) {
  RemoteOptions remote_options = options_.remote;
  remote_options.should_cancel = options_.should_cancel;
  ASSIGN_OR_RETURN(Remote remote, OpenRemote(item.source, remote_options));
  const fs::path incoming = Incoming(options_.cache, item);
  RETURN_IF_ERROR(MakeDirectories(incoming.parent_path()));
  const Descriptor file(
      ::open(incoming.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return PathError("cannot be written", errno, incoming);
  Status wrote;
  Status status = remote.client.Fetch(
      remote.path, remote.query, item.size_bytes,
      [&] {
        if (::ftruncate(file.get(), 0) != 0 || ::lseek(file.get(), 0, SEEK_SET) != 0) {
          wrote = PathError("cannot be written", errno, incoming);
        }
      },
      [&](std::string_view piece) {
        if (wrote.ok()) wrote = WriteAll(file.get(), piece, incoming);
      });
  if (status.ok()) status = wrote;
  if (status.ok()) return MoveIntoCache(options_.cache, item.sha256, incoming);
  const Status removed = RemoveTree(incoming);
  return removed.ok() ? status : removed;
}

Result<Fetched> Fetcher::FetchItem(const Manifest& manifest, const DataItem& item) {
  Fetched fetched{manifest.run_id, item.name, FetchState::kNowhere, item.size_bytes, ""};
  const auto as = [&](FetchState state, std::string detail = "") {
    fetched.state = state;
    fetched.detail = std::move(detail);
    return fetched;
  };
  const fs::path cached = PathInCache(options_.cache, item.sha256);
  if (cached.empty()) return as(FetchState::kUnpinned, "the record has no SHA-256 of it");
  std::error_code error;
  if (fs::exists(fs::symlink_status(cached, error))) {
    if (MayBe(item, cached)) return as(FetchState::kCached);
    return as(FetchState::kFailed,
              fmt::format("the cached file is a different one; expected {} bytes, remove {}",
                          item.size_bytes, cached.string()));
  }
  const auto there = InPlace(options_.places, item);
  if (there && !options_.copy) return as(FetchState::kInPlace);
  if (!there && IsTable(item)) return as(FetchState::kNowhere, WhyNot(options_.places, item));
  const bool in_dvc = !there && IsInDvcCache(options_.dvc_caches, item);
  if (!there && !in_dvc && !IsRemote(item.source)) {
    return as(
        FetchState::kNowhere,
        item.source.empty()
            ? "not at its location, and the record has no source of it"
            : fmt::format("not at its location, and its source {} cannot be asked; expected {}",
                          ShownUrl(item.source), kRemoteForms));
  }
  if (options_.budget_bytes > 0 && brought_bytes_ + item.size_bytes > options_.budget_bytes) {
    return as(FetchState::kOverBudget);
  }
  if (!options_.dry_run) {
    const Status status = there ? Copy(*there, item) : in_dvc ? CopyFromDvc(item) : Download(item);
    if (!status.ok()) {
      if (IsTrouble(status.error()) && status.error().where.starts_with(options_.cache.string())) {
        return status.error();
      }
      return as(FetchState::kFailed, status.error().ToString());
    }
  }
  brought_bytes_ += item.size_bytes;
  return as(FetchState::kFetched);
}

Result<std::vector<Fetched>> Fetcher::Fetch(const Manifest& manifest) {
  if (!options_.dry_run && !cleared_) ClearLeftovers(options_.cache / "incoming");
  cleared_ = true;
  std::vector<Fetched> all;
  for (const DataItem& item : manifest.data) {
    if (options_.should_cancel && options_.should_cancel()) break;
    ASSIGN_OR_RETURN(Fetched one, FetchItem(manifest, item));
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace rharness
