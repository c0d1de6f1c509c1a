// A game day as JSON, "rharness.gameday/v1", and its schema; and the schema of its certificate.
#include "harness/base/json_members.h"
#include "harness/base/member_schema.h"
#include "reports/gameday_report.h"
#include "reports/schemas.h"
#include "reports/sensitivity_members.h"

namespace rharness {

template <class Io, Is<GamedayReport> T>
void Members(Io& io, T& report) {
  io.Schema("rharness.gameday", 1);
  io.Must(
      "exit_code", report.exit_code,
      About("0 there is a certificate, or a plan; 3 too few trials for any rate; 4 interrupted.")
          .OneOf("0 3 4"));
  io.Must("planned", report.planned, "Nothing was run.");
  io.Must("interrupted", report.interrupted);
  io.Must("headline", report.headline, "What it came to.");
  io.Must("next", report.next, "What to do now.");
  io.Must("certified", report.certified, "certificate.json was written.");
  io.Must("reruns", report.reruns, Count("Planned, or carried out."));
  io.Must("run_seconds", report.run_seconds, Count("As recorded, summed over these."));
  io.Object("sensitivity", report.sensitivity,
            "Every rate, also those with too few trials; as in rharness.sensitivity/v1.");
  io.MustPlain("notes", report.notes);
}

Json GamedaySchema() {
  return SchemaOf<GamedayReport>(
      {.id = "rharness.gameday/v1",
       .title = "A game day: faults planted on purpose, and how often they were found",
       .description = "Written by rharness gameday, as gameday.json and with --json.",
       .closed = true,
       .finite = true});
}

Json SensitivitySchema() {
  return SchemaOf<Sensitivity>(
      {.id = "rharness.sensitivity/v1",
       .title = "What drills of these runs would have noticed",
       .description =
           "Written by rharness gameday as certificate.json, read by rharness drill --certificate.",
       .closed = true,
       .finite = true});
}

Json ToJson(const GamedayReport& report) { return MemberWriter::Written(report); }

}  // namespace rharness
