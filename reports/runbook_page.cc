// Pages of the runbook laid out; see runbook_page.h.
#include "reports/runbook_page.h"

#include <fmt/format.h>

#include "reports/html_escape.h"
#include "reports/html_page.h"

namespace rharness {
namespace {

// Text with `code` in backticks.
std::string WithCode(std::string_view text) {
  std::string out;
  bool code = false;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t tick = std::min(text.find('`', at), text.size());
    const std::string_view part = text.substr(at, tick - at);
    out += code ? "<code>" + HtmlText(part) + "</code>" : HtmlText(part);
    code = !code;
    at = tick + 1;
  }
  return out;
}

// HtmlTop without a next step: the subject of the page comes first.
std::string RunbookTop(std::string_view eyebrow, std::string_view title,
                       const std::string& lead_html) {
  return fmt::format(
      "<body>\n<a class=\"skip\" href=\"#end\">Skip to the end</a>\n"
      "<header class=\"top\"><div class=\"page\"><p class=\"eyebrow\">{}</p>\n"
      "<h1>{}</h1>\n<p class=\"next\">{}</p></div></header>\n<main class=\"page\">\n",
      HtmlText(eyebrow), HtmlText(title), lead_html);
}

std::string_view HeadOf(std::string_view part) {
  if (part == "Means") return "What it means";
  if (part == "Check") return "How to check";
  if (part == "Causes") return "Likely causes, by layer";
  if (part == "Do") return "What to do";
  return "Which command next";
}

}  // namespace

std::string RunbookTitle(const RunbookPage& page) {
  if (page.parts.empty()) return page.code;
  std::string text = page.parts.front().second;
  if (const std::size_t end = text.find(". "); end != std::string::npos) text.resize(end);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string WriteMarkdown(const RunbookPage& page, std::string_view version) {
  std::string out = fmt::format("# {}\n", page.code);
  for (const auto& [part, text] : page.parts) {
    out += fmt::format("\n**{}.** {}\n", HeadOf(part), text);
  }
  return out + fmt::format("\n*Runbook of rharness {}, {}.*\n", version, page.area);
}

std::string WriteHtml(const RunbookPage& page, std::string_view version, std::string_view back) {
  std::string out = HtmlHead(page.code);
  out += RunbookTop("Runbook · " + page.area, page.code,
                    WithCode(page.parts.empty() ? "" : page.parts.front().second));
  if (!back.empty()) {
    out += fmt::format("<p><a href=\"../index.html\">{}</a></p>\n", HtmlText(back));
  }
  for (std::size_t i = 1; i < page.parts.size(); ++i) {
    out += fmt::format("<h2>{}</h2>\n<p>{}</p>\n", HeadOf(page.parts[i].first),
                       WithCode(page.parts[i].second));
  }
  return out + "<p id=\"end\"></p>\n" +
         HtmlEnd(version, fmt::format("rharness explain {} --json", HtmlText(page.code)), false);
}

std::string WriteRunbookIndex(const std::vector<RunbookPage>& pages, std::string_view version) {
  std::string out = HtmlHead("Runbook of rharness");
  out += RunbookTop("Runbook", fmt::format("{} codes, a page each", pages.size()),
                    "What a finding, a reason or an alert means, and what to do.");
  std::string area, rows;
  const auto flush = [&] {
    if (!rows.empty()) out += HtmlTable(area, HtmlHeads({"Code", "Means"}), rows);
    rows.clear();
  };
  for (const RunbookPage& page : pages) {
    if (page.area != area) flush();
    area = page.area;
    rows += fmt::format("<tr><th scope=\"row\"><a href=\"{}\">{}</a></th><td>{}</td></tr>\n",
                        RelativeHref(page.code + "/index.html"), HtmlText(page.code),
                        WithCode(RunbookTitle(page)));
  }
  flush();
  return out + "<p id=\"end\"></p>\n" + HtmlEnd(version, "rharness explain --json", false);
}

}  // namespace rharness
