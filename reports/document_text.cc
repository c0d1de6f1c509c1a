// A document as Markdown and as JUnit, and its files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/base/files.h"
#include "reports/document.h"
#include "reports/junit_file.h"
#include "reports/markdown_parts.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kTitleBytes = 1000;         // more than a section's title takes
constexpr std::size_t kMostTableBytes = 400'000;  // of one table of Markdown
constexpr std::size_t kMostListDetails = 5;       // of one item of a list of Markdown
constexpr std::size_t kMostBodyRows = 50;         // of one section in the body of a case
constexpr std::size_t kMostBodyLogBytes = 8'000;  // its end

std::string CellMarkdown(const DocumentCell& cell) {
  return cell.as == DocumentCell::As::kCode ? MarkdownCode(cell.text, 300)
                                            : MarkdownText(cell.text);
}

std::string FactsMarkdown(const DocumentFacts& facts) {
  return MarkdownList(facts, [](const auto& fact) {
    return fmt::format("{}: {}", MarkdownText(fact.first, 200), MarkdownText(fact.second, 600));
  });
}

// The row where there is no table: its sentence, or else its cells.
std::string SentenceOf(const DocumentRow& row, const DocumentSection& section) {
  if (!row.sentence.empty()) return row.sentence;
  std::vector<std::string> parts;
  for (std::size_t i = 1; i < row.cells.size(); ++i) {
    if (row.cells[i].text.empty()) continue;
    parts.push_back(i < section.columns.size()
                        ? fmt::format("{}: {}", section.columns[i].name, row.cells[i].text)
                        : row.cells[i].text);
  }
  const std::string name = row.cells.empty() ? "" : row.cells.front().text;
  return parts.empty() ? name : fmt::format("{}: {}", name, fmt::join(parts, "; "));
}

// Steps to take, by the name of their column.
DocumentFacts StepsOf(const DocumentRow& row, const DocumentSection& section) {
  DocumentFacts steps;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    if (row.cells[i].as != DocumentCell::As::kStep || row.cells[i].text.empty()) continue;
    steps.emplace_back(std::string(section.columns[i].name), row.cells[i].text);
  }
  return steps;
}

// Rows that have both a sentence and more below it are a list; a table would part the two.
bool IsList(const DocumentSection& section) {
  return section.columns.empty() || std::ranges::any_of(section.rows, [](const DocumentRow& row) {
           return !row.sentence.empty() && !row.details.empty();
         });
}

std::string MarkdownItems(const DocumentSection& section, const std::string& record) {
  std::string out;
  const std::size_t shown = std::min(section.rows.size(), section.most.markdown);
  for (std::size_t i = 0; i < shown; ++i) {
    const DocumentRow& row = section.rows[i];
    out += fmt::format("- {}{}{}\n", row.sign, row.sign.empty() ? "" : " ",
                       MarkdownText(SentenceOf(row, section)));
    const std::size_t details = std::min(row.details.size(), kMostListDetails);
    for (std::size_t j = 0; j < details; ++j) {
      out += fmt::format("  - {}\n", MarkdownText(row.details[j], 400));
    }
    if (details < row.details.size()) {
      out += fmt::format("  - … and {} more\n", row.details.size() - details);
    }
    for (const auto& [name, step] : StepsOf(row, section)) {
      out += fmt::format("  - {}: {}\n", MarkdownText(name, 100), MarkdownCode(step, 600));
    }
  }
  if (shown < AllRows(section)) {
    out += fmt::format("\n_{} more are in {}._\n", FormatCount(AllRows(section) - shown), record);
  }
  return out.empty() ? out : out + "\n";
}

std::string MarkdownTable(const DocumentSection& section, const std::string& record,
                          std::size_t room) {
  if (section.rows.empty()) return "";
  const std::vector<std::size_t> used = UsedColumns(section);
  std::string out = "|";
  std::string rule = "|";
  for (const std::size_t column : used) {
    out += fmt::format(" {} |", section.columns[column].name);
    rule += section.columns[column].numbers ? "---:|" : "---|";
  }
  out += "\n" + rule + "\n";
  const std::size_t most = std::min(section.rows.size(), section.most.markdown);
  const std::size_t bytes = std::min(room / 2, kMostTableBytes);
  std::size_t shown = 0;
  for (; shown < most; ++shown) {
    const DocumentRow& row = section.rows[shown];
    std::string line = "|";
    for (const std::size_t column : used) {
      line +=
          fmt::format(" {} |", column < row.cells.size() ? CellMarkdown(row.cells[column]) : "");
    }
    if (out.size() + line.size() > bytes) break;
    out += line + "\n";
  }
  if (shown < AllRows(section)) {
    return out + fmt::format("\n_{} more rows are in {}._\n\n",
                             FormatCount(AllRows(section) - shown), record);
  }
  return out + "\n";
}

std::string MarkdownSection(const DocumentSection& section, const std::string& record,
                            std::size_t room, std::string_view heading);

// What is below a row: its details, or what is inside it, in a block that opens.
std::string BelowMarkdown(const DocumentRow& row, const std::string& record) {
  if (row.inside == nullptr) {
    return fmt::format("**{}**\n\n", MarkdownText(row.cells.front().text, 300)) +
           MarkdownList(row.details, [](const std::string& one) { return MarkdownText(one); });
  }
  std::string out =
      fmt::format("<details><summary>{} {}{}{}</summary>\n\n", VerdictBadge(row.tone),
                  MarkdownCode(row.cells.front().text, 160), row.details.empty() ? "" : ": ",
                  row.details.empty() ? "" : MarkdownText(row.details.front(), 500));
  for (const DocumentSection& section : row.inside(true)) {
    out += MarkdownSection(section, record, kMostTableBytes, "####");
  }
  return out + "</details>\n\n";
}

// Those of good rows say what they rest on; they stand behind the others, or, where they would
// open, not at all.
std::string AllBelow(const DocumentSection& section, const std::string& record, std::size_t room) {
  std::string out;
  std::size_t left_out = 0;
  const std::size_t rows = std::min(section.rows.size(), section.most.markdown);
  for (const bool good : {false, true}) {
    for (std::size_t i = 0; i < rows; ++i) {
      const DocumentRow& row = section.rows[i];
      if (row.cells.empty() || Reproduced(row.tone) != good) continue;
      if (row.inside == nullptr ? row.details.empty() : good) continue;
      const std::string below = left_out > 0 ? "" : BelowMarkdown(row, record);
      if (left_out > 0 || out.size() + below.size() + kTitleBytes > room) {
        ++left_out;
      } else {
        out += below;
      }
    }
  }
  for (const auto& [tone, count] : section.beyond) left_out += Reproduced(tone) ? 0 : count;
  if (left_out == 0) return out;
  return out +
         fmt::format("_The details of {} are in {}._\n\n", Counted(left_out, "more row"), record);
}

// Of at most `room` bytes, as far as rows and what is below them go.
std::string MarkdownSection(const DocumentSection& section, const std::string& record,
                            std::size_t room, std::string_view heading) {
  std::string out;
  if (!section.words.empty()) out += MarkdownText(section.words) + "\n\n";
  out += MarkdownList(section.items, [](const std::string& item) { return MarkdownText(item); });
  out += FactsMarkdown(section.facts);
  if (!section.log.empty()) out += MarkdownLog(section.log);
  // On a page they are pictures of what another section lists.
  const bool lists = !section.title.empty() || !section.subjects;
  if (lists && IsList(section)) {
    out += MarkdownItems(section, record);
  } else if (lists) {
    out += MarkdownTable(section, record, room - std::min(room, out.size()));
    out += AllBelow(section, record, room - std::min(room, out.size()));
  }
  if (out.empty()) return out;
  const std::string title = MarkdownText(section.title, 300);
  if (section.folded) {
    return fmt::format("<details><summary>{}</summary>\n\n{}</details>\n\n", title, out);
  }
  return title.empty() ? out : fmt::format("{} {}\n\n{}", heading, title, out);
}

// A section in the body of a case, which is all that GitLab shows.
std::string BodyOf(const DocumentSection& section) {
  std::string out;
  if (!section.words.empty()) out += SafeText(section.words) + "\n";
  const auto line = [&](std::string_view before, const std::string& text) {
    out += fmt::format("{}{}\n", before, SafeText(text));
  };
  for (const std::string& item : section.items) line("- ", item);
  for (const auto& [name, value] : section.facts) line("- ", fmt::format("{}: {}", name, value));
  const bool lists = !section.title.empty() || !section.subjects;
  const std::size_t shown = lists ? std::min(section.rows.size(), kMostBodyRows) : 0;
  for (std::size_t i = 0; i < shown; ++i) {
    const DocumentRow& row = section.rows[i];
    line("- ",
         fmt::format("{}{}{}", row.sign, row.sign.empty() ? "" : " ", SentenceOf(row, section)));
    for (const std::string& detail : row.details) line("  - ", detail);
    for (const auto& [name, step] : StepsOf(row, section)) {
      line("  ", fmt::format("{}: {}", name, step));
    }
  }
  if (lists && shown < AllRows(section)) {
    line("- ", fmt::format("… and {} more", FormatCount(AllRows(section) - shown)));
  }
  if (!section.log.empty()) {
    out += SafeText(Tail(section.log, kMostBodyLogBytes), kMostBodyLogBytes, Lines::kKeep) + "\n";
  }
  if (out.empty() || section.title.empty()) return out;
  return fmt::format("{}:\n{}", SafeText(section.title, 300), out);
}

JunitCase CaseOf(const DocumentRow& row, const DocumentSection& section, const Document& document,
                 std::size_t body_bytes) {
  JunitCase test{.classname = !row.case_class.empty() ? row.case_class
                              : section.title.empty()
                                  ? document.name
                                  : document.name + "." + SafeText(section.title, 200),
                 .name = row.cells.empty() ? "" : SafeText(row.cells.front().text, 200),
                 .kind = row.explains ? JunitKind::kPassed : KindOf(row.tone),
                 .verdict = row.tone,
                 .type = row.case_type,
                 .message = !row.message.empty()  ? row.message
                            : row.details.empty() ? ""
                                                  : row.details.front(),
                 .seconds = row.case_seconds,
                 .properties = {{"verdict", std::string(VerdictName(row.tone))}}};
  std::string line;
  if (!row.sentence.empty() || row.inside != nullptr) {
    test.body = row.sentence.empty() ? fmt::format("{}: ", VerdictLabel(row.tone))
                                     : SafeText(row.sentence) + "\n";
  } else {
    for (std::size_t i = 1; i < row.cells.size(); ++i) {
      if (row.cells[i].text.empty()) continue;
      line = fmt::format("{}: {}", section.columns[i].name, row.cells[i].text);
      test.body += line + "\n";
    }
  }
  // The last column says most: what was seen, or why.
  if (test.message.empty()) test.message = line;
  for (const std::string& detail : row.details) test.body += detail + "\n";
  if (row.explains) test.body += "(this explains; it does not decide)\n";
  if (row.inside != nullptr) {
    for (const DocumentSection& inside : row.inside(true)) {
      if (test.body.size() > body_bytes) break;
      test.body += BodyOf(inside);
    }
  }
  test.body = SafeText(test.body, body_bytes, Lines::kKeep);
  return test;
}

// The rows that are cases, of each section the worst first.
struct CaseRow {
  const DocumentRow* row = nullptr;
  const DocumentSection* section = nullptr;
};

// `beyond`: rows that would be cases, too.
std::vector<CaseRow> CasesOf(const Document& document, std::size_t* beyond) {
  std::vector<CaseRow> cases;
  const auto add = [&](const DocumentSection& section) {
    for (const DocumentRow& row : section.rows) cases.push_back({&row, &section});
    *beyond += AllRows(section) - section.rows.size();
  };
  for (const DocumentSection& section : document.sections) {
    if (section.cases) add(section);
  }
  std::ranges::for_each(document.cases, add);
  return cases;
}

}  // namespace

std::string WriteMarkdown(const Document& document) {
  std::string out =
      fmt::format("## {}{}\n\n", document.verdict ? VerdictBadge(*document.verdict) + " — " : "",
                  MarkdownText(document.headline));
  if (!document.next.empty()) out += fmt::format("**Next:** {}\n\n", MarkdownText(document.next));
  out += MarkdownCounts(document.counts);
  out += MarkdownList(document.notes, [](const std::string& note) { return MarkdownText(note); });
  std::size_t left_out = 0;
  for (const DocumentSection& section : document.sections) {
    const std::size_t room = kMarkdownBytes - std::min(out.size(), kMarkdownBytes);
    const std::string text = MarkdownSection(section, RecordOf(document), room, "###");
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
  for (const auto& [name, value] : document.properties) {
    file.properties.emplace_back("rharness." + name, value);
  }
  file.seconds = document.seconds;
  std::size_t left_out = 0;
  std::vector<CaseRow> cases = CasesOf(document, &left_out);
  const bool red = std::ranges::any_of(cases, [](const CaseRow& one) {
    const JunitKind kind = KindOf(one.row->tone);
    return !one.row->explains && (kind == JunitKind::kFailure || kind == JunitKind::kError);
  });
  // One place is kept for the answer.
  const std::size_t most = kMostJunitCases - (document.exit_code == 0 || red ? 0 : 1);
  if (cases.size() > most) {
    left_out += cases.size() - most;
    cases.resize(most);
  }
  if (left_out > 0) {
    file.properties.emplace_back(
        "rharness.cases_left_out",
        fmt::format("{}, the least severe; see {}", Counted(left_out, "case"), RecordOf(document)));
  }
  for (const auto& [row, section] : cases) {
    file.cases.push_back(CaseOf(*row, *section, document, JunitBodyBytes(cases.size())));
  }
  const bool fails = std::ranges::any_of(file.cases, Fails);
  if (file.cases.empty() || (document.exit_code != 0 && !fails)) {
    JunitCase answer = AnswerCase(document.unanswered.empty() ? document.name : document.unanswered,
                                  document.headline, document.next);
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
