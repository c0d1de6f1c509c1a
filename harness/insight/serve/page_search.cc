// The page of a search.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/digest.h"
#include "harness/insight/serve/pages.h"

namespace rharness {
namespace {

constexpr std::size_t kMostSearchLetters = 200;  // characters of Unicode, as the box has it
constexpr std::size_t kSomeNames = 20;           // beside runs
constexpr std::size_t kPageNames = 50;           // alone
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

std::size_t LettersIn(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

class Search {
 public:
  Search(const PageInputs& inputs, SiteSearch page)
      : browser_(inputs.browser), page_(std::move(page)) {}

  Result<SiteSearch> Find(const PageMark& mark) {
    if (page_.text.empty()) return page_;
    if (page_.by == "family") {
      RETURN_IF_ERROR(PageOfNames(&HistoryBrowser::FindFamilies, mark, &page_.families));
    } else if (page_.by == "commit") {
      RETURN_IF_ERROR(ByCommit(mark));
    } else if (page_.by == "image") {
      RETURN_IF_ERROR(ByImage(mark));
    } else if (page_.by == "artifact") {
      RETURN_IF_ERROR(ByArtifact());
    } else {
      RETURN_IF_ERROR(ByName(mark));
    }
    return std::move(page_);
  }

 private:
  using Finder = Result<NamesFound> (HistoryBrowser::*)(const std::string&, const NameStart&,
                                                        std::size_t, Look);

  std::string Address(SiteQuery more) const {
    more.insert(more.begin(), {{"q", page_.text}, {"by", page_.by}});
    return SiteHref("/search", more);
  }

  // A page of names and nothing else.
  Status PageOfNames(Finder finder, const PageMark& mark, SiteNames* names) {
    ASSIGN_OR_RETURN(NamesFound found,
                     (browser_.*finder)(page_.text, NameStartOf(mark), kPageNames + 1, Look::kAll));
    if (const auto other = ReadInstead(mark, found.names.size(), kPageNames)) {
      return PageOfNames(finder, *other, names);
    }
    page_.pager =
        CutPage(mark, kPageNames, &found.names, [&](const std::string& name, const char* side) {
          return Address({{side, name}});
        });
    names->names = std::move(found.names);
    return {};
  }

  // The first names, and where all of them are.
  Status SomeNames(Finder finder, const char* by, Look look, SiteNames* names) {
    ASSIGN_OR_RETURN(NamesFound found, (browser_.*finder)(page_.text, {}, kSomeNames + 1, look));
    const bool more = found.names.size() > kSomeNames;
    names->not_looked = found.many && look == Look::kFewOnly;
    if (more) found.names.pop_back();
    names->names = std::move(found.names);
    if (more || names->not_looked) {
      names->more = SiteHref("/search", {{"q", page_.text}, {"by", by}});
    }
    return {};
  }

  Status AddRuns(RunKey key, const std::string& text, const PageMark& mark) {
    page_.runs_asked = true;
    const std::string commit = std::min(mark.commit, text + "~");  // behind all that begin so
    ASSIGN_OR_RETURN(
        auto found, browser_.FindRuns(key, text, {mark.name, commit, mark.toward}, kFoundRuns + 1));
    if (const auto other = ReadInstead(mark, found.size(), kFoundRuns)) {
      return AddRuns(key, text, *other);
    }
    page_.pager = CutPage(mark, kFoundRuns, &found, [&](const RunRow& row, const char* side) {
      SiteQuery query = {{side, row.run_id}};
      if (key == RunKey::kCommit) query.emplace_back("commit", row.found);
      return Address(std::move(query));
    });
    for (const RunRow& row : found) page_.runs.push_back(SiteRowOf(row));
    return {};
  }

  Status ByCommit(const PageMark& mark) {
    const std::string commit = CommitIn(page_.text);
    if (!commit.empty()) return AddRuns(RunKey::kCommit, commit, mark);
    page_.notes.push_back(fmt::format(
        "A commit begins with {} or more of the digits 0 to 9 and a to f; this is none.",
        kFewestCommitDigits));
    return {};
  }

  // Runs of the image of exactly this name, beside others that contain it; else these alone.
  Status ByImage(const PageMark& mark) {
    RETURN_IF_ERROR(AddRuns(RunKey::kImage, page_.text, mark));
    if (!page_.runs.empty()) {
      if (mark.given) return {};
      RETURN_IF_ERROR(SomeNames(&HistoryBrowser::FindImages, "image", Look::kAll, &page_.images));
      if (std::exchange(page_.images.more, {}).empty()) return {};
      page_.notes.push_back(fmt::format(
          "More than {} images have it in their names; a longer text finds fewer.", kSomeNames));
      return {};
    }
    page_.runs_asked = false;
    return PageOfNames(&HistoryBrowser::FindImages, mark, &page_.images);
  }

  Status ByName(const PageMark& mark) {
    const bool any = page_.by == "any";
    RETURN_IF_ERROR(AddRuns(RunKey::kRunId, page_.text, mark));
    const bool first = page_.pager.previous.empty();
    if (!any || !first) return {};
    RETURN_IF_ERROR(
        SomeNames(&HistoryBrowser::FindFamilies, "family", Look::kAll, &page_.families));
    RETURN_IF_ERROR(SomeNames(&HistoryBrowser::FindImages, "image", Look::kFewOnly, &page_.images));
    // What looks like a commit and is part of no run's name.
    const std::string commit = CommitIn(page_.text);
    if (commit.empty() || !page_.runs.empty()) return {};
    page_.by = "commit";
    RETURN_IF_ERROR(AddRuns(RunKey::kCommit, commit, {}));
    if (!page_.runs.empty() || !IsSha256Hex(commit)) return {};
    page_.by = "artifact";
    return ByArtifact();
  }

  // The first runs that made a file with this SHA-256, or weights with this tensor digest.
  Status ByArtifact() {
    const std::string digest = CommitIn(page_.text);
    if (!IsSha256Hex(digest)) {
      page_.notes.push_back("The SHA-256 of a file has 64 of the digits 0 to 9 and a to f.");
      return {};
    }
    page_.runs_asked = true;
    ASSIGN_OR_RETURN(const auto runs, browser_.store().RunsOfArtifact(digest));
    for (std::size_t i = 0; i < std::min(runs.size(), kFoundRuns); ++i) {
      ASSIGN_OR_RETURN(const auto row, browser_.FindRun(runs[i]));
      if (row) page_.runs.push_back(SiteRowOf(*row));
    }
    if (!runs.empty()) {
      page_.notes.push_back(
          "These runs made a file with this SHA-256, or weights with this tensor "
          "digest.");
    }
    if (runs.size() > kFoundRuns) {
      page_.notes.push_back(fmt::format("They are the first {} of {}.", kFoundRuns, runs.size()));
    }
    return {};
  }

  HistoryBrowser& browser_;
  SiteSearch page_;
};

}  // namespace

Result<SiteSearch> BuildSearch(const PageInputs& inputs, const std::string& text,
                               const std::string& by, const PageMark& mark) {
  if (const std::size_t letters = LettersIn(text); letters > kMostSearchLetters) {
    return InvalidInput(fmt::format(
        "the text to look for has {} characters; {} at most are looked for: a part of it is enough",
        letters, kMostSearchLetters));
  }
  constexpr std::string_view kBy[] = {"any", "run", "family", "commit", "image", "artifact"};
  if (std::find(std::begin(kBy), std::end(kBy), by) == std::end(kBy)) {
    return InvalidInput(
        "by says what is looked through: any, run, family, commit, image or artifact");
  }
  SiteSearch page;
  page.text = Trimmed(text);
  page.by = by;
  return Search(inputs, std::move(page)).Find(mark);
}

}  // namespace rharness
