// Source: man(7) and groff_man(7); \[uXXXX] for characters beyond ASCII is known to groff and
// mandoc.
#include "harness/cli/guide_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>

namespace rharness {
namespace {

// **bold** as `bold`, links by their text, *emphasis* plain; what is between backquotes stays.
std::string PlainInline(const std::string& text) {
  static const std::regex bold(R"(\*\*([^*]+)\*\*)"), link(R"(\[([^\]]+)\]\(([^)]+)\))"),
      emphasis(R"(\*([A-Za-z][A-Za-z0-9 -]*)\*)");
  std::string plain;
  std::istringstream parts(text);
  bool code = false;
  for (std::string part; std::getline(parts, part, '`'); code = !code) {
    if (code) {
      plain += "`" + part + "`";
      continue;
    }
    part = std::regex_replace(part, link, "$1");
    part = std::regex_replace(part, bold, "`$1`");
    plain += std::regex_replace(part, emphasis, "$1");
  }
  return plain;
}

// UTF-8 beyond ASCII as \[uXXXX].
std::string Escaped(const std::string& roff) {
  std::string ascii;
  for (std::size_t i = 0; i < roff.size();) {
    const auto first = static_cast<unsigned char>(roff[i++]);
    if (first < 0x80) {
      ascii += static_cast<char>(first);
      continue;
    }
    unsigned code = first >= 0xF0 ? first & 0x07U : first >= 0xE0 ? first & 0x0FU : first & 0x1FU;
    while (i < roff.size() && (static_cast<unsigned char>(roff[i]) & 0xC0U) == 0x80U) {
      code = code << 6U | (static_cast<unsigned char>(roff[i++]) & 0x3FU);
    }
    ascii += fmt::format("\\[u{:04X}]", code);
  }
  return ascii;
}

std::vector<std::string> CellsOf(const std::string& row) {
  std::vector<std::string> cells;
  std::string cell;
  bool code = false;
  for (const char c : row.substr(1)) {
    if (c == '`') code = !code;
    if (c != '|' || code) {
      cell += c;
      continue;
    }
    const std::size_t begin = cell.find_first_not_of(' ');
    const std::size_t end = cell.find_last_not_of(' ');
    cells.push_back(begin == cell.npos ? "" : cell.substr(begin, end - begin + 1));
    cell.clear();
  }
  return cells;
}

// "- " or "12. "
bool BeginsItem(const std::string& line) {
  const std::size_t digits = line.find_first_not_of("0123456789");
  return line.starts_with("- ") ||
         (digits > 0 && digits != line.npos && line.compare(digits, 2, ". ") == 0);
}

class Page {
 public:
  explicit Page(std::string_view markdown) {
    std::istringstream stream{std::string(markdown)};
    for (std::string line; std::getline(stream, line);) lines_.push_back(line);
  }

  std::string title() const { return lines_.empty() ? "" : lines_[0].substr(2); }

  std::string Body() {
    for (at_ = 1; at_ < lines_.size();) {
      const std::string& line = lines_[at_];
      if (line.empty()) {
        ++at_;
      } else if (line.starts_with("```")) {
        Fence();
      } else if (line.starts_with("#")) {
        const std::size_t level = line.find_first_not_of('#');
        roff_ += fmt::format(
            "{} {}\n", level > 2 ? ".SS" : ".SH",
            RoffInline("\"" +
                       (level > 2 ? line.substr(level + 1) : UpperCase(line.substr(level + 1))) +
                       "\""));
        begins_ = true;
        ++at_;
      } else if (line.starts_with("|")) {
        Table();
      } else if (BeginsItem(line)) {
        ListItem();
      } else {
        Paragraph();
      }
    }
    return roff_;
  }

 private:
  // Lines of one paragraph, or of one item of a list, joined.
  std::string Joined() {
    std::string text;
    while (at_ < lines_.size() && !lines_[at_].empty() && !lines_[at_].starts_with("```") &&
           !lines_[at_].starts_with("|") && (text.empty() || !BeginsItem(lines_[at_]))) {
      const std::string& line = lines_[at_++];
      const std::size_t begin = line.find_first_not_of(' ');
      text += (text.empty() ? "" : " ") + line.substr(begin);
    }
    return PlainInline(text);
  }

  void Paragraph() {
    roff_ += (begins_ ? "" : ".PP\n") + RoffOf(Joined());
    begins_ = false;
  }

  void ListItem() {
    const std::string text = Joined();
    const std::size_t mark = text.find(' ');
    roff_ +=
        text.starts_with("- ") ? ".IP \\(bu 2\n" : fmt::format(".IP {} 3\n", text.substr(0, mark));
    roff_ += RoffOf(text.substr(mark + 1));
    begins_ = false;
  }

  void Fence() {
    std::string text;
    for (++at_; at_ < lines_.size() && !lines_[at_].starts_with("```"); ++at_) {
      text += lines_[at_].empty() ? "\n" : "  " + Literal(lines_[at_]) + "\n";
    }
    ++at_;
    roff_ += (begins_ ? "" : ".PP\n") + RoffOf(text);
    begins_ = false;
  }

  // In a block a backquote is one.
  static std::string Literal(std::string line) {
    std::ranges::replace(line, '`', '\'');
    return line;
  }

  // A row is an item: its first cell, then the others, by the names of their columns where there
  // are several.
  void Table() {
    const std::vector<std::string> names = CellsOf(lines_[at_]);
    for (at_ += 2; at_ < lines_.size() && lines_[at_].starts_with("|"); ++at_) {
      const std::vector<std::string> cells = CellsOf(lines_[at_]);
      std::string body = cells.size() > 1 ? cells[1] : "";
      for (std::size_t i = 2; i < cells.size(); ++i) {
        if (!cells[i].empty()) body += fmt::format(" ({}: {})", names[i], cells[i]);
      }
      roff_ += ".TP\n" + RoffInline(PlainInline(cells[0])) + "\n" + RoffOf(PlainInline(body));
    }
    begins_ = false;
  }

  std::vector<std::string> lines_;
  std::size_t at_ = 0;
  std::string roff_;
  bool begins_ = true;  // a section: its first paragraph needs no break before it
};

}  // namespace

std::string GuidePageName(std::string_view guide) {
  return fmt::format("rharness-guide-{}", guide);
}

std::string GuidePage(std::string_view guide, std::string_view markdown,
                      const std::vector<std::string>& others, const ManualFacts& facts) {
  Page page(markdown);
  const std::string name = GuidePageName(guide);
  std::string roff = fmt::format(".TH {} 7 \"{}\" \"rharness {}\" \"Guides\"\n.nh\n.ad l\n",
                                 RoffInline("\"" + UpperCase(name) + "\""), RoffInline(facts.date),
                                 RoffInline(facts.version));
  roff += ".SH NAME\n" + RoffInline(name) + " \\- " + RoffInline(LowerFirst(page.title())) +
          "\n.SH DESCRIPTION\n" + page.Body() + ".SH \"SEE ALSO\"\n.BR rharness (1)";
  for (const std::string& other : others) {
    if (other == guide) continue;
    roff += fmt::format(",\n.BR {} (7)", RoffInline(GuidePageName(other)));
  }
  return Escaped(roff + "\n");
}

}  // namespace rharness
