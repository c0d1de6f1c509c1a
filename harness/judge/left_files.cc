// Undeclared inputs of a rerun against those of its record.
#include "harness/judge/left_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "harness/base/clean_text.h"

namespace rharness {
namespace {

bool IsStore(const std::string& path) {
  constexpr std::array<std::string_view, 3> kStores = {"/.cache/", "/models--", "/datasets--"};
  return std::ranges::any_of(kStores,
                             [&](std::string_view part) { return path.find(part) != path.npos; });
}

// A file that is not here was read on another machine; a program is no state.
bool IsWrittenSince(const std::string& path, WallTime began) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  if ((info.st_mode & S_IXUSR) != 0) return false;
  const auto written = WallTime(std::chrono::seconds(info.st_mtim.tv_sec) +
                                std::chrono::milliseconds(info.st_mtim.tv_nsec / 1'000'000));
  return written >= began;
}

}  // namespace

std::vector<Finding> FindLeftFiles(const Manifest& recorded,
                                   const std::optional<Observation>& rerun) {
  std::vector<Finding> findings;
  if (!recorded.observation || !recorded.observation->inputs || !rerun || !rerun->inputs) {
    return findings;
  }
  // What lay below the recorded run's own folder is named without it; a rerun has another.
  const std::vector<SeenInput>& known = *recorded.observation->inputs;
  const auto is_known = [&](const std::string& path) {
    return std::ranges::any_of(known, [&](const SeenInput& input) {
      return input.path == path ||
             (!input.path.starts_with('/') && path.ends_with("/" + input.path));
    });
  };
  for (const SeenInput& input : *rerun->inputs) {
    if (!input.path.starts_with('/') || IsStore(input.path) || is_known(input.path) ||
        !IsWrittenSince(input.path, recorded.started)) {
      continue;
    }
    findings.push_back(
        {.code = "missing_start",
         .layer = Layer::kData,
         .subject = "input " + input.path,
         .observed = "read",
         .limit = "not read",
         .rule = "a rerun begins from what is recorded",
         .message = fmt::format("the rerun read {}, which the recorded run did not read, and which "
                                "was written after that run began: it may go on from what a run "
                                "left there",
                                CleanText(input.path))});
  }
  return findings;
}

std::vector<Finding> FindUnknownStart(const Manifest& recorded) {
  std::vector<Finding> findings;
  if (!recorded.observation) return findings;
  for (const std::string& path : recorded.observation->overwritten) {
    findings.push_back(
        {.code = std::string(kStartNotRecorded),
         .layer = Layer::kData,
         .subject = "input " + path,
         .observed = "overwritten",
         .limit = "recorded",
         .rule = "a rerun must begin from what the recorded run began from",
         .message = fmt::format("the recorded run read {} and then wrote over it: what it began "
                                "from is not recorded",
                                CleanText(path))});
  }
  return findings;
}

}  // namespace rharness
