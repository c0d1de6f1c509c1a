// The pages over many runs: fleet, families, a family; and the page for a missing page.
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

std::string RunsWords(std::int64_t count) {
  return Counted(static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0)), "run");
}

// What must be seen first of these runs, in one sentence.
std::string AnswerOf(const SiteCounts& counts) {
  const std::int64_t all = SumOf(counts);
  if (all == 0) return "The history holds no runs.";
  const auto never = counts.find(std::nullopt);
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
        FamilyLink(family.family), FormatCount(static_cast<std::uint64_t>(SumOf(family.counts))),
        CountBadges(family.counts));
    rows += fmt::format("<td data-l=\"Judged\">{}</td><td data-l=\"By week\">{}</td></tr>\n",
                        DayOf(family.judged), WeekCells(family.weeks));
  }
  return HtmlTable("Families",
                   HtmlHeads({"Family", Numbers("Runs"), "Last verdicts", "Judged",
                              "By week, the worst of each"}),
                   rows, "stack");
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
      return "it could not be done, or a run failed";
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
        "<td class=\"n\" data-l=\"Took\">{}</td><td data-l=\"Ended\">{}</td></tr>\n",
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
  return HtmlTable("The last drills", HtmlHeads({"Drill", "Started", Numbers("Took"), "Ended"}),
                   rows, "stack");
}

std::string TogetherTable(const std::vector<std::pair<std::string, StoredVerdict>>& together) {
  if (together.empty()) return "";
  std::string rows;
  for (const auto& [name, said] : together) {
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td data-l=\"Verdict\">{}</td><td data-l=\"Decided\">{}</td>"
        "<td class=\"n\" data-l=\"Runs\">{}</td><td data-l=\"Because\">{}</td></tr>\n",
        HtmlText(name, 200), BadgeOf(said.verdict), FormatMinute(said.decided), said.reruns,
        SentenceList(ReasonWords(said.reasons), kMostTogetherReasons));
  }
  return HtmlTable("Its runs together",
                   HtmlHeads({"Configuration", "Verdict", "Decided", Numbers("Runs"), "Because"}),
                   rows, "stack");
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
    out += RunTable("Runs that did not reproduce, by their last conclusive verdict, the last first",
                    page.bad, {.family = true, .verdict = "Last conclusive verdict"});
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
  return out + FamilyTable(page.families) + SitePagerLinks(page.pager) + SiteEnd(frame);
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
  out += RunTable("Runs, the newest first", page.runs);
  return out + SitePagerLinks(page.pager) + SiteEnd(frame);
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
