// Trends as a page: pictures of rates and survival, tables of changes and of dependencies.
#include <fmt/format.h>

#include <algorithm>

#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/text.h"
#include "reports/trends_words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostTrendRows = 300;
constexpr std::size_t kMostTrendPictures = 40;
constexpr std::size_t kMostTrendRuns = 500;
constexpr std::string_view kTrendsRecord = "the output of --json";

std::string_view TrendKind(const TrendSeries& series) {
  if (!series.changes.empty()) {
    const TrendChange& last = series.changes.back();
    return last.after < last.before ? "drifted" : "equivalent";
  }
  return series.counts.rate ? "identical" : "infra";
}

std::string TrendPageRow(const TrendSeries& series, WallTime at) {
  return fmt::format(
      "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"Reproducible\">{}</td>"
      "<td data-l=\"Runs\" class=\"n\">{}</td><td data-l=\"Open\" class=\"n\">{}</td>"
      "<td data-l=\"Last week judged\">{}</td><td data-l=\"Changes\" class=\"n\">{}</td></tr>\n",
      TrendKind(series), HtmlText(series.by == "all" ? "all runs" : series.value, 300),
      TrendRateWords(series.counts), series.counts.good + series.counts.bad, series.counts.open,
      LastWeekWords(series, at), series.changes.size());
}

std::string TrendPageTable(const TrendsReport& report, std::string_view by,
                           std::string_view title) {
  std::string rows;
  std::size_t all = 0;
  for (const TrendSeries& series : report.series) {
    if (series.by == by && ++all <= kMostTrendRows) rows += TrendPageRow(series, report.at);
  }
  if (all == 0) return "";
  return HtmlTable(title,
                   HtmlHeads({"Which", "Reproducible", Numbers("Runs"), Numbers("Open"),
                              "Last week judged", Numbers("Changes")}),
                   rows, "stack") +
         HtmlLeftOut(all, std::min(all, kMostTrendRows), kTrendsRecord);
}

std::string Coincidences(const TrendChange& change) {
  if (change.coincidences.empty()) {
    return "nothing that is recorded changed with it for most runs";
  }
  std::string out;
  for (const TrendCoincidence& one : change.coincidences) {
    out += fmt::format("{}{}", out.empty() ? "" : "<br>", HtmlText(CoincidenceWords(one), 1200));
  }
  return out;
}

std::string ChangeTable(const TrendsReport& report) {
  std::string rows;
  for (const TrendSeries& series : report.series) {
    for (const TrendChange& change : series.changes) {
      rows += fmt::format(
          "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"Change\">{}</td><td "
          "data-l=\"With it\">{}</td></tr>\n",
          change.after < change.before ? "drifted" : "equivalent", HtmlText(series.value, 200),
          HtmlText(change.words, 400), Coincidences(change));
    }
  }
  std::string out = "<section id=\"changes\">\n";
  if (rows.empty()) {
    return out + "<h2>Changes</h2>\n<p>No family's rate is shown to have changed.</p></section>\n";
  }
  out += HtmlTable("Changes", HtmlHeads({"Family", "Change", "With it"}), rows, "stack");
  return out + fmt::format(
                   "<p class=\"soft\">Exact tests of every week as the first of a new rate, "
                   "corrected for their number; where no family changed, one is named with a "
                   "chance of {:.3g} at most, if the verdicts of a run in different weeks were "
                   "independent: the same few runs, judged every week, make a p far too small. "
                   "What changes with a rate is a coincidence, not yet a cause.</p></section>\n",
                   report.alpha);
}

std::string Figure(std::string_view name, const std::string& picture) {
  return fmt::format("<figure><figcaption>{}</figcaption>{}</figure>\n", HtmlText(name, 600),
                     picture);
}

std::string Pictures(const TrendsReport& report) {
  std::string out = "<section><h2>By week</h2>\n<div class=\"plots\">\n";
  std::size_t drawn = 0;
  for (const TrendSeries& series : report.series) {
    const bool shown = series.by == "all" || series.by == "family";
    if (!shown || drawn >= kMostTrendPictures) continue;
    const std::string picture = SvgRates(series, fmt::format("rate-{}", drawn));
    if (picture.empty()) continue;
    ++drawn;
    out += Figure(series.by == "all" ? "all runs" : series.value, picture);
  }
  return drawn == 0 ? "" : out + "</div></section>\n";
}

std::string SurvivalSection(const TrendsReport& report) {
  if (report.survival.empty() ||
      report.survival.front().runs + report.survival.front().never_seen == 0) {
    return "";
  }
  std::string out =
      "<section><h2>Still reproducible, since first seen to be</h2>\n<div class=\"plots\">\n";
  std::size_t drawn = 0;
  for (const TrendSurvival& survival : report.survival) {
    if (drawn >= kMostTrendPictures / 4) break;
    if (!survival.family.empty() && survival.ended == 0) continue;
    const std::string words = SurvivalWords(survival);
    out += Figure(survival.family.empty() ? words : survival.family + ": " + words,
                  SvgSurvival(survival, fmt::format("age-{}", drawn++)));
  }
  return out +
         "</div><p class=\"soft\">Kaplan and Meier, from a run's first verdict by which it "
         "reproduced to the one from which on it did not any more. It ended between two drills, "
         "and the later one is taken. The band is at 95 % (Greenwood, log-log): it is of chance, "
         "not of when runs were drilled. A run that reproduced again later has not ended; one "
         "that was never seen to reproduce is left out.</p></section>\n";
}

std::string OnlyTable(const TrendsReport& report) {
  std::string rows;
  for (const TrendOnly& only : report.only) {
    std::string families;
    for (const std::string& family : only.families) {
      families += (families.empty() ? "" : ", ") + HtmlText(family, 100);
    }
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td data-l=\"Which\">{}</td><td class=\"n\" "
        "data-l=\"Runs\">{}</td><td data-l=\"Families\">{}</td></tr>\n",
        only.by, HtmlText(only.value, 300), only.runs, families);
  }
  if (rows.empty()) return "";
  return "<section>\n" +
         HtmlTable("Shown to reproduce with one alone",
                   HtmlHeads({"What", "Which", Numbers("Runs"), "Families"}), rows, "stack") +
         "</section>\n";
}

std::string ChanceSection(const TrendsReport& report) {
  if (!report.last_chance) return "";
  const LastChance& chance = *report.last_chance;
  std::string rows;
  const std::size_t shown = std::min(chance.list.size(), kMostTrendRuns);
  for (std::size_t i = 0; i < shown; ++i) {
    const LastChanceRun& run = chance.list[i];
    rows += fmt::format(
        "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"Family\">{}</td><td "
        "data-l=\"Why\">{}</td></tr>\n",
        run.shown ? "drifted" : "inconclusive", HtmlText(run.run_id, 150),
        HtmlText(run.family, 150), HtmlText(run.words, 300));
  }
  std::string out = fmt::format("<section id=\"last-chance\">\n<h2>Last chance</h2>\n<p>{}</p>\n",
                                HtmlText(ChanceWords(chance), 1500));
  if (!rows.empty()) {
    out +=
        HtmlTable("Runs", HtmlHeads({"Run", "Family", "Why"}), rows, "stack") +
        HtmlLeftOut(static_cast<std::size_t>(chance.lost + chance.unproven), shown, kTrendsRecord);
  }
  return out + "</section>\n";
}

}  // namespace

std::string HtmlTrendSections(const TrendsReport& report) {
  std::string out =
      ChanceSection(report) + ChangeTable(report) + Pictures(report) + SurvivalSection(report);
  std::string tables;
  tables += TrendPageTable(report, "family", "Families");
  tables += TrendPageTable(report, "image", "Images");
  tables += TrendPageTable(report, "driver", "Drivers");
  tables += TrendPageTable(report, "gpu", "GPUs");
  if (!tables.empty()) {
    out += "<section>\n" + tables +
           "<p class=\"soft\">A run counts under each image, driver and GPU that it was rerun "
           "with.</p></section>\n";
  }
  return out + OnlyTable(report);
}

std::string WriteHtml(const TrendsReport& report) {
  const bool changed = std::ranges::any_of(
      report.series, [](const TrendSeries& series) { return !series.changes.empty(); });
  std::string out = HtmlHead(report.headline);
  out += HtmlTop({.page_class = report.exit_code != 0             ? "drifted"
                                : report.verdicts == 0 || changed ? "inconclusive"
                                                                  : "identical",
                  .eyebrow_html = fmt::format("Trends · {}", FormatMinute(report.at)),
                  .answer = report.headline,
                  .next_html = HtmlText(report.next, 600),
                  .skip_id = "changes",
                  .skip_words = "Skip to the changes"});
  out += HtmlNotes(report.notes);
  out += HtmlTrendSections(report);
  return out + HtmlEnd(report.version, kTrendsRecord, false);
}

}  // namespace rharness
