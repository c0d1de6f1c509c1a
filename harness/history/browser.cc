// The browser's queries, in SQL that SQLite and PostgreSQL share.
#include "harness/history/browser.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "harness/history/location.h"
#include "harness/history/postgresql_database.h"
#include "harness/history/postgresql_url.h"
#include "harness/history/sql_history.h"
#include "harness/history/sqlite_database.h"

namespace rharness {
namespace {

// 1970-01-01 was a Thursday.
constexpr std::int64_t kMondayMs = 3 * 86'400'000;

constexpr char kNotSuperseded[] =
    "NOT EXISTS (SELECT 1 FROM drills n WHERE n.supersedes = v.drill_id)";
constexpr char kSelectRuns[] =
    "SELECT s.run_id, s.family, s.started_ms, r.declared, s.last_verdict, s.judged_ms, s.retired";

long long Most(std::size_t limit) {
  return static_cast<long long>(std::min<std::size_t>(limit, 1U << 30U));
}

class SqlBrowser : public HistoryBrowser {
 public:
  explicit SqlBrowser(std::unique_ptr<Database> database)
      : database_(*database), store_(std::move(database)) {}

  HistoryStore& store() override { return store_; }
  Result<std::vector<HistoryCount>> CountAll() override;
  Result<std::vector<HistoryCount>> CountFamilies(const std::string& after,
                                                  std::size_t limit) override;
  Result<std::vector<HistoryCount>> CountFamily(const std::string& family) override;
  Result<std::vector<DrillRecord>> LastDrills(std::size_t limit) override;
  Result<std::vector<RunRow>> FamilyRuns(const std::string& family,
                                         const std::optional<PageStart>& before,
                                         std::size_t limit) override;
  Result<std::vector<FamilyRecord>> LastTogether(const std::string& family,
                                                 std::size_t limit) override;
  Result<std::vector<VerdictRecord>> VerdictsOf(const std::string& run_id,
                                                const std::optional<PageStart>& before,
                                                std::size_t limit, bool reasons) override;
  Result<std::vector<RerunRecord>> RerunsOf(const std::string& run_id, const std::string& drill_id,
                                            std::size_t limit) override;
  Result<std::vector<std::string>> FindFamilies(const std::string& part,
                                                std::size_t limit) override {
    return FindNames("runs", "family", part, limit);
  }
  Result<std::vector<std::string>> FindImages(const std::string& part, std::size_t limit) override {
    return FindNames("lookups", "image", part, limit);
  }
  Result<std::vector<RunRow>> FindRuns(RunKey key, const std::string& text,
                                       const std::string& after, std::size_t limit) override;
  Result<std::int64_t> LastSequence() override;
  Result<std::vector<WeekCount>> CountWeeks(std::int64_t after, std::int64_t until) override;

 private:
  soci::session& sql() { return database_.sql(); }
  template <class... Uses>
  Result<std::vector<HistoryCount>> Counts(const std::string& text, const Uses&... uses);
  template <class F>
  Result<std::vector<RunRow>> Runs(const std::string& text, bool with_found, F bind);
  Result<std::vector<std::string>> FindNames(const char* table, const char* column,
                                             const std::string& part, std::size_t limit);

  Database& database_;
  SqlHistory store_;
};

template <class... Uses>
Result<std::vector<HistoryCount>> SqlBrowser::Counts(const std::string& text, const Uses&... uses) {
  return database_.Guard([&]() -> Result<std::vector<HistoryCount>> {
    HistoryCount count;
    long long runs = 0;
    soci::statement query(sql());
    query.exchange(soci::into(count.family));
    query.exchange(soci::into(count.last_verdict));
    query.exchange(soci::into(runs));
    (query.exchange(soci::use(uses)), ...);
    query.alloc();
    query.prepare(text);
    query.define_and_bind();
    query.execute();
    std::vector<HistoryCount> counts;
    while (query.fetch()) {
      count.runs = runs;
      counts.push_back(count);
    }
    return counts;
  });
}

Result<std::vector<HistoryCount>> SqlBrowser::CountAll() {
  return Counts(
      "SELECT '', last_verdict, COUNT(*) FROM standing WHERE retired = 0 GROUP BY last_verdict "
      "ORDER BY last_verdict");
}

// The names first: a family may have several verdicts.
Result<std::vector<HistoryCount>> SqlBrowser::CountFamilies(const std::string& after,
                                                            std::size_t limit) {
  const long long most = Most(limit);
  return Counts(
      "SELECT s.family, s.last_verdict, COUNT(*) FROM standing s JOIN (SELECT DISTINCT family FROM "
      "standing WHERE retired = 0 AND family > :after ORDER BY family LIMIT :most) f ON f.family = "
      "s.family WHERE s.retired = 0 GROUP BY s.family, s.last_verdict ORDER BY s.family, "
      "s.last_verdict",
      after, most);
}

Result<std::vector<HistoryCount>> SqlBrowser::CountFamily(const std::string& family) {
  return Counts(
      "SELECT family, last_verdict, COUNT(*) FROM standing WHERE retired = 0 AND family = :family "
      "GROUP BY family, last_verdict ORDER BY last_verdict",
      family);
}

Result<std::vector<DrillRecord>> SqlBrowser::LastDrills(std::size_t limit) {
  return database_.Guard([&]() -> Result<std::vector<DrillRecord>> {
    const long long most = Most(limit);
    std::string drill_id;
    long long started_ms = 0;
    long long ended_ms = 0;
    int exit_code = 0;
    soci::indicator ended = soci::i_null;
    soci::indicator exited = soci::i_null;
    soci::statement query =
        (sql().prepare << "SELECT d.drill_id, d.started_ms, d.ended_ms, d.exit_code FROM drills d "
                          "WHERE NOT EXISTS (SELECT 1 FROM drills n WHERE n.supersedes = "
                          "d.drill_id) ORDER BY d.sequence DESC LIMIT :most",
         soci::use(most), soci::into(drill_id), soci::into(started_ms), soci::into(ended_ms, ended),
         soci::into(exit_code, exited));
    query.execute();
    std::vector<DrillRecord> drills;
    while (query.fetch()) {
      DrillRecord& drill = drills.emplace_back(DrillRecord{drill_id, FromMs(started_ms), {}, {}});
      if (ended == soci::i_ok) drill.ended = FromMs(ended_ms);
      if (exited == soci::i_ok) drill.exit_code = exit_code;
    }
    return drills;
  });
}

template <class F>
Result<std::vector<RunRow>> SqlBrowser::Runs(const std::string& text, bool with_found, F bind) {
  return database_.Guard([&]() -> Result<std::vector<RunRow>> {
    RunRow row;
    long long started_ms = 0;
    long long judged_ms = 0;
    long long retired = 0;
    soci::indicator judged = soci::i_null;
    soci::statement query(sql());
    query.exchange(soci::into(row.run_id));
    query.exchange(soci::into(row.family));
    query.exchange(soci::into(started_ms));
    query.exchange(soci::into(row.declared));
    query.exchange(soci::into(row.last_verdict));
    query.exchange(soci::into(judged_ms, judged));
    query.exchange(soci::into(retired));
    if (with_found) query.exchange(soci::into(row.found));
    bind(query);
    query.alloc();
    query.prepare(text);
    query.define_and_bind();
    query.execute();
    std::vector<RunRow> rows;
    while (query.fetch()) {
      row.started = FromMs(started_ms);
      row.judged = judged == soci::i_ok ? std::optional(FromMs(judged_ms)) : std::nullopt;
      row.retired = retired != 0;
      rows.push_back(row);
    }
    return rows;
  });
}

Result<std::vector<RunRow>> SqlBrowser::FamilyRuns(const std::string& family,
                                                   const std::optional<PageStart>& before,
                                                   std::size_t limit) {
  const long long most = Most(limit);
  const long long before_ms = before ? ToMs(before->time) : std::numeric_limits<long long>::max();
  const std::string name = before ? before->name : "";
  return Runs(std::string(kSelectRuns) +
                  " FROM runs r JOIN standing s ON s.run_id = r.run_id WHERE r.family = :family "
                  "AND (r.started_ms, r.run_id) < (:before, :name) "
                  "ORDER BY r.started_ms DESC, r.run_id DESC LIMIT :most",
              false, [&](soci::statement& query) {
                query.exchange(soci::use(family));
                query.exchange(soci::use(before_ms));
                query.exchange(soci::use(name));
                query.exchange(soci::use(most));
              });
}

Result<std::vector<FamilyRecord>> SqlBrowser::LastTogether(const std::string& family,
                                                           std::size_t limit) {
  return database_.Guard([&]() -> Result<std::vector<FamilyRecord>> {
    const long long most = Most(limit);
    FamilyRecord record;
    long long decided_ms = 0;
    soci::statement query =
        (sql().prepare << "SELECT v.drill_id, v.family, v.configuration, v.name, v.verdict, "
                          "v.decided_ms, v.runs, v.reasons FROM family_verdicts v JOIN drills d ON "
                          "d.drill_id = v.drill_id WHERE v.family = :family AND " +
                              std::string(kNotSuperseded) +
                              " ORDER BY d.sequence DESC, v.name LIMIT :most",
         soci::use(family), soci::use(most), soci::into(record.drill_id), soci::into(record.family),
         soci::into(record.configuration), soci::into(record.name), soci::into(record.verdict),
         soci::into(decided_ms), soci::into(record.runs), soci::into(record.reasons));
    query.execute();
    std::vector<FamilyRecord> records;
    while (query.fetch()) {
      record.decided = FromMs(decided_ms);
      records.push_back(record);
    }
    return records;
  });
}

Result<std::vector<VerdictRecord>> SqlBrowser::VerdictsOf(const std::string& run_id,
                                                          const std::optional<PageStart>& before,
                                                          std::size_t limit, bool reasons) {
  return database_.Guard([&]() -> Result<std::vector<VerdictRecord>> {
    const long long most = Most(limit);
    const long long before_ms = before ? ToMs(before->time) : std::numeric_limits<long long>::max();
    const std::string name = before ? before->name : "";
    VerdictRecord record;
    record.run_id = run_id;
    long long decided_ms = 0;
    // Without reasons the index has all that is asked for.
    const std::string text = fmt::format(
        "SELECT v.drill_id, v.verdict, v.decided_ms, {} FROM verdicts v WHERE v.run_id = :run_id "
        "AND (v.decided_ms, v.drill_id) < (:before, :name) AND {} ORDER BY v.decided_ms DESC, "
        "v.drill_id DESC LIMIT :most",
        reasons ? "v.reruns, v.reasons" : "0, ''", kNotSuperseded);
    soci::statement query =
        (sql().prepare << text, soci::use(run_id), soci::use(before_ms), soci::use(name),
         soci::use(most), soci::into(record.drill_id), soci::into(record.verdict),
         soci::into(decided_ms), soci::into(record.reruns), soci::into(record.reasons));
    query.execute();
    std::vector<VerdictRecord> records;
    while (query.fetch()) {
      record.decided = FromMs(decided_ms);
      records.push_back(record);
    }
    return records;
  });
}

Result<std::vector<RerunRecord>> SqlBrowser::RerunsOf(const std::string& run_id,
                                                      const std::string& drill_id,
                                                      std::size_t limit) {
  return database_.Guard([&]() -> Result<std::vector<RerunRecord>> {
    const long long most = Most(limit);
    RerunRecord record{.drill_id = drill_id,
                       .run_id = run_id,
                       .rerun = 0,
                       .outcome = {},
                       .wall_seconds = 0.0,
                       .evidence_sha256 = {}};
    soci::statement query =
        (sql().prepare << "SELECT rerun, outcome, wall_seconds, evidence_sha256 FROM reruns WHERE "
                          "drill_id = :drill_id AND run_id = :run_id ORDER BY rerun LIMIT :most",
         soci::use(drill_id), soci::use(run_id), soci::use(most), soci::into(record.rerun),
         soci::into(record.outcome), soci::into(record.wall_seconds),
         soci::into(record.evidence_sha256));
    query.execute();
    std::vector<RerunRecord> records;
    while (query.fetch()) records.push_back(record);
    return records;
  });
}

// From one name to the next in the index, so that a name that many runs have is looked at once.
Result<std::vector<std::string>> SqlBrowser::FindNames(const char* table, const char* column,
                                                       const std::string& part, std::size_t limit) {
  return database_.Guard([&]() -> Result<std::vector<std::string>> {
    const long long most = Most(limit);
    std::string name;
    soci::statement query =
        (sql().prepare << fmt::format(
             "WITH RECURSIVE names(name) AS (SELECT MIN({0}) FROM {1} WHERE {0} > '' UNION ALL "
             "SELECT (SELECT MIN({0}) FROM {1} WHERE {0} > names.name) FROM names WHERE names.name "
             "IS NOT NULL) SELECT name FROM names WHERE {2}(name, :part) > 0 LIMIT :most",
             column, table, database_.dialect().position),
         soci::use(part), soci::use(most), soci::into(name));
    query.execute();
    std::vector<std::string> names;
    while (query.fetch()) names.push_back(name);
    return names;
  });
}

Result<std::vector<RunRow>> SqlBrowser::FindRuns(RunKey key, const std::string& text,
                                                 const std::string& after, std::size_t limit) {
  const long long most = Most(limit);
  // Digits and letters alone: what follows the last of them ends the range.
  const std::string end = text + "~";
  std::string select = kSelectRuns;
  if (key == RunKey::kRunId) {
    select += fmt::format(
        " FROM (SELECT run_id FROM runs WHERE run_id > :after AND {}(run_id, :text) > 0 ORDER BY "
        "run_id LIMIT :most) f JOIN standing s ON s.run_id = f.run_id JOIN runs r ON r.run_id = "
        "f.run_id ORDER BY s.run_id",
        database_.dialect().position);
  } else {
    select += fmt::format(
        ", l.{} FROM lookups l JOIN standing s ON s.run_id = l.run_id JOIN runs r ON r.run_id = "
        "l.run_id WHERE {} AND l.run_id > :after ORDER BY l.run_id LIMIT :most",
        key == RunKey::kCommit ? "code_commit" : "image",
        key == RunKey::kCommit ? "l.code_commit >= :text AND l.code_commit < :end"
                               : "l.image = :text");
  }
  return Runs(select, key != RunKey::kRunId, [&](soci::statement& query) {
    if (key == RunKey::kRunId) query.exchange(soci::use(after));
    query.exchange(soci::use(text));
    if (key == RunKey::kCommit) query.exchange(soci::use(end));
    if (key != RunKey::kRunId) query.exchange(soci::use(after));
    query.exchange(soci::use(most));
  });
}

Result<std::int64_t> SqlBrowser::LastSequence() {
  return database_.Guard([&]() -> Result<std::int64_t> {
    long long last = 0;
    sql() << "SELECT COALESCE(MAX(sequence), 0) FROM drills", soci::into(last);
    return static_cast<std::int64_t>(last);
  });
}

Result<std::vector<WeekCount>> SqlBrowser::CountWeeks(std::int64_t after, std::int64_t until) {
  return database_.Guard([&]() -> Result<std::vector<WeekCount>> {
    const long long first = after;
    const long long last = until;
    // `sign` of drills d; which of them is for `where` to say.
    const auto counts = [](const char* sign, const std::string& where) {
      return fmt::format(
          "SELECT r.family, (v.decided_ms + {}) / {} AS week, v.verdict, {}COUNT(*), "
          "MAX(v.decided_ms) FROM drills d JOIN verdicts v ON v.drill_id = d.drill_id JOIN runs r "
          "ON r.run_id = v.run_id WHERE {} GROUP BY r.family, week, v.verdict",
          kMondayMs, kWeekMs, sign, where);
    };
    const std::string text =
        counts("",
               "d.sequence > :first AND d.sequence <= :last AND NOT EXISTS (SELECT 1 FROM "
               "drills n WHERE n.supersedes = d.drill_id AND n.sequence <= :last2)") +
        " UNION ALL " +
        counts("-",
               "d.sequence <= :first2 AND EXISTS (SELECT 1 FROM drills n WHERE n.supersedes = "
               "d.drill_id AND n.sequence > :first3 AND n.sequence <= :last3)");
    WeekCount count;
    long long week = 0;
    long long verdicts = 0;
    long long last_ms = 0;
    soci::statement query =
        (sql().prepare << text, soci::use(first), soci::use(last), soci::use(last),
         soci::use(first), soci::use(first), soci::use(last), soci::into(count.family),
         soci::into(week), soci::into(count.verdict), soci::into(verdicts), soci::into(last_ms));
    query.execute();
    std::vector<WeekCount> weeks;
    while (query.fetch()) {
      count.week = week;
      count.count = verdicts;
      count.last = FromMs(last_ms);
      weeks.push_back(count);
    }
    return weeks;
  });
}

}  // namespace

std::int64_t WeekOf(WallTime time) {
  return (time.time_since_epoch().count() + kMondayMs) / kWeekMs;
}

WallTime StartOfWeek(std::int64_t week) { return FromMs(week * kWeekMs - kMondayMs); }

Result<std::unique_ptr<HistoryBrowser>> HistoryBrowser::Open(const std::string& url,
                                                             const BrowserLimits& limits) {
  std::unique_ptr<Database> database;
  if (IsPostgresqlUrl(url)) {
    ASSIGN_OR_RETURN(database, PostgresqlDatabase::Open(url, false,
                                                        {.lock = limits.lock,
                                                         .statement = limits.answer,
                                                         .gone = limits.gone,
                                                         .read_only = true}));
  } else {
    ASSIGN_OR_RETURN(const std::filesystem::path path, ParseHistoryUrl(url));
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
      return NotFound("no such history; `rharness history add` makes one", path.string());
    }
    ASSIGN_OR_RETURN(database, SqliteDatabase::OpenForReading(path, limits.lock, limits.answer));
  }
  return std::unique_ptr<HistoryBrowser>(new SqlBrowser(std::move(database)));
}

}  // namespace rharness
