// Drills' results: reruns, verdicts, and their surroundings. In SQL over SOCI.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/json.h"
#include "harness/history/sql_history.h"
#include "harness/history/verdict_sql.h"

namespace rharness {
namespace {

// For drills d: those not replaced by later results of the same drill.
constexpr const char* kEffectiveDrill =
    "NOT EXISTS (SELECT 1 FROM drills n WHERE n.supersedes = d.drill_id)";

// A verdict with the environment of its first rerun; `reasons` may be left out, as they are long.
std::string SelectVerdicts(const char* reasons, const std::string& rest) {
  return fmt::format(
      "SELECT v.drill_id, v.run_id, v.verdict, v.decided_ms, v.reruns, {}, "
      "COALESCE((SELECT n.surroundings_sha256 FROM reruns n WHERE n.drill_id = v.drill_id "
      "AND n.run_id = v.run_id AND n.surroundings_sha256 IS NOT NULL ORDER BY n.rerun LIMIT 1), "
      "''), d.sequence "
      "FROM verdicts v JOIN drills d ON d.drill_id = v.drill_id {}",
      reasons, rest);
}

// The rows of SelectVerdicts with `rest`, whose variables `bind` sets.
template <class F>
std::vector<VerdictRecord> FetchVerdicts(soci::session& sql, const std::string& text, F bind) {
  VerdictRecord verdict;
  long long decided_ms = 0, sequence = 0;
  soci::statement query(sql);
  query.exchange(soci::into(verdict.drill_id));
  query.exchange(soci::into(verdict.run_id));
  query.exchange(soci::into(verdict.verdict));
  query.exchange(soci::into(decided_ms));
  query.exchange(soci::into(verdict.reruns));
  query.exchange(soci::into(verdict.reasons));
  query.exchange(soci::into(verdict.surroundings_sha256));
  query.exchange(soci::into(sequence));
  bind(query);
  query.alloc();
  query.prepare(text);
  query.define_and_bind();
  query.execute();
  std::vector<VerdictRecord> verdicts;
  while (query.fetch()) {
    verdict.decided = FromMs(decided_ms);
    verdict.sequence = sequence;
    verdicts.push_back(verdict);
  }
  return verdicts;
}

// The drill and the run, or family, of each record.
std::vector<std::pair<std::string, std::string>> IdsOf(const DrillResults& results) {
  std::vector<std::pair<std::string, std::string>> ids;
  for (const RerunRecord& rerun : results.reruns) ids.emplace_back(rerun.drill_id, rerun.run_id);
  for (const VerdictRecord& verdict : results.verdicts) {
    ids.emplace_back(verdict.drill_id, verdict.run_id);
  }
  for (const FamilyRecord& family : results.families) {
    ids.emplace_back(family.drill_id, family.family);
  }
  return ids;
}

}  // namespace

SqlHistory::Held SqlHistory::FindHeld(const std::string& drill_id) {
  Held held;
  int count = 0;
  sql() << "SELECT COUNT(*) FROM drills WHERE drill_id = :drill_id", soci::use(drill_id),
      soci::into(count);
  if (count == 0) return held;
  held.drill_id = drill_id;
  for (std::string next;;) {
    ++held.times;
    sql() << "SELECT drill_id FROM drills WHERE supersedes = :held", soci::use(held.drill_id),
        soci::into(next);
    if (!sql().got_data()) return held;
    held.superseded.push_back(std::exchange(held.drill_id, next));
    // Drills that supersede each other in a circle were entered by force.
    if (std::ranges::find(held.superseded, next) != held.superseded.end()) return held;
  }
}

// Ignores times: resuming a finished drill gives the same results at another time.
bool SqlHistory::SameResults(const std::string& held, const DrillRecord& drill,
                             const DrillResults& results) {
  std::set<std::string> said, before;
  said.insert(fmt::format("{}", drill.exit_code.value_or(0)));
  for (const RerunRecord& rerun : results.reruns) {
    said.insert(fmt::format("{}\n{}\n{}\n{}", rerun.run_id, rerun.rerun, rerun.outcome,
                            rerun.evidence_sha256));
  }
  for (const VerdictRecord& verdict : results.verdicts) {
    said.insert(fmt::format("{}\n{}\n{}\n{}", verdict.run_id, VerdictName(verdict.verdict),
                            verdict.reruns, verdict.reasons));
  }
  for (const FamilyRecord& family : results.families) {
    said.insert(fmt::format("{}\n{}\n{}\n{}\n{}", family.configuration, family.name,
                            VerdictName(family.verdict), family.runs, family.reasons));
  }
  std::string row;
  soci::statement query =
      (sql().prepare << "SELECT CAST(COALESCE(exit_code, 0) AS TEXT) FROM drills WHERE drill_id = "
                        ":drill UNION ALL SELECT run_id || '\n' || rerun || '\n' || outcome || "
                        "'\n' || evidence_sha256 FROM reruns WHERE drill_id = :rerun UNION ALL "
                        "SELECT run_id || '\n' || verdict || '\n' || reruns || '\n' || reasons "
                        "FROM verdicts WHERE drill_id = :verdict UNION ALL SELECT configuration || "
                        "'\n' || name || '\n' || verdict || '\n' || runs || '\n' || reasons FROM "
                        "family_verdicts WHERE drill_id = :family",
       soci::use(held), soci::use(held), soci::use(held), soci::use(held), soci::into(row));
  query.execute();
  while (query.fetch()) before.insert(row);
  return said == before;
}

Status SqlHistory::AddDrill(const DrillRecord& drill, const DrillResults& results) {
  for (const auto& [drill_id, run_id] : IdsOf(results)) {
    if (drill_id == drill.drill_id) continue;
    return InvalidInput(
        fmt::format("a record of drill '{}' among those of drill '{}'", drill_id, drill.drill_id),
        Where(run_id));
  }
  return database_->Write([&]() -> Status {
    const Held held = FindHeld(drill.drill_id);
    if (held.times == 0) return InsertAll(drill, {}, results);
    if (SameResults(held.drill_id, drill, results)) return {};
    DrillRecord later = drill;
    later.drill_id = fmt::format("{}.{}", drill.drill_id, held.times + 1);
    return InsertAll(later, held.drill_id, results);
  });
}

Result<std::vector<VerdictRecord>> SqlHistory::Verdicts(const std::string& run_id) {
  return database_->Guard([&]() -> Result<std::vector<VerdictRecord>> {
    RETURN_IF_ERROR(CheckRun(run_id));
    return FetchVerdicts(
        sql(),
        SelectVerdicts(
            "v.reasons",
            fmt::format("WHERE v.run_id = :run_id AND {} ORDER BY d.sequence", kNotSuperseded)),
        [&](soci::statement& query) { query.exchange(soci::use(run_id)); });
  });
}

Result<std::optional<VerdictRecord>> SqlHistory::FirstBadAfter(const std::string& run_id,
                                                               std::int64_t sequence) {
  return database_->Guard([&]() -> Result<std::optional<VerdictRecord>> {
    const long long after = sequence;
    std::vector<VerdictRecord> found = FetchVerdicts(
        sql(),
        SelectVerdicts("v.reasons",
                       fmt::format("WHERE v.run_id = :run_id AND d.sequence > :after AND "
                                   "v.verdict IN {} AND {} ORDER BY d.sequence LIMIT 1",
                                   kBadVerdicts, kNotSuperseded)),
        [&](soci::statement& query) {
          query.exchange(soci::use(run_id));
          query.exchange(soci::use(after));
        });
    if (found.empty()) return std::optional<VerdictRecord>();
    return std::optional(std::move(found.front()));
  });
}

Result<std::string> SqlHistory::Kept(const std::string& sha256) {
  const std::string where = fmt::format("{}: surroundings {}", database_->name(), sha256);
  std::string body;
  sql() << "SELECT body FROM surroundings WHERE sha256 = :sha256", soci::use(sha256),
      soci::into(body);
  if (!sql().got_data()) return NotFound("is not in the history", where);
  if (Sha256HexOf(body) != sha256) return IntegrityError("the text was changed", where);
  return body;
}

Result<Surroundings> SqlHistory::GetSurroundings(const std::string& sha256) {
  return database_->Guard([&]() -> Result<Surroundings> {
    ASSIGN_OR_RETURN(const std::string body, Kept(sha256));
    ASSIGN_OR_RETURN(const Json parts, ParseJson(body, database_->name()));
    if (!parts.IsObject()) return IntegrityError("expected an object", database_->name());
    Surroundings surroundings;
    for (const auto& [name, part] : parts.AsObject()) {
      if (part.kind() != Json::Kind::kString) {
        return IntegrityError("expected the digest of " + name, database_->name());
      }
      ASSIGN_OR_RETURN(surroundings[name], Kept(part.AsString()));
    }
    return surroundings;
  });
}

Result<VerifiedEnvironments> SqlHistory::EnvironmentsOf(const std::vector<HistoryEntry>& entries) {
  std::unordered_set<std::string_view> digests;
  for (const HistoryEntry& entry : entries) digests.insert(entry.environment_sha256);
  Json names = Json::MakeArray();
  for (const std::string_view digest : digests) names.Append(digest);
  const std::string ids = names.Dump();
  return database_->Guard([&]() -> Result<VerifiedEnvironments> {
    VerifiedEnvironments environments;
    std::map<Surroundings, std::size_t> known;  // by the digests of their parts
    std::string sha256, body;
    soci::statement query =
        (sql().prepare << "SELECT u.sha256, u.body FROM " + database_->dialect().texts_of_ids +
                              " JOIN surroundings u ON u.sha256 = w.value",
         soci::use(ids, "ids"), soci::into(sha256), soci::into(body));
    query.execute();
    while (query.fetch()) {
      ASSIGN_OR_RETURN(const Json json, ParseJson(body, database_->name()));
      if (!json.IsObject()) return IntegrityError("expected an object", database_->name());
      Surroundings parts;
      for (const auto& [name, digest] : json.AsObject()) {
        if (digest.kind() == Json::Kind::kString) parts[name] = digest.AsString();
      }
      const auto [at, fresh] = known.emplace(EnvironmentOf(parts), known.size());
      if (fresh) environments.digests.push_back(sha256);
      environments.which[sha256] = at->second;
    }
    return environments;
  });
}

Result<std::optional<WallTime>> SqlHistory::LastSuccess() {
  return database_->Guard([&]() -> Result<std::optional<WallTime>> {
    // A drill of an older version ended when its last verdict was decided.
    long long ms = 0;
    soci::indicator state = soci::i_null;
    sql() << fmt::format(
        "SELECT COALESCE(d.ended_ms, (SELECT MAX(v.decided_ms) FROM verdicts v WHERE v.drill_id = "
        "d.drill_id)) FROM drills d WHERE (d.exit_code = 0 OR (d.exit_code IS NULL "
        "AND EXISTS (SELECT 1 FROM verdicts v WHERE v.drill_id = d.drill_id) "
        "AND NOT EXISTS (SELECT 1 FROM verdicts v WHERE v.drill_id = d.drill_id AND "
        "v.verdict NOT IN {}))) AND {} ORDER BY d.sequence DESC LIMIT 1",
        kGoodVerdicts, kEffectiveDrill),
        soci::into(ms, state);
    if (!sql().got_data() || state != soci::i_ok) return std::optional<WallTime>();
    return std::optional(FromMs(ms));
  });
}

Result<std::vector<DrillRecord>> SqlHistory::FamilyDrills(const std::string& family,
                                                          std::size_t limit) {
  return database_->Guard([&]() -> Result<std::vector<DrillRecord>> {
    const auto most = static_cast<long long>(std::min<std::size_t>(limit, 1u << 30));
    std::string drill_id;
    long long started_ms = 0, ended_ms = 0;
    int exit_code = 0;
    soci::indicator ended = soci::i_null, exited = soci::i_null;
    soci::statement query =
        (sql().prepare
             << "SELECT d.drill_id, d.started_ms, d.ended_ms, d.exit_code FROM drills d WHERE "
                "EXISTS (SELECT 1 FROM verdicts v JOIN runs r ON r.run_id = v.run_id "
                "WHERE v.drill_id = d.drill_id AND r.family = :family) AND " +
                    std::string(kEffectiveDrill) + " ORDER BY d.sequence DESC LIMIT :most",
         soci::use(family), soci::use(most), soci::into(drill_id), soci::into(started_ms),
         soci::into(ended_ms, ended), soci::into(exit_code, exited));
    query.execute();
    std::vector<DrillRecord> drills;
    while (query.fetch()) {
      DrillRecord& drill = drills.emplace_back(DrillRecord{drill_id, FromMs(started_ms), {}, {}});
      if (ended == soci::i_ok) drill.ended = FromMs(ended_ms);
      if (exited == soci::i_ok) drill.exit_code = exit_code;
    }
    std::reverse(drills.begin(), drills.end());
    return drills;
  });
}

Result<std::vector<VerdictRecord>> SqlHistory::FamilyVerdicts(const std::string& family,
                                                              const std::string& drill_id) {
  return database_->Guard([&]() -> Result<std::vector<VerdictRecord>> {
    return FetchVerdicts(sql(),
                         SelectVerdicts("''",
                                        "JOIN runs r ON r.run_id = v.run_id WHERE v.drill_id = "
                                        ":drill_id AND r.family = :family ORDER BY v.run_id"),
                         [&](soci::statement& query) {
                           query.exchange(soci::use(drill_id));
                           query.exchange(soci::use(family));
                         });
  });
}

Result<std::vector<VerdictRecord>> SqlHistory::FamilyLastGood(const std::string& family) {
  return database_->Guard([&]() -> Result<std::vector<VerdictRecord>> {
    return FetchVerdicts(
        sql(),
        SelectVerdicts(
            "''", fmt::format("JOIN runs r ON r.run_id = v.run_id WHERE r.family = :family AND "
                              "v.drill_id = (SELECT g.drill_id FROM verdicts g JOIN drills h ON "
                              "h.drill_id = g.drill_id WHERE g.run_id = r.run_id AND g.verdict IN "
                              "{} AND NOT EXISTS (SELECT 1 FROM drills n WHERE n.supersedes = "
                              "g.drill_id) ORDER BY h.sequence DESC LIMIT 1) ORDER BY v.run_id",
                              kGoodVerdicts)),
        [&](soci::statement& query) { query.exchange(soci::use(family)); });
  });
}

}  // namespace rharness
