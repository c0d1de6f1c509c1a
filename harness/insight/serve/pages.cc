// The pages over many runs.
#include "harness/insight/serve/pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/drill/history_of.h"
#include "harness/insight/trends/tracks.h"

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
    if (count > 0) out[verdict] = count;
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

// The next `limit` families.
Result<std::vector<SiteFamilyRow>> FamilyRows(const PageInputs& inputs, const NameStart& start,
                                              std::size_t limit) {
  ASSIGN_OR_RETURN(const auto counts, inputs.browser.CountFamilies(start, limit));
  std::vector<SiteFamilyRow> rows;
  for (const HistoryCount& one : counts) {
    if (rows.empty() || rows.back().family != one.family) {
      rows.push_back(FamilyRowOf(inputs, one.family, kRowWeeks));
    }
    rows.back().counts[one.last_verdict] += one.runs;
  }
  return rows;
}

// Whether it had a verdict since this Monday.
bool WasJudgedSince(const FamilyWeeks& family, WallTime monday) {
  for (auto week = family.weeks.lower_bound(monday); week != family.weeks.end(); ++week) {
    if (std::ranges::any_of(week->second, [](std::int64_t count) { return count > 0; }))
      return true;
  }
  return false;
}

Status AddVerdicts(HistoryBrowser* browser, SiteRunRow* row) {
  ASSIGN_OR_RETURN(const auto records,
                   browser->VerdictsOf(row->run_id, std::nullopt, kRowVerdicts, false));
  for (const VerdictRecord& record : records) row->verdicts.push_back(StoredVerdictOf(record));
  return {};
}

}  // namespace

std::string MsOf(WallTime time) { return std::to_string(time.time_since_epoch().count()); }

SiteRunRow SiteRowOf(const RunRow& row) {
  return {.run_id = row.run_id,
          .family = row.family,
          .started = row.started,
          .declared = row.declared,
          .last = row.last_verdict,
          .judged = row.judged,
          .retired = row.retired,
          .found = row.found,
          .verdicts = {}};
}

Result<SiteFleet> BuildFleet(const PageInputs& inputs) {
  SiteFleet page;
  ASSIGN_OR_RETURN(page.families, FamilyRows(inputs, {}, kFleetFamilies + 1));
  page.more_families = page.families.size() > kFleetFamilies;
  if (page.more_families) {
    page.families.pop_back();
    ASSIGN_OR_RETURN(const auto counts, inputs.browser.CountAll());
    page.counts = CountsOf(counts);
  } else {  // each run was counted already
    for (const SiteFamilyRow& family : page.families) {
      for (const auto& [verdict, runs] : family.counts) page.counts[verdict] += runs;
    }
  }
  ASSIGN_OR_RETURN(const auto bad, inputs.browser.LastBadRuns(inputs.counted.open_bad, kBadRuns));
  for (const RunRow& row : bad) {
    page.bad.push_back(SiteRowOf(row));
    RETURN_IF_ERROR(AddVerdicts(&inputs.browser, &page.bad.back()));
  }
  ASSIGN_OR_RETURN(const auto drills, inputs.browser.LastDrills(kFleetDrills));
  for (const DrillRecord& drill : drills) {
    page.drills.push_back({drill.drill_id, drill.started, drill.ended, drill.exit_code});
  }
  return page;
}

Result<SiteFamilies> BuildFamilies(const PageInputs& inputs, const PageMark& mark) {
  SiteFamilies page;
  ASSIGN_OR_RETURN(page.families, FamilyRows(inputs, NameStartOf(mark), kPageFamilies + 1));
  if (const auto other = ReadInstead(mark, page.families.size(), kPageFamilies)) {
    return BuildFamilies(inputs, *other);
  }
  page.pager =
      CutPage(mark, kPageFamilies, &page.families, [](const SiteFamilyRow& row, const char* side) {
        return SiteHref("/families", {{side, row.family}});
      });
  return page;
}

Result<SiteFamily> BuildFamily(const PageInputs& inputs, const std::string& family,
                               const PageMark& mark) {
  SiteFamily page{.family = FamilyRowOf(inputs, family, kSiteWeeks)};
  ASSIGN_OR_RETURN(const auto counts, inputs.browser.CountFamily(family));
  page.family.counts = CountsOf(counts);
  ASSIGN_OR_RETURN(auto runs, inputs.browser.FamilyRuns(family, PageStartOf(mark), kPageRuns + 1));
  if (const auto other = ReadInstead(mark, runs.size(), kPageRuns)) {
    return BuildFamily(inputs, family, *other);
  }
  if (runs.empty() && counts.empty()) return NotFound("the history has no such family");
  page.pager = CutPage(mark, kPageRuns, &runs, [&](const RunRow& row, const char* side) {
    return SiteFamilyHref(family, {{"t", MsOf(row.started)}, {side, row.run_id}});
  });
  for (const RunRow& row : runs) {
    page.runs.push_back(SiteRowOf(row));
    RETURN_IF_ERROR(AddVerdicts(&inputs.browser, &page.runs.back()));
  }
  ASSIGN_OR_RETURN(const auto together, inputs.browser.LastTogether(family, kTogether));
  for (const FamilyRecord& record : together) {
    page.together.emplace_back(record.name, StoredVerdict{.drill_id = record.drill_id,
                                                          .verdict = record.verdict,
                                                          .decided = record.decided,
                                                          .reruns = record.runs,
                                                          .reasons = ReasonsIn(record.reasons)});
  }
  return page;
}

Result<SiteTrends> BuildTrends(const PageInputs& inputs, const PageMark& mark) {
  SiteTrends page;
  page.weeks = WeeksOf(inputs.counted.weeks.all, inputs.now, kSiteWeeks);
  page.row_weeks = kTrendRowWeeks;
  const WallTime monday = StartOf(WeekOf(inputs.now) - kTrendRowWeeks + 1);
  std::vector<const std::string*> judged;
  for (const auto& [family, weeks] : inputs.counted.weeks.families) {
    if (WasJudgedSince(weeks, monday)) {
      judged.push_back(&family);
    } else {
      ++page.without;
    }
  }
  const auto less = [](const std::string* a, const std::string& b) { return *a < b; };
  auto from = judged.begin();
  auto to = judged.end();
  if (mark.toward == Toward::kStart) {
    to = std::lower_bound(judged.begin(), judged.end(), mark.name, less);
    from = to - std::min<std::ptrdiff_t>(to - judged.begin(), kPageFamilies + 1);
  } else if (mark.given) {
    from = std::lower_bound(judged.begin(), judged.end(), mark.name, less);
    if (from != judged.end() && **from == mark.name) ++from;
  }
  if (const auto other = ReadInstead(mark, static_cast<std::size_t>(to - from), kPageFamilies)) {
    return BuildTrends(inputs, *other);
  }
  to = from + std::min<std::ptrdiff_t>(to - from, kPageFamilies + 1);
  for (auto at = from; at != to; ++at) {
    page.families.push_back(FamilyRowOf(inputs, **at, kTrendRowWeeks));
  }
  page.pager =
      CutPage(mark, kPageFamilies, &page.families, [](const SiteFamilyRow& row, const char* side) {
        return SiteHref("/trends", {{side, row.family}});
      });
  return page;
}

SiteTrendsReport BuildTrendsReport(const PageInputs& inputs) {
  return {inputs.counted.trends.get(), inputs.counted.trends_failed};
}

}  // namespace rharness
