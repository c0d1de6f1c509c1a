// Outputs of all runs, counted by name and by how they were compared.
#include "reports/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "reports/text.h"

namespace rharness {
namespace {

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

// The output of a run's note "not compared: NAME", or "output 'PATH' is not compared: ..."; empty
// for any other note.
std::string UncomparedIn(std::string_view note) {
  constexpr std::string_view kNamed = "not compared: ";
  if (note.starts_with(kNamed)) return std::string(note.substr(kNamed.size()));
  constexpr std::string_view kQuoted = "output '";
  const std::size_t end = note.find("' is not compared");
  if (!note.starts_with(kQuoted) || end == note.npos) return "";
  return std::string(note.substr(kQuoted.size(), end - kQuoted.size()));
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

std::string NotComparedLine(const Report& report) {
  std::vector<std::string> names;
  for (const ReportRun& run : report.runs) {
    for (const std::string& note : run.notes) {
      const std::string name = UncomparedIn(note);
      if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  if (names.empty()) return "";
  const std::size_t more = names.size() - 1;
  return fmt::format("Not compared: {}{}.", SafeText(names.front(), 200),
                     more == 0 ? "" : fmt::format(" and {} more", FormatCount(more)));
}

}  // namespace rharness
