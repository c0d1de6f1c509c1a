// The history's runs, in SQL over SOCI. What drills made of them: drills.cc.
#include "harness/history/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/digest.h"
#include "harness/history/location.h"
#include "harness/history/open_store.h"
#include "harness/history/postgresql_database.h"
#include "harness/history/postgresql_url.h"
#include "harness/history/sql_history.h"
#include "harness/history/sqlite_database.h"
#include "harness/history/verdict_sql.h"

namespace rharness {
namespace {

constexpr std::chrono::seconds kBusyTimeout{30};

constexpr const char* kSelectEntries =
    "SELECT r.run_id, r.family, r.configuration, r.declared, r.started_ms, r.duration_seconds, "
    "r.added_ms, s.last_verdict, s.verified_ms, s.judged_ms, t.reason, "
    "s.environment_sha256, (SELECT a.state FROM rebuild_answers a WHERE a.run_id = s.run_id "
    "ORDER BY a.asked_ms DESC LIMIT 1), g.statement_sha256, g.asked_by, g.asked_ms, g.approved_by, "
    "g.approved_ms, t.retired_ms FROM standing s "
    "JOIN runs r ON r.run_id = s.run_id LEFT JOIN retirements t ON t.run_id = s.run_id "
    "LEFT JOIN signed_retirements g ON g.run_id = t.run_id ";

// The variables that one fetched row lands in.
struct EntryRow {
  HistoryEntry entry;
  long long started_ms = 0;
  long long added_ms = 0;
  long long verified_ms = 0;
  long long judged_ms = 0;
  std::string reason;
  soci::indicator verified_state = soci::i_null;
  soci::indicator judged_state = soci::i_null;
  soci::indicator reason_state = soci::i_null;
  soci::indicator environment_state = soci::i_null;
  SignedRetirement retirement;
  long long asked_ms = 0;
  long long approved_ms = 0;
  long long retired_ms = 0;
  soci::indicator signed_state[6] = {};

  void BindTo(soci::statement& query) {
    query.exchange(soci::into(entry.run_id));
    query.exchange(soci::into(entry.family));
    query.exchange(soci::into(entry.configuration));
    query.exchange(soci::into(entry.declared));
    query.exchange(soci::into(started_ms));
    query.exchange(soci::into(entry.duration_seconds));
    query.exchange(soci::into(added_ms));
    query.exchange(soci::into(entry.last_verdict));
    query.exchange(soci::into(verified_ms, verified_state));
    query.exchange(soci::into(judged_ms, judged_state));
    query.exchange(soci::into(reason, reason_state));
    query.exchange(soci::into(entry.environment_sha256, environment_state));
    query.exchange(soci::into(entry.rebuild));
    query.exchange(soci::into(retirement.statement_sha256, signed_state[0]));
    query.exchange(soci::into(retirement.asked_by, signed_state[1]));
    query.exchange(soci::into(asked_ms, signed_state[2]));
    query.exchange(soci::into(retirement.approved_by, signed_state[3]));
    query.exchange(soci::into(approved_ms, signed_state[4]));
    query.exchange(soci::into(retired_ms, signed_state[5]));
  }

  HistoryEntry Take() const {
    HistoryEntry result = entry;
    result.started = FromMs(started_ms);
    result.added = FromMs(added_ms);
    if (verified_state == soci::i_ok) result.verified = FromMs(verified_ms);
    if (judged_state == soci::i_ok) result.judged = FromMs(judged_ms);
    if (reason_state == soci::i_ok) result.retired = reason;
    if (environment_state != soci::i_ok) result.environment_sha256.clear();
    if (signed_state[0] == soci::i_ok) {
      result.retirement = retirement;
      result.retirement->asked = FromMs(asked_ms);
      result.retirement->approved = FromMs(approved_ms);
      result.retirement->retired = FromMs(retired_ms);
    }
    return result;
  }
};

}  // namespace

std::string SqlHistory::Where(const std::string& run_id) const {
  return fmt::format("{}: run {}", database_->name(), run_id);
}

Error SqlHistory::RunNotFound(const std::string& run_id) const {
  return NotFound(fmt::format("run '{}' is not in the history", run_id), database_->name());
}

bool SqlHistory::HasRun(const std::string& run_id) {
  int count = 0;
  sql() << "SELECT COUNT(*) FROM runs WHERE run_id = :run_id", soci::use(run_id), soci::into(count);
  return count != 0;
}

Status SqlHistory::CheckRun(const std::string& run_id) {
  if (HasRun(run_id)) return {};
  return RunNotFound(run_id);
}

Result<Manifest> SqlHistory::Load(const std::string& run_id) {
  std::string sha256, body, family, declared;
  long long started_ms = 0;
  sql() << "SELECT r.sha256, m.body, r.family, r.declared, r.started_ms FROM runs r JOIN manifests "
           "m ON m.run_id = r.run_id "
           "WHERE r.run_id = :run_id",
      soci::use(run_id), soci::into(sha256), soci::into(body), soci::into(family),
      soci::into(declared), soci::into(started_ms);
  if (!sql().got_data()) {
    RETURN_IF_ERROR(CheckRun(run_id));
    return IntegrityError("the manifest's body is missing", Where(run_id));
  }
  if (const std::string found = Sha256HexOf(body); found != sha256) {
    return IntegrityError(
        fmt::format("the manifest was changed: its SHA-256 is {}, expected {}", found, sha256),
        Where(run_id));
  }
  ASSIGN_OR_RETURN(const Json json, ParseJson(body, Where(run_id)));
  ASSIGN_OR_RETURN(Manifest manifest, ParseManifest(json, Where(run_id)));
  if (manifest.run_id != run_id) {
    return IntegrityError(fmt::format("holds the manifest of run '{}'", manifest.run_id),
                          Where(run_id));
  }
  // The columns for selecting runs must match the manifest that judges them.
  if (family != manifest.family || declared != manifest.determinism.declared ||
      started_ms != ToMs(manifest.started)) {
    return IntegrityError("the columns copied from its manifest were changed", Where(run_id));
  }
  return manifest;
}

Result<Manifest> SqlHistory::Get(const std::string& run_id) {
  return database_->Guard([&] { return Load(run_id); });
}

template <class T>
Result<std::vector<HistoryEntry>> SqlHistory::Entries(const std::string& rest, const T& value) {
  return database_->Guard([&]() -> Result<std::vector<HistoryEntry>> {
    EntryRow row;
    soci::statement query(sql());
    row.BindTo(query);
    query.exchange(soci::use(value));
    query.alloc();
    query.prepare(kSelectEntries + rest);
    query.define_and_bind();
    query.execute();
    std::vector<HistoryEntry> entries;
    while (query.fetch()) entries.push_back(row.Take());
    return entries;
  });
}

Result<HistoryEntry> SqlHistory::Find(const std::string& run_id) {
  ASSIGN_OR_RETURN(std::vector<HistoryEntry> found, Entries("WHERE s.run_id = :value", run_id));
  if (found.empty()) return RunNotFound(run_id);
  return std::move(found.front());
}

Result<std::vector<HistoryEntry>> SqlHistory::List(bool with_retired) {
  return Entries("WHERE (:value = 1 OR t.run_id IS NULL) ORDER BY r.started_ms, r.run_id",
                 with_retired ? 1 : 0);
}

Result<std::vector<HistoryEntry>> SqlHistory::FamilyEntries(const std::string& family) {
  return Entries("WHERE r.family = :value ORDER BY r.started_ms, r.run_id", family);
}

Result<std::vector<HistoryEntry>> SqlHistory::NextToDrill(std::size_t limit) {
  return Entries(
      "WHERE s.retired = 0 ORDER BY s.verified_ms NULLS FIRST, s.started_ms, s.run_id "
      "LIMIT :value",
      static_cast<long long>(std::min<std::size_t>(limit, 1u << 30)));
}

// Reads the verdicts only of runs whose last one is open.
Result<std::vector<HistoryEntry>> SqlHistory::LastBad(std::size_t limit) {
  ASSIGN_OR_RETURN(auto bad,
                   Entries(fmt::format("WHERE s.retired = 0 AND (s.last_verdict IN {} OR ({})) "
                                       "ORDER BY s.judged_ms DESC, s.run_id LIMIT :value",
                                       kBadVerdicts, OpenAndBad()),
                           static_cast<long long>(std::min<std::size_t>(limit, 1u << 30))));
  return database_->Guard([&]() -> Result<std::vector<HistoryEntry>> {
    for (HistoryEntry& entry : bad) {
      if (entry.last_verdict && StandingOf(*entry.last_verdict) == Standing::kBad) continue;
      sql() << LastConclusive("verdict", ":run_id"), soci::use(entry.run_id),
          soci::into(entry.last_verdict);
    }
    return bad;
  });
}

Result<std::vector<HistoryCount>> SqlHistory::Summarize() {
  return database_->Guard([&]() -> Result<std::vector<HistoryCount>> {
    HistoryCount count;
    long long runs = 0;
    soci::statement query =
        (sql().prepare << "SELECT family, last_verdict, COUNT(*) FROM standing WHERE retired = 0 "
                          "GROUP BY family, last_verdict ORDER BY family, last_verdict",
         soci::into(count.family), soci::into(count.last_verdict), soci::into(runs));
    query.execute();
    std::vector<HistoryCount> counts;
    while (query.fetch()) {
      count.runs = runs;
      counts.push_back(count);
    }
    return counts;
  });
}

Result<std::vector<Manifest>> SqlHistory::LoadFamily(const std::string& family) {
  return database_->Guard([&]() -> Result<std::vector<Manifest>> {
    std::vector<std::string> run_ids;
    {
      std::string run_id;
      soci::statement query =
          (sql().prepare << "SELECT r.run_id FROM runs r WHERE r.family = :family AND NOT EXISTS "
                            "(SELECT 1 FROM retirements t WHERE t.run_id = r.run_id) "
                            "ORDER BY r.started_ms, r.run_id",
           soci::use(family), soci::into(run_id));
      query.execute();
      while (query.fetch()) run_ids.push_back(run_id);
    }
    std::vector<Manifest> manifests;
    for (const std::string& run_id : run_ids) {
      ASSIGN_OR_RETURN(Manifest manifest, Load(run_id));
      manifests.push_back(std::move(manifest));
    }
    return manifests;
  });
}

Status SqlHistory::Retire(const std::string& run_id, const std::string& reason, WallTime now) {
  if (reason.empty()) return InvalidInput("retiring a run needs a reason", Where(run_id));
  return database_->Write([&]() -> Status {
    RETURN_IF_ERROR(CheckRun(run_id));
    std::string earlier;
    long long same_ms = 0;  // this call, if its answer was lost with the connection
    sql() << "SELECT reason, retired_ms FROM retirements WHERE run_id = :run_id", soci::use(run_id),
        soci::into(earlier), soci::into(same_ms);
    if (sql().got_data() && earlier == reason && same_ms == ToMs(now)) return {};
    if (sql().got_data()) {
      return InvalidInput(fmt::format("retired already: {}", earlier), Where(run_id));
    }
    const long long retired_ms = ToMs(now);
    sql() << "INSERT INTO retirements (run_id, reason, retired_ms) "
             "VALUES (:run_id, :reason, :retired_ms)",
        soci::use(run_id), soci::use(reason), soci::use(retired_ms);
    return {};
  });
}

// An answer in the same millisecond, or after the clock went back, is still later.
Status SqlHistory::AddRebuild(const RebuildRecord& record) {
  return database_->Write([&]() -> Status {
    RETURN_IF_ERROR(CheckRun(record.run_id));
    long long last_ms = 0;
    soci::indicator state = soci::i_null;
    sql() << "SELECT MAX(asked_ms) FROM rebuild_answers WHERE run_id = :run_id",
        soci::use(record.run_id), soci::into(last_ms, state);
    const long long asked_ms =
        std::max(ToMs(record.asked), state == soci::i_ok ? last_ms + 1 : ToMs(record.asked));
    sql() << "INSERT INTO rebuild_answers (run_id, asked_ms, state, body) "
             "VALUES (:run_id, :asked_ms, :state, :body)",
        soci::use(record.run_id), soci::use(asked_ms), soci::use(record.state),
        soci::use(record.body);
    return {};
  });
}

Result<std::optional<RebuildRecord>> SqlHistory::LastRebuild(const std::string& run_id) {
  return database_->Guard([&]() -> Result<std::optional<RebuildRecord>> {
    RETURN_IF_ERROR(CheckRun(run_id));
    RebuildRecord record{.run_id = run_id, .asked = {}, .state = PartState::kUnknown, .body = {}};
    long long asked_ms = 0;
    sql() << "SELECT asked_ms, state, body FROM rebuild_answers WHERE run_id = :run_id "
             "ORDER BY asked_ms DESC LIMIT 1",
        soci::use(run_id), soci::into(asked_ms), soci::into(record.state), soci::into(record.body);
    if (!sql().got_data()) return std::optional<RebuildRecord>();
    record.asked = FromMs(asked_ms);
    return std::optional(std::move(record));
  });
}

Result<std::unique_ptr<HistoryStore>> OpenSqliteHistory(const std::filesystem::path& path,
                                                        std::chrono::milliseconds busy_timeout) {
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database, SqliteDatabase::Open(path, busy_timeout));
  return std::unique_ptr<HistoryStore>(new SqlHistory(std::move(database)));
}

Result<std::unique_ptr<HistoryStore>> OpenPostgresqlHistory(const std::string& url, bool create,
                                                            PostgresqlLimits limits) {
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database,
                   PostgresqlDatabase::Open(url, create, limits));
  return std::unique_ptr<HistoryStore>(new SqlHistory(std::move(database)));
}

Result<std::unique_ptr<HistoryStore>> HistoryStore::Open(const std::string& url) {
  if (IsPostgresqlUrl(url)) return OpenPostgresqlHistory(url, true);
  ASSIGN_OR_RETURN(const std::filesystem::path path, ParseHistoryUrl(url));
  return OpenSqliteHistory(path, kBusyTimeout);
}

Result<std::unique_ptr<HistoryStore>> HistoryStore::OpenExisting(const std::string& url) {
  if (IsPostgresqlUrl(url)) return OpenPostgresqlHistory(url, false);
  ASSIGN_OR_RETURN(const std::filesystem::path path, ParseHistoryUrl(url));
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return NotFound("no such history; `rharness history add` makes one", path.string());
  }
  if (std::filesystem::is_regular_file(path, error) &&
      std::filesystem::file_size(path, error) == 0) {
    return NotFound("is empty, and no history yet; `rharness history add` makes one of it",
                    path.string());
  }
  return OpenSqliteHistory(path, kBusyTimeout);
}

}  // namespace rharness
