// Shared by the pages of the site: frame, tiles, cells, lists of runs. Private to the site_* files.
//
// Parameters that end in _html are markup already; all others are escaped here.
#ifndef RHARNESS_REPORTS_SITE_PARTS_H_
#define RHARNESS_REPORTS_SITE_PARTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "reports/site.h"

namespace rharness {

struct SiteTopParts {
  std::string_view title;
  std::string_view here;        // this page's entry in the menu
  std::string_view page_class;  // the verdict for its colour; may be empty
  std::string eyebrow_html;
  std::string answer;  // the heading
  std::string words_html;
  std::string search = {};  // what the box holds
};
// From the doctype up to the opened main element, with the notes of the frame.
std::string SiteTop(const SiteTopParts& parts, const SiteFrame& frame);
std::string SiteEnd(const SiteFrame& frame);

std::string SiteLink(const std::string& href, std::string_view text);
std::string FamilyLink(const std::string& family);
std::string RunLink(const std::string& run_id);

// One tile per present verdict, and one for runs that no drill has judged.
std::string SiteTiles(const SiteCounts& counts);
std::int64_t SumOf(const SiteCounts& counts);
std::int64_t CountOf(const SiteCounts& counts, std::optional<Verdict> verdict);  // or 0
// "12 identical, 1 drifted"; "none" of none.
std::string CountWords(const SiteCounts& counts);
// The same as badges.
std::string CountBadges(const SiteCounts& counts);
// The most urgent verdict; none if there are none.
std::optional<Verdict> WorstOf(const SiteCounts& counts);

// One cell a verdict or a week, the newest last.
std::string VerdictCells(const std::vector<StoredVerdict>& newest_first);
std::string WeekCells(const std::vector<SiteWeek>& weeks);

std::string BadgeOf(const std::optional<Verdict>& verdict);  // "not drilled" of none
struct RunColumns {
  bool family = false;
  bool found = false;                    // by which other key it was found
  std::string_view verdict = "Verdict";  // the verdict in SiteRunRow::last and judged
};
std::string RunTable(std::string_view title, const std::vector<SiteRunRow>& runs,
                     const RunColumns& columns = {});
// Links back and on, of those that there are.
std::string SitePagerLinks(const SitePager& pager);
std::string SentenceList(const std::vector<std::string>& sentences, std::size_t most);
// A day, or a dash.
std::string DayOf(const std::optional<WallTime>& time);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_SITE_PARTS_H_
