// Pairs of paths to compare: two paths, two folders by name, or a folder of pairs.
#ifndef RHARNESS_HARNESS_JUDGE_COMPARISON_PAIRS_H_
#define RHARNESS_HARNESS_JUDGE_COMPARISON_PAIRS_H_

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

struct PathPair {
  std::string name;  // "" for a single pair
  std::filesystem::path a;
  std::filesystem::path b;
};

struct PathPairs {
  std::vector<PathPair> pairs;  // by name
  // Names on one side only, and what is missing: "x.json", "is in A alone".
  std::vector<std::pair<std::string, std::string>> unpaired;
};

// Every folder below `folder` with one before.* and one after.*, named by its path below it; these
// may be files, or folders such as a sharded checkpoint.
// Errors: not_found, io; invalid_input when there is none, or one of the two is missing or double.
Result<PathPairs> FindPairs(const std::filesystem::path& folder);

// The files of two folders (and of theirs) with equal relative paths; for drill folders the
// evidence alone, and for MLPerf results the folders around them. Errors: not_found, io;
// invalid_input when no name is on both sides.
Result<PathPairs> PairFolders(const std::filesystem::path& a, const std::filesystem::path& b);

// The regular files of a folder and of those below it, by their path below it; for a drill's folder
// the evidence alone. Errors: not_found, io, invalid_input.
Result<std::set<std::filesystem::path>> RecordFilesBelow(const std::filesystem::path& folder);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_COMPARISON_PAIRS_H_
