// Patterns of gitignore, matched part by part.
#include "harness/records/intake/dvc_ignore.h"

#include <algorithm>
#include <utility>

namespace rharness {
namespace {

constexpr std::string_view kAnyFolders = "**";

std::vector<std::string> SplitAtSlashes(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('/'), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// The element of a glob at `at`, matched with one character; moves `at` behind it.
bool TakesCharacter(std::string_view glob, std::size_t* at, char c) {
  const char first = glob[(*at)++];
  if (first == '?') return true;
  if (first == '\\' && *at < glob.size()) return glob[(*at)++] == c;
  if (first != '[') return first == c;
  std::size_t i = *at;
  const bool negated = i < glob.size() && (glob[i] == '!' || glob[i] == '^');
  if (negated) ++i;
  bool found = false;
  for (bool is_first = true; i < glob.size() && (is_first || glob[i] != ']'); is_first = false) {
    const char low = glob[i];
    const bool range = i + 2 < glob.size() && glob[i + 1] == '-' && glob[i + 2] != ']';
    const char high = range ? glob[i + 2] : low;
    found = found || (low <= c && c <= high);
    i += range ? 3 : 1;
  }
  if (i >= glob.size()) return c == '[';  // never closed
  *at = i + 1;
  return found != negated;
}

// Row by row over the parts of the pattern: which numbers of the path's parts it can have taken.
bool PartsMatch(const std::vector<std::string>& pattern, const std::vector<std::string>& path) {
  std::vector<bool> reached(path.size() + 1, false);
  reached[0] = true;
  for (std::size_t p = 0; p < pattern.size(); ++p) {
    std::vector<bool> next(path.size() + 1, false);
    // At the end it matches the folder's content, not the folder.
    const std::size_t least = p + 1 == pattern.size() ? 1 : 0;
    for (std::size_t i = 0; i <= path.size(); ++i) {
      if (!reached[i]) continue;
      if (pattern[p] == kAnyFolders) {
        for (std::size_t j = i + least; j <= path.size(); ++j) next[j] = true;
      } else if (i < path.size() && IgnoreGlobMatches(pattern[p], path[i])) {
        next[i + 1] = true;
      }
    }
    reached = std::move(next);
  }
  return reached[path.size()];
}

}  // namespace

bool IgnoreGlobMatches(std::string_view glob, std::string_view name) {
  std::size_t g = 0, n = 0;
  std::size_t star = glob.npos, resume = 0;  // where to continue when the last '*' matches one more
  while (n < name.size()) {
    std::size_t after = g;
    if (g < glob.size() && glob[g] == '*') {
      star = ++g;
      resume = n;
    } else if (g < glob.size() && TakesCharacter(glob, &after, name[n])) {
      g = after;
      ++n;
    } else if (star != glob.npos) {
      g = star;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

DvcIgnore::DvcIgnore() { Add("", ".hg/\n.git/\n.git\n.dvc/\n"); }

void DvcIgnore::Add(std::string_view folder, std::string_view text) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto first = line.find_first_not_of(" \t\r");
    if (first == line.npos || line[first] == '#' || patterns_.size() >= kMostPatterns) continue;
    line = line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
    Pattern pattern;
    pattern.base = folder.empty() ? "" : std::string(folder) + "/";
    pattern.negated = line.starts_with('!');
    if (pattern.negated) line.remove_prefix(1);
    pattern.directories_only = line.ends_with('/');
    if (pattern.directories_only) line.remove_suffix(1);
    const bool anchored = line.find('/') != line.npos;
    pattern.parts = SplitAtSlashes(line);
    if (pattern.parts.empty()) continue;
    if (!anchored) pattern.parts.insert(pattern.parts.begin(), std::string(kAnyFolders));
    patterns_.push_back(std::move(pattern));
  }
}

bool DvcIgnore::Ignores(std::string_view path, bool directory) const {
  for (auto pattern = patterns_.rbegin(); pattern != patterns_.rend(); ++pattern) {
    if (pattern->directories_only && !directory) continue;
    if (!path.starts_with(pattern->base)) continue;
    if (PartsMatch(pattern->parts, SplitAtSlashes(path.substr(pattern->base.size())))) {
      return !pattern->negated;
    }
  }
  return false;
}

}  // namespace rharness
