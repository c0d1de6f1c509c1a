// Reading where a page goes on.
#include "harness/insight/serve/paging.h"

#include <charconv>

namespace rharness {

Result<PageMark> PageMarkOf(const std::map<std::string, std::string>& query) {
  PageMark mark;
  const auto after = query.find("after");
  const auto before = query.find("before");
  if (after != query.end() && before != query.end()) {
    return InvalidInput("a page lies after a row or before one; the address says both");
  }
  mark.given = after != query.end() || before != query.end();
  if (after != query.end()) mark.name = after->second;
  if (before != query.end()) {
    mark.name = before->second;
    mark.toward = Toward::kStart;
  }
  if (const auto at = query.find("commit"); at != query.end()) mark.commit = at->second;
  const auto time = query.find("t");
  if (time == query.end()) return mark;
  const std::string& text = time->second;
  std::int64_t ms = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ms);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return InvalidInput("t is no time; expected milliseconds since 1970");
  }
  mark.given = true;
  mark.time = WallTime(std::chrono::milliseconds(ms));
  return mark;
}

std::optional<PageMark> ReadInstead(const PageMark& mark, std::size_t rows, std::size_t limit) {
  if (mark.toward == Toward::kStart) {
    return rows <= limit ? std::optional(PageMark()) : std::nullopt;
  }
  if (!mark.given || rows > 0) return std::nullopt;
  PageMark last = mark;
  last.toward = Toward::kStart;
  // The row itself may be the last one. Names grow; times, and the names of one time, shrink.
  mark.time ? last.name.clear() : last.name.push_back('\x01');
  last.ends = true;
  return last;
}

std::optional<PageStart> PageStartOf(const PageMark& mark) {
  if (!mark.time) return std::nullopt;
  return PageStart{*mark.time, mark.name, mark.toward};
}

}  // namespace rharness
