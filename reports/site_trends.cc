// The pages of trends: verdicts by week, and the measured trends.
#include <fmt/format.h>

#include <algorithm>

#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/site.h"
#include "reports/site_parts.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kFewestBars = 12;

SiteCounts TotalOf(const std::vector<SiteWeek>& weeks) {
  SiteCounts all;
  for (const SiteWeek& week : weeks) {
    for (const auto& [name, count] : week.verdicts) all[name] += count;
  }
  return all;
}

std::string WeeksWords(std::size_t count) { return Counted(count, "week"); }

// From the first week that has a verdict on, so that a young history is not all at the right edge.
std::vector<SiteWeek> ShownWeeks(const std::vector<SiteWeek>& weeks) {
  const auto first = std::find_if(weeks.begin(), weeks.end(),
                                  [](const SiteWeek& week) { return SumOf(week.verdicts) > 0; });
  const auto from = static_cast<std::size_t>(first - weeks.begin());
  const std::size_t most = weeks.size() - std::min(weeks.size(), kFewestBars);
  return {weeks.begin() + static_cast<std::ptrdiff_t>(std::min(from, most)), weeks.end()};
}

// The colour of each verdict, and its count.
std::string Legend(const SiteCounts& all) {
  std::string items;
  for (const Verdict verdict : kVerdicts) {
    const std::int64_t count = CountOf(all, verdict);
    if (count <= 0) continue;
    items += fmt::format("<li class=\"{}\"><i></i>{} {}: {}</li>", VerdictName(verdict),
                         VerdictSign(verdict), VerdictLabel(verdict),
                         FormatCount(static_cast<std::uint64_t>(count)));
  }
  return fmt::format("<ul class=\"legend\">{}</ul>", items);
}

// Bars of a week each, stacked by verdict, the good ones at the bottom.
std::string WeekBars(const std::vector<SiteWeek>& weeks) {
  constexpr double kHeight = 120.0;
  constexpr int kStep = 22;
  std::int64_t most = 1;
  for (const SiteWeek& week : weeks) most = std::max(most, SumOf(week.verdicts));
  std::string bars;
  for (std::size_t i = 0; i < weeks.size(); ++i) {
    double y = kHeight;
    bars += fmt::format("<g><title>week of {}: {}</title>", DayOf(weeks[i].start),
                        HtmlText(CountWords(weeks[i].verdicts), 300));
    for (const Verdict verdict : kVerdicts) {
      const auto count = static_cast<double>(CountOf(weeks[i].verdicts, verdict));
      if (count <= 0) continue;
      const double height = kHeight * count / static_cast<double>(most);
      y -= height;
      bars +=
          fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{:.2f}\" width=\"{}\" height=\"{:.2f}\"/>",
                      VerdictName(verdict), static_cast<int>(i) * kStep, y, kStep - 4, height);
    }
    bars += "</g>";
  }
  return fmt::format(
      "<figure class=\"bars\"><svg viewBox=\"0 0 {} {:.0f}\" role=\"img\" "
      "aria-label=\"Verdicts by week, at most {} in one\" preserveAspectRatio=\"none\">{}</svg>"
      "<figcaption>One bar a week, from the one of {} to the one of {}, as high as it had "
      "verdicts: "
      "{} at most.</figcaption>{}</figure>\n",
      std::max<std::size_t>(weeks.size(), 1) * kStep, kHeight,
      FormatCount(static_cast<std::uint64_t>(most)), bars,
      weeks.empty() ? "-" : DayOf(weeks.front().start),
      weeks.empty() ? "-" : DayOf(weeks.back().start),
      FormatCount(static_cast<std::uint64_t>(most)), Legend(TotalOf(weeks)));
}

// Leaves out weeks without verdicts, and kinds of verdicts that never occurred.
std::string WeekTable(const std::vector<SiteWeek>& weeks) {
  const SiteCounts all = TotalOf(weeks);
  std::vector<Verdict> kinds;
  for (const Verdict verdict : kVerdicts) {
    if (CountOf(all, verdict) > 0) kinds.push_back(verdict);
  }
  std::string rows;
  std::size_t without = 0;
  for (auto week = weeks.rbegin(); week != weeks.rend(); ++week) {
    const std::int64_t sum = SumOf(week->verdicts);
    if (sum <= 0) {
      ++without;
      continue;
    }
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td>", DayOf(week->start),
                        FormatCount(static_cast<std::uint64_t>(sum)));
    for (const Verdict verdict : kinds) {
      rows += fmt::format("<td class=\"n\">{}</td>", CountOf(week->verdicts, verdict));
    }
    rows += "</tr>\n";
  }
  std::vector<HtmlColumn> heads = {"Week of", Numbers("Verdicts")};
  for (const Verdict verdict : kinds) heads.push_back(Numbers(VerdictLabel(verdict)));
  return HtmlTable("The same in numbers", HtmlHeads(heads), rows) +
         (without == 0
              ? ""
              : fmt::format("<p class=\"soft\">{} of these {} had no verdict and {} left "
                            "out.</p>\n",
                            without, WeeksWords(weeks.size()), without == 1 ? "is" : "are"));
}

std::string FamilySection(const SiteTrends& page) {
  std::string rows;
  for (const SiteFamilyRow& family : page.families) {
    const SiteCounts all = TotalOf(family.weeks);
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"n\" data-l=\"Verdicts\">{}</td>"
        "<td data-l=\"Of these\">{}</td><td data-l=\"By week\">{}</td></tr>\n",
        FamilyLink(family.family), FormatCount(static_cast<std::uint64_t>(SumOf(all))),
        CountBadges(all), WeekCells(family.weeks));
  }
  std::string out;
  if (rows.empty()) {
    out = fmt::format(
        "<h3>By family</h3><p class=\"soft\">No family {} a verdict in the last {}.</p>\n",
        page.pager.previous.empty() ? "had" : "here had",
        WeeksWords(static_cast<std::size_t>(page.row_weeks)));
  } else {
    out = HtmlTable("By family, the last " + WeeksWords(static_cast<std::size_t>(page.row_weeks)),
                    HtmlHeads({"Family", Numbers("Verdicts"), "Of these",
                               "The worst of each week, the last at the right"}),
                    rows, "stack") +
          "<p class=\"soft\">A dot is a week without a verdict.</p>\n";
  }
  if (page.without > 0) {
    out += fmt::format(
        "<p class=\"soft\">{} had verdicts before that, and none since: left out.</p>\n",
        page.without == 1 ? "1 family" : FormatCount(page.without) + " families");
  }
  return out + SitePagerLinks(page.pager);
}

}  // namespace

std::string WriteSite(const SiteTrends& page, const SiteFrame& frame) {
  const SiteCounts all = TotalOf(page.weeks);
  const bool any = SumOf(all) > 0;
  std::string out = SiteTop(
      {.title = "Trends",
       .here = "Trends",
       .page_class = "",
       .eyebrow_html = "Trends",
       .answer = any ? fmt::format("{} in the last {}",
                                   Counted(static_cast<std::uint64_t>(SumOf(all)), "verdict"),
                                   WeeksWords(page.weeks.size()))
                     : fmt::format("No drill has judged a run in the last {}.",
                                   WeeksWords(page.weeks.size())),
       .words_html =
           any ? SiteLink("/trends/report",
                          "Rates, when they changed, how long runs stay reproducible, and "
                          "what hangs on what")
               : "Verdicts by week are shown here once a drill of this history has ended "
                 "(<code>rharness drill</code>)."},
      frame);
  if (!any) {
    if (page.without > 0) out += FamilySection(page);
    return out + SiteEnd(frame);
  }
  return out + WeekBars(ShownWeeks(page.weeks)) + FamilySection(page) + WeekTable(page.weeks) +
         SiteEnd(frame);
}

std::string WriteSite(const SiteTrendsReport& page, const SiteFrame& frame) {
  const TrendsReport* report = page.report;
  const std::string failed =
      page.failed_at ? fmt::format("They could not be measured on {}; the log says why.",
                                   FormatMinute(*page.failed_at))
                     : std::string();
  const std::string eyebrow = SiteLink("/trends", "Trends");
  std::string out = SiteTop(
      {.title = "Trends",
       .here = "Trends",
       .page_class = "",
       .eyebrow_html =
           report == nullptr ? eyebrow : eyebrow + " · as of " + FormatMinute(report->at),
       .answer = report == nullptr ? "Trends are not measured yet." : report->headline,
       .words_html = report == nullptr      ? failed.empty() ? "They are within minutes." : failed
                     : report->next.empty() ? ""
                                            : "<b>Next:</b> " + HtmlText(report->next, 600)},
      frame);
  if (report == nullptr) return out + SiteEnd(frame);
  std::vector<std::string> notes = report->notes;
  if (!failed.empty()) notes.push_back(failed + " Here is what they were before.");
  out += HtmlNotes(notes) + HtmlSections(DocumentOf(*report));
  return out + SiteEnd(frame);
}

}  // namespace rharness
