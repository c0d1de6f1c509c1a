// Reading the runbook's pages; see runbook.h.
#include "harness/insight/incident/runbook.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "harness/base/log.h"
#include "harness/insight/incident/runbook_files.h"

namespace rharness {
namespace {

constexpr std::string_view kParts[] = {"Means", "Check", "Causes", "Do", "Next"};

Error BadPage(std::string_view area, std::size_t line, std::string message) {
  return InvalidInput(std::move(message), fmt::format("runbook/{}.md, line {}", area, line));
}

Status TakePart(std::string_view line, std::size_t number, RunbookPage* page) {
  const std::size_t next = page->parts.size();
  if (next == std::size(kParts)) return BadPage(page->area, number, "expected no further part");
  const std::string begin = fmt::format("- {}: ", kParts[next]);
  if (!line.starts_with(begin)) {
    return BadPage(page->area, number, fmt::format("expected '{}'", begin));
  }
  page->parts.emplace_back(kParts[next], line.substr(begin.size()));
  return {};
}

}  // namespace

Result<std::vector<RunbookPage>> ParseRunbook(std::string_view text, std::string_view area) {
  std::vector<RunbookPage> pages;
  const auto whole = [](const RunbookPage& page) { return page.parts.size() == std::size(kParts); };
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("## ")) {
      if (!pages.empty() && !whole(pages.back())) {
        return BadPage(area, number, fmt::format("{} lacks a part", pages.back().code));
      }
      pages.push_back({std::string(line.substr(3)), std::string(area), {}});
    } else if (pages.empty() || line.empty()) {
      continue;
    } else if (line.starts_with("  ") && !pages.back().parts.empty()) {
      pages.back().parts.back().second += line.substr(1);
    } else {
      RETURN_IF_ERROR(TakePart(line, number, &pages.back()));
    }
  }
  if (pages.empty() || !whole(pages.back())) return BadPage(area, 0, "expected whole pages");
  return pages;
}

const std::vector<RunbookPage>& RunbookPages() {
  static const std::vector<RunbookPage> pages = [] {
    std::vector<RunbookPage> all;
    for (const auto& [area, text] : kRunbookFiles) {
      auto some = ParseRunbook(text, area);
      if (!some.ok()) {  // the build's own files
        LogError(some.error().ToString());
        std::abort();
      }
      std::ranges::move(*some, std::back_inserter(all));
    }
    return all;
  }();
  return pages;
}

const RunbookPage* FindRunbookPage(std::string_view code) {
  const auto& pages = RunbookPages();
  std::string name(code == "infrastructure" ? "infra" : code);
  auto found = std::ranges::find(pages, name, &RunbookPage::code);
  if (found == pages.end()) {
    std::ranges::replace_if(
        name, [](char c) { return c == ' ' || c == '-'; }, '_');
    found = std::ranges::find(pages, name, &RunbookPage::code);
  }
  return found == pages.end() ? nullptr : &*found;
}

}  // namespace rharness
