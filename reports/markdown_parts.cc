// Pieces of a Markdown summary; see markdown_parts.h.
#include "reports/markdown_parts.h"

#include "reports/words.h"

namespace rharness {
namespace {

bool IsAlphaNumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// HTML specials as entities; in Markdown these also end code, tags and autolinks.
void AppendEntity(char c, std::string* out) {
  switch (c) {
    case '&':
      *out += "&amp;";
      return;
    case '<':
      *out += "&lt;";
      return;
    case '>':
      *out += "&gt;";
      return;
    case '"':
      *out += "&quot;";
      return;
    default:
      out->push_back(c);
  }
}

}  // namespace

std::string MarkdownText(std::string_view text, std::size_t limit_bytes) {
  static constexpr std::string_view kMarkup = "\\`*_{}[]()~|!";
  const std::string safe = SafeText(text, limit_bytes);
  std::string out;
  for (std::size_t i = 0; i < safe.size(); ++i) {
    const char c = safe[i];
    if (kMarkup.find(c) != std::string_view::npos) out.push_back('\\');
    AppendEntity(c, &out);
    const bool before_word = i + 1 < safe.size() && IsAlphaNumeric(safe[i + 1]);
    if ((c == '@' || c == '#') && before_word) out += "&#8203;";
    if (c == ':' && safe.compare(i, 3, "://") == 0) out += "&#8203;";
    if (c == '.' && i >= 3 && safe.compare(i - 3, 3, "www") == 0) out += "&#8203;";
  }
  return out;
}

std::string MarkdownCode(std::string_view text, std::size_t limit_bytes) {
  return text.empty() ? "" : fmt::format("<code>{}</code>", MarkdownText(text, limit_bytes));
}

std::string MarkdownLog(std::string_view text) {
  std::string out = "<pre>";
  for (const char c : SafeText(Tail(text, 4'000), 4'000, Lines::kKeep)) AppendEntity(c, &out);
  return out + "</pre>\n\n";
}

std::string MarkdownCounts(const std::map<std::string, int>& counts) {
  std::vector<std::string> parts;
  for (const Verdict verdict : kVerdicts) {
    const auto count = counts.find(std::string(VerdictName(verdict)));
    if (count != counts.end() && count->second > 0) {
      parts.push_back(fmt::format("{} **{}**", VerdictBadge(verdict), count->second));
    }
  }
  return parts.empty() ? "" : fmt::format("{}\n\n", fmt::join(parts, " · "));
}

}  // namespace rharness
