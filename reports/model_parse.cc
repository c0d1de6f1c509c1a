// Reading "rharness.report/v1" back, with errors that name the JSON path. A report is input like
// any other: what it claims in its counts must be what its runs say.
#include <fmt/format.h>

#include "reports/comparison_parts.h"
#include "reports/json_parts.h"
#include "reports/model.h"
#include "reports/names.h"

namespace rharness {
namespace {

ExactComparison ReadExact(JsonReader& reader) {
  ExactComparison exact;
  reader.Read("subject", &exact.subject);
  ReadAs(reader, "state", &exact.state, ParserOf(kExactStateNames));
  reader.ReadOptional("first_difference", &exact.first_difference);
  reader.ReadOptional("detail", &exact.detail);
  reader.ReadObject("tensor", false,
                    [&](JsonReader& tensor) { exact.tensor = ReadTensor(tensor); });
  return exact;
}

ReportRerun ReadRerun(JsonReader& reader) {
  ReportRerun rerun;
  reader.Read("index", &rerun.index);
  reader.ReadOptional("outcome", &rerun.outcome);
  reader.Read("state", &rerun.state);
  reader.ReadOptional("reason", &rerun.reason);
  reader.ReadOptional("wall_seconds", &rerun.wall_seconds);
  reader.ReadOptional("cpu_seconds", &rerun.cpu_seconds);
  reader.ReadOptional("peak_memory_bytes", &rerun.peak_memory_bytes);
  reader.ReadOptional("evidence_path", &rerun.evidence_path);
  reader.ReadOptional("stdout_path", &rerun.stdout_path);
  reader.ReadOptional("stderr_path", &rerun.stderr_path);
  reader.ReadOptional("stderr_tail", &rerun.stderr_tail);
  return rerun;
}

ReportRun ReadRun(JsonReader& reader) {
  ReportRun run;
  reader.Read("run_id", &run.run_id);
  reader.Read("family", &run.family);
  ReadAs(reader, "verdict", &run.verdict, ParseVerdict);
  reader.ReadOptional("declared", &run.declared);
  reader.ReadOptional("headline", &run.headline);
  run.is_rerun = true;
  run.declared_bitwise = run.expect_bitwise = run.declared == "bitwise";
  reader.ForEach("reasons", [&](JsonReader& r) { run.findings.push_back(ReadFinding(r)); });
  reader.ForEach("causes", [&](JsonReader& r) { run.causes.push_back(ReadCause(r)); });
  ReadLayers(reader, &run.layers);
  reader.ForEach("exact", [&](JsonReader& r) { run.exact.push_back(ReadExact(r)); });
  reader.ForEach("checkpoints",
                 [&](JsonReader& r) { run.checkpoints.push_back(ReadCheckpoint(r)); });
  reader.ForEach("curves", [&](JsonReader& r) { run.curves.push_back(ReadCurve(r)); });
  reader.ForEach("metrics", [&](JsonReader& r) { run.metrics.push_back(ReadMetric(r)); });
  reader.ReadArray("notes", &run.notes);
  reader.ReadOptional("comparison_path", &run.comparison_path);
  reader.ForEach("reruns", [&](JsonReader& r) { run.reruns.push_back(ReadRerun(r)); });
  reader.ReadOptional("more_reruns", &run.more_reruns);
  reader.ReadOptional("recorded_seconds", &run.recorded_seconds);
  if (reader.Has("recorded")) ReadAs(reader, "recorded", &run.recorded, ParseTime);
  return run;
}

void ReadFacts(JsonReader& reader, Report* report) {
  reader.ReadOptional("title", &report->title);
  reader.ReadOptional("drill_id", &report->drill_id);
  reader.ReadOptional("version", &report->version);
  if (reader.Has("started")) ReadAs(reader, "started", &report->started, ParseTime);
  if (reader.Has("ended")) ReadAs(reader, "ended", &report->ended, ParseTime);
  reader.ReadOptional("history", &report->history);
  reader.ReadOptional("selection", &report->selection);
  reader.ReadOptional("launcher", &report->launcher);
  reader.ReadOptional("executor", &report->executor);
  reader.ReadOptional("host", &report->host);
  if (const Json* last = reader.json().Find("last_success"); last != nullptr && !last->IsNull()) {
    ReadAs(reader, "last_success", &report->last_success.emplace(), ParseTime);
  }
  reader.ReadOptional("interrupted", &report->interrupted);
  reader.ReadArray("left_out", &report->left_out);
  reader.ReadArray("notes", &report->notes);
}

}  // namespace

Result<Report> ParseReport(const Json& json, std::string_view file) {
  JsonReader reader(json, std::string(file));
  Report report;
  reader.ReadSchema("rharness.report", kReportVersion);
  reader.Read("exit_code", &report.exit_code);
  reader.ForEachMember("counts", [&](const std::string& verdict, JsonReader& count) {
    count.Get(&report.counts[verdict]);
  });
  ReadFacts(reader, &report);
  if (reader.ok() && !reader.Has("runs")) reader.Fail("missing; expected an array", "runs");
  reader.ForEach("runs", [&](JsonReader& run) { report.runs.push_back(ReadRun(run)); });
  std::vector<Verdict> verdicts;
  for (const ReportRun& run : report.runs) verdicts.push_back(run.verdict);
  CheckTally(reader, verdicts, report.counts, report.exit_code);
  RETURN_IF_ERROR(reader.status());
  return report;
}

}  // namespace rharness
