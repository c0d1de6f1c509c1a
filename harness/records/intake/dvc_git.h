// The git repository around a DVC repository: its commit, DVC's experiments, files of commits.
//
// Role: private to DVC's importer. Git reads none of the repository's configuration and writes
// nothing (base/borrowed_repository.h); nothing is checked out.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_DVC_GIT_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_DVC_GIT_H_

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/base/borrowed_repository.h"

namespace rharness {

inline constexpr std::size_t kMostDvcExperiments = 10'000;

struct DvcExperiment {  // refs/exps/BA/SELINE/NAME
  std::string name;
  std::string commit;
  std::string baseline;  // the commit that it started from
};

class DvcGit {
 public:
  // Of the folder, or the nearest one above it with .git. Empty: there is none. Errors: those of
  // BorrowedRepository::OfWorkTree.
  static Result<std::optional<DvcGit>> Open(const std::filesystem::path& folder);

  const std::filesystem::path& root() const { return root_; }
  const std::string& prefix() const { return prefix_; }  // of the folder below root(): "" or "a/b/"
  std::string Head() const;                              // "" before the first commit
  // By name; ignores other forms (queues, stashes). Errors: process, unsupported (more than
  // kMostDvcExperiments).
  Result<std::vector<DvcExperiment>> Experiments() const;

  // A file of a commit by its path below the folder. Errors: not_found, process, invalid_input
  // (longer than most).
  Result<std::string> Read(const std::string& commit, const std::string& path,
                           std::size_t most) const;
  // DVC's digest of the path as it is in the commit: the MD5 of a file, or of a directory with
  // ".dir"; "" if the commit has none there, or links in it, or more than 4096 files. Cached.
  // `dos2unix`: as DVC before 3.0, which treats CRLF in texts as LF.
  const std::string& Md5Of(const std::string& commit, const std::string& path, bool dos2unix);

 private:
  DvcGit(BorrowedRepository git, std::filesystem::path root, std::string prefix)
      : git_(std::move(git)), root_(std::move(root)), prefix_(std::move(prefix)) {}
  Result<std::string> HashTreeOf(const std::string& commit, const std::string& path,
                                 bool dos2unix) const;

  BorrowedRepository git_;
  std::filesystem::path root_;
  std::string prefix_;
  std::map<std::tuple<std::string, std::string, bool>, std::string> md5s_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_DVC_GIT_H_
