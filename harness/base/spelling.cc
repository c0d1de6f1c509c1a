// Distances between words, by the row of their table that is being filled and the two before it.
#include "harness/base/spelling.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace rharness {
namespace {

constexpr std::size_t kLongestWord = 64;
constexpr std::size_t kShortestBeginning = 3;

// `swaps`: two neighbours in each other's place are one step and not two.
std::size_t Distance(std::string_view a, std::string_view b, bool swaps) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  std::vector<std::size_t> last = row;
  std::vector<std::size_t> before_last = row;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = last;
    last = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (swaps && i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

}  // namespace

std::size_t EditDistance(std::string_view a, std::string_view b) { return Distance(a, b, false); }

std::string NearestName(std::string_view typed, const std::vector<std::string>& known) {
  if (typed.empty() || typed.size() > kLongestWord) return "";
  std::size_t nearest = std::clamp<std::size_t>(typed.size() / 3, 1, 3) + 1;
  std::string best;
  std::vector<std::string> longer;
  for (const std::string& name : known) {
    if (name == typed) return "";
    const std::size_t distance = Distance(typed, name, true);
    if (distance < nearest) {
      nearest = distance;
      best = name;
    }
    if (typed.size() >= kShortestBeginning && name.starts_with(typed)) longer.push_back(name);
  }
  if (best.empty() && longer.size() == 1) return longer.front();
  return best;
}

}  // namespace rharness
