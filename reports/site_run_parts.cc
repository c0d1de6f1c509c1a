// Verdicts over time, changes, layers and signatures on the page of one run.
#include "reports/site_run_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/history_summary.h"
#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/site_parts.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr double kPlotWidth = 480.0;  // as wide as a telephone, so that its text stays readable
constexpr double kPlotLeft = 104.0;
constexpr double kPlotRight = 472.0;
constexpr std::size_t kMostLayerDifferences = 40;
constexpr std::size_t kMostDifferences = 100;  // of one change

struct Lane {
  Standing standing;
  double y;
  std::string_view name;
};
constexpr Lane kLanes[] = {{Standing::kBad, 18.0, "not reproduced"},
                           {Standing::kOpen, 40.0, "could not tell"},
                           {Standing::kGood, 62.0, "reproduced"}};

Standing LaneOf(Verdict verdict) {
  if (Reproduced(verdict)) return Standing::kGood;
  const bool bad = verdict == Verdict::kDrifted || verdict == Verdict::kFailed;
  return bad ? Standing::kBad : Standing::kOpen;
}

std::string Mark(const StoredVerdict& verdict, double x) {
  const Standing standing = LaneOf(verdict.verdict);
  const double y = std::ranges::find(kLanes, standing, &Lane::standing)->y;
  std::string shape;
  switch (standing) {
    case Standing::kGood:
      shape = fmt::format("<circle class=\"new\" cx=\"{:.1f}\" cy=\"{:.0f}\" r=\"5\"/>", x, y);
      break;
    case Standing::kBad:
      shape = fmt::format("<path class=\"new\" d=\"M{:.1f} {:.0f}l6 7l-6 7l-6 -7z\"/>", x, y - 7);
      break;
    case Standing::kOpen:
      shape = fmt::format(
          "<rect class=\"new\" x=\"{:.1f}\" y=\"{:.0f}\" width=\"8\" height=\"8\"/>", x - 4, y - 4);
      break;
  }
  return fmt::format("<g class=\"{}\"><title>{}: {}, drill {}</title>{}</g>",
                     VerdictName(verdict.verdict), FormatMinute(verdict.decided),
                     VerdictLabel(verdict.verdict), HtmlText(verdict.drill_id, 120), shape);
}

std::string LanesAndDates(WallTime first, WallTime last) {
  std::string out;
  for (const Lane& lane : kLanes) {
    out += fmt::format(
        "<path class=\"grid\" d=\"M{0:.0f} {1:.0f}H{2:.0f}\"/><text x=\"0\" "
        "y=\"{3:.0f}\">{4}</text>",
        kPlotLeft, lane.y, kPlotRight, lane.y + 4, lane.name);
  }
  out += fmt::format("<text x=\"{:.0f}\" y=\"88\">{}</text>", kPlotLeft, DayOf(first));
  if (DayOf(first) == DayOf(last)) return out;
  return out + fmt::format("<text x=\"{:.0f}\" y=\"88\" text-anchor=\"end\">{}</text>", kPlotRight,
                           DayOf(last));
}

std::string LayerRows(const SiteLayers& layers) {
  std::string rows;
  for (const LayerComparison& layer : layers) {
    const std::string words = LayerWords(layer);  // "data: same (16 compared)"
    std::string differences;
    const std::size_t shown = std::min(layer.differences.size(), kMostLayerDifferences);
    for (std::size_t i = 0; i < shown; ++i) {
      differences +=
          fmt::format("<li>{}</li>", HtmlText(DifferenceWords(layer.differences[i]), 600));
    }
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td data-l=\"Compared with the record\">{}{}{}</td></tr>\n",
        LayerName(layer.layer), HtmlText(words.substr(words.find(' ') + 1), 600),
        differences.empty() ? "" : fmt::format("<ul class=\"said\">{}</ul>", differences),
        HtmlLeftOut(layer.differences.size(), shown, "the history"));
  }
  return rows;
}

// A table of the differences between two drills, in words and values; a sentence if there are
// none, or if they are not known.
std::string DifferencesHtml(bool known, const std::array<LayerComparison, 5>& layers) {
  std::string rows;
  std::size_t all = 0, shown = 0;
  for (const LayerComparison& layer : layers) {
    for (const FactDifference& one : layer.differences) {
      if (++all > kMostDifferences) continue;
      ++shown;
      rows += fmt::format(
          "<tr><td data-l=\"Layer\">{}</td><th scope=\"row\">{}</th><td data-l=\"Before\">{}</td>"
          "<td data-l=\"After\">{}</td></tr>\n",
          LayerName(layer.layer), HtmlText(DifferenceWords(one), 600), HtmlFactValue(one.recorded),
          HtmlFactValue(one.observed));
    }
  }
  if (rows.empty()) return fmt::format("<p>{}.</p>", HtmlText(ChangeWords(known, layers).front()));
  return fmt::format(
      "<div class=\"wide\"><table class=\"stack\"><thead><tr>{}</tr></thead><tbody>\n"
      "{}</tbody></table></div>\n{}",
      HtmlHeads({"Layer", "What changed", "Before", "After"}), rows,
      HtmlLeftOut(all, shown, "the history"));
}

}  // namespace

std::string SiteStripPlot(const SiteRun& page) {
  if (page.strip.empty()) return "";
  const auto ends = std::ranges::minmax_element(page.strip, {}, &StoredVerdict::decided);
  const auto since = [&](WallTime time) {
    return static_cast<double>((time - ends.min->decided).count());
  };
  const double range = since(ends.max->decided);
  std::string marks;
  for (auto one = page.strip.rbegin(); one != page.strip.rend(); ++one) {
    const double at = range > 0.0 ? since(one->decided) / range : 0.5;
    marks += Mark(*one, kPlotLeft + 8 + at * (kPlotRight - kPlotLeft - 16));
  }
  const std::string count = Counted(page.strip.size(), "verdict");
  return fmt::format(
      "<h3>Verdict over time</h3><figure class=\"bars life\"><svg viewBox=\"0 0 {:.0f} 92\" "
      "role=\"img\" aria-label=\"{} over time, in the table below, "
      "too\">{}{}</svg><figcaption>{}{}: a circle reproduced, a diamond did not, a square decided "
      "nothing.</figcaption></figure>\n",
      kPlotWidth, count, LanesAndDates(ends.min->decided, ends.max->decided), marks,
      page.strip_whole ? "" : "The last ", count);
}

std::string SiteChanges(const SiteRun& page) {
  if (page.changes.empty()) return "";
  std::string out = "<h2 id=\"changes\">What changed when the verdict did</h2>\n";
  for (const SiteChange& change : page.changes) {
    const SiteLayers layers = change.layers.value_or(SiteLayers{});
    out += fmt::format(
        "<section class=\"turn {}\"><h3>{} on {}, {} before on {}</h3>\n<p>{}</p>\n{}</section>\n",
        VerdictName(change.after.verdict), VerdictLabel(change.after.verdict),
        FormatMinute(change.after.decided), VerdictLabel(change.before.verdict),
        FormatMinute(change.before.decided), change.layers ? HtmlMarks(LayerMarks(layers)) : "",
        DifferencesHtml(change.layers.has_value(), layers));
  }
  if (page.more_changes == 0) return out;
  return out + fmt::format(
                   "<p class=\"soft\">{} before: <code>rharness history show RUN</code> has "
                   "{}.</p>\n",
                   Counted(page.more_changes, "more change"),
                   page.more_changes == 1 ? "it" : "them");
}

std::string SiteLayersNow(const SiteRun& page) {
  if (page.verdicts.empty() || !page.verdicts.front().layers) return "";
  const SiteRunVerdict& last = page.verdicts.front();
  return fmt::format(
      "<h3>Where drill {} reran it, compared with the record</h3><div class=\"wide\"><table "
      "class=\"stack layer\"><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>\n",
      HtmlText(last.said.drill_id, 120), HtmlHeads({"Layer", "Compared with the record"}),
      LayerRows(*last.layers));
}

std::string SiteSignatures(const SiteRun& page) {
  if (page.signatures.empty()) return "";
  std::string rows;
  bool verdicts = false;
  bool people = false;
  for (const SiteSignature& one : page.signatures) {
    (one.signed_by.empty() ? verdicts : people) = true;
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td data-l=\"By\">{}</td><td data-l=\"Entered\">{}</td>"
        "<td data-l=\"Key\">{}</td><td data-l=\"Statement, SHA-256\">{}</td></tr>\n",
        HtmlText(one.what, 300),
        one.signed_by.empty() ? "<span class=\"soft\">the key alone is kept</span>"
                              : HtmlText(one.signed_by, 200),
        FormatMinute(one.entered), HtmlCode(one.key_id, 100), HtmlCode(one.statement_sha256, 100));
  }
  std::string out =
      "<h2 id=\"signed\">What was signed</h2>\n<p class=\"soft\">As the history has it. What "
      "counts "
      "is a signature that is verified with a key that you trust:</p>\n<ul class=\"said\">";
  if (verdicts) {
    out +=
        "<li>A verdict: <code>" +
        HtmlWords("rharness verify FILE.verdict.intoto.jsonl --trust trust.yaml") +
        "</code>, of the file that <code>rharness sign</code> wrote. Its statement is the one "
        "named here "
        "where <code>" +
        HtmlWords("head -n 1 FILE.verdict.intoto.jsonl | jq -r .payload | base64 -d | sha256sum") +
        "</code> prints that SHA-256.</li>";
  }
  if (people) {
    out += "<li>A retirement: <code>" +
           HtmlWords("rharness history retire list --history HISTORY --trust trust.yaml") +
           "</code> holds each to the signatures that the history keeps, and ends with 5 where one "
           "does not "
           "hold.</li>";
  }
  out += "<li>Whose key it is: <code>" +
         HtmlWords("openssl pkey -pubin -in KEY.pub -outform DER | sha256sum") +
         "</code> "
         "prints its id.</li></ul>\n";
  return out + HtmlTable("Signatures",
                         HtmlHeads({"Of", "By", "Entered", "Key", "Statement, SHA-256"}), rows,
                         "stack");
}

std::string SiteAnswers(const SiteRun& page) {
  if (!page.answers) return "";
  std::string out =
      "<h2 id=\"answers\">What people answer for</h2>\n<p class=\"soft\">Waivers, substitutes and "
      "accepted baselines that concern this run, as their files are now. Named is whose signatures "
      "hold by the trust policy that this server was given: <code>rharness sign FILE --key "
      "KEY</code> signs a file, <code>rharness verify FILE.intoto.jsonl --trust trust.yaml "
      "--artifacts FILE</code> verifies it.</p>\n";
  if (page.answers->empty()) return out + "<p class=\"soft\">None concerns it.</p>\n";
  std::string rows;
  for (const SiteAnswer& one : *page.answers) {
    rows += fmt::format(
        "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"Of\">{}</td><td "
        "data-l=\"Why\">{}</td><td data-l=\"Signed by\">{}</td><td data-l=\"Holds\">{}{}</td><td "
        "data-l=\"File\">{}</td></tr>\n",
        one.holds && one.doubt.empty() ? "inconclusive" : "infra", HtmlText(one.kind, 40),
        HtmlText(one.about, 300), HtmlText(one.reason, 600),
        one.doubt.empty() ? HtmlText(one.signed_by, 300)
                          : "<span class=\"flag\">not held</span> " + HtmlText(one.doubt, 300),
        HtmlText(one.until, 100), one.holds ? "" : " (over)", HtmlCode(one.file, 200));
  }
  return out + HtmlTable("Answers", HtmlHeads({"Kind", "Of", "Why", "Signed by", "Holds", "File"}),
                         rows, "stack");
}

}  // namespace rharness
