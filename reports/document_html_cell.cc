// The cells of a page's tables; see document_html.h.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "reports/comparison_summary.h"
#include "reports/document_html.h"
#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr int kWholeNameColumns = 24;
constexpr int kLongWordColumns = 40;
constexpr std::size_t kMostCodeBytes = 400;

// Each sign in the colour of its verdict; other characters as they are.
std::string StripHtml(const std::string& text) {
  std::string out;
  for (std::string_view left = text; !left.empty();) {
    const auto verdict = std::ranges::find_if(
        kVerdicts, [left](Verdict one) { return left.starts_with(VerdictSign(one)); });
    const bool none = verdict == kVerdicts.end();
    const std::string_view sign = none ? std::string_view("·") : VerdictSign(*verdict);
    if (left.starts_with(sign)) {
      out += fmt::format("<i class=\"{}\">{}</i>", none ? "no" : VerdictName(*verdict), sign);
      left.remove_prefix(sign.size());
    } else {
      left.remove_prefix(1);
    }
  }
  return fmt::format("<span class=\"cells\">{}</span>", out);
}

// Whether a cut before `at` would part a word, a number or a character.
bool Parts(std::string_view text, std::size_t at) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) > 0x7f;
  };
  return at > 0 && at < text.size() && is_word(text[at - 1]) && is_word(text[at]);
}

// Bytes that both start with, cut back to whole words.
std::size_t CommonStart(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t n = 0;
  while (n < most && a[n] == b[n]) ++n;
  while (Parts(a, n) || Parts(b, n)) --n;
  return n;
}

// Bytes that both end with, beyond `start`, cut back to whole words.
std::size_t CommonEnd(std::string_view a, std::string_view b, std::size_t start) {
  const std::size_t most = std::min(a.size(), b.size()) - start;
  std::size_t n = 0;
  while (n < most && a[a.size() - 1 - n] == b[b.size() - 1 - n]) ++n;
  while (n > 0 && (Parts(a, a.size() - n) || Parts(b, b.size() - n))) --n;
  return n;
}

// The text with the part that the other side lacks marked.
std::string MarkedHtml(const std::string& of, const std::string& beside) {
  const std::string text = SafeText(of, kMostCodeBytes);
  const std::string other = SafeText(beside, kMostCodeBytes);
  const std::size_t start = CommonStart(text, other);
  const std::size_t end = CommonEnd(text, other, start);
  const auto escaped = [](std::string_view part) { return HtmlText(part, 2 * kMostCodeBytes); };
  const std::string middle =
      escaped(std::string_view(text).substr(start, text.size() - start - end));
  return fmt::format("{}{}{}", escaped(text.substr(0, start)),
                     middle.empty() ? "" : fmt::format("<mark>{}</mark>", middle),
                     escaped(text.substr(text.size() - end)));
}

std::string CellText(const DocumentCell& cell) {
  if (cell.text.empty()) return "";
  switch (cell.as) {
    case DocumentCell::As::kStrip:
      return StripHtml(cell.text);
    case DocumentCell::As::kMarks:
      return HtmlMarks(cell.text);
    case DocumentCell::As::kCode:
      return fmt::format(
          "<code{}>{}</code>", NameClass(cell.text),
          cell.other ? MarkedHtml(cell.text, *cell.other) : HtmlText(cell.text, kMostCodeBytes));
    case DocumentCell::As::kBadge:
      return fmt::format("<span class=\"b{}\">{}</span>",
                         cell.tone ? fmt::format(" {}", VerdictName(*cell.tone)) : "",
                         HtmlText(cell.text, 1200));
    case DocumentCell::As::kStep:
      return IsCommand(cell.text) ? fmt::format("<pre class=\"cmd\">{}</pre>", HtmlText(cell.text))
                                  : HtmlText(cell.text, 1200);
    case DocumentCell::As::kText:
      break;
  }
  return HtmlText(cell.text, 1200);
}

}  // namespace

std::string NameClass(const std::string& text) {
  const bool is_short =
      text.size() <= kWholeNameColumns || DisplayWidth(SafeText(text, 300)) <= kWholeNameColumns;
  return is_short ? " class=\"name\"" : "";
}

bool HasLongWord(const std::string& text) {
  if (text.size() <= kLongWordColumns) return false;
  const std::string safe = SafeText(text, 1200);
  for (std::size_t at = 0; at < safe.size();) {
    const std::size_t end = std::min(safe.find(' ', at), safe.size());
    if (DisplayWidth(safe.substr(at, end - at)) > kLongWordColumns) return true;
    at = end + 1;
  }
  return false;
}

std::string CellHtml(const DocumentCell& cell) {
  const std::string html = CellText(cell);
  const std::string href = cell.href.empty() ? "" : RelativeHref(cell.href);
  return href.empty() ? html : fmt::format("<a href=\"{}\">{}</a>", href, html);
}

}  // namespace rharness
