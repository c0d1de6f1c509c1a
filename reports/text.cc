// Cleaning, measuring and shortening text; see text.h.
#include "reports/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "harness/base/utf8.h"

namespace rharness {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Characters that reorder, hide or break text instead of showing.
bool Acts(char32_t code) {
  return (code >= 0x80 && code <= 0x9F) || code == 0x61C || code == 0x200B || code == 0x200E ||
         code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF || (code & 0xFFFE) == 0xFFFE ||
         (code >= 0xFDD0 && code <= 0xFDEF) || (code >= 0xE0000 && code <= 0xE007F);
}

// Length of an ANSI colour sequence (ESC [ digits and semicolons m) at the front, else 0.
std::size_t ColourSequence(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

void AppendControl(char c, Lines lines, std::string* out) {
  if (c == '\n' || c == '\r') {
    out->push_back(lines == Lines::kKeep ? '\n' : ' ');
  } else if (c == '\t') {
    out->push_back(lines == Lines::kKeep ? '\t' : ' ');
  } else {
    *out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
}

// Printable ASCII at the front, which is nearly all text: it stays as it is.
std::size_t PlainBytes(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, [](char c) { return c >= 0x20 && c < 0x7f; });
  return static_cast<std::size_t>(end - text.begin());
}

// Appends the front of `text` made safe; returns how many bytes that took.
std::size_t AppendSafe(std::string_view text, Lines lines, std::string* out) {
  const char c = text.front();
  if (const std::size_t colour = ColourSequence(text); colour > 0) return colour;
  if (text.starts_with("\r\n")) return 1;
  if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
    AppendControl(c, lines, out);
    return 1;
  }
  const auto decoded = FirstUtf8(text);
  if (!decoded) {
    *out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    return 1;
  }
  if (Acts(decoded->code)) {
    *out += fmt::format("\\u{{{:04x}}}", static_cast<std::uint32_t>(decoded->code));
  } else {
    out->append(text.substr(0, decoded->bytes));
  }
  return decoded->bytes;
}

int WidthOf(char32_t code) {
  if ((code >= 0x300 && code <= 0x36F) || code == 0x200C || code == 0x200D ||
      (code >= 0xFE00 && code <= 0xFE0F)) {
    return 0;
  }
  const bool wide = (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
                    (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
                    (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF00 && code <= 0xFF60) ||
                    (code >= 0x1F300 && code <= 0x1FAFF) || (code >= 0x20000 && code <= 0x3FFFD);
  return wide ? 2 : 1;
}

// The longest prefix of at most `columns` columns.
std::string_view PrefixOf(std::string_view text, int columns) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Utf8Character next = FirstUtf8(text.substr(at)).value_or(Utf8Character{'?', 1});
    columns -= WidthOf(next.code);
    if (columns < 0) break;
    at += next.bytes;
  }
  return text.substr(0, at);
}

// The longest suffix of at most `columns` columns.
std::string_view SuffixOf(std::string_view text, int columns) {
  std::size_t at = text.size();
  while (at > 0) {
    std::size_t start = at - 1;
    while (start > 0 && IsContinuation(text[start])) --start;
    columns -= WidthOf(FirstUtf8(text.substr(start)).value_or(Utf8Character{'?', 1}).code);
    if (columns < 0) break;
    at = start;
  }
  return text.substr(at);
}

}  // namespace

std::string SafeText(std::string_view text, std::size_t limit_bytes, Lines lines) {
  std::string safe;
  safe.reserve(std::min(text.size(), limit_bytes));
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t before = safe.size();
    if (const std::size_t plain = PlainBytes(text.substr(at)); plain > 0) {
      const std::size_t fits = std::min(plain, limit_bytes - std::min(before, limit_bytes));
      safe.append(text.substr(at, fits));
      at += fits;
      if (fits < plain) break;
      continue;
    }
    const std::size_t taken = AppendSafe(text.substr(at), lines, &safe);
    if (safe.size() > limit_bytes) {
      safe.resize(before);
      break;
    }
    at += taken;
  }
  if (at < text.size()) safe += fmt::format("… [cut: {} in all]", FormatBytes(text.size()));
  return safe;
}

std::string SpacedName(std::string_view name) {
  std::string words(name);
  std::ranges::replace(words, '_', ' ');
  return words;
}

std::string_view Tail(std::string_view text, std::size_t limit_bytes) {
  if (text.size() <= limit_bytes) return text;
  std::size_t start = text.size() - limit_bytes;
  for (int step = 0; step < 3 && start < text.size() && IsContinuation(text[start]); ++step) {
    ++start;
  }
  return text.substr(start);
}

int DisplayWidth(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t plain = PlainBytes(text.substr(at)); plain > 0) {
      width += static_cast<int>(plain);
      at += plain;
      continue;
    }
    const Utf8Character next = FirstUtf8(text.substr(at)).value_or(Utf8Character{'?', 1});
    width += WidthOf(next.code);
    at += next.bytes;
  }
  return width;
}

std::string ElideMiddle(std::string_view text, int columns) {
  if (DisplayWidth(text) <= columns) return std::string(text);
  if (columns <= 1) return columns == 1 ? "…" : "";
  const int tail = (columns - 1) / 2;
  return fmt::format("{}…{}", PrefixOf(text, columns - 1 - tail), SuffixOf(text, tail));
}

namespace {

// Bytes that all begin with, to a character's boundary.
std::size_t SharedBeginning(const std::vector<std::string>& texts,
                            const std::vector<std::size_t>& which) {
  std::string_view shared = texts[which.front()];
  for (const std::size_t i : which) {
    const auto differ = std::ranges::mismatch(shared, texts[i]);
    shared = shared.substr(0, static_cast<std::size_t>(differ.in1 - shared.begin()));
  }
  std::size_t end = shared.size();
  const std::string& first = texts[which.front()];
  while (end > 0 && end < first.size() && (static_cast<unsigned char>(first[end]) & 0xc0) == 0x80) {
    --end;
  }
  return end;
}

}  // namespace

std::vector<std::string> ElideApart(const std::vector<std::string>& texts, int columns) {
  std::vector<std::string> out;
  std::map<std::string, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    out.push_back(ElideMiddle(texts[i], columns));
    alike[out.back()].push_back(i);
  }
  for (const auto& [label, which] : alike) {
    const std::string& first = texts[which.front()];
    if (std::ranges::all_of(which, [&](std::size_t i) { return texts[i] == first; })) continue;
    const std::size_t shared = SharedBeginning(texts, which);
    std::map<std::string, std::size_t> seen;
    for (const std::size_t i : which) {
      out[i] = ElideMiddle("…" + texts[i].substr(shared), columns);
      ++seen[out[i]];
    }
    std::size_t number = 0;
    for (const std::size_t i : which) {
      ++number;
      if (seen.size() == which.size()) continue;
      const std::string suffix = fmt::format(" #{}", number);
      const int room = columns - DisplayWidth(suffix);
      // If not even the number fits, the label keeps its previous text.
      out[i] = room > 0 ? ElideMiddle(texts[i], room) + suffix : label;
    }
  }
  return out;
}

namespace {

// "/a/b.py:7", "(~/b": of other words with a slash, a rate or the name of a tensor, every part
// tells.
bool IsAbsolutePath(std::string_view word) {
  while (!word.empty() && std::string_view("(['\"").find(word.front()) != std::string_view::npos) {
    word.remove_prefix(1);
  }
  // The end of a longer one, as the hooks of a run note it.
  return word.starts_with('/') || word.starts_with("~/") || word.starts_with(".../");
}

// The longest path of a sentence without as many of its folders as `columns` asks for: the file,
// and the line behind it, is what a reader looks for.
std::string WithShorterPath(std::string_view text, int columns) {
  std::size_t longest = 0;
  std::size_t length = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (IsAbsolutePath(text.substr(at, end - at)) && end - at > length) {
      longest = at;
      length = end - at;
    }
    at = end + 1;
  }
  if (length == 0) return std::string(text);
  const std::string_view path = text.substr(longest, length);
  const std::size_t slash = path.find_last_of('/');
  const int folders = DisplayWidth(path.substr(0, slash));
  const int kept = std::max(folders - (DisplayWidth(text) - columns) - 1, 1);
  if (kept >= folders) return std::string(text);
  return fmt::format("{}{}…{}{}", text.substr(0, longest), PrefixOf(path, kept), path.substr(slash),
                     text.substr(longest + length));
}

}  // namespace

std::string ElideEnd(std::string_view text, int columns) {
  if (DisplayWidth(text) <= columns) return std::string(text);
  if (columns < 1) return "";
  const std::string shorter = WithShorterPath(text, columns);
  if (DisplayWidth(shorter) <= columns) return shorter;
  return fmt::format("{}…", PrefixOf(text, columns - 1));
}

std::string FormatNumber(double value, int digits) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (value == 0.0) return "0";
  return fmt::format("{:.{}g}", value, digits);
}

std::string FormatCount(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string FormatBytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024.0;
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024.0;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string Counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", FormatCount(count), noun, count == 1 ? "" : "s");
}

std::string FromTo(int from, int to) {
  return from == to ? fmt::format("{}", from) : fmt::format("{} to {}", from, to);
}

std::string FormatMinute(WallTime time) {
  if (time == WallTime{}) return "not recorded";
  const std::string full = FormatTime(time);
  const std::size_t split = full.find('T');
  return fmt::format("{} {} UTC", full.substr(0, split), full.substr(split + 1, 5));
}

}  // namespace rharness
