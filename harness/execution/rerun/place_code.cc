// Listed files from the work tree or the commit, or the whole commit.
#include "harness/execution/rerun/place_code.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/trouble.h"
#include "harness/execution/rerun/kept_files.h"
#include "harness/execution/rerun/tree_diff.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// The files of the recorded commit, in a folder of the workspace that is removed before the run;
// written on the first request.
class CommitFiles {
 public:
  CommitFiles(const Manifest& manifest, const fs::path& repository, const Places& places,
              const CheckoutLimits& limits, const fs::path& workspace)
      : commit_(manifest.code.commit),
        repository_(repository),
        places_(places),
        limits_(limits),
        folder_(workspace / ".rharness-commit") {}
  CommitFiles(const CommitFiles&) = delete;
  CommitFiles& operator=(const CommitFiles&) = delete;
  ~CommitFiles() {
    if (!written_) return;
    const Status removed = RemoveTree(folder_);
    if (!removed.ok()) LogWarning(removed.error().ToString());
  }

  // The place of the file with the recorded hash; nothing, with why_not set, if there is none.
  // Errors: trouble.
  Result<std::optional<fs::path>> Find(const CodeFile& file) {
    const std::optional<fs::path> nowhere;
    if (commit_.empty()) return nowhere;
    RETURN_IF_ERROR(Write());
    if (!why_not_.empty()) return nowhere;
    const auto place = ResolveBelow(folder_, file.path);
    if (!place.ok()) {
      why_not_here_ = fmt::format("commit {} has no such file", commit_);
      return nowhere;
    }
    const auto digest = HashFile(*place);
    if (!digest.ok() && IsTrouble(digest.error())) return digest.error();
    if (digest.ok() && digest->sha256 == file.sha256) return std::optional(*place);
    why_not_here_ = fmt::format("nor is that of commit {}", commit_);
    return nowhere;
  }

  // Behind a sentence; empty: there is no commit to look in.
  std::string WhyNot() const {
    const std::string& why = why_not_.empty() ? why_not_here_ : why_not_;
    return why.empty() ? "" : "; " + why;
  }

 private:
  Status Write() {
    if (written_) return {};
    written_ = true;
    RETURN_IF_ERROR(RemoveTree(folder_));
    RETURN_IF_ERROR(MakeDirectories(folder_));
    const auto checkout = CheckOutCommit(repository_, commit_, folder_, places_, limits_);
    if (checkout.ok()) return {};
    if (IsTrouble(checkout.error())) return checkout.error();
    why_not_ = checkout.error().ToString();
    return {};
  }

  const std::string commit_;
  const fs::path& repository_;
  const Places& places_;
  const CheckoutLimits& limits_;
  const fs::path folder_;
  bool written_ = false;
  std::string why_not_;       // of the commit
  std::string why_not_here_;  // of the file that was asked for last
};

// The file of the work tree, if it has the recorded hash; else why not.
Result<std::optional<fs::path>> FindInTree(const fs::path& repository, const CodeFile& file,
                                           std::string* why_not) {
  const std::string name = fmt::format("code file '{}'", file.path);
  const auto refuse = [&](std::string why) {
    *why_not = std::move(why);
    return std::optional<fs::path>();
  };
  const auto source = ResolveBelow(repository, file.path);
  if (!source.ok()) {
    if (IsTrouble(source.error())) return source.error();
    return refuse(name + ": " + source.error().ToString());
  }
  std::error_code error;
  const fs::file_status type = fs::status(*source, error);
  if (error) {
    const Error unseen = PathError("cannot look", error.value(), *source);
    if (IsTrouble(unseen)) return unseen;
    return refuse(name + ": " + unseen.ToString());
  }
  if (!fs::is_regular_file(type)) return refuse(name + " is no regular file");
  const auto digest = HashFile(*source);
  if (!digest.ok()) {
    if (IsTrouble(digest.error())) return digest.error();
    return refuse(digest.error().ToString());
  }
  if (digest->sha256 == file.sha256) return std::optional(*source);
  return refuse(fmt::format("{} is not the recorded one: sha256 {}, recorded {}", name,
                            digest->sha256, file.sha256));
}

Result<FileDigest> CopyFile(const fs::path& from, const fs::path& to) {
  RETURN_IF_ERROR(MakeDirectories(to.parent_path()));
  std::error_code error;
  fs::copy_file(from, to, error);
  if (error) return IoErrorFromErrno("cannot copy to " + to.string(), error.value(), from.string());
  return HashFile(to);
}

// Copies the listed code files, each proved by its hash.
Result<std::optional<Obstacle>> PlaceCodeFiles(const Manifest& manifest, const fs::path& repository,
                                               const Places& places, const CheckoutLimits& limits,
                                               Workspace* workspace) {
  CommitFiles commit(manifest, repository, places, limits, workspace->path);
  for (const CodeFile& file : manifest.code.files) {
    std::string why_not;
    ASSIGN_OR_RETURN(auto source, FindInTree(repository, file, &why_not));
    if (!source) {
      ASSIGN_OR_RETURN(source, commit.Find(file));
      if (!source) return Blocked(Layer::kCode, why_not + commit.WhyNot());
      workspace->remarks.push_back(
          {.code = "code_from_commit",
           .subject = fmt::format("code file '{}'", file.path),
           .message = fmt::format("code file '{}' was taken from commit {}: the work tree has a "
                                  "different one by now, or none",
                                  file.path, manifest.code.commit)});
    }
    const auto digest = CopyFile(*source, workspace->path / file.path);
    if (!digest.ok()) return BlockedBy(Layer::kCode, "", digest.error());
    workspace->code_files.push_back(CodeFile{file.path, digest->sha256});
    if (digest->sha256 != file.sha256) {  // changed meanwhile
      return Blocked(Layer::kCode, fmt::format("code file '{}' is not the recorded one: sha256 {}, "
                                               "recorded {}",
                                               file.path, digest->sha256, file.sha256));
    }
  }
  return std::optional<Obstacle>();
}

// Writes the files of the recorded commit. A local failure that says nothing about the commit
// remains an Error.
Result<std::optional<Obstacle>> PlaceCommit(const Manifest& manifest, const fs::path& repository,
                                            const Places& places, const CheckoutLimits& limits,
                                            Workspace* workspace) {
  const Code& code = manifest.code;
  if (code.dirty && code.kept_diff_sha256.empty()) {
    return Blocked(Layer::kCode,
                   fmt::format("recorded from a changed work tree (diff sha256 {}), and "
                               "neither its diff is kept nor are code files listed to "
                               "rebuild it from",
                               code.diff_sha256.empty() ? "unknown" : code.diff_sha256));
  }
  auto checkout = CheckOutCommit(repository, code.commit, workspace->path, places, limits);
  if (!checkout.ok()) {
    if (IsTrouble(checkout.error())) return checkout.error();
    return Blocked(Layer::kCode, fmt::format("repository {}: {}", repository.string(),
                                             checkout.error().ToString()));
  }
  if (code.dirty) {
    const auto diff = ReadKept(manifest, code.kept_diff_sha256, places);
    const Status applied =
        diff.ok() ? ApplyTreeDiff(*diff, repository, workspace->path, places, limits, &*checkout)
                  : Status(diff.error());
    if (!applied.ok())
      return BlockedBy(Layer::kCode, "the changes of the work tree: ", applied.error());
    workspace->code_diff_sha256 = code.kept_diff_sha256;
  }
  workspace->checkout = std::move(checkout->files);
  for (const std::string& path : checkout->absent_submodules) {
    workspace->remarks.push_back(
        {.code = "submodule_absent",
         .subject = fmt::format("submodule '{}'", path),
         .message = fmt::format("submodule '{}' is not in {}; its folder is empty", path,
                                repository.string())});
  }
  workspace->code_commit = code.commit;
  return std::optional<Obstacle>();
}

}  // namespace

Result<std::optional<Obstacle>> PlaceCode(const Manifest& manifest, const Places& places,
                                          const CheckoutLimits& limits, Workspace* workspace) {
  const Code& code = manifest.code;
  if (code.files.empty() && code.commit.empty()) return std::optional<Obstacle>();
  const auto repository = Locate(places, code.repository.empty() ? "." : code.repository);
  if (!repository.ok()) {
    return Blocked(Layer::kCode, fmt::format("repository: {}", repository.error().message));
  }
  if (!code.files.empty()) return PlaceCodeFiles(manifest, *repository, places, limits, workspace);
  return PlaceCommit(manifest, *repository, places, limits, workspace);
}

}  // namespace rharness
