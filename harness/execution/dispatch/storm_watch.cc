// Counting ways to fail.
#include "harness/execution/dispatch/storm_watch.h"

#include <fmt/format.h>

#include <cctype>
#include <map>
#include <set>

namespace rharness {
namespace {

constexpr std::size_t kFewestRuns = 3;  // fewer may be to blame themselves

// "cannot pull x (attempt 12, /drill/runs/a/1)" of run a: "cannot pull x (attempt #,
// /drill/runs/@/#)".
std::string WayOf(std::string text, const std::string& run_id) {
  for (auto at = run_id.empty() ? text.npos : text.find(run_id); at != text.npos;
       at = text.find(run_id, at + 1)) {
    text.replace(at, run_id.size(), "@");
  }
  std::string way;
  for (const char c : text) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) way += c;
    if (digit && !way.ends_with('#')) way += '#';
  }
  return way;
}

}  // namespace

void StormWatch::Add(const std::string& run_id, std::string_view reason) {
  if (window_ <= 0) return;
  const std::string text(reason);
  last_.push_back({run_id, text, text.empty() ? "" : WayOf(text, run_id)});
  if (last_.size() > static_cast<std::size_t>(window_)) last_.pop_front();
}

std::optional<std::string> StormWatch::Raging() const {
  if (window_ <= 0 || last_.size() < static_cast<std::size_t>(window_)) return std::nullopt;
  struct Way {
    std::size_t attempts = 0;
    std::set<std::string> run_ids;
    std::string reason;
  };
  std::map<std::string, Way> ways;
  for (const Ended& ended : last_) {
    if (ended.way.empty()) continue;
    Way& way = ways[ended.way];
    ++way.attempts;
    way.run_ids.insert(ended.run_id);
    way.reason = ended.reason;
  }
  for (const auto& [name, way] : ways) {
    if (5 * way.attempts < 4 * last_.size() || way.run_ids.size() < kFewestRuns) continue;
    return fmt::format(
        "{} of the last {} attempts, of {} runs, failed in the same way: {}; nothing more is "
        "started",
        way.attempts, last_.size(), way.run_ids.size(), way.reason);
  }
  return std::nullopt;
}

}  // namespace rharness
