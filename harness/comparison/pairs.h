// Which path is compared with which: two paths, two folders by name, or a folder of pairs.
#ifndef RHARNESS_HARNESS_COMPARISON_PAIRS_H_
#define RHARNESS_HARNESS_COMPARISON_PAIRS_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

struct PathPair {
  std::string name;  // "" for a single pair
  std::filesystem::path a;
  std::filesystem::path b;
};

struct PathPairs {
  std::vector<PathPair> pairs;        // by name
  std::vector<std::string> unpaired;  // names on one side only, with the side: "A only: x.json"
};

// Every folder below `folder` that holds one before.* and one after.*, named by its path below it.
// Errors: not_found, io; invalid_input when there is none, or one of the two is missing or double.
Result<PathPairs> FindPairs(const std::filesystem::path& folder);

// The files of two folders (and of theirs) that have one relative path. Errors: not_found, io;
// invalid_input when no name is on both sides.
Result<PathPairs> PairFolders(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_COMPARISON_PAIRS_H_
