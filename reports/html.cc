// The report as one self-contained HTML page: no network, no framework, works without script.
//
// Every string of a run passes HtmlText. Rows are always there; what they expand to is left out for
// reproduced runs of a large drill and beyond a budget, and the page says so.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reports/html_escape.h"
#include "reports/html_parts.h"
#include "reports/model.h"
#include "reports/page_assets.h"
#include "reports/summary.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kLargeDrill = 500;  // runs; above it reproduced runs have no details
constexpr std::size_t kPageBytes = 4'900'000;
constexpr std::size_t kLeastDetailBytes = 300'000;

int CountOf(const Report& report, Verdict verdict) {
  const auto at = report.counts.find(std::string(VerdictName(verdict)));
  return at == report.counts.end() ? 0 : at->second;
}

std::string Count(int count) { return FormatCount(static_cast<std::uint64_t>(count)); }

// The verdict whose colour the whole page takes.
std::string_view PageClass(const Report& report) {
  if (CountOf(report, Verdict::kDrifted) > 0) return "drifted";
  if (CountOf(report, Verdict::kFailed) + CountOf(report, Verdict::kInfra) > 0) return "failed";
  return report.exit_code == 0 && !report.interrupted ? "identical" : "inconclusive";
}

std::string Head(const Report& report, const Summary& summary) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>{} – {}</title>\n<style>{}</style>\n</head>\n",
      CspHash(kPageCssSha256), CspHash(kPageJsSha256), HtmlText(summary.answer),
      HtmlText(report.title, 200), kPageCss);
}

std::string Top(const Report& report, const Summary& summary) {
  return fmt::format(
      "<body>\n<a class=\"skip\" href=\"#runs\">Skip to the runs</a>\n"
      "<header class=\"top {}\"><div class=\"page\"><p class=\"eyebrow\">{} · {}</p>\n"
      "<h1>{}</h1>\n<p class=\"next\"><b>Next:</b> {}</p></div></header>\n<main class=\"page\">\n",
      PageClass(report), HtmlText(report.title, 300), FormatMinute(report.started),
      HtmlText(summary.answer), HtmlText(summary.next_step));
}

std::string Tiles(const Report& report) {
  std::string out = "<h2 class=\"sr\">Counts by verdict</h2>\n<ul class=\"tiles\">\n";
  for (const Verdict verdict : kVerdicts) {
    const int count = CountOf(report, verdict);
    const std::string inside = fmt::format("<b>{}</b> <span>{} {}</span>", Count(count),
                                           VerdictSign(verdict), VerdictLabel(verdict));
    if (count == 0) {
      out += fmt::format("<li class=\"none\"><div>{}</div></li>\n", inside);
    } else {
      out += fmt::format("<li class=\"{0}\"><a href=\"#first-{0}\">{1}</a></li>\n",
                         VerdictName(verdict), inside);
    }
  }
  return out + "</ul>\n";
}

std::string Notes(const Report& report) {
  std::string items;
  for (const std::string& note : report.notes) {
    items += fmt::format("<li>{}</li>\n", HtmlText(note));
  }
  return items.empty()
             ? ""
             : fmt::format("<h2 class=\"sr\">Notes</h2>\n<ul class=\"notes\">{}</ul>\n", items);
}

std::string Shared(const Summary& summary) {
  if (summary.shared.empty()) return "";
  std::string rows;
  for (const SharedDifference& shared : summary.shared) {
    rows += fmt::format(
        "<tr><td>{}</td><th scope=\"row\"><code>{}</code></th><td><code>{}</code></td>"
        "<td><code>{}</code></td><td class=\"n\">{} of {}</td><td class=\"n\">{} of {}</td></tr>\n",
        LayerName(shared.layer), HtmlText(shared.key, 300), HtmlText(shared.recorded, 600),
        HtmlText(shared.observed, 600), Count(shared.drifted), Count(summary.drifted),
        Count(shared.reproduced), Count(summary.reproduced));
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

std::string Facts(const Report& report) {
  std::string out = "<h2>The drill</h2>\n<dl class=\"facts\">\n";
  const auto fact = [&](std::string_view name, const std::string& value) {
    out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name,
                       value.empty() ? "<span class=\"soft\">not given</span>" : value);
  };
  fact("Drill", HtmlText(report.drill_id, 200));
  fact("Started", FormatMinute(report.started));
  fact("Took", FormatDuration(report.ended - report.started));
  fact("History", HtmlText(report.history, 300));
  fact("Selection", HtmlText(report.selection, 500));
  fact("Launcher", HtmlText(report.launcher, 100));
  fact("Executor", HtmlText(report.executor, 100));
  fact("Host", HtmlText(report.host, 500));
  fact("rharness", HtmlText(report.version, 60));
  fact("Exit code", std::to_string(report.exit_code));
  return out + "</dl>\n";
}

std::string Marks(const ReportRun& run) {
  static constexpr std::array<std::string_view, 5> kShort = {"data", "code", "env", "hw", "rng"};
  std::string out = "<span class=\"m\">";
  for (const LayerComparison& layer : run.layers) {
    const std::string_view name = kShort[static_cast<std::size_t>(layer.layer)];
    switch (layer.state) {
      case LayerState::kSame:
        out += fmt::format("<i>={}</i>", name);
        break;
      case LayerState::kDiffers:
        out += fmt::format("<i class=\"x\">≠{}</i>", name);
        break;
      case LayerState::kUnknown:
        out += fmt::format("<i class=\"u\">?{}</i>", name);
        break;
    }
  }
  return out + "</span>";
}

std::string Row(const ReportRun& run) {
  return fmt::format(
      "<tr><td>{}</td><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td>"
      "<td class=\"n\" data-l=\"reruns\">{}</td><td class=\"n\">{}</td></tr>",
      HtmlBadge(run.verdict), HtmlText(run.run_id, 120), HtmlText(run.family, 60),
      ComparedInShort(run), Marks(run), run.reruns.size(), RerunTime(run));
}

std::string DetailRow(const ReportRun& run, std::string_view id) {
  const std::string headline = run.headline.empty() ? "Details" : HtmlText(run.headline, 600);
  return fmt::format(
      "<tr class=\"d\"><td colspan=\"7\"><details><summary>{}</summary><div class=\"more\">{}"
      "</div></details></td></tr>",
      headline, HtmlRunDetails(run, id));
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
  std::size_t budget =
      index_bytes + kLeastDetailBytes < kPageBytes ? kPageBytes - index_bytes : kLeastDetailBytes;
  Rows result;
  std::set<Verdict> seen;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ReportRun& run = *summary.order[i];
    const std::string id = fmt::format("run-{}", i + 1);
    std::string details;
    if (!(large && Reproduced(run.verdict)) && budget > 0) details = DetailRow(run, id);
    if (details.empty() || details.size() > budget) {
      ++result.without_details;
      details.clear();
    }
    budget -= details.size();
    const std::string anchor = seen.insert(run.verdict).second
                                   ? fmt::format("<tr id=\"first-{}\">", VerdictName(run.verdict))
                                   : "<tr>";
    result.html += fmt::format("<tbody id=\"{}\" class=\"{}\">{}{}{}</tbody>\n", id,
                               VerdictName(run.verdict), anchor, rows[i].substr(4), details);
  }
  return result;
}

std::string Filter(const Report& report) {
  std::string options = "<option value=\"\">all verdicts</option>";
  for (const Verdict verdict : kVerdicts) {
    if (CountOf(report, verdict) == 0) continue;
    options += fmt::format("<option value=\"{}\">{} {}</option>", VerdictName(verdict),
                           VerdictSign(verdict), VerdictLabel(verdict));
  }
  return fmt::format(
      "<div class=\"filter\" role=\"search\" hidden><label>Find a run or family"
      "<input type=\"search\" autocomplete=\"off\"></label><label>Verdict<select>{}</select>"
      "</label><button type=\"button\">Open all</button><output></output></div>\n",
      options);
}

std::string Runs(const Report& report, const Summary& summary) {
  if (report.runs.empty()) {
    return "<h2 id=\"runs\">Runs</h2>\n<p>No runs were selected.</p>\n";
  }
  const Rows rows = BuildRows(summary);
  std::string out = "<h2 id=\"runs\">Runs</h2>\n";
  if (rows.without_details > 0) {
    out += fmt::format(
        "<p class=\"soft\">The details of {} are left out to keep this page small; they are in "
        "report.json.</p>\n",
        Counted(rows.without_details, "run"));
  }
  out += Filter(report);
  out += fmt::format(
      "<div class=\"wide\"><table class=\"runs\"><caption>{}, the worst first. Layers: data, code, "
      "env(ironment), hw (hardware), rng (randomness); = as recorded, ≠ changed, ? not "
      "known.</caption>\n<thead><tr><th scope=\"col\">Verdict</th><th scope=\"col\">Run</th>"
      "<th scope=\"col\">Family</th><th scope=\"col\">Compared</th><th scope=\"col\">Layers</th>"
      "<th scope=\"col\" class=\"n\">Reruns</th><th scope=\"col\" class=\"n\">Time</th></tr>"
      "</thead>\n{}</table></div>\n",
      Counted(report.runs.size(), "run"), rows.html);
  return out;
}

}  // namespace

std::string WriteHtml(const Report& report) {
  const Summary summary = Summarize(report);
  std::string out = Head(report, summary);
  out += Top(report, summary);
  out += Tiles(report);
  out += Notes(report);
  out += Shared(summary);
  out += Runs(report, summary);
  out += Facts(report);
  out += fmt::format(
      "</main>\n<footer class=\"page\">Written by rharness {}. The same facts for machines: "
      "report.json.</footer>\n",
      HtmlText(report.version, 60));
  if (!report.runs.empty()) out += fmt::format("<script>{}</script>\n", kPageJs);
  return out + "</body>\n</html>\n";
}

}  // namespace rharness
