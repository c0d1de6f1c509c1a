// Which verdicts were signed. In SQL over SOCI.
#include <fmt/format.h>

#include "harness/history/sql_history.h"

namespace rharness {

Status SqlHistory::AddAttestations(const std::vector<AttestationRecord>& attestations) {
  return database_->Write([&]() -> Status {
    for (const AttestationRecord& one : attestations) {
      int known = 0;
      int held = 0;
      sql() << "SELECT COUNT(*) FROM verdicts WHERE drill_id = :drill_id AND run_id = :run_id",
          soci::use(one.drill_id), soci::use(one.run_id), soci::into(known);
      if (known == 0) {
        return NotFound(fmt::format("no verdict of drill {} on run {}", one.drill_id, one.run_id));
      }
      sql() << "SELECT COUNT(*) FROM attestations WHERE drill_id = :drill_id AND run_id = :run_id "
               "AND keyid = :keyid",
          soci::use(one.drill_id), soci::use(one.run_id), soci::use(one.keyid), soci::into(held);
      if (held != 0) continue;
      const long long attested_ms = ToMs(one.attested);
      sql() << "INSERT INTO attestations (drill_id, run_id, keyid, statement_sha256, attested_ms) "
               "VALUES (:drill_id, :run_id, :keyid, :statement_sha256, :attested_ms)",
          soci::use(one.drill_id), soci::use(one.run_id), soci::use(one.keyid),
          soci::use(one.statement_sha256), soci::use(attested_ms);
    }
    return {};
  });
}

}  // namespace rharness
