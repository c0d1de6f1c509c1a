// Queries a repository by git without its configuration.
//
// Role: all calls of git go through here. Git gets a repository of our own that borrows the objects
// of the other: without filters, hooks, aliases, file monitors and drivers of the repository, the
// user or the machine, with attributes that turn every conversion off, and without locks, prompts
// and network. The owner of the other repository does not matter (safe.directory): that check
// guards against a configuration that is not read here.
#ifndef RHARNESS_HARNESS_BASE_BORROWED_REPOSITORY_H_
#define RHARNESS_HARNESS_BASE_BORROWED_REPOSITORY_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/folder_lock.h"
#include "harness/base/result.h"
#include "harness/base/subprocess.h"

namespace rharness {

// Where a repository keeps its things.
struct GitFolders {
  std::filesystem::path own;     // HEAD and index of this work tree
  std::filesystem::path common;  // refs and configuration, of all its work trees
  std::filesystem::path objects;
};

// Of a work tree, a linked one, a submodule or a bare repository; found without git, which would
// read its configuration. Errors: not_found (no repository), io.
Result<GitFolders> FindGitFolders(const std::filesystem::path& repository);

// Limits of one call of git.
struct GitLimits {
  std::uint64_t output_bytes = std::uint64_t{256} << 20;  // git is stopped if it prints more
  std::function<bool()> should_cancel;  // polled about ten times a second; may be empty
  std::uint64_t memory_bytes = 0;       // of git; 0: no limit
  std::uint64_t disk_bytes = 0;         // of the work tree; 0: no limit
};

class BorrowedRepository {
 public:
  // Objects alone: no commit is checked out, and there is no index and no ref.
  static Result<BorrowedRepository> OfObjects(const std::filesystem::path& objects, GitHash hash,
                                              const std::filesystem::path& work_tree,
                                              GitLimits limits = {});
  // With HEAD, refs and index of the repository at `root`, read-only. Keeps from its configuration
  // the format of objects and refs and whether modes of files count. Errors: those of
  // FindGitFolders; process: git is not installed.
  static Result<BorrowedRepository> OfWorkTree(const std::filesystem::path& root);

  ProcessResult Run(const std::vector<std::string>& arguments) const;
  // The output of git. Errors: those of Failure; unsupported (it prints more than the limit).
  Result<std::string> Ask(const std::vector<std::string>& arguments) const;
  // Errors: integrity: the repository's data are at fault; process, timeout: git failed or was
  // cancelled, which is no answer to the question.
  static Error Failure(const std::string& verb, const ProcessResult& result);

 private:
  BorrowedRepository(ScopedTempDir folder, std::filesystem::path work_tree)
      : folder_(std::move(folder)), work_tree_(std::move(work_tree)) {}
  static Result<BorrowedRepository> Make(const std::filesystem::path& objects,
                                         const std::filesystem::path& work_tree);
  Status Configure(std::string_view hash, std::string_view refs, std::string_view file_mode) const;

  ScopedTempDir folder_;
  std::optional<FolderLock> lock_;  // of it
  std::filesystem::path work_tree_;
  GitLimits limits_;
  std::map<std::string, std::string> borrowed_;  // further variables: paths of objects and index
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_BORROWED_REPOSITORY_H_
