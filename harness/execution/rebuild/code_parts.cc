// The code: files by their hash, or the commit, the diff of a changed tree, and lock files.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/borrowed_repository.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/execution/rebuild/asked.h"
#include "harness/execution/rerun/git_objects.h"
#include "harness/execution/rerun/kept_files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

bool IsUrl(const std::string& repository) {
  return repository.find("://") != repository.npos ||
         (repository.find(':') != repository.npos && !repository.starts_with('/'));
}

// Small, so that they are always hashed.
Answer OfCodeFile(const CodeFile& file, const fs::path& repository) {
  const auto path = ResolveBelow(repository, file.path);
  const auto digest = path.ok() ? HashFile(*path) : Result<FileDigest>(path.error());
  if (!digest.ok()) {
    const bool absent = digest.error().code == ErrorCode::kNotFound;
    return {absent ? PartState::kGone : PartState::kUnknown, digest.error().ToString()};
  }
  if (digest->sha256 == file.sha256) return {PartState::kHad, "below " + repository.string()};
  return {PartState::kGone, fmt::format("a different file lies below {}: sha256 {}",
                                        repository.string(), digest->sha256)};
}

Answer OfLocalCommit(const std::string& commit, const fs::path& repository,
                     const Rebuilder::Asked& asked) {
  const auto objects = ObjectsOf(repository, asked.options.places);
  if (!objects.ok()) {
    const bool absent = objects.error().code == ErrorCode::kNotFound;
    return {absent ? PartState::kGone : PartState::kUnknown, objects.error().ToString()};
  }
  const auto git = BorrowedRepository::OfObjects(
      *objects, commit.size() == 64 ? GitHash::kSha256 : GitHash::kSha1, "/");
  if (!git.ok()) return {PartState::kUnknown, git.error().ToString()};
  const ProcessResult found = git->Run({"cat-file", "-e", commit});
  if (found.outcome.Succeeded()) return {PartState::kHad, "in " + repository.string()};
  constexpr int kAbsent = 1;
  if (found.outcome.kind == OutcomeKind::kExited && found.outcome.exit_code == kAbsent) {
    return {PartState::kGone, fmt::format("{} does not have it", repository.string())};
  }
  return {PartState::kUnknown, BorrowedRepository::Failure("cat-file", found).message};
}

// A remote repository names the tips of its branches and tags, and no older commit.
Answer OfRemoteCommit(const std::string& commit, const std::string& repository,
                      const Rebuilder::Asked& asked) {
  auto environment = PickEnvironment({"PATH", "HOME", "SSH_AUTH_SOCK", "HTTP_PROXY", "HTTPS_PROXY",
                                      "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"});
  environment["GIT_TERMINAL_PROMPT"] = "0";
  environment["GIT_ALLOW_PROTOCOL"] = "https:http:ssh:git";
  environment["GIT_SSH_COMMAND"] = "ssh -o BatchMode=yes -o ConnectTimeout=10";
  environment["LC_ALL"] = "C.UTF-8";
  const ProcessResult result = asked.Run({"git", "ls-remote", "--", repository}, environment);
  if (!result.outcome.Succeeded()) {
    return {PartState::kUnknown, fmt::format("git ls-remote {}", result.outcome.ToString())};
  }
  if (result.stdout_text.find(commit) != std::string::npos) {
    return {PartState::kHad, "a branch or tag of its repository is at it"};
  }
  return {PartState::kUnknown,
          "its repository answers, but lists only the tips of branches and tags"};
}

Answer OfCommit(const Code& code, Rebuilder::Asked* asked) {
  const std::string repository = code.repository.empty() ? "." : code.repository;
  const auto path = Locate(asked->options.places, repository);
  if (path.ok()) {
    return asked->Once("commit " + code.commit + " " + path->string(),
                       [&] { return OfLocalCommit(code.commit, *path, *asked); });
  }
  if (!IsUrl(repository)) return {PartState::kUnknown, path.error().message};
  if (!asked->options.network) {
    return {PartState::kUnknown, "its repository is a URL, which is asked with --network"};
  }
  return asked->Once("commit " + code.commit + " " + repository,
                     [&] { return OfRemoteCommit(code.commit, repository, *asked); });
}

Answer OfKept(const Manifest& manifest, const std::string& sha256, const Places& places) {
  const auto content = ReadKept(manifest, sha256, places);
  if (content.ok()) return {PartState::kHad, "kept, with its hash"};
  return {PartState::kGone, content.error().ToString()};
}

void AskForFiles(const Manifest& manifest, Rebuilder::Asked* asked, std::vector<Part>* parts) {
  const Code& code = manifest.code;
  const auto repository =
      Locate(asked->options.places, code.repository.empty() ? "." : code.repository);
  for (const CodeFile& file : code.files) {
    const Answer answer = repository.ok() ? OfCodeFile(file, *repository)
                                          : Answer{PartState::kUnknown, repository.error().message};
    parts->push_back({"code file", file.path, answer.state, answer.why});
  }
}

// A missing copy prevents no rerun: it is only for lookup.
void AskForLockFiles(const Manifest& manifest, Rebuilder::Asked* asked, std::vector<Part>* parts) {
  if (manifest.kept.empty()) return;
  for (const auto& [path, sha256] : manifest.environment.lock_files) {
    Answer answer = OfKept(manifest, sha256, asked->options.places);
    if (answer.state == PartState::kGone) {
      answer = {PartState::kUnknown, "its copy is not kept any more: " + answer.why};
    }
    parts->push_back({"lock file", path, answer.state, answer.why});
  }
}

}  // namespace

void AskForMakers(const Manifest& manifest, Rebuilder::Asked* asked, std::vector<Part>* parts) {
  for (const DataItem& item : manifest.data) {
    if (!item.made_by || item.made_by->commit.empty()) continue;
    Code code;
    code.repository = item.made_by->repository;
    code.commit = item.made_by->commit;
    Answer answer{PartState::kUnknown, "the record names no repository of it"};
    if (!code.repository.empty()) answer = OfCommit(code, asked);
    const bool had = std::ranges::any_of(*parts, [&](const Part& part) {
      return part.kind == "data" && part.name == item.name && part.state == PartState::kHad;
    });
    if (had && answer.state == PartState::kGone) {
      answer = {PartState::kUnknown,
                "the data are available, but cannot be made again: " + answer.why};
    }
    parts->push_back({"transform", fmt::format("{} of data {}", code.commit, item.name),
                      answer.state, answer.why});
  }
}

void AskForCode(const Manifest& manifest, Rebuilder::Asked* asked, std::vector<Part>* parts) {
  const Code& code = manifest.code;
  if (!code.files.empty()) {
    AskForFiles(manifest, asked, parts);
  } else if (code.commit.empty()) {
    parts->push_back({"commit", "", PartState::kUnknown, "the record names none"});
  } else {
    const Answer answer = OfCommit(code, asked);
    parts->push_back({"commit", code.commit, answer.state, answer.why});
    if (code.dirty && code.kept_diff_sha256.empty()) {
      parts->push_back({"diff", code.diff_sha256, PartState::kGone,
                        "recorded from a changed work tree without a kept diff"});
    } else if (code.dirty) {
      const Answer kept = OfKept(manifest, code.kept_diff_sha256, asked->options.places);
      parts->push_back({"diff", code.kept_diff_sha256, kept.state, kept.why});
    }
  }
  AskForLockFiles(manifest, asked, parts);
}

}  // namespace rharness
