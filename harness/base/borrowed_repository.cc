// A folder that serves git as a repository, and git's environment for it.
#include "harness/base/borrowed_repository.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <system_error>

#include "harness/base/temp_leftovers.h"
#include "harness/base/trouble.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr auto kGitTimeout = std::chrono::minutes(10);

// The first line of a small file that git keeps for itself.
Result<std::string> FirstLine(const fs::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, PATH_MAX));
  return text.substr(0, text.find_first_of("\r\n"));
}

// "key value" lines of `git config --get-regexp`, the keys in lower case.
std::map<std::string, std::string> ParseSettings(std::string_view text) {
  std::map<std::string, std::string> settings;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t space = std::min(line.find(' '), line.size());
    settings[std::string(line.substr(0, space))] = line.substr(std::min(space + 1, line.size()));
  }
  return settings;
}

// A reading command fails for no other reason; a writing one does not say why it could not write.
bool IsOfTheObjects(std::string_view verb, const ProcessResult& failed) {
  const auto says = [&](std::string_view words) {
    return failed.stderr_text.find(words) != std::string::npos;
  };
  const bool only_reads = verb == "cat-file" || verb == "ls-tree";
  return IsAnswer(failed) && (says("invalid path") || (only_reads && !says("not a git repo")));
}

}  // namespace

Result<GitFolders> FindGitFolders(const fs::path& repository) {
  std::error_code error;
  fs::path git = repository / ".git";
  if (fs::is_regular_file(git, error)) {
    constexpr std::string_view kPointer = "gitdir: ";
    ASSIGN_OR_RETURN(const std::string line, FirstLine(git));
    if (line.starts_with(kPointer)) git = repository / line.substr(kPointer.size());
  } else if (!fs::is_directory(git, error)) {
    git = repository;
  }
  GitFolders folders{.own = git, .common = git, .objects = {}};
  if (fs::is_regular_file(git / "commondir", error)) {
    ASSIGN_OR_RETURN(const std::string line, FirstLine(git / "commondir"));
    folders.common = git / line;
  }
  const fs::path objects = folders.common / "objects";
  if (!fs::is_directory(objects, error) || !fs::exists(folders.common / "HEAD", error)) {
    return NotFound("is no git repository", repository.string());
  }
  folders.objects = fs::canonical(objects, error);
  if (error) return IoError("cannot resolve: " + error.message(), objects.string());
  return folders;
}

Result<BorrowedRepository> BorrowedRepository::Make(const fs::path& objects,
                                                    const fs::path& work_tree) {
  constexpr std::string_view kPrefix = "rharness-git-";
  RemoveLeftovers(kPrefix);
  ASSIGN_OR_RETURN(ScopedTempDir folder, ScopedTempDir::Make(kPrefix));
  ASSIGN_OR_RETURN(FolderLock lock, FolderLock::Take(folder.path()));
  RETURN_IF_ERROR(MakeDirectories(folder.path() / "info"));
  // git looks for attributes here first.
  RETURN_IF_ERROR(WriteFileAtomic(folder.path() / "info" / "attributes",
                                  "* -text -eol -crlf -ident -filter -working-tree-encoding\n"));
  BorrowedRepository git(std::move(folder), work_tree);
  git.lock_.emplace(std::move(lock));
  git.borrowed_["GIT_OBJECT_DIRECTORY"] = objects.string();
  return git;
}

Status BorrowedRepository::Configure(std::string_view hash, std::string_view refs,
                                     std::string_view file_mode) const {
  std::string extensions;
  if (hash != "sha1") extensions += fmt::format("objectFormat = {}\n", hash);
  if (refs != "files") extensions += fmt::format("refStorage = {}\n", refs);
  return WriteFileAtomic(
      folder_.path() / "config",
      fmt::format("[core]\nrepositoryformatversion = {}\nbare = false\nfileMode = {}\n"
                  "hooksPath = /dev/null\nfsmonitor = false\nattributesFile = /dev/null\n"
                  "excludesFile = /dev/null\nsymlinks = true\n[protocol]\nallow = never\n"
                  "[extensions]\n{}",
                  extensions.empty() ? 0 : 1, file_mode, extensions));
}

Result<BorrowedRepository> BorrowedRepository::OfObjects(const fs::path& objects, GitHash hash,
                                                         const fs::path& work_tree,
                                                         GitLimits limits) {
  ASSIGN_OR_RETURN(BorrowedRepository git, Make(objects, work_tree));
  git.limits_ = std::move(limits);
  const fs::path& own = git.folder_.path();
  RETURN_IF_ERROR(MakeDirectories(own / "refs"));
  RETURN_IF_ERROR(WriteFileAtomic(own / "HEAD", "ref: refs/heads/none\n"));
  RETURN_IF_ERROR(git.Configure(hash == GitHash::kSha256 ? "sha256" : "sha1", "files", "true"));
  return git;
}

Result<BorrowedRepository> BorrowedRepository::OfWorkTree(const fs::path& root) {
  ASSIGN_OR_RETURN(const GitFolders theirs, FindGitFolders(root));
  ASSIGN_OR_RETURN(BorrowedRepository git, Make(theirs.objects, root));
  const fs::path& own = git.folder_.path();
  ASSIGN_OR_RETURN(const std::string head, ReadFile(theirs.own / "HEAD", PATH_MAX));
  RETURN_IF_ERROR(WriteFileAtomic(own / "HEAD", head));
  std::error_code error;
  for (const char* name : {"refs", "packed-refs", "reftable"}) {
    const fs::path there = fs::absolute(theirs.common / name, error);
    if (!error && fs::exists(there, error)) fs::create_symlink(there, own / name, error);
    if (error) return IoError("cannot link: " + error.message(), (own / name).string());
  }
  git.borrowed_["GIT_INDEX_FILE"] = fs::absolute(theirs.own / "index", error).string();
  RETURN_IF_ERROR(git.Configure("sha1", "files", "true"));
  // Reads one file as text; includes are not followed.
  const ProcessResult asked = git.Run(
      {"config", "--file", fs::absolute(theirs.common / "config", error).string(), "--no-includes",
       "--get-regexp", "^(extensions\\.objectformat|extensions\\.refstorage|core\\.filemode)$"});
  if (asked.outcome.kind == OutcomeKind::kNotStarted) return Failure("config", asked);
  const auto settings = ParseSettings(asked.stdout_text);
  const auto choose = [&](const std::string& key, std::string_view usual, std::string_view other) {
    const auto found = settings.find(key);
    return found != settings.end() && found->second == other ? other : usual;
  };
  RETURN_IF_ERROR(git.Configure(choose("extensions.objectformat", "sha1", "sha256"),
                                choose("extensions.refstorage", "files", "reftable"),
                                choose("core.filemode", "true", "false")));
  return git;
}

ProcessResult BorrowedRepository::Run(const std::vector<std::string>& arguments) const {
  const std::string own = folder_.path().string();
  ProcessSpec spec{.argv = {"git"}, .environment = PickEnvironment({"PATH"})};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.working_directory = work_tree_;
  spec.environment.insert({{"HOME", own},
                           {"XDG_CONFIG_HOME", own},
                           {"LC_ALL", "C.UTF-8"},
                           {"GIT_DIR", own},
                           {"GIT_WORK_TREE", work_tree_.string()},
                           {"GIT_CONFIG_NOSYSTEM", "1"},
                           {"GIT_CONFIG_SYSTEM", "/dev/null"},
                           {"GIT_CONFIG_GLOBAL", "/dev/null"},
                           {"GIT_ATTR_NOSYSTEM", "1"},
                           {"GIT_NO_REPLACE_OBJECTS", "1"},
                           {"GIT_NO_LAZY_FETCH", "1"},
                           {"GIT_ALLOW_PROTOCOL", "none"},
                           {"GIT_OPTIONAL_LOCKS", "0"},
                           {"GIT_TERMINAL_PROMPT", "0"}});
  spec.environment.insert(borrowed_.begin(), borrowed_.end());
  ProcessLimits limits;
  limits.timeout = kGitTimeout;
  limits.output_bytes = limits_.output_bytes;
  limits.close_when_full = true;
  limits.memory_bytes = limits_.memory_bytes;
  limits.disk_bytes = limits_.disk_bytes;
  if (limits_.disk_bytes > 0) limits.disk_root = work_tree_;
  return RunProcess(spec, limits, {}, limits_.should_cancel);
}

Result<std::string> BorrowedRepository::Ask(const std::vector<std::string>& arguments) const {
  ProcessResult result = Run(arguments);
  if (result.stdout_bytes > limits_.output_bytes) {
    return Unsupported(fmt::format("git {} prints more than {} bytes; expected at most that",
                                   arguments.front(), limits_.output_bytes));
  }
  if (!result.outcome.Succeeded()) return Failure(arguments.front(), result);
  return std::move(result.stdout_text);
}

Error BorrowedRepository::Failure(const std::string& verb, const ProcessResult& result) {
  std::string complaint = result.stderr_text;
  std::replace(complaint.begin(), complaint.end(), '\n', ' ');
  complaint.erase(complaint.find_last_not_of(' ') + 1);
  std::string message = fmt::format("git {} {}{}{}", verb, result.outcome.ToString(),
                                    complaint.empty() ? "" : ": ", TerminalSafe(complaint));
  if (IsOfTheObjects(verb, result)) return IntegrityError(std::move(message));
  if (result.outcome.kind == OutcomeKind::kTimedOut) return TimeoutError(std::move(message));
  return ProcessError(std::move(message));
}

}  // namespace rharness
