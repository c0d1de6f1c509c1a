// Tables of groups; see siblings.h.
#include "reports/siblings.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/markdown_parts.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostSiblingRows = 200;

std::string Directions(const SiblingGroup& group) {
  return fmt::format("{} up, {} down", FormatCount(group.up), FormatCount(group.down));
}

std::string MiddleShift(const SiblingGroup& group) {
  return fmt::format("{:+.2g} %", 100.0 * group.middle_shift);
}

std::string NameOf(const SiblingGroup& group) { return group.name.empty() ? "all" : group.name; }

}  // namespace

std::string HtmlSiblings(const Report& report) {
  if (report.siblings.empty()) return "";
  std::string rows;
  const std::size_t shown = std::min(report.siblings.size(), kMostSiblingRows);
  for (std::size_t i = 0; i < shown; ++i) {
    const SiblingGroup& group = report.siblings[i];
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{:.3g}</td><td class=\"n\">{:.3g}</td></tr>",
        HtmlText(NameOf(group), 200), FormatCount(group.pairs), Directions(group),
        MiddleShift(group), group.middle, group.room);
  }
  return fmt::format(
             "<h2 id=\"siblings\">Siblings</h2>\n<p class=\"soft\">Runs that one change moved: "
             "their training losses judged together, beside the limit of accepted "
             "upgrades.</p>\n{}",
             HtmlTable("Groups",
                       HtmlHeads({"Runs of", Numbers("Curves that differ"), "Moved",
                                  Numbers("Middle shift"), Numbers("Middle, of the limit"),
                                  Numbers("Room, times the limit")}),
                       rows)) +
         HtmlLeftOut(report.siblings.size(), shown, "report.json");
}

std::string MarkdownSiblings(const Report& report) {
  if (report.siblings.empty()) return "";
  std::string out =
      "### Siblings\n\n| Runs of | Curves that differ | Moved | Middle shift | Middle, of the "
      "limit | Room |\n|---|--:|---|--:|--:|--:|\n";
  const std::size_t shown = std::min(report.siblings.size(), kMostSiblingRows);
  for (std::size_t i = 0; i < shown; ++i) {
    const SiblingGroup& group = report.siblings[i];
    out += fmt::format("| {} | {} | {} | {} | {:.3g} | {:.3g} |\n",
                       MarkdownText(NameOf(group), 160), FormatCount(group.pairs),
                       Directions(group), MiddleShift(group), group.middle, group.room);
  }
  out += "\n";
  if (shown < report.siblings.size()) {
    out += fmt::format("_{} more rows are in report.json._\n\n", report.siblings.size() - shown);
  }
  return out;
}

}  // namespace rharness
