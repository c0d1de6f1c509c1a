// The report as JSON, "rharness.report/v1" (report.schema.json), and back, with errors that name
// the JSON path; and the tally. A report is input like any other: its counts must match its runs.
#include <fmt/format.h>

#include "reports/comparison_parts.h"
#include "reports/json_nouns.h"
#include "reports/json_parts.h"
#include "reports/model.h"
#include "reports/names.h"

namespace rharness {
namespace {

// "weights model.safetensors: 4 tensors, bit-equal": for people, and read by nobody.
std::vector<std::string> WordsOf(const std::vector<ExactComparison>& exact) {
  std::vector<std::string> words;
  for (const ExactComparison& one : exact) words.push_back(one.subject + ": " + one.detail);
  return words;
}

std::vector<Verdict> FamilyVerdicts(const Report& report) {
  std::vector<Verdict> verdicts;
  for (const FamilyComparison& family : report.families) verdicts.push_back(family.verdict);
  return verdicts;
}

}  // namespace

template <class Io, Is<ExactComparison> T>
void Members(Io& io, T& exact) {
  io.Must("subject", exact.subject);
  io.Name("state", exact.state, kExactStateNames);
  io.NameUnless("compared_by", exact.compared_by, kComparedByNames, ComparedBy::kNothing);
  io.May("first_difference", exact.first_difference);
  io.May("detail", exact.detail);
  io.MayObject("tensor", exact.tensor);
}

template <class Io, Is<ReportRerun> T>
void Members(Io& io, T& rerun) {
  io.Must("index", rerun.index);
  io.May("outcome", rerun.outcome);
  io.May("node", rerun.node);
  io.Name("state", rerun.state, kRerunStateNames);
  io.May("reason", rerun.reason);
  io.May("wall_seconds", rerun.wall_seconds);
  io.May("cpu_seconds", rerun.cpu_seconds);
  io.May("peak_memory_bytes", rerun.peak_memory_bytes);
  io.May("evidence_path", rerun.evidence_path);
  io.May("stdout_path", rerun.stdout_path);
  io.May("stderr_path", rerun.stderr_path);
  io.May("stderr_tail", rerun.stderr_tail);
}

template <class Io, Is<FamilyComparison> T>
void Members(Io& io, T& family) {
  io.Must("name", family.name);
  io.May("family", family.family);
  io.May("configuration", family.configuration);
  io.Text("verdict", family.verdict, VerdictName, ParseVerdict);
  io.May("headline", family.headline);
  io.List("reasons", family.findings);
  io.Plain("runs", family.runs);
  io.Plain("apart", family.apart);
  io.PlainUnlessEmpty("beyond", family.beyond);
  io.List("metrics", family.metrics);
  io.List("causes", family.causes);
  io.May("more_runs", family.more_runs);
}

template <class Io, Is<ReportSensitivity> T>
void Members(Io& io, T& sensitivity) {
  io.Must("family", sensitivity.family);
  io.Must("configuration", sensitivity.configuration);
  io.May("source", sensitivity.source);
  io.Plain("sentences", sensitivity.sentences);
  io.May("stale", sensitivity.stale);
}

template <class Io, Is<SiblingGroup> T>
void Members(Io& io, T& group) {
  io.Must("name", group.name);
  io.Must("curves", group.pairs);
  io.Must("up", group.up);
  io.Must("down", group.down);
  io.Must("middle", group.middle);
  io.Must("middle_shift", group.middle_shift);
  io.Must("room", group.room);
  io.May("note", group.note);
}

template <class Io, Is<ReportRun> T>
void Members(Io& io, T& run) {
  io.Must("run_id", run.run_id);
  io.Must("family", run.family);
  io.Text("verdict", run.verdict, VerdictName, ParseVerdict);
  io.May("declared", run.declared);
  io.May("headline", run.headline);
  io.List("reasons", run.findings);
  io.List("causes", run.causes);
  if constexpr (Io::kWrites) {
    io.Plain("compared", WordsOf(run.exact));
  } else {
    run.is_rerun = true;
    run.declared_bitwise = run.expect_bitwise = run.declared == "bitwise";
  }
  LayerMembers(io, run.layers);
  io.List("exact", run.exact);
  io.List("checkpoints", run.checkpoints);
  io.List("curves", run.curves);
  io.List("metrics", run.metrics);
  io.Plain("notes", run.notes);
  io.May("comparison_path", run.comparison_path);
  io.List("reruns", run.reruns);
  io.May("more_reruns", run.more_reruns);
  io.May("more_runs", run.more_runs);
  io.May("recorded_seconds", run.recorded_seconds);
  io.MayText("recorded", run.recorded, FormatTime, ParseTime);
  io.May("sensitivity", run.sensitivity);
}

// What stands between the counts and the runs.
template <class Io, Is<Report> T>
void Members(Io& io, T& report) {
  io.May("title", report.title);
  io.May("drill_id", report.drill_id);
  io.May("version", report.version);
  io.MayText("started", report.started, FormatTime, ParseTime);
  io.MayText("ended", report.ended, FormatTime, ParseTime);
  io.May("history", report.history);
  io.May("selection", report.selection);
  io.May("launcher", report.launcher);
  io.May("executor", report.executor);
  io.May("host", report.host);
  io.TextOrNull("last_success", report.last_success, FormatTime, ParseTime);
  io.May("interrupted", report.interrupted);
  io.Plain("left_out", report.left_out);
  io.Plain("notes", report.notes);
}

Json ToJson(const Report& report) {
  Json json;
  json.Set("schema", fmt::format("rharness.report/v{}", kReportVersion))
      .Set("exit_code", report.exit_code)
      .Set("counts", CountsJson(report.counts));
  MemberWriter io(&json);
  Members(io, report);
  io.List("families", report.families);
  io.List("siblings", report.siblings);
  io.List("sensitivity", report.sensitivity);
  io.List("runs", report.runs);
  return json;
}

Result<Report> ParseReport(const Json& json, std::string_view file) {
  JsonReader reader(json, std::string(file));
  Report report;
  reader.ReadSchema("rharness.report", kReportVersion);
  reader.Read("exit_code", &report.exit_code);
  ReadCounts(reader, &report.counts);
  MemberReader io(&reader);
  Members(io, report);
  if (reader.ok() && !reader.Has("runs")) reader.Fail("missing; expected an array", "runs");
  io.List("families", report.families);
  io.List("siblings", report.siblings);
  io.List("sensitivity", report.sensitivity);
  io.List("runs", report.runs);
  std::vector<Verdict> verdicts;
  for (const ReportRun& run : report.runs) verdicts.push_back(run.verdict);
  CheckTally(reader, verdicts, report.counts, report.exit_code, FamilyVerdicts(report));
  RETURN_IF_ERROR(reader.status());
  return report;
}

void Tally(Report* report) {
  std::vector<Verdict> verdicts;
  verdicts.reserve(report->runs.size());
  for (const ReportRun& run : report->runs) verdicts.push_back(run.verdict);
  report->counts = CountVerdicts(verdicts);
  for (const Verdict verdict : FamilyVerdicts(*report)) verdicts.push_back(verdict);
  report->exit_code = ExitCodeOf(verdicts);
}

}  // namespace rharness
