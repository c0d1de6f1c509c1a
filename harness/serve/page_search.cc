// The page of a search.
#include <algorithm>
#include <utility>

#include "harness/serve/pages.h"

namespace rharness {
namespace {

constexpr std::size_t kMostSearchBytes = 200;
constexpr std::size_t kFoundNames = 20;
constexpr std::size_t kFoundRuns = 50;
constexpr std::size_t kFewestCommitDigits = 4;

// In lower case; empty: it cannot be the beginning of a commit.
std::string CommitIn(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const char low = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    if (!((low >= '0' && low <= '9') || (low >= 'a' && low <= 'f'))) return "";
    out.push_back(low);
  }
  return out.size() < kFewestCommitDigits ? "" : out;
}

std::string Trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

Status AddFound(const PageInputs& inputs, RunKey key, const std::string& text, const PageMark& mark,
                SiteSearch* page) {
  ASSIGN_OR_RETURN(auto found,
                   inputs.browser.FindRuns(key, text, {mark.name, mark.commit}, kFoundRuns + 1));
  if (found.size() > kFoundRuns) {
    found.pop_back();
    SiteQuery query = {{"q", page->text}, {"by", page->by}, {"after", found.back().run_id}};
    if (key == RunKey::kCommit) query.emplace_back("commit", found.back().found);
    page->next = SiteHref("/search", query);
  }
  for (const RunRow& row : found) page->runs.push_back(SiteRowOf(row));
  return {};
}

Status AddRuns(const PageInputs& inputs, const PageMark& mark, SiteSearch* page) {
  const std::string commit = CommitIn(page->text);
  if (page->by == "commit") {
    return commit.empty() ? Status() : AddFound(inputs, RunKey::kCommit, commit, mark, page);
  }
  if (page->by == "image") return AddFound(inputs, RunKey::kImage, page->text, mark, page);
  RETURN_IF_ERROR(AddFound(inputs, RunKey::kRunId, page->text, mark, page));
  // What looks like a commit and is part of no name.
  if (page->by != "any" || commit.empty() || !page->runs.empty() || !mark.name.empty()) return {};
  page->by = "commit";
  return AddFound(inputs, RunKey::kCommit, commit, {}, page);
}

}  // namespace

Result<SiteSearch> BuildSearch(const PageInputs& inputs, const std::string& text,
                               const std::string& by, const PageMark& mark) {
  if (text.size() > kMostSearchBytes) {
    return InvalidInput("the text to look for is longer than 200 bytes");
  }
  constexpr std::string_view kBy[] = {"any", "run", "family", "commit", "image"};
  if (std::find(std::begin(kBy), std::end(kBy), by) == std::end(kBy)) {
    return InvalidInput("by is not any, run, family, commit or image");
  }
  SiteSearch page{
      .text = Trimmed(text), .by = by, .families = {}, .images = {}, .runs = {}, .next = {}};
  page.asked = !page.text.empty();
  if (!page.asked) return page;
  const bool first = mark.name.empty();
  if (first && (by == "any" || by == "family")) {
    ASSIGN_OR_RETURN(page.families, inputs.browser.FindFamilies(page.text, kFoundNames));
  }
  if (first && (by == "any" || by == "image")) {
    ASSIGN_OR_RETURN(page.images, inputs.browser.FindImages(page.text, kFoundNames));
  }
  if (by != "family") RETURN_IF_ERROR(AddRuns(inputs, mark, &page));
  return page;
}

}  // namespace rharness
