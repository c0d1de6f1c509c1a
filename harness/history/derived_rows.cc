// Derived rows beside records. In SQL over SOCI.
#include "harness/history/derived_rows.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/history/sql_history.h"
#include "harness/history/verdict_sql.h"

namespace rharness {
namespace {

constexpr char kStandingWords[] = "the table 'standing' contradicts its records";

// For verdicts v: those that compared, and were not replaced by later results of the same drill.
std::string IsVerified() {
  return fmt::format("v.verdict IN ('identical', 'equivalent', 'drifted') AND {}", kNotSuperseded);
}

std::string OtherStanding() {
  return fmt::format(
      "SELECT r.run_id FROM runs r LEFT JOIN standing s ON s.run_id = r.run_id WHERE s.run_id IS "
      "NULL OR s.family <> r.family OR s.started_ms <> r.started_ms OR s.retired <> (SELECT "
      "COUNT(*) FROM retirements t WHERE t.run_id = r.run_id) OR s.last_verdict <> "
      "COALESCE((SELECT v.verdict FROM verdicts v JOIN drills d ON d.drill_id = v.drill_id WHERE "
      "v.run_id = r.run_id ORDER BY d.sequence DESC LIMIT 1), '') OR (s.verified_ms IS NOT NULL "
      "AND NOT EXISTS (SELECT 1 FROM verdicts v WHERE v.run_id = r.run_id AND v.decided_ms = "
      "s.verified_ms AND v.verdict IN ('identical', 'equivalent', 'drifted'))) OR (s.verified_ms "
      "IS NULL AND EXISTS (SELECT 1 FROM verdicts v WHERE v.run_id = r.run_id AND {})) OR "
      "(s.judged_ms IS NOT NULL AND NOT EXISTS (SELECT 1 FROM verdicts v WHERE v.run_id = r.run_id "
      "AND v.decided_ms = s.judged_ms)) OR (s.judged_ms IS NULL AND EXISTS (SELECT 1 FROM verdicts "
      "v WHERE v.run_id = r.run_id)) ORDER BY r.run_id LIMIT 1",
      IsVerified());
}

// Rows with a missing drill or verdict belong to no record, and no digest covers them.
constexpr char kOfNoDrill[] =
    "SELECT 'verdict', drill_id, run_id FROM verdicts v WHERE NOT EXISTS (SELECT 1 FROM drills d "
    "WHERE d.drill_id = v.drill_id) UNION ALL "
    "SELECT 'rerun', drill_id, run_id FROM reruns v WHERE NOT EXISTS (SELECT 1 FROM drills d "
    "WHERE d.drill_id = v.drill_id) UNION ALL "
    "SELECT 'measure', drill_id, run_id FROM verdict_measures m WHERE NOT EXISTS (SELECT 1 FROM "
    "verdicts v WHERE v.drill_id = m.drill_id AND v.run_id = m.run_id) UNION ALL "
    "SELECT 'verdict', drill_id, family FROM family_verdicts v WHERE NOT EXISTS (SELECT 1 FROM "
    "drills d WHERE d.drill_id = v.drill_id) LIMIT 1";

// Runs whose environment differs from the digest that a current drill would enter.
std::string OtherEnvironments() {
  return fmt::format(
      "SELECT run_id, named, entered FROM (SELECT s.run_id AS run_id, "
      "COALESCE(s.environment_sha256, '') AS named, COALESCE((SELECT "
      "COALESCE(e.environment_sha256, e.surroundings_sha256) FROM reruns e WHERE e.run_id = "
      "s.run_id AND e.drill_id = (SELECT v.drill_id FROM verdicts v JOIN drills d ON d.drill_id = "
      "v.drill_id WHERE v.run_id = s.run_id AND {} ORDER BY d.sequence DESC LIMIT 1) AND "
      "e.surroundings_sha256 IS NOT NULL ORDER BY e.rerun LIMIT 1), '') AS entered FROM standing "
      "s) "
      "both_digests WHERE named <> entered ORDER BY run_id",
      IsVerified());
}

class EnvironmentCheck {
 public:
  explicit EnvironmentCheck(soci::session& sql) : sql_(sql) {}

  // The first run with a wrong environment; empty: none.
  std::string First() {
    struct Row {
      std::string run_id, named, entered;
    };
    std::vector<Row> rows;
    Row row;
    soci::statement query = (sql_.prepare << OtherEnvironments(), soci::into(row.run_id),
                             soci::into(row.named), soci::into(row.entered));
    query.execute();
    while (query.fetch()) rows.push_back(row);
    for (const Row& one : rows) {
      const bool same =
          one.entered.empty() ? IsOfRun(one.run_id, one.named) : IsSame(one.named, one.entered);
      if (!same) return one.run_id;
    }
    return {};
  }

 private:
  // If its last verification was superseded by a drill without the run, it stays.
  bool IsOfRun(const std::string& run_id, const std::string& named) {
    int count = 0;
    sql_
        << "SELECT COUNT(*) FROM reruns WHERE run_id = :run_id AND (environment_sha256 = :named OR "
           "surroundings_sha256 = :named2)",
        soci::use(run_id), soci::use(named), soci::use(named), soci::into(count);
    return count > 0;
  }

  bool IsSame(const std::string& a, const std::string& b) {
    const auto known = same_.find({a, b});
    if (known != same_.end()) return known->second;
    const std::optional<Surroundings> parts = PartsOf(a);
    const bool same = parts && parts == PartsOf(b);
    same_.emplace(std::pair(a, b), same);
    return same;
  }

  // The digests of an environment's parts; empty: the history has no such text.
  std::optional<Surroundings> PartsOf(const std::string& sha256) {
    std::string body;
    sql_ << "SELECT body FROM surroundings WHERE sha256 = :sha256", soci::use(sha256),
        soci::into(body);
    if (!sql_.got_data()) return std::nullopt;
    const auto json = ParseJson(body, sha256);
    if (!json.ok() || !json->IsObject()) return std::nullopt;
    Surroundings parts;
    for (const auto& [name, digest] : json->AsObject()) {
      if (digest.kind() == Json::Kind::kString) parts[name] = digest.AsString();
    }
    return EnvironmentOf(parts);
  }

  soci::session& sql_;
  std::map<std::pair<std::string, std::string>, bool> same_;
};

}  // namespace

std::optional<DerivedDoubt> FindDerivedDoubt(soci::session& sql) {
  std::string kind, drill_id, run_id;
  sql << kOfNoDrill, soci::into(kind), soci::into(drill_id), soci::into(run_id);
  if (sql.got_data()) {
    return DerivedDoubt{run_id, fmt::format("has a {} of drill '{}', which the history does not "
                                            "have",
                                            kind, TerminalSafe(drill_id))};
  }
  sql << OtherStanding(), soci::into(run_id);
  if (sql.got_data()) return DerivedDoubt{run_id, kStandingWords};
  run_id = EnvironmentCheck(sql).First();
  if (!run_id.empty()) return DerivedDoubt{run_id, kStandingWords};
  return std::nullopt;
}

}  // namespace rharness
