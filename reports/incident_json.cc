// "rharness.incident/v1" and its schema; members in the order of the structs.
#include <string>
#include <utility>

#include "harness/base/json_members.h"
#include "harness/base/member_schema.h"
#include "reports/incident_report.h"
#include "reports/names.h"
#include "reports/schemas.h"

namespace rharness {

template <class Io, Is<IncidentRun> T>
void Members(Io& io, T& run) {
  const StoredVerdict last = run.last.value_or(StoredVerdict());
  const bool judged = run.last.has_value();
  io.Must("run_id", run.run_id);
  io.Must("declared", run.declared);
  io.Time("started", run.started);
  io.NameOrNull("verdict", judged ? std::optional(last.verdict) : std::nullopt, kVerdictNames,
                "The last one; null: no drill has judged it.");
  io.TimeOrNull("decided", judged ? std::optional(last.decided) : std::nullopt);
  io.Must("drill_id", last.drill_id);
  io.MustPlain("reasons", ReasonTexts(last.reasons));
}

template <class Io, Is<IncidentFact> T>
void Members(Io& io, T& fact) {
  io.Must("text", fact.text);
  io.Must("source", fact.source);
}

template <class Io, Is<IncidentAnswer> T>
void Members(Io& io, T& answer) {
  io.Must("key", answer.key,
          About().OneOf("what_happened since_when what_changed way_back prevent"));
  io.Must("question", answer.question);
  io.Must("known", !answer.facts.empty());
  io.MustList("facts", answer.facts);
  io.Must("not_known", answer.not_known, "What is not known of it; empty: nothing.");
}

template <class Io, Is<IncidentCandidate> T>
void Members(Io& io, T& one) {
  io.Must("run_id", one.run_id);
  io.Time("started", one.started);
  io.Must("verdict", one.verdict ? VerdictName(*one.verdict) : "never drilled");
  io.Must("why_not", one.why_not, "Empty: it is the last good run.");
}

template <class Io, Is<IncidentFile> T>
void Members(Io& io, T& file) {
  io.Must("path", file.path);
  io.Must("role", file.role);
  io.Must("checkpoint", file.checkpoint);
  io.Name("state", file.state, kFileStateNames);
  io.Must("words", file.words);
}

template <class Io, Is<IncidentSignature> T>
void Members(Io& io, T& one) {
  io.Must("file", one.file);
  io.Name("state", one.state, kSignatureStateNames);
  io.Must("words", one.words);
}

template <class Io, Is<IncidentRollback> T>
void Members(Io& io, T& rollback) {
  io.Name("state", rollback.state, kRollbackStateNames);
  io.Must("drill_id", rollback.drill_id);
  io.NameOrNull("verdict", rollback.verdict, kVerdictNames);
  io.Must("headline", rollback.headline);
  io.Must("reruns", rollback.reruns);
  io.Must("rerun_seconds", rollback.rerun_seconds);
}

// The good run beside the run.
struct IncidentDifference {
  const FactDifference& one;
};

template <class Io, Is<IncidentDifference> T>
void Members(Io& io, T& difference) {
  io.Must("key", difference.one.key);
  io.Must("good", difference.one.recorded);
  io.Must("run", difference.one.observed);
}

struct IncidentLayer {
  const LayerComparison& layer;
};

template <class Io, Is<IncidentLayer> T>
void Members(Io& io, T& view) {
  io.Name("layer", view.layer.layer, kLayerNames);
  io.Name("state", view.layer.state, kLayerStateNames);
  io.Must("compared", view.layer.compared);
  io.template ListAs<IncidentDifference>("differences", view.layer.differences);
  io.MustPlain("not_known", view.layer.not_known);
}

struct IncidentCause {
  const Cause& cause;
};

template <class Io, Is<IncidentCause> T>
void Members(Io& io, T& view) {
  io.Must("code", view.cause.code);
  io.Name("layer", view.cause.layer, kLayerNames);
  io.Name("strength", view.cause.strength, kStrengthNames);
  io.Must("statement", view.cause.statement);
  io.Must("confirm", view.cause.confirm);
}

struct IncidentComparison {
  const IncidentReport& report;
};

template <class Io, Is<IncidentComparison> T>
void Members(Io& io, T& view) {
  io.NameOrNull("verdict", view.report.compared, kVerdictNames);
  io.Must("headline", view.report.compared_headline);
  io.template ListAs<IncidentCause>("causes", view.report.causes);
  io.template ListAs<IncidentLayer>("layers", view.report.layers);
}

template <class Io, Is<IncidentPage> T>
void Members(Io& io, T& page) {
  io.Must("code", page.code);
  io.Must("title", page.title);
  io.Must("met_in", page.met_in);
}

struct BundleFile {
  const std::pair<std::string, std::string>& file;
};

template <class Io, Is<BundleFile> T>
void Members(Io& io, T& view) {
  io.Must("file", view.file.first);
  io.Must("is", view.file.second);
}

template <class Io, Is<IncidentReport> T>
void Members(Io& io, T& report) {
  io.Schema("rharness.incident", 1);
  io.Must("version", report.version);
  io.Time("made", report.made);
  io.Must("history", report.history);
  io.Must("family", report.family);
  io.Must("exit_code", report.exit_code,
          About("0 the way back is proven, or planned; 1 its rerun drifted; 3 there is no good "
                "run, or nothing was shown; 4 the rerun failed or was stopped; 5 a file or "
                "signature is not what it was.")
              .OneOf("0 1 3 4 5"));
  io.Must("headline", report.headline);
  io.Must("next", report.next);
  io.Must("planned", report.planned, "Nothing was rerun: --dry-run.");
  io.Must("interrupted", report.interrupted);
  io.Object("run", report.run, "The run that went bad.");
  io.Object("good", report.good, "The last good run of its family; null: there is none.");
  io.MustList("answers", report.answers, "The postmortem's five.");
  io.MustList("candidates", report.candidates,
              "Other runs of the family, the good one first, then the newest.");
  io.Must("candidates_left_out", report.candidates_left_out);
  io.MustList("files", report.files, "Of the good run.");
  io.MustList("signatures", report.signatures);
  io.Object("rollback", report.rollback);
  io.template ObjectAs<IncidentComparison>(
      "comparison", report.good ? &report : nullptr,
      "The good run beside the run; null: there is no good run.");
  io.MustList("runbook", report.pages, "Pages in the folder runbook.");
  io.template ListAs<BundleFile>("bundle", report.bundle);
  io.MustPlain("notes", report.notes);
}

Json IncidentSchema() {
  return SchemaOf<IncidentReport>(
      {.id = "rharness.incident/v1",
       .title = "A run that went bad, and the way back to the last good one",
       .description = "Written by rharness incident into its bundle, and with --json.",
       .closed = true,
       .finite = true});
}

Json ToJson(const IncidentReport& report) { return MemberWriter::Written(report); }

}  // namespace rharness
