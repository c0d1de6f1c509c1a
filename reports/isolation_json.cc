// A search as JSON, "rharness.isolation/v1", and its schema.
#include "harness/base/json_members.h"
#include "harness/base/member_schema.h"
#include "reports/isolation_report.h"
#include "reports/names.h"
#include "reports/schemas.h"

namespace rharness {
namespace {

using CauseParts = std::vector<std::vector<std::string>>;

constexpr char kCauses[] = "Each is enough by itself; the parts of one are needed together.";

void CauseMembers(MemberWriter& io, const CauseParts& causes) {
  io.Must("causes", ArrayOf(causes, PlainArray<std::string>));
}

void CauseMembers(MemberSchema& io, const CauseParts&) {
  const Json parts =
      Json::MakeObject({{"type", "array"}, {"items", Json::MakeObject({{"type", "string"}})}});
  io.Add("causes", Json::MakeObject({{"type", "array"}, {"items", parts}}), true, kCauses);
}

}  // namespace

template <class Io, Is<IsolationAxis> T>
void Members(Io& io, T& axis) {
  io.Must("name", axis.name, "\"env:OMP_NUM_THREADS\", \"commit\", \"data:train\", ...");
  io.Name("layer", axis.layer, kLayerNames);
  io.Must("recorded", axis.recorded);
  io.Must("drifted", axis.drifted);
  io.Must("positions", axis.last + 1,
          About("2: as recorded or as drifted; more: a chain, such as of commits.").Least(1));
  io.MayIf(!axis.cannot_be_set.empty(), "cannot_be_set", axis.cannot_be_set,
           "Why no trial sets it: nothing is said of it.");
  io.PlainUnlessEmpty("cause", axis.cause,
                      Count("Of its positions, those at which the difference begins."));
  io.MayIf(axis.set_back, "set_back", axis.set_back, "The mitigation takes it back.");
}

template <class Io, Is<IsolationTrial> T>
void Members(Io& io, T& trial) {
  io.Must("rerun", trial.number, About("Its number, as in `evidence`.").Least(1));
  io.Name("purpose", trial.purpose, kTrialPurposeNames);
  io.MustPlain("at", trial.at, Count("The position of each axis that can be set; 0: as recorded."));
  io.Name("answer", trial.answer, kTrialAnswerNames,
          About("partly: not that difference, but not as recorded either; other: another "
                "difference, which is no evidence."));
  io.Must("seen", trial.seen, "What it showed, or why it is no evidence.");
  io.Must("seconds", trial.seconds);
  io.Must("evidence", trial.evidence, "Relative to the search's folder.");
}

template <class Io, Is<IsolationCost> T>
void Members(Io& io, T& cost) {
  io.Must("fewest", cost.fewest,
          Count("Reruns, both ends included, where one change is the cause."));
  io.Must("mean", cost.mean);
  io.Must("most", cost.most, Count());
  io.Must("most_of_two", cost.most_of_two, Count("Where two are needed together; 0: not planned."));
  io.Must("rerun_seconds", cost.rerun_seconds, "As recorded.");
}

template <class Io, Is<IsolationReport> T>
void Members(Io& io, T& report) {
  io.Schema("rharness.isolation", 1);
  io.Must("version", report.version, "Of the program that wrote it.");
  io.Time("made", report.made, "RFC 3339, UTC.");
  io.Must("run_id", report.run_id);
  io.Must(
      "exit_code", report.exit_code,
      About("0 named, or a plan; 3 no cause can be named; 4 interrupted, or nothing could be run.")
          .OneOf("0 3 4"));
  io.Name("end", report.end, kIsolationEndNames);
  io.Must("headline", report.headline, "The answer in one sentence.");
  io.Must("next", report.next, "What to do now; may be empty.");
  io.MustPlain(
      "difference", report.target,
      "What each rerun is held to: which tensors and metrics moved, and which way; a line a part.");
  CauseMembers(io, report.causes);
  io.MustPlain("shown_by", report.shown_by, "The reruns that show it, in words.");
  io.Must("mitigation", report.mitigation,
          "The fewest settings to take back; empty: none was found.");
  io.Must("mitigation_cost", report.mitigation_cost, "In time of a run; empty: not known.");
  io.MustPlain("other_failures", report.branches,
               "Met on the way, and no evidence; each with the first rerun that showed it.");
  io.MustPlain("possible", report.possible,
               "Of a search that did not end: what may still be the cause.");
  io.Must("exact", report.exact, "One rerun tells which side a setting is on.");
  io.Must("wrong_rate", report.wrong, "Else the chance that one does not.");
  io.Must("confidence", report.confidence, "That was asked for, of the whole search: 0.95.");
  io.Must("error_bound", report.error_bound, "The chance that a wrong cause is named, at most.");
  io.Must("reruns", report.trials.size(), Count("That were made."));
  io.Must("budget", report.budget, Count("Reruns, at most; 0: no limit was given."));
  io.Must("more_reruns", report.more_reruns,
          Count("Of an undecided search: how many more would decide it, about."));
  io.Object("plan", report.cost);
  io.MustList("axes", report.axes,
              "What changed: those that can be set, in the order of `at`, then those that cannot.");
  io.MustList("trials", report.trials);
  io.MustPlain("notes", report.notes);
  io.Must("interrupted", report.interrupted);
}

Json IsolationSchema() {
  return SchemaOf<IsolationReport>(
      {.id = "rharness.isolation/v1",
       .title = "Which of the things that changed make a run drift",
       .description = "Written by rharness isolate, as isolation.json and with --json.",
       .closed = true,
       .finite = true});
}

Json ToJson(const IsolationReport& report) { return MemberWriter::Written(report); }

}  // namespace rharness
