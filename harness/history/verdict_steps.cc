// All verdicts with where they were reached, for trends. In SQL over SOCI.
#include "harness/history/sql_history.h"

namespace rharness {
namespace {

constexpr char kSelectSteps[] =
    "SELECT v.run_id, s.family, s.started_ms, s.retired, v.verdict, v.decided_ms, "
    "COALESCE((SELECT u.environment_sha256 FROM reruns u WHERE u.drill_id = v.drill_id AND "
    "u.run_id = v.run_id AND u.environment_sha256 IS NOT NULL ORDER BY u.rerun LIMIT 1), ''), "
    "COALESCE((SELECT m.node FROM verdict_measures m WHERE m.drill_id = v.drill_id AND m.run_id = "
    "v.run_id), '') FROM verdicts v JOIN standing s ON s.run_id = v.run_id JOIN drills d ON "
    "d.drill_id = v.drill_id WHERE v.verdict <> 'infra' AND NOT EXISTS (SELECT 1 FROM drills n "
    "WHERE n.supersedes = v.drill_id) ORDER BY v.run_id, d.sequence";

}  // namespace

Status SqlHistory::EachVerdict(const std::function<void()>& restart,
                               const std::function<void(const VerdictStep&)>& take) {
  return database_->Guard([&]() -> Status {
    restart();
    VerdictStep step;
    long long started_ms = 0;
    long long retired = 0;
    long long decided_ms = 0;
    soci::statement query =
        (sql().prepare << kSelectSteps, soci::into(step.run_id), soci::into(step.family),
         soci::into(started_ms), soci::into(retired), soci::into(step.verdict),
         soci::into(decided_ms), soci::into(step.environment_sha256), soci::into(step.node));
    query.execute();
    while (query.fetch()) {
      step.started = FromMs(started_ms);
      step.retired = retired != 0;
      step.decided = FromMs(decided_ms);
      take(step);
    }
    return {};
  });
}

}  // namespace rharness
