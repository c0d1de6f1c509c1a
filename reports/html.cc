// The report as one self-contained HTML page: no network, no framework, works without script.
//
// Every string of a run passes HtmlText. All rows are present; their details are left out for
// reproduced runs of a large drill and beyond a budget, with a note on the page.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reports/detail_budget.h"
#include "reports/families.h"
#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/html_parts.h"
#include "reports/model.h"
#include "reports/sensitivity_parts.h"
#include "reports/siblings.h"
#include "reports/summary.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kLargeDrill = 500;  // runs; above it reproduced runs have no details
constexpr std::size_t kLeastDetailBytes = 300'000;

std::string RunCount(int count) { return FormatCount(static_cast<std::uint64_t>(count)); }

// The verdict that sets the colour of the page.
std::string_view PageClass(const Report& report) {
  const bool drifted = std::ranges::any_of(report.families, [](const FamilyComparison& family) {
    return family.verdict == Verdict::kDrifted;
  });
  if (drifted || CountOf(report.counts, Verdict::kDrifted) > 0) return "drifted";
  if (CountOf(report.counts, Verdict::kFailed) + CountOf(report.counts, Verdict::kInfra) > 0)
    return "failed";
  return report.exit_code == 0 && !report.interrupted ? "identical" : "inconclusive";
}

std::string Shared(const Summary& summary) {
  if (summary.shared.empty()) return "";
  const SharedDifference& first = summary.shared.front();
  // What reproduced runs have as often sets nothing apart.
  if (summary.reproduced > 0 &&
      first.drifted * summary.reproduced <= first.reproduced * summary.drifted) {
    return "";
  }
  std::string rows;
  for (const SharedDifference& shared : summary.shared) {
    rows += fmt::format(
        "<tr><td>{}</td><th scope=\"row\"><code>{}</code></th><td><code>{}</code></td>"
        "<td><code>{}</code></td><td class=\"n\">{} of {}</td><td class=\"n\">{} of {}</td></tr>\n",
        LayerName(shared.layer), HtmlText(shared.key, 300), HtmlText(shared.recorded, 600),
        HtmlText(shared.observed, 600), RunCount(shared.drifted), RunCount(summary.drifted),
        RunCount(shared.reproduced), RunCount(summary.reproduced));
  }
  return fmt::format(
      "<h2 id=\"changed\">What changed in the drifted runs</h2>\n"
      "<p class=\"soft\">A change that most drifted runs have and few reproduced ones is where to "
      "look first. It is a coincidence, not yet a cause.</p>\n"
      "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-labelledby=\"changed\"><table>"
      "<thead><tr><th scope=\"col\">Layer</th><th scope=\"col\">Fact</th>"
      "<th scope=\"col\">Recorded</th><th scope=\"col\">Now</th>"
      "<th scope=\"col\" class=\"n\">Drifted runs</th>"
      "<th scope=\"col\" class=\"n\">Reproduced runs</th></tr></thead><tbody>\n{}</tbody></table>"
      "</div>\n",
      rows);
}

// Folded on a green night: then it is context, and nothing to act on.
std::string Told(const Summary& summary, bool all_reproduced) {
  constexpr std::size_t kMostTold = 40;
  const std::vector<const ToldOnce*> told = ToldBesideShared(summary);
  if (told.empty()) return "";
  std::string items;
  const std::size_t shown = std::min(told.size(), kMostTold);
  for (std::size_t i = 0; i < shown; ++i) {
    items += fmt::format("<li>{}</li>\n", HtmlText(ToldWords(*told[i]), 1200));
  }
  const std::string left_out = HtmlLeftOut(told.size(), shown, "report.json");
  if (!all_reproduced) {
    return fmt::format("<h2 id=\"alike\">The same in several runs</h2>\n<ul>\n{}</ul>\n{}", items,
                       left_out);
  }
  return fmt::format(
      "<details id=\"alike\"><summary>The same in several runs: {}</summary>\n<ul>\n{}</ul>\n{}"
      "</details>\n",
      Counted(told.size(), "remark"), items, left_out);
}

std::string Facts(const Report& report) {
  std::string out = "<h2>The drill</h2>\n<dl class=\"facts\">\n";
  const auto fact = [&](std::string_view name, const std::string& value) {
    out += HtmlFact(name, value);
  };
  fact("Drill", HtmlText(report.drill_id, 200));
  fact("Started", FormatMinute(report.started));
  fact("Took", FormatDuration(report.ended - report.started));
  fact("History", HtmlText(report.history, 300));
  fact("Selection", HtmlText(report.selection, 500));
  fact("Launcher", HtmlText(report.launcher, 100));
  fact("Dispatch", HtmlText(report.executor, 100));
  fact("Host", HtmlText(report.host, 500));
  fact("rharness", HtmlText(report.version, 60));
  fact("Exit code", std::to_string(report.exit_code));
  return out + "</dl>\n";
}

std::string Row(const ReportRun& run) {
  return fmt::format(
      "<tr><td>{}</td><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td>"
      "<td class=\"n\" data-l=\"reruns\">{}</td><td class=\"n\">{}</td></tr>",
      HtmlBadge(run.verdict), HtmlText(run.run_id, 120), HtmlText(run.family, 60),
      ComparedInShort(run), HtmlMarks(LayerMarks(run.layers)), run.reruns.size(), RerunTime(run));
}

std::string DetailRow(const ReportRun& run, std::string_view id, bool in_full) {
  std::string headline = run.headline.empty() ? "Details" : HtmlText(run.headline, 600);
  if (!run.sensitivity.empty()) {
    headline += "<br><span class=\"soft\">" + HtmlText(run.sensitivity, 400) + "</span>";
  }
  return fmt::format(
      "<tr class=\"d\"><td colspan=\"7\"><details><summary>{}</summary><div class=\"more\">{}"
      "</div></details></td></tr>",
      headline, HtmlRunDetails(run, id, in_full));
}

struct Rows {
  std::string html;
  std::size_t without_details = 0;
};

Rows BuildRows(const Summary& summary) {
  std::vector<std::string> rows;
  std::size_t index_bytes = 0;
  for (const ReportRun* run : summary.order) {
    rows.push_back(Row(*run));
    index_bytes += rows.back().size() + 60;
  }
  const bool large = rows.size() > kLargeDrill;
  const auto open = std::ranges::count_if(
      summary.order, [](const ReportRun* run) { return !Reproduced(run->verdict); });
  DetailBudget budget(
      index_bytes + kLeastDetailBytes < kPageBytes ? kPageBytes - index_bytes : kLeastDetailBytes,
      large ? static_cast<std::size_t>(open) : rows.size());
  Rows result;
  std::set<Verdict> seen;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ReportRun& run = *summary.order[i];
    const std::string id = fmt::format("run-{}", i + 1);
    std::string details;
    if (!(large && Reproduced(run.verdict))) {
      details = budget.Take([&] { return DetailRow(run, id, true); },
                            [&] { return DetailRow(run, id, false); });
    }
    if (details.empty()) ++result.without_details;
    const std::string anchor = seen.insert(run.verdict).second
                                   ? fmt::format("<tr id=\"first-{}\">", VerdictName(run.verdict))
                                   : "<tr>";
    result.html += fmt::format("<tbody id=\"{}\" class=\"{}\">{}{}{}</tbody>\n", id,
                               VerdictName(run.verdict), anchor, rows[i].substr(4), details);
  }
  return result;
}

std::string Runs(const Report& report, const Summary& summary) {
  if (report.runs.empty()) {
    return fmt::format("<h2 id=\"runs\">Runs</h2>\n<p>{}</p>\n",
                       report.left_out.empty() ? "No runs were selected."
                                               : "No selected run was rerun; the notes say why.");
  }
  const Rows rows = BuildRows(summary);
  std::string out = "<h2 id=\"runs\">Runs</h2>\n";
  if (rows.without_details > 0) {
    out += fmt::format(
        "<p class=\"soft\">The details of {} are left out to keep this page small; they are in "
        "report.json.</p>\n",
        Counted(rows.without_details, "run"));
  }
  out += HtmlFilter("Find a run or family", report.counts);
  out += fmt::format(
      "<div class=\"wide\"><table class=\"runs\"><caption>{}, the worst first. Layers: data, code, "
      "env(ironment), hw (hardware), rng (randomness); = as recorded, ≠ changed, ? not "
      "known, all or in part.</caption>\n<thead><tr><th scope=\"col\">Verdict</th><th "
      "scope=\"col\">Run</th>"
      "<th scope=\"col\">Family</th><th scope=\"col\">Compared</th><th scope=\"col\">Layers</th>"
      "<th scope=\"col\" class=\"n\">Reruns</th><th scope=\"col\" class=\"n\">Time</th></tr>"
      "</thead>\n{}</table></div>\n",
      Counted(report.runs.size(), "run"), rows.html);
  return out;
}

}  // namespace

std::string WriteHtml(const Report& report) {
  const Summary summary = Summarize(report);
  std::string out = HtmlHead(fmt::format("{} – {}", summary.answer, SafeText(report.title, 200)));
  out += HtmlTop({.page_class = PageClass(report),
                  .eyebrow_html = fmt::format("{} · {}", HtmlText(report.title, 300),
                                              FormatMinute(report.started)),
                  .answer = summary.answer,
                  .next_html = HtmlText(summary.next_step),
                  .skip_id = "runs",
                  .skip_words = "Skip to the runs"});
  out += HtmlTiles(report.counts);
  out += HtmlNotes(report.notes);
  out += Shared(summary);
  out += Told(summary, report.exit_code == 0);
  out += HtmlFamilies(report);
  out += HtmlSiblings(report);
  out += HtmlSensitivity(report);
  out += Runs(report, summary);
  out += Facts(report);
  return out + HtmlEnd(report.version, "report.json", !report.runs.empty());
}

}  // namespace rharness
