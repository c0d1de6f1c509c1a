// Filling and verifying workspaces.
#include "harness/drill/workspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/trouble.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr auto kGitTimeout = std::chrono::minutes(10);
constexpr std::uint64_t kGitOutputBytes = std::uint64_t{256} << 20;  // of a list of files

std::optional<Obstacle> Blocked(std::string_view layer, std::string reason) {
  return Obstacle{std::string(layer), std::move(reason)};
}

// What an error makes of the run: an obstacle, unless it is the machine's and says nothing of it.
Result<std::optional<Obstacle>> BlockedBy(std::string_view layer, std::string_view what,
                                          const Error& error) {
  if (IsTrouble(error)) return error;
  return Blocked(layer, fmt::format("{}{}", what, error.ToString()));
}

Status CopyTree(const fs::path& from, const fs::path& to) {
  RETURN_IF_ERROR(MakeDirectories(to.parent_path()));
  std::error_code error;
  fs::copy(from, to, fs::copy_options::recursive, error);
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

// Where an item's bytes lie for the run: relative ones below the working directory, absolute ones
// where their mount comes from.
fs::path PlaceOf(const Manifest& manifest, const Workspace& workspace, const DataItem& item) {
  if (fs::path(item.path).is_absolute()) {
    const auto mount =
        std::find_if(workspace.mounts.begin(), workspace.mounts.end(),
                     [&](const Mount& candidate) { return candidate.target == item.path; });
    return mount == workspace.mounts.end() ? fs::path(item.path) : mount->source;
  }
  return workspace.path / manifest.working_directory / item.path;
}

// Takes away what a checkout has put where data belong, and refuses a place outside the workspace,
// to which a link in the checkout may lead.
Status ClearPlace(const fs::path& workspace, const fs::path& place) {
  RETURN_IF_ERROR(MakeDirectories(workspace));
  fs::path reached = place.parent_path();
  std::error_code error;
  while (!fs::exists(fs::symlink_status(reached, error))) reached = reached.parent_path();
  RETURN_IF_ERROR(ResolveBelow(workspace, reached.lexically_relative(workspace)));
  return RemoveTree(place);
}

// Why the thing at `path` cannot be this item, seen without reading its content; empty if it may
// be. Errors: those of PathError.
Result<std::string> Unfit(const fs::path& path, const DataItem& item) {
  std::error_code error;
  const fs::file_status type = fs::status(path, error);
  if (error) return PathError("cannot look at it", error.value(), path);
  if (fs::is_regular_file(type)) {
    const std::uintmax_t size = fs::file_size(path, error);
    if (error) return PathError("cannot look at it", error.value(), path);
    if (size == item.size_bytes) return std::string();
    return fmt::format("{} bytes, recorded {}", size, item.size_bytes);
  }
  if (!fs::is_directory(type)) return std::string("neither a file nor a folder");
  std::uintmax_t total = 0;
  fs::recursive_directory_iterator entry(path, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const fs::file_status status = entry->symlink_status(error);
    if (!error && fs::is_regular_file(status)) total += entry->file_size(error);
    if (error) break;
    if (!fs::is_regular_file(status) && !fs::is_directory(status)) {
      return fmt::format("'{}' is neither a file nor a folder", entry->path().string());
    }
    if (total > item.size_bytes)
      return fmt::format("more than the recorded {} bytes", item.size_bytes);
  }
  if (error) return PathError("cannot look into it", error.value(), path);
  return std::string();
}

// Puts one data item in place; the obstacle if it cannot be had.
Result<std::optional<Obstacle>> PlaceData(const Manifest& manifest, const DataItem& item,
                                          const Places& places, Workspace* workspace) {
  const std::string location = item.location.empty() ? item.path : item.location;
  const auto source = Locate(places, location);
  if (!source.ok())
    return Blocked("data", fmt::format("data '{}': {}", item.name, source.error().message));
  std::error_code error;
  const fs::path real = fs::canonical(*source, error);
  if (error) {
    const Error unreachable = PathError("cannot resolve", error.value(), *source);
    if (IsTrouble(unreachable)) return unreachable;
    return Blocked("data", fmt::format("data '{}' is not at {}: {}", item.name, source->string(),
                                       error.message()));
  }
  const fs::path place = PlaceOf(manifest, *workspace, item);
  if (fs::path(item.path).is_absolute()) {
    workspace->mounts.push_back(Mount{real, item.path});
    return std::optional<Obstacle>();
  }
  const std::string name = fmt::format("data '{}': ", item.name);
  const auto unfit = Unfit(real, item);
  if (!unfit.ok()) return BlockedBy("data", name, unfit.error());
  if (!unfit->empty()) {
    return Blocked("data", fmt::format("data '{}' is not the recorded one: {}", item.name, *unfit));
  }
  if (const Status cleared = ClearPlace(workspace->path, place); !cleared.ok()) {
    return BlockedBy("data", name, cleared.error());
  }
  if (item.size_bytes <= kCopyLimitBytes) {
    RETURN_IF_ERROR(CopyTree(real, place));
  } else {
    RETURN_IF_ERROR(Link(real, place));
    workspace->mounts.push_back(Mount{real, real.string()});
  }
  return std::optional<Obstacle>();
}

// Hashes an item in its place and holds it to the manifest.
Result<std::optional<Obstacle>> VerifyData(const Manifest& manifest, const DataItem& item,
                                           Workspace* workspace, ContentCache* cache) {
  const auto content = cache->Hash(PlaceOf(manifest, *workspace, item));
  if (!content.ok()) {
    return BlockedBy("data", fmt::format("data '{}': ", item.name), content.error());
  }
  DataItem seen = item;
  seen.sha256 = content->sha256;
  seen.size_bytes = content->size_bytes;
  workspace->data.push_back(seen);
  if (content->sha256 == item.sha256) return std::optional<Obstacle>();
  return Blocked("data",
                 fmt::format("data '{}' is not the recorded one: sha256 {} ({} bytes), "
                             "recorded {} ({} bytes)",
                             item.name, content->sha256, content->size_bytes,
                             item.sha256.empty() ? "no hash" : item.sha256, item.size_bytes));
}

// Copies the listed code files, each proved by its hash.
Result<std::optional<Obstacle>> PlaceCodeFiles(const Manifest& manifest, const fs::path& repository,
                                               Workspace* workspace) {
  for (const CodeFile& file : manifest.code.files) {
    const auto source = ResolveBelow(repository, file.path);
    const std::string name = fmt::format("code file '{}': ", file.path);
    if (!source.ok()) return BlockedBy("code", name, source.error());
    std::error_code error;
    const fs::file_status type = fs::status(*source, error);
    if (error) return BlockedBy("code", name, PathError("cannot look", error.value(), *source));
    if (!fs::is_regular_file(type)) {
      return Blocked("code", fmt::format("code file '{}' is no regular file", file.path));
    }
    const fs::path place = workspace->path / file.path;
    RETURN_IF_ERROR(CopyTree(*source, place));
    const auto digest = HashFile(place);
    if (!digest.ok()) return BlockedBy("code", "", digest.error());
    workspace->code_files.push_back(CodeFile{file.path, digest->sha256});
    if (digest->sha256 != file.sha256) {
      return Blocked("code", fmt::format("code file '{}' is not the recorded one: sha256 {}, "
                                         "recorded {}",
                                         file.path, digest->sha256, file.sha256));
    }
  }
  return std::optional<Obstacle>();
}

// Runs git without hooks, prompts or any transport but local files.
ProcessResult Git(std::vector<std::string> arguments) {
  std::vector<std::string> argv = {"git",
                                   "-c",
                                   "core.hooksPath=/dev/null",
                                   "-c",
                                   "protocol.allow=never",
                                   "-c",
                                   "protocol.file.allow=always",
                                   "-c",
                                   "advice.detachedHead=false"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::map<std::string, std::string> environment = PickEnvironment({"PATH", "HOME", "TMPDIR"});
  environment["GIT_TERMINAL_PROMPT"] = "0";
  environment["LC_ALL"] = "C.UTF-8";
  ProcessLimits limits;
  limits.timeout = kGitTimeout;
  limits.output_bytes = kGitOutputBytes;
  return RunProcess(ProcessSpec{std::move(argv), std::move(environment), {}}, limits);
}

// Why git failed, in one line.
std::string GitComplaint(const ProcessResult& result) {
  std::string text = result.stderr_text.empty() ? result.outcome.ToString() : result.stderr_text;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return TerminalSafe(text);
}

// Why a commit could not be checked out: it is not there only if the repository itself says so when
// it is asked. Whatever else stopped git is the machine's trouble.
Result<std::optional<Obstacle>> NotCheckedOut(const Code& code, const fs::path& repository,
                                              const ProcessResult& failed) {
  const std::string complaint = GitComplaint(failed);
  const ProcessResult asked =
      Git({"-C", repository.string(), "cat-file", "-e", code.commit + "^{commit}"});
  if (IsAnswer(failed) && !asked.outcome.Succeeded() && IsAnswer(asked)) {
    return Blocked("code", fmt::format("commit {} is not in {}: {}", code.commit,
                                       repository.string(), complaint));
  }
  return ProcessError(fmt::format("git cannot check out commit {}: {}", code.commit, complaint),
                      repository.string());
}

// Checks out the recorded commit; the workspace becomes the work tree.
Result<std::optional<Obstacle>> CheckOut(const Manifest& manifest, const fs::path& repository,
                                         Workspace* workspace) {
  const Code& code = manifest.code;
  if (code.dirty) {
    return Blocked("code", fmt::format("recorded from a changed work tree (diff sha256 {}), and no "
                                       "code files are listed to rebuild it from",
                                       code.diff_sha256.empty() ? "unknown" : code.diff_sha256));
  }
  const ProcessResult clone = Git({"clone", "--quiet", "--no-checkout", "--",
                                   fs::absolute(repository).string(), workspace->path.string()});
  if (!clone.outcome.Succeeded()) return NotCheckedOut(code, repository, clone);
  const ProcessResult checkout =
      Git({"-C", workspace->path.string(), "checkout", "--quiet", "--detach", code.commit});
  if (!checkout.outcome.Succeeded()) return NotCheckedOut(code, repository, checkout);
  workspace->code_commit = code.commit;
  return std::optional<Obstacle>();
}

// Whether data were put over this tracked file, which is then verified as data.
bool IsData(const Manifest& manifest, const fs::path& relative) {
  for (const DataItem& item : manifest.data) {
    const fs::path place = (fs::path(manifest.working_directory) / item.path).lexically_normal();
    const fs::path rest = relative.lexically_relative(place);
    if (!rest.empty() && *rest.begin() != "..") return true;
  }
  return false;
}

// Hashes what was checked out, before the run can touch it: afterwards git's own files in there are
// the run's too, and git would believe them.
Status HashCheckout(const Manifest& manifest, Workspace* workspace) {
  if (workspace->code_commit.empty()) return {};
  const ProcessResult listed = Git({"-C", workspace->path.string(), "ls-files", "-z"});
  if (!listed.outcome.Succeeded() || listed.stdout_bytes != listed.stdout_text.size()) {
    return ProcessError("git cannot list the files of the checkout: " + GitComplaint(listed),
                        workspace->path.string());
  }
  std::vector<fs::path> paths;
  std::string_view rest = listed.stdout_text;
  for (auto end = rest.find('\0'); end != std::string_view::npos; end = rest.find('\0')) {
    const fs::path relative(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    std::error_code error;
    const auto type = fs::symlink_status(workspace->path / relative, error).type();
    if (type != fs::file_type::regular || IsData(manifest, relative)) continue;
    workspace->checkout.push_back(CodeFile{relative.string(), ""});
    paths.push_back(workspace->path / relative);
  }
  const auto digests = HashFiles(paths);
  for (std::size_t i = 0; i < digests.size(); ++i) {
    if (!digests[i].ok()) return digests[i].error();
    workspace->checkout[i].sha256 = digests[i]->sha256;
  }
  return {};
}

Result<std::optional<Obstacle>> PlaceCode(const Manifest& manifest, const Places& places,
                                          Workspace* workspace) {
  const Code& code = manifest.code;
  if (code.files.empty() && code.commit.empty()) return std::optional<Obstacle>();
  const auto repository = Locate(places, code.repository.empty() ? "." : code.repository);
  if (!repository.ok()) {
    return Blocked("code", fmt::format("repository: {}", repository.error().message));
  }
  if (!code.files.empty()) return PlaceCodeFiles(manifest, *repository, workspace);
  return CheckOut(manifest, *repository, workspace);
}

Remark Changed(std::string_view layer, std::string subject, std::string observed,
               std::string recorded) {
  return Remark{.code = fmt::format("{}_changed_during_run", layer),
                .layer = std::string(layer),
                .subject = subject,
                .observed = std::move(observed),
                .limit = std::move(recorded),
                .message = fmt::format("{} changed while the run was using it", subject)};
}

}  // namespace

Result<fs::path> Locate(const Places& places, const std::string& location) {
  std::size_t best = 0;
  fs::path mapped;
  for (const auto& [from, to] : places.maps) {
    const bool below =
        location == from || location.starts_with(from.ends_with('/') ? from : from + "/");
    if (!below || from.size() < best || from.empty()) continue;
    std::string rest = location.substr(from.size());
    while (rest.starts_with('/')) rest.erase(0, 1);
    if (!rest.empty()) {
      ASSIGN_OR_RETURN(const fs::path safe, SafeRelativePath(rest, location));
      mapped = to / safe;
    } else {
      mapped = to;
    }
    best = from.size();
  }
  if (best > 0) return mapped;
  if (location.find("://") != std::string::npos) {
    return Unsupported(
        fmt::format("'{}' is no local path; say where it lies here with --map {}=DIR",
                    TerminalSafe(location), TerminalSafe(location)));
  }
  const fs::path path(location);
  if (path.is_absolute()) return path.lexically_normal();
  if (location == "." || location == "./") return places.root;
  ASSIGN_OR_RETURN(const fs::path safe, SafeRelativePath(location, location));
  return places.root / safe;
}

Result<Workspace> PrepareWorkspace(const Manifest& manifest, const fs::path& path,
                                   const Places& places, ContentCache* cache) {
  Workspace workspace{.path = path};
  RETURN_IF_ERROR(RemoveTree(path));
  RETURN_IF_ERROR(MakeDirectories(path));
  ASSIGN_OR_RETURN(workspace.obstacle, PlaceCode(manifest, places, &workspace));
  if (workspace.obstacle) return workspace;
  for (const DataItem& item : manifest.data) {
    ASSIGN_OR_RETURN(workspace.obstacle, PlaceData(manifest, item, places, &workspace));
    if (!workspace.obstacle) {
      ASSIGN_OR_RETURN(workspace.obstacle, VerifyData(manifest, item, &workspace, cache));
    }
    if (workspace.obstacle) return workspace;
  }
  RETURN_IF_ERROR(HashCheckout(manifest, &workspace));
  const Status made = MakeDirectoriesBelow(path, manifest.working_directory);
  if (!made.ok()) {
    ASSIGN_OR_RETURN(workspace.obstacle, BlockedBy("code", "", made.error()));
  }
  return workspace;
}

Result<std::vector<Remark>> VerifyAfterRun(const Manifest& manifest, const Workspace& workspace,
                                           ContentCache* cache) {
  std::vector<Remark> remarks;
  for (const DataItem& item : workspace.data) {
    const auto content = cache->Hash(PlaceOf(manifest, workspace, item));
    if (!content.ok() && IsTrouble(content.error())) return content.error();
    const std::string observed = content.ok() ? content->sha256 : content.error().ToString();
    if (observed != item.sha256) {
      remarks.push_back(
          Changed("data", fmt::format("data '{}'", item.name), observed, item.sha256));
    }
  }
  std::vector<CodeFile> code = workspace.code_files;
  code.insert(code.end(), workspace.checkout.begin(), workspace.checkout.end());
  for (const CodeFile& file : code) {
    const auto digest = HashFile(workspace.path / file.path);
    if (!digest.ok() && IsTrouble(digest.error())) return digest.error();
    const std::string observed = digest.ok() ? digest->sha256 : digest.error().ToString();
    if (observed != file.sha256) {
      remarks.push_back(
          Changed("code", fmt::format("code file '{}'", file.path), observed, file.sha256));
    }
  }
  return remarks;
}

}  // namespace rharness
