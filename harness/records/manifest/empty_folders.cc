// Comparing two lists of empty folders.
#include "harness/records/manifest/empty_folders.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "harness/base/clean_text.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

using Names = std::vector<std::string>;

// "the empty folder 'a'", "the empty folder 'a' and 2 more".
std::string FirstOf(const Names& names) {
  const std::string first = fmt::format("empty folder '{}'", TerminalSafe(names.front()));
  return names.size() == 1 ? first : fmt::format("{} and {} more", first, names.size() - 1);
}

Names Without(const Names& names, const Names& others) {
  Names rest;
  std::ranges::set_difference(names, others, std::back_inserter(rest));
  return rest;
}

}  // namespace

EmptyFolders RecordableFolders(Names found) {
  if (found.size() > kMostEmptyFolders) return {};
  const bool safe = std::ranges::all_of(
      found, [](const std::string& name) { return SafeRelativePath(name, "").ok(); });
  return safe ? EmptyFolders(std::move(found)) : EmptyFolders();
}

std::string OtherEmptyFolders(const EmptyFolders& recorded, const EmptyFolders& found) {
  if (!recorded || !found) return {};
  const Names added = Without(*found, *recorded);
  const Names gone = Without(*recorded, *found);
  std::string words;
  if (!added.empty()) words = fmt::format("has the {}, not in the record", FirstOf(added));
  if (!gone.empty()) {
    words += fmt::format("{}lacks the {}", words.empty() ? "" : "; ", FirstOf(gone));
  }
  return words;
}

}  // namespace rharness
