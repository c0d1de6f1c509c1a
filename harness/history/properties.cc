// Drills' verdicts on properties that need no recorded result. In SQL over SOCI.
#include "harness/history/sql_history.h"

namespace rharness {

Status SqlHistory::AddPropertyVerdicts(const std::vector<PropertyRecord>& verdicts) {
  return database_->Write([&]() -> Status {
    for (const PropertyRecord& one : verdicts) {
      RETURN_IF_ERROR(CheckRun(one.run_id));
      int held = 0;
      sql() << "SELECT COUNT(*) FROM property_verdicts WHERE drill_id = :drill_id AND run_id = "
               ":run_id AND property = :property",
          soci::use(one.drill_id), soci::use(one.run_id), soci::use(one.property), soci::into(held);
      if (held != 0) continue;
      const long long decided_ms = ToMs(one.decided);
      sql() << "INSERT INTO property_verdicts (drill_id, run_id, property, state, decided_ms, "
               "reason, sequence) VALUES (:drill_id, :run_id, :property, :state, :decided_ms, "
               ":reason, (SELECT COALESCE(MAX(sequence), 0) + 1 FROM property_verdicts))",
          soci::use(one.drill_id), soci::use(one.run_id), soci::use(one.property),
          soci::use(one.state), soci::use(decided_ms), soci::use(one.reason);
    }
    return {};
  });
}

Result<std::vector<PropertyRecord>> SqlHistory::PropertyVerdicts(const std::string& run_id) {
  return database_->Guard([&]() -> Result<std::vector<PropertyRecord>> {
    PropertyRecord one{.run_id = run_id};
    long long decided_ms = 0;
    long long sequence = 0;
    soci::statement query =
        (sql().prepare << "SELECT drill_id, property, state, decided_ms, reason, sequence FROM "
                          "property_verdicts WHERE run_id = :run_id ORDER BY sequence",
         soci::use(run_id), soci::into(one.drill_id), soci::into(one.property),
         soci::into(one.state), soci::into(decided_ms), soci::into(one.reason),
         soci::into(sequence));
    query.execute();
    std::vector<PropertyRecord> verdicts;
    while (query.fetch()) {
      one.decided = FromMs(decided_ms);
      one.sequence = sequence;
      verdicts.push_back(one);
    }
    return verdicts;
  });
}

}  // namespace rharness
