// What drills made of the runs: reruns, verdicts, and where they came about. In SQL over SOCI.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/json.h"
#include "harness/history/sqlite_history.h"

namespace rharness {
namespace {

constexpr const char* kGood = "('identical', 'equivalent')";
constexpr const char* kGoodOrOpen = "('identical', 'equivalent', 'infra')";

// A verdict with what its first rerun ran on; `reasons` may be left out, as they are long.
std::string SelectVerdicts(const char* reasons, const std::string& rest) {
  return fmt::format(
      "SELECT v.drill_id, v.run_id, v.verdict, v.decided_ms, v.reruns, {}, "
      "COALESCE((SELECT n.surroundings_sha256 FROM reruns n WHERE n.drill_id = v.drill_id "
      "AND n.run_id = v.run_id AND n.surroundings_sha256 IS NOT NULL ORDER BY n.rerun LIMIT 1), '')"
      " FROM verdicts v {}",
      reasons, rest);
}

// The rows of SelectVerdicts with `rest`, whose variables `bind` gives.
template <class F>
std::vector<VerdictRecord> FetchVerdicts(soci::session& sql, const std::string& text, F bind) {
  VerdictRecord verdict;
  long long decided_ms = 0;
  soci::statement query(sql);
  query.exchange(soci::into(verdict.drill_id));
  query.exchange(soci::into(verdict.run_id));
  query.exchange(soci::into(verdict.verdict));
  query.exchange(soci::into(decided_ms));
  query.exchange(soci::into(verdict.reruns));
  query.exchange(soci::into(verdict.reasons));
  query.exchange(soci::into(verdict.surroundings_sha256));
  bind(query);
  query.alloc();
  query.prepare(text);
  query.define_and_bind();
  query.execute();
  std::vector<VerdictRecord> verdicts;
  while (query.fetch()) {
    verdict.decided = FromMs(decided_ms);
    verdicts.push_back(verdict);
  }
  return verdicts;
}

}  // namespace

std::string SqliteHistory::Keep(const std::string& text) {
  const std::string sha256 = Sha256HexOf(text);
  int held = 0;
  sql() << "SELECT COUNT(*) FROM surroundings WHERE sha256 = :sha256", soci::use(sha256),
      soci::into(held);
  if (held == 0) {
    sql() << "INSERT INTO surroundings (sha256, body) VALUES (:sha256, :body)", soci::use(sha256),
        soci::use(text);
  }
  return sha256;
}

// One text names the digests of the parts, so that a night in which nothing changed adds no row.
std::string SqliteHistory::Keep(const Surroundings& surroundings) {
  if (surroundings.empty()) return {};
  Json parts = Json::MakeObject();
  for (const auto& [name, text] : surroundings) parts.AppendMember(name, Keep(text));
  return Keep(parts.Dump());
}

void SqliteHistory::Insert(const DrillRecord& drill) {
  const long long started_ms = ToMs(drill.started);
  const long long ended_ms = drill.ended ? ToMs(*drill.ended) : 0;
  const int exit_code = drill.exit_code.value_or(0);
  soci::indicator ended = drill.ended ? soci::i_ok : soci::i_null;
  soci::indicator exited = drill.exit_code ? soci::i_ok : soci::i_null;
  sql() << "INSERT INTO drills (drill_id, started_ms, ended_ms, exit_code) "
           "VALUES (:drill_id, :started_ms, :ended_ms, :exit_code)",
      soci::use(drill.drill_id), soci::use(started_ms), soci::use(ended_ms, ended),
      soci::use(exit_code, exited);
}

void SqliteHistory::Insert(const RerunRecord& rerun) {
  const std::string sha256 = Keep(rerun.surroundings);
  soci::indicator kept = sha256.empty() ? soci::i_null : soci::i_ok;
  sql() << "INSERT INTO reruns (drill_id, run_id, rerun, outcome, wall_seconds, evidence_sha256, "
           "surroundings_sha256) VALUES (:drill_id, :run_id, :rerun, :outcome, :wall_seconds, "
           ":evidence_sha256, :surroundings_sha256)",
      soci::use(rerun.drill_id), soci::use(rerun.run_id), soci::use(rerun.rerun),
      soci::use(rerun.outcome), soci::use(rerun.wall_seconds), soci::use(rerun.evidence_sha256),
      soci::use(sha256, kept);
}

void SqliteHistory::Insert(const VerdictRecord& verdict) {
  const long long decided_ms = ToMs(verdict.decided);
  sql() << "INSERT INTO verdicts (drill_id, run_id, verdict, decided_ms, reruns, reasons) "
           "VALUES (:drill_id, :run_id, :verdict, :decided_ms, :reruns, :reasons)",
      soci::use(verdict.drill_id), soci::use(verdict.run_id), soci::use(verdict.verdict),
      soci::use(decided_ms), soci::use(verdict.reruns), soci::use(verdict.reasons);
}

Status SqliteHistory::InsertAll(const DrillRecord& drill, const std::vector<RerunRecord>& reruns,
                                const std::vector<VerdictRecord>& verdicts) {
  const auto check = [&](const auto& record) -> Status {
    if (record.drill_id == drill.drill_id) return CheckRun(record.run_id);
    return InvalidInput(fmt::format("a record of drill '{}' among those of drill '{}'",
                                    record.drill_id, drill.drill_id),
                        Where(record.run_id));
  };
  Insert(drill);
  for (const RerunRecord& rerun : reruns) {
    RETURN_IF_ERROR(check(rerun));
    Insert(rerun);
  }
  for (const VerdictRecord& verdict : verdicts) {
    RETURN_IF_ERROR(check(verdict));
    Insert(verdict);
  }
  return {};
}

Status SqliteHistory::AddDrill(const DrillRecord& drill, const std::vector<RerunRecord>& reruns,
                               const std::vector<VerdictRecord>& verdicts) {
  return database_->Write([&]() -> Status {
    int held = 0;
    sql() << "SELECT COUNT(*) FROM drills WHERE drill_id = :drill_id", soci::use(drill.drill_id),
        soci::into(held);
    return held != 0 ? Status() : InsertAll(drill, reruns, verdicts);
  });
}

Result<std::vector<VerdictRecord>> SqliteHistory::Verdicts(const std::string& run_id) {
  return database_->Guard([&]() -> Result<std::vector<VerdictRecord>> {
    RETURN_IF_ERROR(CheckRun(run_id));
    return FetchVerdicts(
        sql(),
        SelectVerdicts("v.reasons", "WHERE v.run_id = :run_id ORDER BY v.decided_ms, v.drill_id"),
        [&](soci::statement& query) { query.exchange(soci::use(run_id)); });
  });
}

Result<std::optional<VerdictRecord>> SqliteHistory::FirstBadAfter(const std::string& run_id,
                                                                  WallTime time) {
  return database_->Guard([&]() -> Result<std::optional<VerdictRecord>> {
    const long long after_ms = ToMs(time);
    std::vector<VerdictRecord> found = FetchVerdicts(
        sql(),
        SelectVerdicts("v.reasons",
                       fmt::format("WHERE v.run_id = :run_id AND v.decided_ms > :after_ms AND "
                                   "v.verdict NOT IN {} ORDER BY v.decided_ms, v.drill_id LIMIT 1",
                                   kGoodOrOpen)),
        [&](soci::statement& query) {
          query.exchange(soci::use(run_id));
          query.exchange(soci::use(after_ms));
        });
    if (found.empty()) return std::optional<VerdictRecord>();
    return std::optional(std::move(found.front()));
  });
}

Result<std::string> SqliteHistory::Kept(const std::string& sha256) {
  const std::string where = fmt::format("{}: surroundings {}", database_->path(), sha256);
  std::string body;
  sql() << "SELECT body FROM surroundings WHERE sha256 = :sha256", soci::use(sha256),
      soci::into(body);
  if (!sql().got_data()) return NotFound("is not in the history", where);
  if (Sha256HexOf(body) != sha256) return IntegrityError("the text was changed", where);
  return body;
}

Result<Surroundings> SqliteHistory::GetSurroundings(const std::string& sha256) {
  return database_->Guard([&]() -> Result<Surroundings> {
    ASSIGN_OR_RETURN(const std::string body, Kept(sha256));
    ASSIGN_OR_RETURN(const Json parts, ParseJson(body, database_->path()));
    if (!parts.IsObject()) return IntegrityError("expected an object", database_->path());
    Surroundings surroundings;
    for (const auto& [name, part] : parts.AsObject()) {
      if (part.kind() != Json::Kind::kString) {
        return IntegrityError("expected the digest of " + name, database_->path());
      }
      ASSIGN_OR_RETURN(surroundings[name], Kept(part.AsString()));
    }
    return surroundings;
  });
}

Result<std::optional<WallTime>> SqliteHistory::LastSuccess() {
  return database_->Guard([&]() -> Result<std::optional<WallTime>> {
    std::optional<WallTime> last;
    const auto take = [&](const std::string& text) {
      long long ms = 0;
      soci::indicator state = soci::i_null;
      sql() << text, soci::into(ms, state);
      if (!sql().got_data() || state != soci::i_ok) return;
      last = last ? std::max(*last, FromMs(ms)) : FromMs(ms);
    };
    take("SELECT MAX(ended_ms) FROM drills WHERE exit_code = 0");
    take(
        fmt::format("SELECT (SELECT MAX(v.decided_ms) FROM verdicts v WHERE v.drill_id = "
                    "d.drill_id) FROM drills d WHERE d.exit_code IS NULL "
                    "AND EXISTS (SELECT 1 FROM verdicts v WHERE v.drill_id = d.drill_id) "
                    "AND NOT EXISTS (SELECT 1 FROM verdicts v WHERE v.drill_id = d.drill_id AND "
                    "v.verdict NOT IN {}) ORDER BY d.started_ms DESC, d.drill_id DESC LIMIT 1",
                    kGood));
    return last;
  });
}

Result<std::vector<DrillRecord>> SqliteHistory::FamilyDrills(const std::string& family,
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
                "WHERE v.drill_id = d.drill_id AND r.family = :family) "
                "ORDER BY d.started_ms DESC, d.drill_id DESC LIMIT :most",
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

Result<std::vector<VerdictRecord>> SqliteHistory::FamilyVerdicts(const std::string& family,
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

Result<std::vector<VerdictRecord>> SqliteHistory::FamilyLastGood(const std::string& family) {
  return database_->Guard([&]() -> Result<std::vector<VerdictRecord>> {
    return FetchVerdicts(
        sql(),
        SelectVerdicts(
            "''", fmt::format("JOIN runs r ON r.run_id = v.run_id WHERE r.family = :family AND "
                              "v.drill_id = (SELECT g.drill_id FROM verdicts g WHERE g.run_id = "
                              "r.run_id AND g.verdict IN {} ORDER BY g.decided_ms DESC, "
                              "g.drill_id DESC LIMIT 1) ORDER BY v.run_id",
                              kGood)),
        [&](soci::statement& query) { query.exchange(soci::use(family)); });
  });
}

}  // namespace rharness
