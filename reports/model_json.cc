// The report as JSON, "rharness.report/v1", and back, with errors that name the JSON
// path; and the tally. A report is input like any other: its counts must match its runs.
#include "reports/json_parts.h"
#include "reports/model.h"
#include "reports/report_members.h"

namespace rharness {
namespace {

std::vector<Verdict> VerdictsOfFamilies(const Report& report) {
  std::vector<Verdict> verdicts;
  for (const FamilyComparison& family : report.families) verdicts.push_back(family.verdict);
  return verdicts;
}

}  // namespace

Json ToJson(const Report& report) { return MemberWriter::Written(report); }

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
