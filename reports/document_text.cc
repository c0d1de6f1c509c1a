// A document as Markdown and as JUnit, and its files.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/files.h"
#include "reports/document.h"
#include "reports/junit_file.h"
#include "reports/markdown_parts.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kTitleBytes = 1000;  // more than a section's title takes

std::string CellMarkdown(const DocumentCell& cell) {
  return cell.as == DocumentCell::As::kCode ? MarkdownCode(cell.text, 300)
                                            : MarkdownText(cell.text);
}

std::string FactsMarkdown(const DocumentFacts& facts) {
  return MarkdownList(facts, [](const auto& fact) {
    return fmt::format("{}: {}", MarkdownText(fact.first, 200), MarkdownText(fact.second, 600));
  });
}

std::string MarkdownTable(const DocumentSection& section, const std::string& record) {
  if (section.rows.empty()) return "";
  const std::vector<std::size_t> used = UsedColumns(section);
  std::string out = "|";
  std::string rule = "|";
  for (const std::size_t column : used) {
    out += fmt::format(" {} |", section.columns[column].name);
    rule += section.columns[column].numbers ? "---:|" : "---|";
  }
  out += "\n" + rule + "\n";
  const std::size_t shown = std::min(section.rows.size(), section.most.markdown);
  for (std::size_t i = 0; i < shown; ++i) {
    const DocumentRow& row = section.rows[i];
    out += "|";
    for (const std::size_t column : used) {
      out += fmt::format(" {} |", column < row.cells.size() ? CellMarkdown(row.cells[column]) : "");
    }
    out += "\n";
  }
  if (shown < section.rows.size()) {
    return out +
           fmt::format("\n_{} more rows are in {}._\n\n", section.rows.size() - shown, record);
  }
  return out + "\n";
}

std::string DetailsMarkdown(const DocumentRow& row) {
  return fmt::format("**{}**\n\n", MarkdownText(row.cells.front().text, 300)) +
         MarkdownList(row.details, [](const std::string& one) { return MarkdownText(one); });
}

// Of at most `room` bytes, as far as details go: those that do not fit are left out.
std::string MarkdownSection(const DocumentSection& section, const std::string& record,
                            std::size_t room) {
  std::string out;
  if (!section.words.empty()) out += MarkdownText(section.words) + "\n\n";
  out += MarkdownList(section.items, [](const std::string& item) { return MarkdownText(item); });
  out += FactsMarkdown(section.facts) + MarkdownTable(section, record);
  const std::size_t rows = std::min(section.rows.size(), section.most.markdown);
  std::size_t left_out = 0;
  // Those of good rows say what they rest on; they stand behind the others.
  for (const bool good : {false, true}) {
    for (std::size_t i = 0; i < rows; ++i) {
      const DocumentRow& row = section.rows[i];
      if (row.details.empty() || row.cells.empty() || Reproduced(row.tone) != good) continue;
      const std::string details = DetailsMarkdown(row);
      if (left_out > 0 || out.size() + details.size() + kTitleBytes > room) {
        ++left_out;
      } else {
        out += details;
      }
    }
  }
  if (left_out > 0) {
    out += fmt::format("_The details of {} are in {}._\n\n", Counted(left_out, "more row"), record);
  }
  return out.empty() ? "" : fmt::format("### {}\n\n{}", MarkdownText(section.title, 300), out);
}

JunitCase CaseOf(const DocumentRow& row, const DocumentSection& section, const Document& document) {
  JunitCase test{.classname = section.title.empty()
                                  ? document.name
                                  : document.name + "." + SafeText(section.title, 200),
                 .name = row.cells.empty() ? "" : SafeText(row.cells.front().text, 200),
                 .kind = KindOf(row.tone),
                 .verdict = row.tone,
                 .type = row.case_type,
                 .message = !row.message.empty()  ? row.message
                            : row.details.empty() ? ""
                                                  : row.details.front(),
                 .properties = {}};
  std::string line;
  for (std::size_t i = 1; i < row.cells.size(); ++i) {
    if (row.cells[i].text.empty()) continue;
    line = fmt::format("{}: {}", section.columns[i].name, row.cells[i].text);
    test.body += line + "\n";
  }
  // The last column says most: what was seen, or why.
  if (test.message.empty()) test.message = line;
  for (const std::string& detail : row.details) test.body += detail + "\n";
  return test;
}

void AddCases(const DocumentSection& section, const Document& document, JunitFile* file) {
  for (const DocumentRow& row : section.rows) {
    if (file->cases.size() + 1 >= kMostJunitCases) break;  // one is kept for the answer
    file->cases.push_back(CaseOf(row, section, document));
  }
}

}  // namespace

std::string WriteMarkdown(const Document& document) {
  std::string out = fmt::format("## {}\n\n", MarkdownText(document.headline));
  if (!document.next.empty()) out += fmt::format("**Next:** {}\n\n", MarkdownText(document.next));
  out += MarkdownCounts(document.counts);
  out += MarkdownList(document.notes, [](const std::string& note) { return MarkdownText(note); });
  std::size_t left_out = 0;
  for (const DocumentSection& section : document.sections) {
    const std::size_t room = kMarkdownBytes - std::min(out.size(), kMarkdownBytes);
    const std::string text = MarkdownSection(section, RecordOf(document), room);
    if (text.size() > room) {
      ++left_out;
    } else {
      out += text;
    }
  }
  if (left_out > 0) {
    out += fmt::format("_{} more {} in {}._\n\n", left_out,
                       left_out == 1 ? "section is" : "sections are", RecordOf(document));
  }
  out += FactsMarkdown(document.facts);
  return out + fmt::format("<sub>{} · rharness {} · exit code {}</sub>\n",
                           MarkdownText(OriginOf(document), 600),
                           MarkdownText(document.version, 60), document.exit_code);
}

std::string WriteJunit(const Document& document) {
  JunitFile file;
  file.name = "rharness " + document.name;
  file.stamp = document.made;
  file.properties = {{"rharness.version", document.version},
                     {"rharness.headline", document.headline},
                     {"rharness.exit_code", std::to_string(document.exit_code)}};
  for (const DocumentSection& section : document.sections) {
    if (section.cases) AddCases(section, document, &file);
  }
  for (const DocumentSection& section : document.cases) AddCases(section, document, &file);
  const bool fails = std::ranges::any_of(file.cases, Fails);
  if (file.cases.empty() || (document.exit_code != 0 && !fails)) {
    JunitCase answer = AnswerCase(document.name, document.headline, document.next);
    if (document.exit_code == 0) answer.kind = JunitKind::kPassed;
    file.cases.push_back(std::move(answer));
  }
  return WriteJunitFile(file);
}

Status WriteDocument(const std::filesystem::path& folder, const Document& document) {
  RETURN_IF_ERROR(WriteFileAtomic(folder / (document.name + ".html"), WriteHtml(document)));
  RETURN_IF_ERROR(WriteFileAtomic(folder / "junit.xml", WriteJunit(document)));
  return WriteFileAtomic(folder / "summary.md", WriteMarkdown(document));
}

}  // namespace rharness
