// Outputs of all runs, counted by name and by how they were compared.
#include "reports/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "reports/markdown_parts.h"
#include "reports/terminal_parts.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostOutputLines = 20;

bool IsOutput(const ExactComparison& exact) {
  return exact.compared_by != ComparedBy::kValues && !exact.subject.starts_with("curve ") &&
         !exact.subject.starts_with("metric ");
}

struct CountedOutput {
  std::string subject;
  ComparedBy by = ComparedBy::kNothing;
  std::string why;  // of one that was not compared
  std::size_t runs = 0;
  std::size_t equal = 0;
};

std::vector<CountedOutput> CountOutputs(const Report& report) {
  std::vector<CountedOutput> outputs;
  std::map<std::pair<std::string, ComparedBy>, std::size_t> places;
  for (const ReportRun& run : report.runs) {
    for (const ExactComparison& exact : run.exact) {
      if (!IsOutput(exact)) continue;
      const auto [at, added] =
          places.try_emplace({exact.subject, exact.compared_by}, outputs.size());
      if (added) outputs.push_back({.subject = exact.subject, .by = exact.compared_by});
      CountedOutput& output = outputs[at->second];
      if (exact.compared_by == ComparedBy::kNothing) output.why = exact.detail;
      ++output.runs;
      if (exact.state == ExactComparison::State::kEqual) ++output.equal;
    }
  }
  std::ranges::stable_sort(outputs, std::greater(), &CountedOutput::by);
  return outputs;
}

std::string OutputWords(const CountedOutput& output) {
  const std::string subject = SafeText(output.subject, 200);
  const std::string runs = Counted(output.runs, "run");
  if (output.by == ComparedBy::kNothing) {
    return fmt::format("{}: not compared in {}: {}", subject, runs, SafeText(output.why, 300));
  }
  const std::string equal =
      output.equal == output.runs ? "equal" : fmt::format("equal in {}", FormatCount(output.equal));
  return fmt::format("{}: by {} in {}; {}", subject, ComparedByWords(output.by), runs, equal);
}

}  // namespace

std::vector<std::string> OutputLines(const Report& report, bool all) {
  std::vector<std::string> lines;
  for (const CountedOutput& output : CountOutputs(report)) {
    if (all || output.by >= ComparedBy::kFileDigest) lines.push_back(OutputWords(output));
  }
  return lines;
}

std::string TerminalOutputs(const Report& report, int columns, bool all) {
  const std::vector<std::string> lines = OutputLines(report, all);
  if (lines.empty()) return "";
  std::string out = "Outputs, and how they were compared:\n";
  for (std::size_t i = 0; i < std::min(lines.size(), kMostOutputLines); ++i) {
    out += Wrapped(lines[i], columns, 2);
  }
  if (lines.size() > kMostOutputLines) {
    out += fmt::format("  … and {} more; see report.json\n", lines.size() - kMostOutputLines);
  }
  return out + "\n";
}

std::string MarkdownOutputs(const Report& report) {
  const std::vector<std::string> lines = OutputLines(report, true);
  if (lines.empty()) return "";
  return fmt::format(
      "<details><summary>How outputs were compared: {}</summary>\n\n{}\n</details>\n\n",
      Counted(lines.size(), "output"),
      MarkdownList(lines, [](const std::string& line) { return MarkdownText(line, 600); }));
}

}  // namespace rharness
