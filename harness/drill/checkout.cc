// Git lists and writes the files; that they are the commit's is found by hashing them.
#include "harness/drill/checkout.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <map>
#include <sstream>
#include <string_view>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/trouble.h"
#include "harness/drill/borrowed_repository.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepestSubmodule = 8;

GitHash HashOf(const std::string& name) {
  return name.size() == 64 ? GitHash::kSha256 : GitHash::kSha1;
}

struct TreeEntry {
  std::string mode;  // six octal digits
  std::string name;
  std::uint64_t size_bytes = 0;  // of a file or link
  std::string path;
};

// Lines "MODE TYPE NAME SIZE<tab>PATH<nul>", the size padded by blanks and "-" for what has none.
Result<std::vector<TreeEntry>> ParseListing(std::string_view text) {
  std::vector<TreeEntry> entries;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t tab = line.find('\t');
    std::istringstream words{std::string(line.substr(0, tab))};
    TreeEntry entry;
    std::string type;
    std::string size;
    if (tab == std::string_view::npos || !(words >> entry.mode >> type >> entry.name >> size)) {
      return ProcessError("git ls-tree: a line is not understood: " + TerminalSafe(line));
    }
    std::from_chars(size.data(), size.data() + size.size(), entry.size_bytes);
    entry.path = line.substr(tab + 1);
    entries.push_back(std::move(entry));
  }
  return entries;
}

// Why git could not write the files: it does not say when the disk is full.
Error WhyNotWritten(const std::vector<TreeEntry>& entries, const fs::path& folder,
                    const Error& complaint) {
  std::uint64_t needed_bytes = 0;
  for (const TreeEntry& entry : entries) needed_bytes += entry.size_bytes;
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return complaint;
  const std::uint64_t free_bytes = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  const bool no_names_left = disk.f_files > 0 && disk.f_favail == 0;
  if (needed_bytes <= free_bytes && !no_names_left) return complaint;
  return IoErrorFromErrno(
      fmt::format("{}: {} bytes to write, {} free", complaint.ToString(), needed_bytes, free_bytes),
      ENOSPC, folder.string());
}

std::string Unhex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  }
  return bytes;
}

Error NotItsName(std::string_view what, const std::string& name) {
  return IntegrityError(
      fmt::format("{} is not what its name {} says; the repository is damaged or "
                  "forged (git fsck)",
                  what, name));
}

// Every folder of the listing must hash to its name: then the names of files are the commit's.
Status CheckTrees(const std::vector<TreeEntry>& entries, const std::string& root) {
  const GitHash hash = HashOf(root);
  std::map<std::string, std::string> contents;  // of each folder, as git keeps it
  for (const TreeEntry& entry : entries) {
    const std::size_t slash = entry.path.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : entry.path.substr(0, slash);
    const std::string leaf = entry.path.substr(slash == std::string::npos ? 0 : slash + 1);
    contents[folder] += fmt::format("{} {}", entry.mode.substr(entry.mode[0] == '0'), leaf) + '\0' +
                        Unhex(entry.name);
  }
  if (GitObjectName("tree", contents[""], hash) != root) return NotItsName("the tree", root);
  for (const TreeEntry& entry : entries) {
    if (entry.mode != "040000") continue;
    if (GitObjectName("tree", contents[entry.path], hash) != entry.name) {
      return NotItsName("folder " + TerminalSafe(entry.path), entry.name);
    }
  }
  return {};
}

// The name of the commit's tree, from the commit itself.
Result<std::string> TreeOf(const BorrowedRepository& git, const std::string& commit,
                           const fs::path& repository) {
  constexpr int kAbsent = 1;
  const ProcessResult there = git.Run({"cat-file", "-e", commit});
  if (there.outcome.kind == OutcomeKind::kExited && there.outcome.exit_code == kAbsent &&
      IsAnswer(there)) {
    return NotFound(fmt::format("commit {} is not in {}", commit, repository.string()));
  }
  if (!there.outcome.Succeeded()) return BorrowedRepository::Failure("cat-file", there);
  ASSIGN_OR_RETURN(const std::string text, git.Ask({"cat-file", "commit", commit}));
  constexpr std::string_view kTree = "tree ";
  if (GitObjectName("commit", text, HashOf(commit)) != commit || !text.starts_with(kTree)) {
    return NotItsName("the commit", commit);
  }
  return text.substr(kTree.size(), commit.size());
}

Status CheckOutInto(const fs::path& repository, const std::string& commit, const fs::path& folder,
                    const std::string& prefix, int depth, Checkout* checkout) {
  if (commit.size() != 40 && commit.size() != 64) {
    return InvalidInput(
        fmt::format("commit {} has no full name; expected 40 or 64 hex digits", commit));
  }
  ASSIGN_OR_RETURN(const GitFolders theirs, FindGitFolders(repository));
  ASSIGN_OR_RETURN(const BorrowedRepository git,
                   BorrowedRepository::OfObjects(theirs.objects, HashOf(commit), folder));
  ASSIGN_OR_RETURN(const std::string tree, TreeOf(git, commit, repository));
  ASSIGN_OR_RETURN(const std::string listing,
                   git.Ask({"ls-tree", "-r", "-t", "-l", "-z", "--full-tree", tree}));
  ASSIGN_OR_RETURN(const std::vector<TreeEntry> entries, ParseListing(listing));
  RETURN_IF_ERROR(CheckTrees(entries, tree));
  for (const auto& step : std::array<std::vector<std::string>, 2>{
           {{"read-tree", tree}, {"checkout-index", "--all", "--quiet"}}}) {
    const auto done = git.Ask(step);
    if (!done.ok()) return WhyNotWritten(entries, folder, done.error());
  }
  ASSIGN_OR_RETURN(const HeldFolder held, HeldFolder::Open(folder));
  for (const TreeEntry& entry : entries) {
    if (entry.mode == "040000") continue;
    if (entry.mode == "160000") {
      const bool here = depth < kDeepestSubmodule && FindGitFolders(repository / entry.path).ok();
      if (!here) {
        checkout->absent_submodules.push_back(prefix + entry.path);
        continue;
      }
      RETURN_IF_ERROR(MakeDirectoriesBelow(folder, entry.path));
      RETURN_IF_ERROR(CheckOutInto(repository / entry.path, entry.name, folder / entry.path,
                                   prefix + entry.path + "/", depth + 1, checkout));
      continue;
    }
    TreeFile file{.path = entry.path, .link = entry.mode == "120000", .name = entry.name};
    ASSIGN_OR_RETURN(const std::string name, NameOf(file, held));
    if (name != file.name) return NotItsName("file " + TerminalSafe(file.path), file.name);
    file.path = prefix + file.path;
    checkout->files.push_back(std::move(file));
  }
  return {};
}

// The target of a link below the folder.
Result<std::string> TargetOf(const fs::path& path, const HeldFolder& folder) {
  const Descriptor parent(OpenBelow(folder.fd(), path.parent_path(), O_PATH | O_DIRECTORY));
  std::array<char, PATH_MAX> target{};
  const ssize_t size = !parent.valid() ? -1
                                       : ::readlinkat(parent.get(), path.filename().c_str(),
                                                      target.data(), target.size());
  if (size < 0) return IoErrorFromErrno("cannot read link", errno, (folder.path() / path).string());
  return std::string(target.data(), static_cast<std::size_t>(size));
}

}  // namespace

Result<std::string> NameOf(const TreeFile& file, const HeldFolder& folder) {
  const GitHash hash = HashOf(file.name);
  if (file.link) {
    ASSIGN_OR_RETURN(const std::string target, TargetOf(file.path, folder));
    return GitObjectName("blob", target, hash);
  }
  ASSIGN_OR_RETURN(const OpenedFile opened, folder.OpenFile(file.path));
  auto name = GitBlobName(opened, hash);
  if (name.ok()) return name;
  Error error = name.error();
  error.where = (folder.path() / file.path).string();
  return error;
}

Result<Checkout> CheckOutCommit(const fs::path& repository, const std::string& commit,
                                const fs::path& folder) {
  Checkout checkout;
  RETURN_IF_ERROR(CheckOutInto(repository, commit, folder, "", 0, &checkout));
  return checkout;
}

}  // namespace rharness
