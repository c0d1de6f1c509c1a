// The frame of the site's pages and the parts that several of them have.
#include "reports/site_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/page_assets.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

struct MenuEntry {
  std::string_view name;
  std::string_view path;
};
constexpr MenuEntry kMenu[] = {
    {"Fleet", "/"}, {"Families", "/families"}, {"Trends", "/trends"}, {"Search", "/search"}};

std::string Menu(std::string_view here) {
  std::string out;
  for (const MenuEntry& entry : kMenu) {
    out += fmt::format("<a href=\"{}\"{}>{}</a>", entry.path,
                       entry.name == here ? " aria-current=\"page\"" : "", entry.name);
  }
  return out;
}

std::string EncodeValue(std::string_view value) {
  static constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string out;
  for (const char c : value) {
    if (kPlain.find(c) != std::string_view::npos) {
      out.push_back(c);
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

// A browser takes "." and ".." out of a path, however they are spelled (WHATWG URL, 4.4).
std::string NamedHref(std::string_view path, std::string_view key, const std::string& name,
                      SiteQuery query) {
  if (!name.empty() && name != "." && name != "..") {
    return SiteHref(fmt::format("{}/{}", path, EncodeValue(name)), query);
  }
  query.insert(query.begin(), {key, name});
  return SiteHref(path, query);
}

}  // namespace

std::string_view SiteStyle() { return kSiteCss; }

std::string SiteStylePath() {
  return fmt::format("/style-{}.css", std::string_view(kSiteCssSha256).substr(0, 12));
}

std::string SiteHref(std::string_view path, const SiteQuery& query) {
  std::string href(path);
  char sign = '?';
  for (const auto& [name, value] : query) {
    href += fmt::format("{}{}={}", sign, name, EncodeValue(value));
    sign = '&';
  }
  return href;
}

std::string SiteRunHref(const std::string& run_id, const SiteQuery& query) {
  return NamedHref("/run", "id", run_id, query);
}

std::string SiteFamilyHref(const std::string& family, const SiteQuery& query) {
  return NamedHref("/family", "name", family, query);
}

std::string SiteTop(const SiteTopParts& parts, const SiteFrame& frame) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{} – rharness</title>\n"
      "<link rel=\"icon\" href=\"/icon.svg\" type=\"image/svg+xml\">\n"
      "<link rel=\"stylesheet\" href=\"{}\">\n</head>\n<body>\n"
      "<a class=\"skip\" href=\"#main\">Skip to the contents</a>\n",
      HtmlText(parts.title, 200), SiteStylePath());
  out += fmt::format(
      "<nav class=\"menu\" aria-label=\"Pages\"><div class=\"page\"><b>rharness</b>{}"
      "<form action=\"/search\" method=\"get\" role=\"search\"><input type=\"search\" name=\"q\" "
      "value=\"{}\" maxlength=\"200\" aria-label=\"Run, family, commit or image\" "
      "placeholder=\"run, family, commit, image\"><button>Search</button></form></div></nav>\n",
      Menu(parts.here), HtmlText(parts.search, 400));
  out += fmt::format(
      "<header class=\"top {}\"><div class=\"page\"><p class=\"eyebrow\">{}</p>\n<h1>{}</h1>\n"
      "{}</div></header>\n<main class=\"page\" id=\"main\">\n",
      parts.page_class, parts.eyebrow_html, HtmlText(parts.answer, 400),
      parts.words_html.empty() ? "" : fmt::format("<p class=\"next\">{}</p>", parts.words_html));
  return out + HtmlNotes(frame.notes);
}

std::string SiteEnd(const SiteFrame& frame) {
  return fmt::format(
      "</main>\n<footer class=\"page\">rharness {} · history {} · read only, times are UTC"
      "</footer>\n</body>\n</html>\n",
      HtmlText(frame.version, 60), HtmlText(frame.history, 200));
}

std::string SiteLink(const std::string& href, std::string_view text) {
  return fmt::format("<a href=\"{}\">{}</a>", HtmlText(href, 8000), HtmlText(text, 200));
}

std::string FamilyLink(const std::string& family) {
  return SiteLink(SiteFamilyHref(family), family.empty() ? "(no name)" : family);
}

std::string RunLink(const std::string& run_id) {
  return SiteLink(SiteRunHref(run_id), run_id.empty() ? "(no name)" : run_id);
}

std::string SiteTiles(const SiteCounts& counts) {
  std::string out = "<h2 class=\"sr\">Runs by their last verdict</h2>\n<ul class=\"tiles site\">\n";
  const auto tile = [&](std::string_view kind, std::int64_t count, std::string_view sign,
                        std::string_view label) {
    out += fmt::format("<li class=\"{}\"><div><b>{}</b> <span>{} {}</span></div></li>\n",
                       count == 0 ? "none" : kind,
                       FormatCount(static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0))),
                       sign, label);
  };
  for (const Verdict verdict : kVerdicts) {
    tile(VerdictName(verdict), CountOf(counts, verdict), VerdictSign(verdict),
         VerdictLabel(verdict));
  }
  tile("infra", CountOf(counts, std::nullopt), "·", "not drilled");
  return out + "</ul>\n";
}

std::string CountWords(const SiteCounts& counts) {
  std::string out;
  for (const auto& [verdict, count] : counts) {
    if (count <= 0) continue;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ",
                       FormatCount(static_cast<std::uint64_t>(count)),
                       verdict ? VerdictLabel(*verdict) : "not drilled");
  }
  return out.empty() ? "none" : out;
}

std::string CountBadges(const SiteCounts& counts) {
  std::string out;
  const auto badge = [&](std::string_view kind, std::string_view sign, std::int64_t count,
                         std::string_view label) {
    out += fmt::format("<span class=\"b {}\" title=\"{}\">{} {}</span> ", kind, label, sign,
                       FormatCount(static_cast<std::uint64_t>(count)));
  };
  for (const Verdict verdict : kVerdicts) {
    const auto at = counts.find(verdict);
    if (at == counts.end() || at->second <= 0) continue;
    badge(VerdictName(verdict), VerdictSign(verdict), at->second, VerdictLabel(verdict));
  }
  const auto never = counts.find(std::nullopt);
  if (never != counts.end() && never->second > 0) badge("infra", "·", never->second, "not drilled");
  return out;
}

std::optional<Verdict> WorstOf(const SiteCounts& counts) {
  std::optional<Verdict> worst;
  for (const Verdict verdict : kVerdicts) {
    const auto at = counts.find(verdict);
    if (at == counts.end() || at->second <= 0) continue;
    if (!worst || Severity(verdict) < Severity(*worst)) worst = verdict;
  }
  return worst;
}

std::string VerdictCells(const std::vector<StoredVerdict>& newest_first) {
  std::string cells;
  for (auto one = newest_first.rbegin(); one != newest_first.rend(); ++one) {
    cells += fmt::format("<i class=\"{}\" title=\"{}: {}\">{}</i>", VerdictName(one->verdict),
                         FormatMinute(one->decided), VerdictLabel(one->verdict),
                         VerdictSign(one->verdict));
  }
  return cells.empty() ? "" : fmt::format("<span class=\"cells\">{}</span>", cells);
}

std::string WeekCells(const std::vector<SiteWeek>& weeks) {
  std::string cells;
  for (const SiteWeek& week : weeks) {
    const std::optional<Verdict> worst = WorstOf(week.verdicts);
    cells +=
        fmt::format("<i class=\"{}\" title=\"week of {}: {}\">{}</i>",
                    worst ? VerdictName(*worst) : "no", DayOf(week.start),
                    HtmlText(CountWords(week.verdicts), 300), worst ? VerdictSign(*worst) : "·");
  }
  return fmt::format("<span class=\"cells weeks\">{}</span>", cells);
}

std::string BadgeOf(const std::optional<Verdict>& verdict) {
  if (!verdict) return "<span class=\"b infra\">· not drilled</span>";
  return fmt::format("<span class=\"b {}\">{} {}</span>", VerdictName(*verdict),
                     VerdictSign(*verdict), VerdictLabel(*verdict));
}

std::string RunTable(std::string_view title, const std::vector<SiteRunRow>& runs,
                     const RunColumns& columns) {
  if (runs.empty()) return fmt::format("<h3>{}</h3><p class=\"soft\">None.</p>", title);
  std::string rows;
  const bool over_time = std::any_of(runs.begin(), runs.end(),
                                     [](const SiteRunRow& run) { return !run.verdicts.empty(); });
  for (const SiteRunRow& run : runs) {
    rows += fmt::format("<tr><th scope=\"row\">{}{}</th>", RunLink(run.run_id),
                        run.retired ? " <span class=\"flag\">retired</span>" : "");
    if (columns.family)
      rows += fmt::format("<td data-l=\"Family\">{}</td>", FamilyLink(run.family));
    if (columns.found) {
      rows += fmt::format("<td data-l=\"Found by\">{}</td>", HtmlCode(run.found, 300));
    }
    rows += fmt::format(
        "<td data-l=\"{}\">{}</td><td data-l=\"Started\">{}</td><td data-l=\"Judged\">{}</td>",
        columns.verdict, BadgeOf(run.last), DayOf(run.started), DayOf(run.judged));
    if (over_time) {
      rows += fmt::format("<td data-l=\"Over time\">{}</td>", VerdictCells(run.verdicts));
    }
    rows += "</tr>\n";
  }
  std::vector<HtmlColumn> heads = {"Run"};
  if (columns.family) heads.push_back("Family");
  if (columns.found) heads.push_back("Found by");
  heads.emplace_back(columns.verdict);
  for (const char* head : {"Started", "Judged"}) heads.emplace_back(head);
  if (over_time) heads.push_back("Over time");
  return HtmlTable(title, HtmlHeads(heads), rows, "stack");
}

std::string SitePagerLinks(const SitePager& pager) {
  std::string links;
  const auto link = [&](std::string_view rel, const std::string& href, std::string_view words) {
    if (href.empty()) return;
    links += fmt::format("<a rel=\"{}\" href=\"{}\">{}</a> ", rel, HtmlText(href, 8000), words);
  };
  link("prev", pager.previous, "← Back");
  link("next", pager.next, "More →");
  return links.empty() ? ""
                       : fmt::format(
                             "<nav class=\"pager\" aria-label=\"More of this list\">{}"
                             "</nav>\n",
                             links);
}

std::int64_t SumOf(const SiteCounts& counts) {
  std::int64_t sum = 0;
  for (const auto& [verdict, count] : counts) sum += count;
  return sum;
}

std::int64_t CountOf(const SiteCounts& counts, std::optional<Verdict> verdict) {
  const auto at = counts.find(verdict);
  return at == counts.end() ? 0 : at->second;
}

std::string SentenceList(const std::vector<std::string>& sentences, std::size_t most) {
  std::string items;
  const std::size_t shown = std::min(sentences.size(), most);
  for (std::size_t i = 0; i < shown; ++i) {
    items += fmt::format("<li>{}</li>", HtmlText(sentences[i], 600));
  }
  if (items.empty()) return "";
  return fmt::format("<ul class=\"said\">{}</ul>{}", items,
                     HtmlLeftOut(sentences.size(), shown, "the history"));
}

std::string DayOf(const std::optional<WallTime>& time) {
  return time ? FormatTime(*time).substr(0, 10) : "-";
}

}  // namespace rharness
