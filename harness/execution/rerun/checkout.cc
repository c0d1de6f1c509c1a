// Git lists and writes the files; that they are the commit's is found by hashing them.
#include "harness/execution/rerun/checkout.h"

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
#include <set>
#include <sstream>
#include <string_view>

#include "harness/base/borrowed_repository.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/trouble.h"
#include "harness/execution/rerun/git_objects.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kBlockBytes = 4096;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;

GitHash HashOf(const std::string& name) {
  return name.size() == 64 ? GitHash::kSha256 : GitHash::kSha1;
}

struct TreeEntry {
  std::string mode;  // six octal digits
  std::string name;
  std::uint64_t size_bytes = 0;  // of a file or link
  std::string path;
};

// Lines "MODE TYPE NAME SIZE<tab>PATH<nul>", the size padded by blanks and "-" without one.
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

// What the files take on a disk, at least a block each.
std::uint64_t BlocksOf(const std::vector<TreeEntry>& entries) {
  std::uint64_t bytes = 0;
  for (const TreeEntry& entry : entries) {
    const std::uint64_t blocks = std::max<std::uint64_t>(
        1, entry.size_bytes / kBlockBytes + (entry.size_bytes % kBlockBytes > 0));
    bytes += std::min(blocks, kMostBytes / kBlockBytes) * kBlockBytes;
    if (bytes > kMostBytes) return kMostBytes;
  }
  return bytes;
}

// Why git could not write the files: it does not say when the disk is full.
Error WhyNotWritten(std::uint64_t needed_bytes, const fs::path& folder, const Error& complaint) {
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

// Every folder of the listing must hash to its name: then the names of files are the commit's. What
// has a name twice is no tree.
Status CheckTrees(const std::vector<TreeEntry>& entries, const std::string& root) {
  const GitHash hash = HashOf(root);
  std::map<std::string, std::string> contents;  // of each folder, as git keeps it
  std::set<std::string_view> seen;
  for (const TreeEntry& entry : entries) {
    if (!seen.insert(entry.path).second) {
      return IntegrityError(fmt::format("the tree {} has {} twice; expected every name once", root,
                                        TerminalSafe(entry.path)));
    }
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

// A commit, and then those of its submodules.
class CommitWriter {
 public:
  CommitWriter(const Places& places, const CheckoutLimits& limits)
      : places_(places), limits_(limits) {}

  // The path of `folder` below the checkout is `prefix`: empty, or with a slash at its end.
  Status Write(const fs::path& repository, const std::string& commit, const fs::path& folder,
               const std::string& prefix, int depth) {
    if (commit.size() != 40 && commit.size() != 64) {
      return InvalidInput(
          fmt::format("commit {} has no full name; expected 40 or 64 hex digits", commit));
    }
    ASSIGN_OR_RETURN(const fs::path objects, ObjectsOf(repository, places_));
    ASSIGN_OR_RETURN(const BorrowedRepository git,
                     BorrowedRepository::OfObjects(objects, HashOf(commit), folder,
                                                   {limits_.listing_bytes, limits_.should_cancel}));
    ASSIGN_OR_RETURN(const std::string tree, TreeOf(git, commit, repository));
    ASSIGN_OR_RETURN(const std::vector<TreeEntry> entries, List(git, tree));
    for (const auto& step : std::array<std::vector<std::string>, 2>{
             {{"read-tree", tree}, {"checkout-index", "--all", "--quiet"}}}) {
      const auto done = git.Ask(step);
      if (!done.ok()) return WhyNotWritten(BlocksOf(entries), folder, done.error());
    }
    ASSIGN_OR_RETURN(const HeldFolder held, HeldFolder::Open(folder));
    for (const TreeEntry& entry : entries) {
      if (limits_.should_cancel && limits_.should_cancel()) {
        return ProcessError("was cancelled while its files were verified", commit);
      }
      if (entry.mode == "160000") {
        RETURN_IF_ERROR(WriteSubmodule(repository, entry, folder, prefix, depth));
      } else if (entry.mode != "040000") {
        RETURN_IF_ERROR(Verify(entry, held, prefix));
      }
    }
    return {};
  }

  Checkout checkout() && { return std::move(checkout_); }

 private:
  // Everything in the tree, if it may be written.
  Result<std::vector<TreeEntry>> List(const BorrowedRepository& git, const std::string& tree) {
    ASSIGN_OR_RETURN(const std::string listing,
                     git.Ask({"ls-tree", "-r", "-t", "-l", "-z", "--full-tree", tree}));
    ASSIGN_OR_RETURN(std::vector<TreeEntry> entries, ParseListing(listing));
    RETURN_IF_ERROR(CheckTrees(entries, tree));
    written_bytes_ = std::min(written_bytes_ + BlocksOf(entries), kMostBytes);
    if (limits_.disk_bytes > 0 && written_bytes_ > limits_.disk_bytes) {
      return InvalidInput(fmt::format("the commit's files take {} bytes; the limit is {}",
                                      written_bytes_, limits_.disk_bytes));
    }
    return entries;
  }

  Status WriteSubmodule(const fs::path& repository, const TreeEntry& entry, const fs::path& folder,
                        const std::string& prefix, int depth) {
    const fs::path inner = repository / entry.path;
    const auto objects = ObjectsOf(inner, places_);
    const bool absent = !objects.ok() && objects.error().code == ErrorCode::kNotFound;
    if (absent || depth == kDeepestSubmodule) {
      checkout_.absent_submodules.push_back(prefix + entry.path);
      return {};
    }
    RETURN_IF_ERROR(MakeDirectoriesBelow(folder, entry.path));
    return Write(inner, entry.name, folder / entry.path, prefix + entry.path + "/", depth + 1);
  }

  Status Verify(const TreeEntry& entry, const HeldFolder& held, const std::string& prefix) {
    TreeFile file{.path = entry.path, .link = entry.mode == "120000", .name = entry.name};
    ASSIGN_OR_RETURN(const std::string name, NameOf(file, held));
    if (name != file.name) return NotItsName("file " + TerminalSafe(file.path), file.name);
    file.path = prefix + file.path;
    checkout_.files.push_back(std::move(file));
    return {};
  }

  const Places& places_;
  const CheckoutLimits& limits_;
  std::uint64_t written_bytes_ = 0;
  Checkout checkout_;
};

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
                                const fs::path& folder, const Places& places,
                                const CheckoutLimits& limits) {
  CommitWriter writer(places, limits);
  RETURN_IF_ERROR(writer.Write(repository, commit, folder, "", 0));
  return std::move(writer).checkout();
}

}  // namespace rharness
