// Verdicts in queries: which ones are good, bad or open, and which one counts last.
//
// Role: private to this folder; in SQL that SQLite and PostgreSQL share.
#ifndef RHARNESS_HARNESS_HISTORY_VERDICT_SQL_H_
#define RHARNESS_HARNESS_HISTORY_VERDICT_SQL_H_

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace rharness {

// Good and bad verdicts are conclusive: open ones do not show whether the run reproduces.
inline constexpr char kGoodVerdicts[] = "('identical', 'equivalent')";
inline constexpr char kBadVerdicts[] = "('drifted', 'failed')";
inline constexpr char kConclusiveVerdicts[] = "('identical', 'equivalent', 'drifted', 'failed')";
inline constexpr char kOpenVerdicts[] = "('infra', 'inconclusive', 'not_comparable')";

// For verdicts v: no later results of the same drill replaced it.
inline constexpr char kNotSuperseded[] =
    "NOT EXISTS (SELECT 1 FROM drills n WHERE n.supersedes = v.drill_id)";

// A column of the conclusive verdict entered last on this run, which is SQL; no row without one.
// Reads the run's verdicts in their index.
inline std::string LastConclusive(std::string_view column, std::string_view run) {
  return fmt::format(
      "SELECT v.{} FROM verdicts v JOIN drills d ON d.drill_id = v.drill_id WHERE v.run_id = {} "
      "AND v.verdict IN {} AND {} ORDER BY d.sequence DESC LIMIT 1",
      column, run, kConclusiveVerdicts, kNotSuperseded);
}
// For standing s: its last verdict is open, and the last conclusive one bad.
inline std::string OpenAndBad() {
  return fmt::format("s.last_verdict IN {} AND ({}) IN {}", kOpenVerdicts,
                     LastConclusive("verdict", "s.run_id"), kBadVerdicts);
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_VERDICT_SQL_H_
