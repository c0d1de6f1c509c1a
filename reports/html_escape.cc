// Escaping for the HTML page; see html_escape.h.
#include "reports/html_escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "harness/base/files.h"

namespace rharness {
namespace {

int HexDigit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

}  // namespace

std::string HtmlText(std::string_view text, std::size_t limit_bytes, Lines lines) {
  std::string safe = SafeText(text, limit_bytes, lines);
  const bool plain = std::ranges::none_of(
      safe, [](char c) { return c == '&' || c == '<' || c == '>' || c == '"' || c == '\''; });
  if (plain) return safe;
  std::string out;
  for (const char c : safe) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out.push_back(c);
    }
  }
  return out;
}

std::string HtmlWords(std::string_view text, std::size_t limit_bytes) {
  const std::string safe = SafeText(text, limit_bytes);
  std::string out;
  for (std::size_t at = 0; at <= safe.size();) {
    const std::size_t end = std::min(safe.find(' ', at), safe.size());
    const std::string word = HtmlText(safe.substr(at, end - at), 2 * limit_bytes);
    if (at > 0) out += ' ';
    out += word.find('-') == word.npos ? word : fmt::format("<span class=\"w\">{}</span>", word);
    at = end + 1;
  }
  return out;
}

std::string RelativeHref(std::string_view path) {
  if (path.size() > 1000 || !SafeRelativePath(path, "evidence_path").ok()) return "";
  static constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  std::string href = "./";
  for (const char c : path) {
    if (kPlain.find(c) != std::string_view::npos) {
      href.push_back(c);
    } else {
      href += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return href;
}

std::string CspHash(std::string_view sha256_hex) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out = "sha256-";
  std::uint32_t bits = 0;
  int held = 0;
  for (const char digit : sha256_hex) {
    bits = (bits << 4) | static_cast<std::uint32_t>(HexDigit(digit));
    held += 4;
    if (held >= 6) {
      held -= 6;
      out.push_back(kAlphabet[(bits >> held) & 63U]);
    }
  }
  if (held > 0) out.push_back(kAlphabet[(bits << (6 - held)) & 63U]);
  return out + "=";  // 32 bytes leave one byte of padding
}

}  // namespace rharness
