// Properties as JSON, "rharness.properties/v1", and their schema.
#include "harness/base/json_members.h"
#include "harness/base/member_schema.h"
#include "reports/properties_report.h"
#include "reports/schemas.h"

namespace rharness {
namespace {

const NameTable<PropertyState, 4> kPropertyStateNames =
    NamesFrom<PropertyState, 4>(PropertyStateName, kPropertyStates);

}  // namespace

template <class Io, Is<PropertyReason> T>
void Members(Io& io, T& reason) {
  io.Must("subject", reason.subject, "A metric, a curve or a checkpoint.");
  io.Must("message", reason.message, "With both values.");
  io.Must("distance", reason.distance,
          About("The largest; of tensors relative (L2); inf where there is none.").AnyNumber());
  io.MayIf(reason.margin.has_value(), "margin", reason.margin.value_or(0.0),
           "As stated; absent: every bit was claimed.");
}

// What the last drill said.
struct PropertyBefore {
  PropertyState state = PropertyState::kNotJudged;
  std::string drill_id;
  WallTime decided{};
};

static std::optional<PropertyBefore> BeforeOf(const PropertyResult& result) {
  if (!result.last_state) return {};
  return PropertyBefore{*result.last_state, result.last_drill, result.last_time};
}

template <class Io, Is<PropertyBefore> T>
void Members(Io& io, T& before) {
  io.Name("state", before.state, kPropertyStateNames, "As above.");
  io.Must("drill_id", before.drill_id, "Its id.");
  io.Time("decided", before.decided, "RFC 3339, in UTC.");
}

template <class Io, Is<PropertyResult> T>
void Members(Io& io, T& result) {
  io.Must("run_id", result.run_id, "The run.");
  io.Must("family", result.family, "Of the run; may be empty.");
  io.Must("name", result.name, "Name, :LABEL and @STEP: resumed@4, processes:two.");
  io.Must("claim", result.claim, "What must be the same, and how far it may lie apart.");
  io.Name("state", result.state, kPropertyStateNames, "held: to the bit.");
  io.Must("could_not", result.could_not, "Of not_judged: a leg failed, or could not be run.");
  io.Must("headline", result.headline, "The state, and why.");
  io.Must("items", result.items, "Answers that were compared one by one; 0: whole outputs were.");
  io.MustList("reasons", result.reasons,
              "In which things, the furthest apart first; none where every bit held.");
  io.MustPlain("notes", result.notes, "What is not shown.");
  io.MustPlain("legs", result.legs, "Folder below the drill's, and what the leg is.");
  io.Must("newly_lost", result.newly_lost, "It held in the drill before.");
  io.MayObject("before", BeforeOf(result),
               "What the last drill that judged it said; absent: none did.");
}

template <class Io, Is<PropertiesReport> T>
void Members(Io& io, T& report) {
  io.Schema("rharness.properties", 1);
  io.Must("drill_id", report.drill_id, "Unique and sortable.");
  io.Time("made", report.made, "RFC 3339, in UTC.");
  io.Must("version", report.version, "Of rharness.");
  io.Must("host", report.host, "Where it was drilled; empty of a plan.");
  io.Must("exit_code", report.exit_code,
          "0 all held or within margins, 1 one is lost, 3 one could not be judged, 4 a leg failed "
          "or an interrupt, 5 evidence was changed.");
  io.Must("planned", report.planned, "Nothing was run.");
  io.Must("interrupted", report.interrupted, "By a person, or because nothing could end well.");
  io.Must("headline", report.headline, "The answer in one sentence.");
  io.Must("next", report.next, "What to do now; may be empty.");
  io.Must("legs", report.legs, "Reruns that were carried out, or planned.");
  io.Must("run_seconds", report.run_seconds, "Of these, as recorded.");
  io.MustList("results", report.results, "One a property, of resumed one a cut point.");
  io.MustPlain("notes", report.notes, "First of runs that do not repeat themselves.");
}

Json PropertiesSchema() {
  return SchemaOf<PropertiesReport>(
      {.id = "rharness.properties/v1",
       .title = "What became of properties that need no recorded result",
       .description = "Written by rharness properties, as properties.json and with --json.",
       .finite = true});
}

Json ToJson(const PropertiesReport& report) { return MemberWriter::Written(report); }

}  // namespace rharness
