// The answer to an auditor as JSON, "rharness.audit_report/v1", and its schema.
#include "harness/base/json_members.h"
#include "harness/base/member_schema.h"
#include "reports/audit_report.h"
#include "reports/names.h"
#include "reports/schemas.h"

namespace rharness {
namespace {

const NameTable<AuditEntryState, 5> kAuditEntryStateNames = NamesFrom<AuditEntryState, 5>(
    AuditEntryStateName,
    {AuditEntryState::kAsEntered, AuditEntryState::kChanged, AuditEntryState::kGone,
     AuditEntryState::kTwice, AuditEntryState::kNotEntered});

}  // namespace

std::string_view AuditEntryStateName(AuditEntryState state) {
  switch (state) {
    case AuditEntryState::kAsEntered:
      return "as_entered";
    case AuditEntryState::kChanged:
      return "changed";
    case AuditEntryState::kGone:
      return "gone";
    case AuditEntryState::kTwice:
      return "entered_twice";
    case AuditEntryState::kNotEntered:
      return "not_entered";
  }
  Abort("unknown AuditEntryState");
}

template <class Io, Is<AuditFact> T>
void Members(Io& io, T& fact) {
  io.Must("name", fact.name, "code, image, data NAME, seeds, hardware, ...");
  io.Must("value", fact.value, "In words");
}

template <class Io, Is<AuditVerdict> T>
void Members(Io& io, T& one) {
  io.Time("decided", one.said.decided, "When; RFC 3339");
  io.Name("verdict", one.said.verdict, kVerdictNames, "What");
  io.Must("drill_id", one.said.drill_id, "By which drill");
  io.Must("reruns", one.said.reruns, Count("Of how many reruns"));
  io.MustPlain("reasons", ReasonTexts(one.said.reasons), "Why, a sentence each");
  io.Must("where", one.where,
          "On which node, hardware and software its first rerun ran; empty: not kept");
}

template <class Io, Is<AuditException> T>
void Members(Io& io, T& one) {
  io.Must("kind", one.kind,
          About("What it is").OneOf("waiver substitute retirement retirement_request deletion"));
  io.Must("about", one.about, "Probes, or which GPU for which; the run; the file");
  io.Must("reason", one.reason, "Why");
  io.Must("signed_by", one.signed_by,
          "Who, and of a waiver or substitute whether that was verified; empty: not said");
  io.Must("until", one.until, "How long, in words; empty: no end");
  io.Must("holds", one.holds, "It is not over");
  io.Must("doubt", one.doubt,
          "Why it is not what was signed, so that nobody is named; empty: it is");
}

template <class Io, Is<AuditStatement> T>
void Members(Io& io, T& one) {
  io.Must("file", one.file, "Where it lies");
  io.Must("says", one.says, "What, in words");
  io.Must("signed_by", one.signed_by, "Whose signatures count");
  io.Must("refused", one.refused, "Why it is not to be believed; empty: it is not refused");
  io.Must("not_counted", one.not_counted,
          "Why a line of it counts for nothing: a key signed it that the policy does not know; "
          "empty: it counts");
}

template <class Io, Is<AuditEntryRow> T>
void Members(Io& io, T& one) {
  io.Must("index", one.index, Count("Its place; null: not entered"));
  io.Must("kind", one.kind, "What it is about");
  io.Must("name", one.name, "Which one");
  io.Must("sha256", one.sha256, About("As entered").Sha256());
  io.TimeOrNull("entered", one.entered, "Since when; RFC 3339");
  io.Name("state", one.state, kAuditEntryStateNames, "What the history has of it now");
  io.Must("signed", one.signed_over, "It is in the tree of the newest head");
}

template <class Io, Is<AuditReport> T>
void Members(Io& io, T& report) {
  io.Schema("rharness.audit_report", 1);
  io.Time("at", report.at, "When it was asked; RFC 3339");
  io.Must("version", report.version, "Of rharness");
  io.Must("history", report.history, "Where the history is kept");
  io.Must("log", report.log, "The folder of the log");
  io.Must("run_id", report.run_id, "The run");
  io.Must("family", report.family, "Its family");
  io.Must(
      "exit_code", report.exit_code,
      About("5: something is not as it was entered, a statement is refused or a retirement is not "
            "what was signed; 1: a trust policy was given, and nobody has signed a head of the log")
          .OneOf("0 1 5"));
  io.Must("headline", report.headline, "The answer in one sentence");
  io.Must("next", report.next, "What to do now; empty: nothing");
  io.MustPlain("notes", report.notes, "What could not be looked at");
  io.MustList("made", report.made, "How it was made and from what, as its manifest says");
  io.MustList("verdicts", report.verdicts, "What drills said, newest first");
  io.MustPlain(
      "policies", report.policies,
      "Whose waivers and substitutes are among the exceptions; empty: these are not known");
  io.MustList("exceptions", report.exceptions, "What somebody answers for");
  io.MustList("statements", report.statements, "Signed statements about the run");
  io.Must("tree_size", report.tree_size, "How many entries the log has");
  io.Must("root_sha256", report.root_sha256, About("The root over them").Sha256());
  io.Must("head", report.head, "Its newest head in words; empty: none");
  io.MustList("entries", report.entries,
              "What the log has about the run, then what is not entered yet");
}

Json AuditReportSchema() {
  return SchemaOf<AuditReport>({.id = "rharness.audit_report/v1",
                                .title = "How a run was made, when it was last reproduced, and "
                                         "what an audit log has of it"});
}

Json ToJson(const AuditReport& report) { return MemberWriter::Written(report); }

}  // namespace rharness
