// The page of a search.
#include <fmt/format.h>

#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/site.h"
#include "reports/site_parts.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kValueBytes = 4000;  // of the box: the query in any escaped form

struct Way {
  std::string_view by;
  std::string_view words;
};
constexpr Way kWays[] = {{"any", "anything"},
                         {"run", "runs, by a part of their name"},
                         {"family", "families, by a part of their name"},
                         {"commit", "runs, by the beginning of their commit"},
                         {"image", "images, by a part of their name, and their runs"},
                         {"artifact", "runs, by the SHA-256 of a file that they made"}};

std::string NameList(std::string_view title, const SiteNames& found, bool families) {
  if (found.names.empty() && found.more.empty()) return "";
  std::string items;
  for (const std::string& name : found.names) {
    items +=
        fmt::format("<li>{}</li>",
                    families ? FamilyLink(name)
                             : SiteLink(SiteHref("/search", {{"by", "image"}, {"q", name}}), name));
  }
  std::string out = fmt::format("<h3>{}</h3>", title);
  if (!items.empty()) out += fmt::format("<ul class=\"names\">{}</ul>\n", items);
  if (found.not_looked) {
    out +=
        fmt::format("<p>There are more than 1,000, which are not looked through here: {}.</p>\n",
                    SiteLink(found.more, families ? "look among families" : "look among images"));
  } else if (!found.more.empty()) {
    out += fmt::format("<p>{}</p>\n",
                       SiteLink(found.more, families ? "More families" : "More images"));
  }
  return out;
}

std::string SearchForm(const SiteSearch& page) {
  std::string choices;
  for (const Way& way : kWays) {
    choices += fmt::format("<option value=\"{}\"{}>{}</option>", way.by,
                           way.by == page.by ? " selected" : "", way.words);
  }
  return fmt::format(
      "<form class=\"filter\" action=\"/search\" method=\"get\"><label>Text<input type=\"search\" "
      "name=\"q\" value=\"{}\" maxlength=\"200\"></label><label>Among<select "
      "name=\"by\">{}</select></label><button>Search</button></form>\n",
      HtmlText(page.text, kValueBytes), choices);
}

bool FoundAny(const SiteSearch& page) {
  return !page.families.names.empty() || !page.images.names.empty() || !page.runs.empty();
}

std::string SearchAnswer(const SiteSearch& page) {
  if (page.text.empty()) return "Search the history";
  const std::string text = SafeText(page.text, 200);
  if (FoundAny(page)) return fmt::format("What has “{}” in it", text);
  if (!page.pager.next.empty() || !page.pager.previous.empty()) {
    return fmt::format("Nothing on this page has “{}” in it", text);
  }
  return fmt::format("Nothing has “{}” in it", text);
}

std::string SearchWords(const SiteSearch& page) {
  if (page.text.empty() || FoundAny(page)) {
    return "Runs by a part of their name or the beginning of their commit (four digits of it or "
           "more), families and images by a part of theirs; runs by the SHA-256 of a file that "
           "they made.";
  }
  std::string words = "The search is case-sensitive and has no wildcards.";
  if (page.by != "any") {
    words +=
        " " + SiteLink(SiteHref("/search", {{"q", page.text}}), "Look for it among everything");
  }
  return words;
}

}  // namespace

std::string WriteSite(const SiteSearch& page, const SiteFrame& frame) {
  const bool asked = !page.text.empty();
  std::string out = SiteTop({.title = asked ? "Search: " + page.text : "Search",
                             .here = "Search",
                             .page_class = "",
                             .eyebrow_html = "Search",
                             .answer = SearchAnswer(page),
                             .words_html = SearchWords(page),
                             .search = page.text},
                            frame);
  out += SearchForm(page) + HtmlNotes(page.notes);
  if (!asked) return out + SiteEnd(frame);
  out += NameList("Families", page.families, true) + NameList("Images", page.images, false);
  const bool by_other = page.by == "commit" || page.by == "image";
  if (!page.runs.empty()) {
    out += RunTable("Runs", page.runs, {.family = true, .found = by_other});
  } else if (page.runs_asked && FoundAny(page)) {
    out += "<h3>Runs</h3><p class=\"soft\">None.</p>";
  }
  return out + SitePagerLinks(page.pager) + SiteEnd(frame);
}

}  // namespace rharness
