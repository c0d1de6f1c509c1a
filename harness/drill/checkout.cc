// Git is asked through a repository of our own that borrows the objects: a configuration without
// filters, attributes that turn every conversion off, and an index of its own.
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
#include "harness/base/subprocess.h"
#include "harness/base/trouble.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr auto kGitTimeout = std::chrono::minutes(10);
constexpr std::uint64_t kGitOutputBytes = std::uint64_t{256} << 20;  // of a list of files
constexpr int kDeepestSubmodule = 8;

GitHash HashOf(const std::string& name) {
  return name.size() == 64 ? GitHash::kSha256 : GitHash::kSha1;
}

// The first line of a small file that git keeps for itself.
Result<std::string> FirstLine(const fs::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, PATH_MAX));
  return text.substr(0, text.find_first_of("\r\n"));
}

// Where a repository keeps its objects, be it a work tree, a linked one, a submodule or bare.
// Found without git, which would read the repository's configuration.
Result<fs::path> ObjectsOf(const fs::path& repository) {
  std::error_code error;
  fs::path git = repository / ".git";
  if (fs::is_regular_file(git, error)) {
    constexpr std::string_view kPointer = "gitdir: ";
    ASSIGN_OR_RETURN(const std::string line, FirstLine(git));
    if (line.starts_with(kPointer)) git = repository / line.substr(kPointer.size());
  } else if (!fs::is_directory(git, error)) {
    git = repository;
  }
  if (fs::is_regular_file(git / "commondir", error)) {
    ASSIGN_OR_RETURN(const std::string line, FirstLine(git / "commondir"));
    git /= line;
  }
  if (!fs::is_directory(git / "objects", error) || !fs::exists(git / "HEAD", error)) {
    return NotFound("is no git repository", repository.string());
  }
  const fs::path objects = fs::canonical(git / "objects", error);
  if (error) return IoError("cannot resolve: " + error.message(), (git / "objects").string());
  return objects;
}

// A repository without anything of its own.
class BorrowedRepository {
 public:
  static Result<BorrowedRepository> Make(fs::path objects, GitHash hash, fs::path work_tree) {
    ASSIGN_OR_RETURN(ScopedTempDir folder, ScopedTempDir::Make("rharness-git-"));
    const fs::path& git = folder.path();
    RETURN_IF_ERROR(MakeDirectories(git / "refs"));
    RETURN_IF_ERROR(MakeDirectories(git / "info"));
    RETURN_IF_ERROR(WriteFileAtomic(git / "HEAD", "ref: refs/heads/none\n"));
    // The first of all places where attributes are looked for.
    RETURN_IF_ERROR(WriteFileAtomic(git / "info" / "attributes",
                                    "* -text -eol -crlf -ident -filter -working-tree-encoding\n"));
    const bool sha256 = hash == GitHash::kSha256;
    RETURN_IF_ERROR(WriteFileAtomic(
        git / "config",
        fmt::format("[core]\nrepositoryformatversion = {}\nbare = false\nhooksPath = /dev/null\n"
                    "fsmonitor = false\nattributesFile = /dev/null\nsymlinks = true\n"
                    "[protocol]\nallow = never\n{}",
                    sha256 ? 1 : 0, sha256 ? "[extensions]\nobjectFormat = sha256\n" : "")));
    return BorrowedRepository(std::move(folder), std::move(objects), std::move(work_tree));
  }

  ProcessResult Run(const std::vector<std::string>& arguments) const {
    const std::string git = folder_.path().string();
    ProcessSpec spec{.argv = {"git"}, .environment = PickEnvironment({"PATH"})};
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    spec.working_directory = work_tree_;
    spec.environment.insert({{"HOME", git},
                             {"XDG_CONFIG_HOME", git},
                             {"LC_ALL", "C.UTF-8"},
                             {"GIT_DIR", git},
                             {"GIT_WORK_TREE", work_tree_.string()},
                             {"GIT_OBJECT_DIRECTORY", objects_.string()},
                             {"GIT_CONFIG_NOSYSTEM", "1"},
                             {"GIT_CONFIG_SYSTEM", "/dev/null"},
                             {"GIT_CONFIG_GLOBAL", "/dev/null"},
                             {"GIT_ATTR_NOSYSTEM", "1"},
                             {"GIT_NO_REPLACE_OBJECTS", "1"},
                             {"GIT_NO_LAZY_FETCH", "1"},
                             {"GIT_ALLOW_PROTOCOL", "none"},
                             {"GIT_OPTIONAL_LOCKS", "0"},
                             {"GIT_TERMINAL_PROMPT", "0"}});
    ProcessLimits limits;
    limits.timeout = kGitTimeout;
    limits.output_bytes = kGitOutputBytes;
    return RunProcess(spec, limits);
  }

  // What git prints. Errors: process, timeout: git failed, which says nothing of the commit.
  Result<std::string> Ask(const std::vector<std::string>& arguments) const {
    ProcessResult result = Run(arguments);
    if (!result.outcome.Succeeded()) return Failure(arguments.front(), result);
    if (result.stdout_bytes != result.stdout_text.size()) {
      return Unsupported(fmt::format("git {} printed {} bytes; expected at most {}",
                                     arguments.front(), result.stdout_bytes, kGitOutputBytes));
    }
    return std::move(result.stdout_text);
  }

  static Error Failure(const std::string& verb, const ProcessResult& result) {
    std::string complaint = result.stderr_text;
    std::replace(complaint.begin(), complaint.end(), '\n', ' ');
    complaint.erase(complaint.find_last_not_of(' ') + 1);
    std::string message = fmt::format("git {} {}{}{}", verb, result.outcome.ToString(),
                                      complaint.empty() ? "" : ": ", TerminalSafe(complaint));
    if (result.outcome.kind == OutcomeKind::kTimedOut) return TimeoutError(std::move(message));
    return ProcessError(std::move(message));
  }

 private:
  BorrowedRepository(ScopedTempDir folder, fs::path objects, fs::path work_tree)
      : folder_(std::move(folder)),
        objects_(std::move(objects)),
        work_tree_(std::move(work_tree)) {}

  ScopedTempDir folder_;
  fs::path objects_;
  fs::path work_tree_;
};

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
  ASSIGN_OR_RETURN(const fs::path objects, ObjectsOf(repository));
  ASSIGN_OR_RETURN(const BorrowedRepository git,
                   BorrowedRepository::Make(objects, HashOf(commit), folder));
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
      const bool here = depth < kDeepestSubmodule && ObjectsOf(repository / entry.path).ok();
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
