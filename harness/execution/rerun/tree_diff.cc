// git makes the diff and git applies it; its content is checked in between.
#include "harness/execution/rerun/tree_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <system_error>

#include "harness/base/borrowed_repository.h"
#include "harness/base/files.h"
#include "harness/base/held_folder.h"
#include "harness/base/trouble.h"
#include "harness/execution/rerun/git_objects.h"
#include "harness/records/manifest/environment_secrets.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostUntracked = 1000;
constexpr std::uint64_t kApplyMemoryBytes = std::uint64_t{2} << 30;
constexpr std::string_view kDiffFile = "diff";

const std::vector<std::string>& DiffArguments() {
  static const std::vector<std::string> kArguments = {
      "diff",          "--binary",     "--full-index",    "--no-color",     "--no-ext-diff",
      "--no-textconv", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/"};
  return kArguments;
}

std::vector<std::string> SplitAtNul(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    parts.emplace_back(text.substr(0, text.find('\0')));
    text.remove_prefix(std::min(text.size(), parts.back().size() + 1));
  }
  return parts;
}

std::string_view TakeLine(std::string_view* text) {
  const std::string_view line = text->substr(0, text->find('\n'));
  text->remove_prefix(std::min(text->size(), line.size() + 1));
  return line;
}

// The first submodule that is not as the commit has it.
Result<std::string> ChangedSubmodule(const BorrowedRepository& git, const fs::path& root,
                                     std::string_view diff) {
  while (!diff.empty()) {
    const std::string_view line = TakeLine(&diff);
    const bool header = line.starts_with("index ") || line.starts_with("new file mode ") ||
                        line.starts_with("deleted file mode ");
    if (header && line.ends_with(" 160000")) return std::string("one of another commit");
  }
  ASSIGN_OR_RETURN(const std::string listing, git.Ask({"ls-files", "--stage", "-z"}));
  for (const std::string& entry : SplitAtNul(listing)) {
    const std::size_t tab = entry.find('\t');
    if (!entry.starts_with("160000 ") || tab == entry.npos) continue;
    const std::string path = entry.substr(tab + 1);
    std::error_code error;
    if (!fs::exists(root / path / ".git", error)) continue;
    const auto below = DescribeGitTree(root / path);
    if (below && below->dirty) return path;
  }
  return std::string();
}

// git calls two files different by ending with 1.
Result<std::string> DiffOfNewFile(const BorrowedRepository& git, const std::string& path) {
  std::vector<std::string> arguments = DiffArguments();
  arguments.insert(arguments.end(), {"--no-index", "--", "/dev/null", path});
  ProcessResult result = git.Run(arguments);
  constexpr int kDiffers = 1;
  const bool differs =
      result.outcome.kind == OutcomeKind::kExited && result.outcome.exit_code == kDiffers;
  if (!differs) return BorrowedRepository::Failure("diff", result);
  return std::move(result.stdout_text);
}

// An empty file is complete: its header shows that it exists.
Result<std::string> DiffOfUntracked(const BorrowedRepository& git, const fs::path& root,
                                    std::uint64_t limit_bytes) {
  std::vector<std::string> list = {"ls-files", "--others", "--exclude-standard", "-z"};
  const auto folders = FindGitFolders(root);
  std::error_code error;
  if (folders.ok() && fs::exists(folders->common / "info" / "exclude", error)) {
    list.push_back("--exclude-from=" +
                   fs::absolute(folders->common / "info" / "exclude", error).string());
  }
  ASSIGN_OR_RETURN(const std::string listing, git.Ask(list));
  const std::vector<std::string> paths = SplitAtNul(listing);
  if (paths.size() > kMostUntracked) {
    return Unsupported(fmt::format("{} files are not known to git; expected at most {}",
                                   paths.size(), kMostUntracked));
  }
  std::string all;
  std::uint64_t bytes = 0;
  for (const std::string& path : paths) {
    const fs::file_status status = fs::symlink_status(root / path, error);
    if (fs::is_regular_file(status)) bytes += fs::file_size(root / path, error);
    if (bytes > 4 * limit_bytes) {
      return Unsupported(
          fmt::format("files that git does not know take more than {} bytes, first "
                      "at {}",
                      4 * limit_bytes, path));
    }
    ASSIGN_OR_RETURN(const std::string diff, DiffOfNewFile(git, path));
    all += diff;
  }
  return all;
}

bool IsWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

// NAME = "VALUE" or NAME: VALUE, with a secret's usual name and a value that looks random.
bool AssignsSecret(std::string_view line) {
  constexpr std::array<std::string_view, 8> kNames = {
      "password", "passwd", "secret", "credential", "api_key", "apikey", "access_key", "token"};
  const auto sign = line.find_first_of("=:");
  if (sign == line.npos) return false;
  std::string name(line.substr(0, sign));
  name.erase(std::min(name.size(), name.find_last_not_of(" \t\"'") + 1));
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (std::ranges::none_of(kNames, [&](std::string_view end) { return name.ends_with(end); })) {
    return false;
  }
  std::string_view value = line.substr(sign + 1);
  value.remove_prefix(std::min(value.size(), value.find_first_not_of(" \t\"'")));
  const auto end = std::ranges::find_if_not(
      value, [](char c) { return IsWordChar(c) || c == '+' || c == '/' || c == '.'; });
  value = value.substr(0, static_cast<std::size_t>(end - value.begin()));
  constexpr std::size_t kShortest = 12;
  const bool has_digit = std::ranges::any_of(
      value, [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
  return value.size() >= kShortest && has_digit;
}

bool LooksSecret(std::string_view line) { return HoldsCredential(line) || AssignsSecret(line); }

// The files in a diff, as `git apply --numstat -z` lists them: "ADDED<tab>DELETED<tab>
// PATH<nul>".
Result<std::vector<std::string>> DiffedPaths(std::string_view numstat) {
  std::vector<std::string> paths;
  for (const std::string& line : SplitAtNul(numstat)) {
    const std::size_t first = line.find('\t');
    const std::size_t second = first == line.npos ? first : line.find('\t', first + 1);
    if (second == line.npos) {
      return ProcessError("git apply: a line is not understood: " + TerminalSafe(line));
    }
    paths.push_back(line.substr(second + 1));
  }
  return paths;
}

// The current content of a file, by git's name for it; empty: it is gone.
Result<std::optional<TreeFile>> FileNow(const std::string& path, const HeldFolder& held,
                                        std::size_t name_size) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(held.path() / path, error);
  if (!fs::exists(status)) return std::optional<TreeFile>();
  TreeFile file{.path = path, .link = fs::is_symlink(status), .name = std::string(name_size, '0')};
  ASSIGN_OR_RETURN(file.name, NameOf(file, held));
  return std::optional(std::move(file));
}

Status UpdateFiles(const std::vector<std::string>& paths, const fs::path& folder,
                   std::size_t name_size, Checkout* checkout) {
  ASSIGN_OR_RETURN(const HeldFolder held, HeldFolder::Open(folder));
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(auto now, FileNow(path, held, name_size));
    std::erase_if(checkout->files, [&](const TreeFile& file) { return file.path == path; });
    if (now) checkout->files.push_back(std::move(*now));
  }
  return {};
}

Status CheckMayBeKept(const std::string& diff, std::uint64_t limit_bytes) {
  if (diff.size() > limit_bytes) {
    return Unsupported(
        fmt::format("the diff takes {} bytes; expected at most {}", diff.size(), limit_bytes));
  }
  if (const std::string place = FindSecret(diff); !place.empty()) {
    return Unsupported(fmt::format("what looks like a secret is in it ({})", TerminalSafe(place)));
  }
  return {};
}

}  // namespace

Result<std::string> MakeTreeDiff(const GitTree& tree, bool with_untracked,
                                 std::uint64_t limit_bytes) {
  ASSIGN_OR_RETURN(const BorrowedRepository git, BorrowedRepository::OfWorkTree(tree.root));
  std::vector<std::string> arguments = DiffArguments();
  arguments.insert(arguments.end(), {"--ignore-submodules=dirty", "HEAD"});
  ASSIGN_OR_RETURN(std::string diff, git.Ask(arguments));
  ASSIGN_OR_RETURN(const std::string submodule, ChangedSubmodule(git, tree.root, diff));
  if (!submodule.empty()) {
    return Unsupported(fmt::format("a submodule is changed ({}), which a diff does not bring back",
                                   TerminalSafe(submodule)));
  }
  if (with_untracked) {
    ASSIGN_OR_RETURN(const std::string more, DiffOfUntracked(git, tree.root, limit_bytes));
    diff += more;
  }
  RETURN_IF_ERROR(CheckMayBeKept(diff, limit_bytes));
  return diff;
}

Result<std::string> MakeDiffOfNew(const GitTree& tree, const std::vector<std::string>& paths,
                                  std::uint64_t limit_bytes) {
  ASSIGN_OR_RETURN(const BorrowedRepository git, BorrowedRepository::OfWorkTree(tree.root));
  std::string all;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const std::string diff, DiffOfNewFile(git, path));
    all += diff;
    if (all.size() > limit_bytes) break;
  }
  RETURN_IF_ERROR(CheckMayBeKept(all, limit_bytes));
  return all;
}

std::string FindSecret(std::string_view diff) {
  std::string file;
  for (std::size_t number = 1; !diff.empty(); ++number) {
    const std::string_view line = TakeLine(&diff);
    constexpr std::string_view kTo = "+++ b/";
    if (line.starts_with(kTo)) {
      file = line.substr(kTo.size());
    } else if (line.starts_with('+') && LooksSecret(line.substr(1))) {
      return fmt::format("{}, line {} of the diff", file, number);
    }
  }
  return {};
}

Status ApplyTreeDiff(const std::string& diff, const fs::path& repository, const fs::path& folder,
                     const Places& places, const CheckoutLimits& limits, Checkout* checkout) {
  if (diff.empty()) return {};
  const std::size_t name_size = checkout->files.empty() ? 40 : checkout->files.front().name.size();
  ASSIGN_OR_RETURN(const fs::path objects, ObjectsOf(repository, places));
  ASSIGN_OR_RETURN(const BorrowedRepository git,
                   BorrowedRepository::OfObjects(
                       objects, name_size == 64 ? GitHash::kSha256 : GitHash::kSha1, folder,
                       {.output_bytes = limits.listing_bytes,
                        .should_cancel = limits.should_cancel,
                        .memory_bytes = kApplyMemoryBytes,
                        .disk_bytes = limits.disk_bytes}));
  ASSIGN_OR_RETURN(const ScopedTempDir beside, ScopedTempDir::Make("rharness-diff-"));
  const fs::path file = beside.path() / kDiffFile;
  RETURN_IF_ERROR(WriteFileAtomic(file, diff));
  const ProcessResult listed = git.Run({"apply", "--numstat", "-z", file.string()});
  const ProcessResult applied = git.Run({"apply", "--whitespace=nowarn", file.string()});
  for (const ProcessResult* result : {&listed, &applied}) {
    if (result->outcome.Succeeded()) continue;
    const Error error = BorrowedRepository::Failure("apply", *result);
    // git exits by itself if the diff is at fault, with a message.
    if (result->outcome.kind != OutcomeKind::kExited) return error;
    return IntegrityError("the kept diff does not fit the commit: " + error.message);
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> paths, DiffedPaths(listed.stdout_text));
  return UpdateFiles(paths, folder, name_size, checkout);
}

}  // namespace rharness
