// The pages over many runs.
#include "harness/serve/pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "harness/drill/history_of.h"
#include "harness/trends/tracks.h"

namespace rharness {
namespace {

constexpr std::size_t kBadRuns = 10;
constexpr std::size_t kFleetFamilies = 15;
constexpr std::size_t kFleetDrills = 5;
constexpr std::size_t kPageFamilies = 50;
constexpr std::size_t kPageRuns = 50;
constexpr std::size_t kRowVerdicts = 12;
constexpr std::size_t kTogether = 10;
constexpr int kRowWeeks = 16;
constexpr int kTrendRowWeeks = 26;

SiteCounts CountsOf(const std::vector<HistoryCount>& counts) {
  SiteCounts out;
  for (const HistoryCount& one : counts) out[one.last_verdict] += one.runs;
  return out;
}

SiteCounts CountsOf(const VerdictTotals& totals) {
  SiteCounts out;
  for (const Verdict verdict : kVerdicts) {
    const std::int64_t count = totals[static_cast<std::size_t>(verdict)];
    if (count > 0) out[std::string(VerdictName(verdict))] = count;
  }
  return out;
}

std::vector<SiteWeek> WeeksOf(const std::map<WallTime, VerdictTotals>& counted, WallTime now,
                              int weeks) {
  std::vector<SiteWeek> out;
  const int last = WeekOf(now);
  for (int week = last - weeks + 1; week <= last; ++week) {
    SiteWeek& one = out.emplace_back(SiteWeek{StartOf(week), {}});
    const auto at = counted.find(one.start);
    if (at != counted.end()) one.verdicts = CountsOf(at->second);
  }
  return out;
}

SiteFamilyRow FamilyRowOf(const PageInputs& inputs, const std::string& family, int weeks) {
  static const FamilyWeeks none;
  const auto at = inputs.counted.weeks.families.find(family);
  const FamilyWeeks& counted = at == inputs.counted.weeks.families.end() ? none : at->second;
  return {family, {}, counted.judged, WeeksOf(counted.weeks, inputs.now, weeks)};
}

// The next `limit` families, and whether there are more.
Result<std::pair<std::vector<SiteFamilyRow>, bool>> FamilyRows(const PageInputs& inputs,
                                                               const std::string& after,
                                                               std::size_t limit) {
  ASSIGN_OR_RETURN(const auto counts, inputs.browser.CountFamilies(after, limit + 1));
  std::vector<SiteFamilyRow> rows;
  for (const HistoryCount& one : counts) {
    if (rows.empty() || rows.back().family != one.family) {
      if (rows.size() == limit) return std::pair(std::move(rows), true);
      rows.push_back(FamilyRowOf(inputs, one.family, kRowWeeks));
    }
    rows.back().counts[one.last_verdict] += one.runs;
  }
  return std::pair(std::move(rows), false);
}

Status AddVerdicts(HistoryBrowser* browser, SiteRunRow* row) {
  ASSIGN_OR_RETURN(const auto records,
                   browser->VerdictsOf(row->run_id, std::nullopt, kRowVerdicts, false));
  for (const VerdictRecord& record : records) row->verdicts.push_back(SiteVerdictOf(record));
  return {};
}

}  // namespace

SiteRunRow SiteRowOf(const RunRow& row) {
  SiteRunRow out{.run_id = row.run_id,
                 .family = row.family,
                 .started = row.started,
                 .declared = row.declared,
                 .last = std::nullopt,
                 .judged = row.judged,
                 .retired = row.retired,
                 .found = row.found,
                 .verdicts = {}};
  const Result<Verdict> last = ParseVerdict(row.last_verdict);
  if (last.ok()) out.last = *last;
  return out;
}

SiteVerdict SiteVerdictOf(const VerdictRecord& record) {
  const Result<Verdict> verdict = ParseVerdict(record.verdict);
  return {.drill_id = record.drill_id,
          .verdict = verdict.ok() ? *verdict : Verdict::kInfra,
          .decided = record.decided,
          .reruns = record.reruns,
          .reasons = ReasonsIn(record.reasons),
          .outcomes = {}};
}

Result<PageMark> PageMarkOf(const std::map<std::string, std::string>& query) {
  PageMark mark;
  if (const auto after = query.find("after"); after != query.end()) mark.name = after->second;
  if (const auto at = query.find("commit"); at != query.end()) mark.commit = at->second;
  const auto time = query.find("t");
  if (time == query.end()) return mark;
  const std::string& text = time->second;
  std::int64_t ms = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ms);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return InvalidInput("t is no time; expected milliseconds since 1970");
  }
  mark.time = WallTime(std::chrono::milliseconds(ms));
  return mark;
}

Result<SiteFleet> BuildFleet(const PageInputs& inputs) {
  SiteFleet page;
  ASSIGN_OR_RETURN(const auto counts, inputs.browser.CountAll());
  page.counts = CountsOf(counts);
  ASSIGN_OR_RETURN(const auto bad, inputs.browser.LastBadRuns(kBadRuns));
  for (const RunRow& row : bad) {
    page.bad.push_back(SiteRowOf(row));
    RETURN_IF_ERROR(AddVerdicts(&inputs.browser, &page.bad.back()));
  }
  ASSIGN_OR_RETURN(auto families, FamilyRows(inputs, "", kFleetFamilies));
  page.families = std::move(families.first);
  page.more_families = families.second;
  ASSIGN_OR_RETURN(const auto drills, inputs.browser.LastDrills(kFleetDrills));
  for (const DrillRecord& drill : drills) {
    page.drills.push_back({drill.drill_id, drill.started, drill.ended, drill.exit_code});
  }
  return page;
}

Result<SiteFamilies> BuildFamilies(const PageInputs& inputs, const PageMark& mark) {
  ASSIGN_OR_RETURN(auto families, FamilyRows(inputs, mark.name, kPageFamilies));
  SiteFamilies page{std::move(families.first), {}};
  if (families.second) {
    page.next = SiteHref("/families", {{"after", page.families.back().family}});
  }
  return page;
}

Result<SiteFamily> BuildFamily(const PageInputs& inputs, const std::string& family,
                               const PageMark& mark) {
  SiteFamily page{FamilyRowOf(inputs, family, kSiteWeeks), {}, {}, {}};
  ASSIGN_OR_RETURN(const auto counts, inputs.browser.CountFamily(family));
  page.family.counts = CountsOf(counts);
  std::optional<PageStart> before;
  if (mark.time) before = PageStart{*mark.time, mark.name};
  ASSIGN_OR_RETURN(auto runs, inputs.browser.FamilyRuns(family, before, kPageRuns + 1));
  if (runs.empty() && counts.empty()) return NotFound("the history has no such family");
  if (runs.size() > kPageRuns) {
    runs.pop_back();
    page.next = SiteFamilyHref(
        family, {{"t", std::to_string(runs.back().started.time_since_epoch().count())},
                 {"after", runs.back().run_id}});
  }
  for (const RunRow& row : runs) {
    page.runs.push_back(SiteRowOf(row));
    RETURN_IF_ERROR(AddVerdicts(&inputs.browser, &page.runs.back()));
  }
  ASSIGN_OR_RETURN(const auto together, inputs.browser.LastTogether(family, kTogether));
  for (const FamilyRecord& record : together) {
    page.together.emplace_back(record.name, SiteVerdictOf({.drill_id = record.drill_id,
                                                           .run_id = {},
                                                           .verdict = record.verdict,
                                                           .decided = record.decided,
                                                           .reruns = record.runs,
                                                           .reasons = record.reasons}));
  }
  return page;
}

Result<SiteTrends> BuildTrends(const PageInputs& inputs, const PageMark& mark) {
  SiteTrends page;
  page.weeks = WeeksOf(inputs.counted.weeks.all, inputs.now, kSiteWeeks);
  const auto& families = inputs.counted.weeks.families;
  for (auto at = families.upper_bound(mark.name); at != families.end(); ++at) {
    if (page.families.size() == kPageFamilies) {
      page.next = SiteHref("/trends", {{"after", page.families.back().family}});
      break;
    }
    page.families.push_back(FamilyRowOf(inputs, at->first, kTrendRowWeeks));
  }
  return page;
}

SiteTrendsReport BuildTrendsReport(const PageInputs& inputs) {
  return {inputs.counted.trends.get()};
}

}  // namespace rharness
