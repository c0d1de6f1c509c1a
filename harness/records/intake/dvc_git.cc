// Questions to git, each an argument vector.
#include "harness/records/intake/dvc_git.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "harness/base/digest_md5.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/dvc_contents.h"
#include "harness/records/intake/dvc_files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostTreeFiles = 4096;
constexpr std::uint64_t kMostBlobBytes = std::uint64_t{64} << 20;

bool IsObjectName(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) && CleanHex(text) == text;
}

std::string_view TakeUpTo(std::string_view* text, char end) {
  const std::string_view part = text->substr(0, text->find(end));
  text->remove_prefix(std::min(text->size(), part.size() + 1));
  return part;
}

// "refs/exps/6d/1b7b.../name".
std::optional<DvcExperiment> ExperimentOf(std::string_view ref, std::string_view commit) {
  constexpr std::string_view kFolder = "refs/exps/";
  if (!ref.starts_with(kFolder) || !IsObjectName(commit)) return std::nullopt;
  ref.remove_prefix(kFolder.size());
  std::string baseline(TakeUpTo(&ref, '/'));
  if (baseline.size() != 2) return std::nullopt;
  baseline += TakeUpTo(&ref, '/');
  if (!IsObjectName(baseline) || ref.empty()) return std::nullopt;
  return DvcExperiment{std::string(ref), std::string(commit), std::move(baseline)};
}

}  // namespace

Result<std::optional<DvcGit>> DvcGit::Open(const fs::path& folder) {
  std::error_code error;
  for (fs::path at = folder; !at.empty(); at = at.parent_path()) {
    if (fs::exists(fs::symlink_status(at / ".git", error))) {
      ASSIGN_OR_RETURN(BorrowedRepository git, BorrowedRepository::OfWorkTree(at));
      const std::string below = folder.lexically_relative(at).generic_string();
      return std::optional(DvcGit(std::move(git), at, below == "." ? "" : below + "/"));
    }
    if (at == at.root_path()) break;
  }
  return std::optional<DvcGit>();
}

std::string DvcGit::Head() const {
  auto head = git_.Ask({"rev-parse", "--verify", "--quiet", "HEAD^{commit}"});
  if (!head.ok()) return "";
  while (head->ends_with('\n')) head->pop_back();
  return IsObjectName(*head) ? *head : "";
}

Result<std::vector<DvcExperiment>> DvcGit::Experiments() const {
  ASSIGN_OR_RETURN(
      const std::string text,
      git_.Ask({"for-each-ref", "--format=%(objectname) %(objecttype) %(refname)", "refs/exps/"}));
  std::vector<DvcExperiment> experiments;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = TakeUpTo(&rest, '\n');
    const std::string_view commit = TakeUpTo(&line, ' ');
    if (TakeUpTo(&line, ' ') != "commit") continue;
    if (auto experiment = ExperimentOf(line, commit)) experiments.push_back(std::move(*experiment));
  }
  if (experiments.size() > kMostDvcExperiments) {
    return Unsupported(fmt::format("more than {} experiments", kMostDvcExperiments), "refs/exps");
  }
  std::ranges::sort(experiments, {}, &DvcExperiment::name);
  return experiments;
}

Result<std::string> DvcGit::Read(const std::string& commit, const std::string& path,
                                 std::size_t most) const {
  const std::string name = fmt::format("{}:{}{}", commit, prefix_, path);
  const ProcessResult size = git_.Run({"cat-file", "-s", name});
  if (!size.outcome.Succeeded()) {
    if (size.outcome.kind == OutcomeKind::kExited) return NotFound("is not in the commit", name);
    return BorrowedRepository::Failure("cat-file", size);
  }
  std::uint64_t bytes = 0;
  const std::string& text = size.stdout_text;
  std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (bytes > most) {
    return InvalidInput(fmt::format("{} bytes; at most {} are read", bytes, most), name);
  }
  return git_.Ask({"cat-file", "blob", name});
}

// Lines "MODE TYPE NAME<tab>PATH<nul>".
Result<std::string> DvcGit::HashTreeOf(const std::string& commit, const std::string& path,
                                       bool dos2unix) const {
  const std::string whole = prefix_ + path;
  ASSIGN_OR_RETURN(const std::string text, git_.Ask({"--literal-pathspecs", "ls-tree", "-r", "-z",
                                                     "--full-tree", commit, "--", whole}));
  if (static_cast<std::size_t>(std::ranges::count(text, '\0')) > kMostTreeFiles)
    return std::string();
  std::vector<DvcListed> files;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = TakeUpTo(&rest, '\0');
    const std::string_view mode = TakeUpTo(&line, ' ');
    TakeUpTo(&line, ' ');
    const std::string_view blob = TakeUpTo(&line, '\t');
    if (!mode.starts_with("100") || !IsObjectName(blob)) return std::string();
    const auto content = git_.Ask({"cat-file", "blob", std::string(blob)});
    if (!content.ok()) return content.error();
    if (content->size() > kMostBlobBytes) return std::string();
    ASSIGN_OR_RETURN(const std::string md5, DvcMd5Of(*content, dos2unix));
    if (line == whole) return md5;
    if (!line.starts_with(whole + "/")) return std::string();
    files.push_back({std::string(line.substr(whole.size() + 1)), md5});
  }
  if (files.empty()) return std::string();
  ASSIGN_OR_RETURN(const std::string md5, Md5HexOf(WriteDvcListing(std::move(files))));
  return md5 + ".dir";
}

const std::string& DvcGit::Md5Of(const std::string& commit, const std::string& path,
                                 bool dos2unix) {
  const std::tuple key(commit, path, dos2unix);
  const auto known = md5s_.find(key);
  if (known != md5s_.end()) return known->second;
  const auto md5 = HashTreeOf(commit, path, dos2unix);
  return md5s_.emplace(key, md5.ok() ? *md5 : "").first->second;
}

}  // namespace rharness
