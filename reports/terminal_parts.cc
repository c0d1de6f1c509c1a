// Pieces of terminal output; see terminal_parts.h.
#include "reports/terminal_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "reports/words.h"

namespace rharness {

std::string_view ColourOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kIdentical:
    case Verdict::kEquivalent:
      return "\x1b[32m";
    case Verdict::kDrifted:
      return "\x1b[1;31m";
    case Verdict::kFailed:
    case Verdict::kInfra:
      return "\x1b[35m";
    case Verdict::kInconclusive:
    case Verdict::kNotComparable:
      return "\x1b[33m";
  }
  Abort("unknown Verdict");
}

std::string Painted(std::string_view text, std::string_view colour, bool color) {
  return color ? fmt::format("{}{}\x1b[0m", colour, text) : std::string(text);
}

std::string Padded(std::string text, int columns) {
  const int missing = columns - DisplayWidth(text);
  if (missing > 0) text.append(static_cast<std::size_t>(missing), ' ');
  return text;
}

std::string RightAligned(const std::string& text, int columns) {
  const int missing = std::max(columns - DisplayWidth(text), 0);
  return std::string(static_cast<std::size_t>(missing), ' ') + text;
}

std::string Wrapped(const std::string& text, int columns, int indent) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  const int room = std::max(columns - indent, 1);
  std::string out = margin;
  int used = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = ElideMiddle(text.substr(at, end - at), room);
    const int width = DisplayWidth(word);
    if (used > 0 && used + 1 + width > room) {
      out += "\n" + margin;
      used = 0;
    }
    if (used > 0) {
      out += " ";
      ++used;
    }
    out += word;
    used += width;
    at = end + 1;
  }
  return out + "\n";
}

std::vector<std::string> SplitLines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> WrappedTo(const std::string& text, int columns, std::size_t most) {
  std::vector<std::string> lines = SplitLines(Wrapped(text, columns));
  if (lines.size() > most) {
    lines.resize(most);
    lines.back() = ElideEnd(lines.back() + " ", columns - 1) + "…";
  }
  return lines;
}

std::string CountsLine(const std::map<std::string, int>& counts, std::string_view noun, int columns,
                       bool color) {
  std::string line;
  int used = 0;
  for (const Verdict verdict : kVerdicts) {
    const auto count = counts.find(std::string(VerdictName(verdict)));
    if (count == counts.end() || count->second == 0) continue;
    const std::string part =
        ElideEnd(fmt::format("{} {}", count->second, VerdictLabel(verdict)), columns - 1);
    const int width = DisplayWidth(part);
    if (used > 0) {
      const bool breaks = used + 3 + width > columns;
      line += breaks ? ",\n" : ", ";
      used = breaks ? 0 : used + 2;
    }
    line += Painted(part, ColourOf(verdict), color);
    used += width;
  }
  return line.empty() ? Counted(0, noun) : line;
}

}  // namespace rharness
