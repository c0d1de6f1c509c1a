// One drill as it was entered last. In SQL over SOCI.
#include "harness/history/entered_drill.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "harness/history/sql_history.h"

namespace rharness {
namespace {

DrillRecord ReadDrill(soci::session& sql, const std::string& drill_id) {
  long long started_ms = 0, ended_ms = 0;
  int exit_code = 0;
  soci::indicator ended = soci::i_null, exited = soci::i_null;
  sql << "SELECT started_ms, ended_ms, exit_code FROM drills WHERE drill_id = :drill_id",
      soci::use(drill_id), soci::into(started_ms), soci::into(ended_ms, ended),
      soci::into(exit_code, exited);
  DrillRecord drill{drill_id, FromMs(started_ms), {}, {}};
  if (ended == soci::i_ok) drill.ended = FromMs(ended_ms);
  if (exited == soci::i_ok) drill.exit_code = exit_code;
  return drill;
}

std::vector<RerunRecord> ReadReruns(soci::session& sql, const std::string& drill_id) {
  RerunRecord rerun{.drill_id = drill_id,
                    .run_id = {},
                    .rerun = 0,
                    .outcome = {},
                    .wall_seconds = 0.0,
                    .evidence_sha256 = {}};
  soci::statement query =
      (sql.prepare << "SELECT run_id, rerun, outcome, wall_seconds, evidence_sha256 FROM reruns "
                      "WHERE drill_id = :drill_id ORDER BY run_id, rerun",
       soci::use(drill_id), soci::into(rerun.run_id), soci::into(rerun.rerun),
       soci::into(rerun.outcome), soci::into(rerun.wall_seconds),
       soci::into(rerun.evidence_sha256));
  query.execute();
  std::vector<RerunRecord> reruns;
  while (query.fetch()) reruns.push_back(rerun);
  return reruns;
}

std::vector<VerdictRecord> ReadVerdicts(soci::session& sql, const std::string& drill_id) {
  VerdictRecord verdict;
  verdict.drill_id = drill_id;
  long long decided_ms = 0;
  soci::statement query =
      (sql.prepare << "SELECT run_id, verdict, decided_ms, reruns, reasons FROM verdicts WHERE "
                      "drill_id = :drill_id ORDER BY run_id",
       soci::use(drill_id), soci::into(verdict.run_id), soci::into(verdict.verdict),
       soci::into(decided_ms), soci::into(verdict.reruns), soci::into(verdict.reasons));
  query.execute();
  std::vector<VerdictRecord> verdicts;
  while (query.fetch()) {
    verdict.decided = FromMs(decided_ms);
    verdicts.push_back(verdict);
  }
  return verdicts;
}

}  // namespace

Result<std::optional<EnteredDrill>> SqlHistory::FindDrill(const std::string& drill_id) {
  return database_->Guard([&]() -> Result<std::optional<EnteredDrill>> {
    const Held held = FindHeld(drill_id);
    if (held.times == 0) return std::optional<EnteredDrill>();
    EnteredDrill drill{.drill = ReadDrill(sql(), held.drill_id),
                       .reruns = ReadReruns(sql(), held.drill_id),
                       .verdicts = ReadVerdicts(sql(), held.drill_id),
                       .superseded = {}};
    for (const std::string& before : held.superseded) {
      std::ranges::move(ReadVerdicts(sql(), before), std::back_inserter(drill.superseded));
    }
    return std::optional(std::move(drill));
  });
}

}  // namespace rharness
