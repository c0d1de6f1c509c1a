// All verdicts with their surroundings, for trends. In SQL over SOCI.
#include <algorithm>

#include "harness/history/sql_history.h"

namespace rharness {
namespace {

// One row per rerun with a kept environment, and one if there is none; rows of a verdict are
// adjacent.
constexpr char kSelectSteps[] =
    "SELECT v.run_id, s.family, s.started_ms, s.retired, v.verdict, v.decided_ms, d.sequence, "
    "COALESCE(u.environment_sha256, ''), "
    "COALESCE((SELECT m.node FROM verdict_measures m WHERE m.drill_id = v.drill_id AND m.run_id = "
    "v.run_id), '') FROM verdicts v JOIN standing s ON s.run_id = v.run_id JOIN drills d ON "
    "d.drill_id = v.drill_id LEFT JOIN reruns u ON u.drill_id = v.drill_id AND u.run_id = v.run_id "
    "AND u.environment_sha256 IS NOT NULL WHERE v.verdict <> 'infra' AND NOT EXISTS (SELECT 1 FROM "
    "drills n WHERE n.supersedes = v.drill_id) ORDER BY v.run_id, d.sequence";

}  // namespace

Status SqlHistory::EachVerdict(const std::function<void()>& restart,
                               const std::function<void(const VerdictStep&)>& take) {
  return database_->Guard([&]() -> Status {
    restart();
    VerdictStep row, step;
    std::string environment;
    long long started_ms = 0, retired = 0, decided_ms = 0, sequence = 0, held = 0;
    soci::statement query = (sql().prepare << kSelectSteps, soci::into(row.run_id),
                             soci::into(row.family), soci::into(started_ms), soci::into(retired),
                             soci::into(row.verdict), soci::into(decided_ms), soci::into(sequence),
                             soci::into(environment), soci::into(row.node));
    query.execute();
    while (query.fetch()) {
      if (sequence != held || row.run_id != step.run_id) {
        if (held != 0) take(step);
        held = sequence;
        row.started = FromMs(started_ms);
        row.retired = retired != 0;
        row.decided = FromMs(decided_ms);
        step = row;
      }
      auto& all = step.environments;
      if (!environment.empty() && std::ranges::find(all, environment) == all.end()) {
        all.push_back(environment);
      }
    }
    if (held != 0) take(step);
    return {};
  });
}

}  // namespace rharness
