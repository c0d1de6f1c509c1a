// Trends as a document: what would be lost, changes, pictures of rates and survival, dependencies.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reports/text.h"
#include "reports/trends_words.h"

namespace rharness {
namespace {

using As = DocumentCell::As;

constexpr std::size_t kMostTrendPictures = 40;
constexpr std::size_t kMostSurvivals = 10;

std::string NameOf(const TrendSeries& series) {
  return series.by == "all" ? "all runs" : series.value;
}

Verdict ToneOf(const TrendChange& change) {
  return change.after < change.before ? Verdict::kDrifted : Verdict::kEquivalent;
}

Verdict ToneOf(const TrendSeries& series) {
  if (!series.changes.empty()) return ToneOf(series.changes.back());
  if (!series.counts.rate) return Verdict::kInfra;
  return *series.counts.rate >= 1.0 ? Verdict::kIdentical : Verdict::kInconclusive;
}

DocumentSection ChanceSection(const TrendsReport& report) {
  DocumentSection section{.title = "Last chance", .columns = {{"Run"}, {"Family"}, {"Why"}}};
  if (!report.last_chance) return section;
  const LastChance& chance = *report.last_chance;
  section.words = ChanceWords(chance);
  section.cases = true;
  for (const LastChanceRun& run : chance.list) {
    section.rows.push_back({.tone = run.shown ? Verdict::kDrifted : Verdict::kInconclusive,
                            .cells = {run.run_id, run.family, run.words}});
  }
  const auto listed = static_cast<std::int64_t>(chance.list.size());
  if (chance.lost + chance.unproven > listed) {
    section.words +=
        fmt::format(" {} {} listed.", Counted(static_cast<std::uint64_t>(listed), "run"),
                    listed == 1 ? "is" : "are");
  }
  return section;
}

DocumentSection ChangeSection(const TrendsReport& report) {
  DocumentSection section{.title = "Changes", .columns = {{"Family"}, {"Change"}}};
  for (const TrendSeries& series : report.series) {
    for (const TrendChange& change : series.changes) {
      DocumentRow row{.tone = ToneOf(change), .cells = {series.value, change.words}};
      for (const TrendCoincidence& one : change.coincidences) {
        row.details.push_back(CoincidenceWords(one));
      }
      if (row.details.empty()) {
        row.details = {"nothing that is recorded changed with it for most runs"};
      }
      section.rows.push_back(std::move(row));
    }
  }
  section.words =
      section.rows.empty()
          ? "No family's rate is shown to have changed."
          : fmt::format(
                "Exact tests of every week as the first of a new rate, corrected for their number; "
                "where no family changed, one is named with a chance of {:.3g} at most, if the "
                "verdicts of a run in different weeks were independent: the same few runs, judged "
                "every week, make a p far too small. What changes with a rate is a coincidence, "
                "not yet a cause.",
                report.alpha);
  return section;
}

DocumentSection WeekSection(const TrendsReport& report) {
  DocumentSection section{.title = "By week"};
  for (const TrendSeries& series : report.series) {
    const bool shown = series.by == "all" || series.by == "family";
    if (!shown || section.pictures.size() >= kMostTrendPictures) continue;
    std::string picture = SvgRates(series, fmt::format("rate-{}", section.pictures.size()));
    if (!picture.empty()) section.pictures.push_back({std::move(picture), NameOf(series)});
  }
  return section;
}

DocumentSection SurvivalSection(const TrendsReport& report) {
  DocumentSection section{.title = "Still reproducible, since first seen to be"};
  if (report.survival.empty() ||
      report.survival.front().runs + report.survival.front().never_seen == 0) {
    return section;
  }
  section.words =
      "Kaplan and Meier, from a run's first verdict by which it reproduced to the one from which "
      "on it did not any more. It ended between two drills, and the later one is taken. The band "
      "is at 95 % (Greenwood, log-log): it is of chance, not of when runs were drilled. A run that "
      "reproduced again later has not ended; one that was never seen to reproduce is left out.";
  for (const TrendSurvival& survival : report.survival) {
    if (section.items.size() >= kMostSurvivals) break;
    if (!survival.family.empty() && survival.ended == 0) continue;
    const std::string family = survival.family.empty() ? "all runs" : survival.family;
    section.pictures.push_back(
        {SvgSurvival(survival, fmt::format("age-{}", section.items.size())), family});
    section.items.push_back((survival.family.empty() ? "" : family + ": ") +
                            SurvivalWords(survival));
  }
  return section;
}

DocumentSection RateSection(const TrendsReport& report, std::string_view by, std::string title) {
  DocumentSection section{.title = std::move(title),
                          .columns = {{"Which"},
                                      {"Reproducible (95 %)"},
                                      {"Runs", true},
                                      {"Open", true},
                                      {"Last week judged"},
                                      {"Changes", true}}};
  for (const TrendSeries& series : report.series) {
    if (series.by != by && (series.by != "all" || by != "family")) continue;
    section.rows.push_back(
        {.tone = ToneOf(series),
         .cells = {NameOf(series), TrendRateWords(series.counts),
                   std::to_string(series.counts.good + series.counts.bad),
                   std::to_string(series.counts.open), LastWeekWords(series, report.at),
                   std::to_string(series.changes.size())}});
  }
  if (by != "family" && !section.rows.empty()) {
    section.words =
        fmt::format("A run counts under each {} that it was rerun with.", by == "gpu" ? "GPU" : by);
  }
  return section;
}

DocumentSection OnlySection(const TrendsReport& report) {
  DocumentSection section{.title = "Shown to reproduce with one alone",
                          .columns = {{"Which"}, {"What"}, {"Runs", true}, {"Families"}}};
  for (const TrendOnly& only : report.only) {
    section.rows.push_back({.cells = {only.value, only.by, std::to_string(only.runs),
                                      fmt::format("{}", fmt::join(only.families, ", "))}});
  }
  return section;
}

}  // namespace

Document DocumentOf(const TrendsReport& report) {
  const bool changed = std::ranges::any_of(
      report.series, [](const TrendSeries& series) { return !series.changes.empty(); });
  const bool open = std::ranges::any_of(report.series, [](const TrendSeries& series) {
    return !series.counts.rate || *series.counts.rate < 1.0;
  });
  Document document{.name = "trends",
                    .about = "Trends",
                    .version = report.version,
                    .made = report.at,
                    .tone = report.exit_code == 1                      ? Verdict::kDrifted
                            : report.exit_code != 0 || open || changed ? Verdict::kInconclusive
                                                                       : Verdict::kIdentical,
                    .headline = report.headline,
                    .next = report.next,
                    .notes = report.notes,
                    .record = "the output of --json",
                    .exit_code = report.exit_code};
  document.sections = {ChanceSection(report),
                       ChangeSection(report),
                       WeekSection(report),
                       SurvivalSection(report),
                       RateSection(report, "family", "Families"),
                       RateSection(report, "image", "Images"),
                       RateSection(report, "driver", "Drivers"),
                       RateSection(report, "gpu", "GPUs"),
                       OnlySection(report)};
  std::erase_if(document.sections, IsEmpty);
  return document;
}

}  // namespace rharness
