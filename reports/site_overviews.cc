// The pages over many runs: fleet, family, trends, search; and the page that says why there is
// none.
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

constexpr std::size_t kMostTogetherReasons = 3;

std::int64_t Sum(const SiteCounts& counts) {
  std::int64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

std::int64_t CountOf(const SiteCounts& counts, Verdict verdict) {
  const auto at = counts.find(std::string(VerdictName(verdict)));
  return at == counts.end() ? 0 : at->second;
}

std::string RunsWords(std::int64_t count) {
  return Counted(static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0)), "run");
}

// What must be seen first of these runs, in one sentence.
std::string AnswerOf(const SiteCounts& counts) {
  const std::int64_t all = Sum(counts);
  if (all == 0) return "The history holds no runs.";
  const auto never = counts.find("");
  if (never != counts.end() && never->second == all) return "No drill has judged any of its runs.";
  const std::int64_t drifted = CountOf(counts, Verdict::kDrifted);
  const std::int64_t failed = CountOf(counts, Verdict::kFailed);
  if (drifted + failed > 0) {
    return fmt::format("{} of {} did not reproduce when last drilled.",
                       FormatCount(static_cast<std::uint64_t>(drifted + failed)), RunsWords(all));
  }
  const std::int64_t good =
      CountOf(counts, Verdict::kIdentical) + CountOf(counts, Verdict::kEquivalent);
  return fmt::format("{} of {} reproduced when last drilled.",
                     FormatCount(static_cast<std::uint64_t>(good)), RunsWords(all));
}

std::string_view ClassOf(const SiteCounts& counts) {
  const std::optional<Verdict> worst = WorstOf(counts);
  return worst ? VerdictName(*worst) : "infra";
}

std::string FamilyTable(const std::vector<SiteFamilyRow>& families) {
  if (families.empty()) return "<p class=\"soft\">No families here.</p>";
  std::string rows;
  for (const SiteFamilyRow& family : families) {
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"n\" data-l=\"Runs\">{}</td>"
        "<td data-l=\"Last verdicts\">{}</td>",
        FamilyLink(family.family), FormatCount(static_cast<std::uint64_t>(Sum(family.counts))),
        CountBadges(family.counts));
    rows += fmt::format("<td data-l=\"Judged\">{}</td><td data-l=\"By week\">{}</td></tr>\n",
                        DayOf(family.judged), WeekCells(family.weeks));
  }
  return HtmlTable(
      "Families",
      HtmlHeads({"Family", "Runs", "Last verdicts", "Judged", "By week, the worst of each"}), rows,
      "stack");
}

std::string_view EndWords(int exit_code) {
  switch (exit_code) {
    case 0:
      return "all reproduced";
    case 1:
      return "drift";
    case 3:
      return "inconclusive or not comparable";
    case 4:
      return "infrastructure, or a run failed";
    default:
      return "";
  }
}

std::string DrillTable(const std::vector<SiteDrillRow>& drills) {
  if (drills.empty()) return "";
  std::string rows;
  for (const SiteDrillRow& drill : drills) {
    const int code = drill.exit_code.value_or(-1);
    rows += fmt::format(
        "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"Started\">{}</td>"
        "<td data-l=\"Took\">{}</td><td data-l=\"Ended\">{}</td></tr>\n",
        code == 0   ? "identical"
        : code == 1 ? "drifted"
                    : "inconclusive",
        HtmlText(drill.drill_id, 120), FormatMinute(drill.started),
        drill.ended
            ? FormatDuration(std::chrono::duration_cast<Seconds>(*drill.ended - drill.started))
            : "-",
        drill.exit_code
            ? fmt::format("<span class=\"b\">exit code {}</span> {}", code, EndWords(code))
            : "-");
  }
  return HtmlTable("The last drills", HtmlHeads({"Drill", "Started", "Took", "Ended"}), rows,
                   "stack");
}

std::string TogetherTable(const std::vector<std::pair<std::string, SiteVerdict>>& together) {
  if (together.empty()) return "";
  std::string rows;
  for (const auto& [name, said] : together) {
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td data-l=\"Verdict\">{}</td><td data-l=\"Decided\">{}</td>"
        "<td class=\"n\" data-l=\"Runs\">{}</td><td data-l=\"Because\">{}</td></tr>\n",
        HtmlText(name, 200), BadgeOf(said.verdict), FormatMinute(said.decided), said.reruns,
        SentenceList(said.reasons, kMostTogetherReasons));
  }
  return HtmlTable("Its runs together",
                   HtmlHeads({"Configuration", "Verdict", "Decided", "Runs", "Because"}), rows,
                   "stack");
}

// Bars of a week each, stacked by verdict, the good ones at the bottom.
std::string WeekBars(const std::vector<SiteWeek>& weeks) {
  constexpr double kHeight = 120.0;
  constexpr int kStep = 22;
  std::int64_t most = 1;
  for (const SiteWeek& week : weeks) most = std::max(most, Sum(week.verdicts));
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
      "<figcaption>Verdicts by week, from {} to {}; at most {} in one</figcaption></figure>\n",
      std::max<std::size_t>(weeks.size(), 1) * kStep, kHeight,
      FormatCount(static_cast<std::uint64_t>(most)), bars,
      weeks.empty() ? "-" : DayOf(weeks.front().start),
      weeks.empty() ? "-" : DayOf(weeks.back().start),
      FormatCount(static_cast<std::uint64_t>(most)));
}

std::string WeekTable(const std::vector<SiteWeek>& weeks) {
  std::string rows;
  for (auto week = weeks.rbegin(); week != weeks.rend(); ++week) {
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td>", DayOf(week->start),
                        Sum(week->verdicts));
    for (const Verdict verdict : kVerdicts) {
      rows += fmt::format("<td class=\"n\">{}</td>", CountOf(week->verdicts, verdict));
    }
    rows += "</tr>\n";
  }
  std::vector<std::string_view> heads = {"Week of", "Verdicts"};
  for (const Verdict verdict : kVerdicts) heads.push_back(VerdictLabel(verdict));
  return HtmlTable("The same in numbers", HtmlHeads(heads), rows);
}

std::string NameList(std::string_view title, const std::vector<std::string>& names, bool families) {
  if (names.empty()) return "";
  std::string items;
  for (const std::string& name : names) {
    items +=
        fmt::format("<li>{}</li>",
                    families ? FamilyLink(name)
                             : SiteLink(SiteHref("/search", {{"by", "image"}, {"q", name}}), name));
  }
  return fmt::format("<h3>{}</h3><ul class=\"names\">{}</ul>\n", title, items);
}

}  // namespace

std::string WriteSite(const SiteFleet& page, const SiteFrame& frame) {
  std::string out = SiteTop({.title = "Fleet",
                             .here = "Fleet",
                             .page_class = ClassOf(page.counts),
                             .eyebrow_html = "Fleet at a glance",
                             .answer = AnswerOf(page.counts),
                             .words_html = ""},
                            frame);
  out += SiteTiles(page.counts);
  if (!page.bad.empty()) {
    out += RunTable("Runs that did not reproduce, the last first", page.bad, true, false);
  }
  out += DrillTable(page.drills) + FamilyTable(page.families);
  if (page.more_families) out += "<p class=\"pager\"><a href=\"/families\">All families</a></p>\n";
  return out + SiteEnd(frame);
}

std::string WriteSite(const SiteFamilies& page, const SiteFrame& frame) {
  std::string out = SiteTop({.title = "Families",
                             .here = "Families",
                             .page_class = "",
                             .eyebrow_html = "Families",
                             .answer = "Families by name",
                             .words_html = ""},
                            frame);
  return out + FamilyTable(page.families) + SiteNext(page.next) + SiteEnd(frame);
}

std::string WriteSite(const SiteFamily& page, const SiteFrame& frame) {
  const SiteFamilyRow& family = page.family;
  std::string out = SiteTop({.title = family.family,
                             .here = "",
                             .page_class = ClassOf(family.counts),
                             .eyebrow_html = fmt::format("{} · family {}", SiteLink("/", "Fleet"),
                                                         HtmlText(family.family, 200)),
                             .answer = AnswerOf(family.counts),
                             .words_html = ""},
                            frame);
  out += SiteTiles(family.counts);
  out += fmt::format(
      "<h3>Verdicts by week</h3><p class=\"soft\">The worst of each week, the "
      "newest last.</p>{}\n",
      WeekCells(family.weeks));
  out += TogetherTable(page.together);
  out += RunTable("Runs, the newest first", page.runs, false, false);
  return out + SiteNext(page.next) + SiteEnd(frame);
}

std::string WriteSite(const SiteTrends& page, const SiteFrame& frame) {
  std::string out = SiteTop({.title = "Trends",
                             .here = "Trends",
                             .page_class = "",
                             .eyebrow_html = "Trends",
                             .answer = "Verdicts by week",
                             .words_html = SiteLink("/trends/report",
                                                    "Rates, when they changed, how long runs "
                                                    "stay reproducible, and what hangs on what")},
                            frame);
  out += WeekBars(page.weeks);
  std::string rows;
  for (const SiteFamilyRow& family : page.families) {
    SiteCounts all;
    for (const SiteWeek& week : family.weeks) {
      for (const auto& [name, count] : week.verdicts) all[name] += count;
    }
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"n\" data-l=\"Verdicts\">{}</td>"
        "<td data-l=\"Of these\">{}</td><td data-l=\"By week\">{}</td></tr>\n",
        FamilyLink(family.family), FormatCount(static_cast<std::uint64_t>(Sum(all))),
        CountBadges(all), WeekCells(family.weeks));
  }
  out += HtmlTable("By family",
                   HtmlHeads({"Family", "Verdicts", "Of these", "The worst of each week"}), rows,
                   "stack");
  return out + SiteNext(page.next) + WeekTable(page.weeks) + SiteEnd(frame);
}

std::string WriteSite(const SiteTrendsReport& page, const SiteFrame& frame) {
  const TrendsReport* report = page.report;
  const std::string eyebrow = SiteLink("/trends", "Trends");
  std::string out = SiteTop(
      {.title = "Trends",
       .here = "Trends",
       .page_class = "",
       .eyebrow_html =
           report == nullptr ? eyebrow : eyebrow + " · as of " + FormatMinute(report->at),
       .answer = report == nullptr ? "Trends are not measured yet." : report->headline,
       .words_html = report == nullptr      ? "They are within minutes."
                     : report->next.empty() ? ""
                                            : "<b>Next:</b> " + HtmlText(report->next, 600)},
      frame);
  if (report != nullptr) out += HtmlNotes(report->notes) + HtmlTrendSections(*report);
  return out + SiteEnd(frame);
}

std::string WriteSite(const SiteSearch& page, const SiteFrame& frame) {
  std::string out = SiteTop(
      {.title = page.asked ? "Search: " + page.text : "Search",
       .here = "Search",
       .page_class = "",
       .eyebrow_html = "Search",
       .answer = page.asked ? fmt::format("What has “{}” in it", page.text) : "Search the history",
       .words_html =
           "Runs by a part of their name or the beginning of their commit, families and images by "
           "a part of theirs.",
       .search = page.text},
      frame);
  std::string choices;
  for (const std::string_view by : {"any", "run", "family", "commit", "image"}) {
    choices += fmt::format("<option{}>{}</option>", by == page.by ? " selected" : "", by);
  }
  out += fmt::format(
      "<form class=\"filter\" action=\"/search\" method=\"get\"><label>Text<input type=\"search\" "
      "name=\"q\" value=\"{}\" maxlength=\"200\"></label><label>By<select name=\"by\">{}</select>"
      "</label><button>Search</button></form>\n",
      HtmlText(page.text, 400), choices);
  if (!page.asked) return out + SiteEnd(frame);
  out += NameList("Families", page.families, true) + NameList("Images", page.images, false);
  const bool by_other = page.by == "commit" || page.by == "image";
  if (page.by != "family") out += RunTable("Runs", page.runs, true, by_other);
  return out + SiteNext(page.next) + SiteEnd(frame);
}

std::string WriteSiteProblem(std::string_view title, std::string_view sentence,
                             const SiteFrame& frame) {
  return SiteTop({.title = title,
                  .here = "",
                  .page_class = "infra",
                  .eyebrow_html = "No page",
                  .answer = std::string(title),
                  .words_html = HtmlText(sentence, 800)},
                 frame) +
         SiteEnd(frame);
}

}  // namespace rharness
