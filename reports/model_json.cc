// The report as JSON, "rharness.report/v1", and back, with errors that name the JSON
// path; and the tally. A report is input like any other: its counts must match its runs.
#include "reports/json_parts.h"
#include "reports/model.h"
#include "reports/report_members.h"
#include "reports/report_pieces.h"

namespace rharness {
namespace {

// With so many blanks after each line's end; JSON has none within its texts.
std::string Indented(std::string_view text, std::size_t blanks) {
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  for (const char c : text) {
    out += c;
    if (c == '\n') out.append(blanks, ' ');
  }
  return out;
}

std::vector<Verdict> VerdictsOfFamilies(const Report& report) {
  std::vector<Verdict> verdicts;
  for (const FamilyComparison& family : report.families) verdicts.push_back(family.verdict);
  return verdicts;
}

}  // namespace

Json ToJson(const Report& report) { return MemberWriter::Written(report); }

Status WriteJson(const Report& report, const TakePiece& take,
                 const std::function<void(std::string_view)>& run) {
  constexpr int kIndent = 2;
  Json head = Json::MakeObject();
  MemberWriter writer(&head);
  MembersBesideRuns(writer, report);
  std::string text = head.Dump(kIndent);
  text.resize(text.size() - std::string_view("\n}").size());
  RETURN_IF_ERROR(take(text + ",\n  \"runs\": ["));
  const bool indented = report.runs.size() <= kMostIndentedRuns;
  for (const ReportRun& one : report.runs) {
    const Json json = MemberWriter::Written(one);
    const std::string line = json.Dump();
    run(line);
    RETURN_IF_ERROR(take(&one == &report.runs.front() ? "" : ","));
    RETURN_IF_ERROR(
        take(indented ? Indented("\n" + json.Dump(kIndent), 2 * kIndent) : "\n    " + line));
  }
  return take(report.runs.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

Result<Report> ParseReport(const Json& json, std::string_view file) {
  JsonReader reader(json, std::string(file));
  Report report;
  MemberReader::ReadInto(reader, report);
  std::vector<Verdict> verdicts;
  for (const ReportRun& run : report.runs) verdicts.push_back(run.verdict);
  CheckTally(reader, verdicts, report.counts, report.exit_code, VerdictsOfFamilies(report));
  RETURN_IF_ERROR(reader.status());
  return report;
}

void Tally(Report* report) {
  std::vector<Verdict> verdicts;
  verdicts.reserve(report->runs.size());
  for (const ReportRun& run : report->runs) verdicts.push_back(run.verdict);
  report->counts = CountVerdicts(verdicts);
  for (const Verdict verdict : VerdictsOfFamilies(*report)) verdicts.push_back(verdict);
  report->exit_code = ExitCodeOf(verdicts);
}

}  // namespace rharness
