// The browser's queries, in SQL that SQLite and PostgreSQL share.
#include "harness/history/browser.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/json.h"
#include "harness/history/location.h"
#include "harness/history/postgresql_database.h"
#include "harness/history/postgresql_url.h"
#include "harness/history/sql_browser.h"
#include "harness/history/sqlite_database.h"

namespace rharness {
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

// The names first, since a family may have several verdicts, and from one to the next in the index,
// since it may have many runs.
Result<std::vector<HistoryCount>> SqlBrowser::CountFamilies(const NameStart& start,
                                                            std::size_t limit) {
  const long long most = Most(limit);
  const Direction to = DirectionOf(start.toward);
  // A family may have no name, which is the first of all.
  const bool from_start = start.toward == Toward::kEnd && start.name.empty();
  return Counts(
      fmt::format("WITH RECURSIVE names(family, place) AS (SELECT {0}(family), 1 FROM standing "
                  "WHERE retired = 0 AND family {2} :start UNION ALL SELECT (SELECT {0}(s.family) "
                  "FROM standing s WHERE s.retired = 0 AND s.family {1} names.family), place + 1 "
                  "FROM names WHERE names.family IS NOT NULL AND place < :most) SELECT s.family, "
                  "s.last_verdict, COUNT(*) FROM standing s WHERE s.retired = 0 AND s.family IN "
                  "(SELECT family FROM names) GROUP BY s.family, s.last_verdict ORDER BY s.family, "
                  "s.last_verdict",
                  to.first, to.sign, from_start ? ">=" : to.sign),
      start.name, most);
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

Result<std::vector<RunRow>> SqlBrowser::Runs(const std::string& text, bool with_found,
                                             const std::function<void(soci::statement&)>& bind) {
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

// The last ones of each verdict, which read an index up to the limit, and the open ones by name:
// SQLite keeps the order of tables in a CROSS JOIN, and would else read all open runs.
Result<std::vector<RunRow>> SqlBrowser::LastBadRuns(const std::vector<std::string>& open,
                                                    std::size_t limit) {
  const long long most = Most(limit);
  Json names = Json::MakeArray();
  for (const std::string& name : open) names.Append(name);
  const std::string ids = names.Dump();
  const auto last = [](const char* verdict) {
    return fmt::format(
        "SELECT * FROM (SELECT run_id, last_verdict AS verdict, judged_ms AS decided_ms FROM "
        "standing WHERE retired = 0 AND last_verdict = '{0}' ORDER BY judged_ms DESC, run_id DESC "
        "LIMIT :most_{0}) AS {0}",
        verdict);
  };
  return Runs(
      fmt::format("SELECT s.run_id, s.family, s.started_ms, r.declared, l.verdict, l.decided_ms, "
                  "s.retired FROM ({} UNION ALL {} UNION ALL SELECT s.run_id, ({}), ({}) FROM {} "
                  "CROSS JOIN standing s WHERE s.run_id = w.value AND s.retired = 0 AND {}) l JOIN "
                  "standing s ON s.run_id = l.run_id JOIN runs r ON r.run_id = l.run_id ORDER BY "
                  "l.decided_ms DESC, l.run_id DESC LIMIT :last",
                  last("drifted"), last("failed"), LastConclusive("verdict", "s.run_id"),
                  LastConclusive("decided_ms", "s.run_id"), database_.dialect().texts_of_ids,
                  OpenAndBad()),
      false, [&](soci::statement& query) {
        query.exchange(soci::use(most));
        query.exchange(soci::use(most));
        query.exchange(soci::use(ids));
        query.exchange(soci::use(most));
      });
}

Result<std::vector<std::string>> SqlBrowser::OpenBadRuns(std::size_t limit) {
  const long long most = Most(limit);
  return Names(fmt::format("SELECT o.run_id FROM (SELECT s.run_id AS run_id, ({}) AS decided_ms "
                           "FROM standing s WHERE s.retired = 0 AND {}) o ORDER BY o.decided_ms "
                           "DESC, o.run_id DESC LIMIT :most",
                           LastConclusive("decided_ms", "s.run_id"), OpenAndBad()),
               [&](soci::statement& query) { query.exchange(soci::use(most)); });
}

Result<std::optional<RunRow>> SqlBrowser::FindRun(const std::string& run_id) {
  ASSIGN_OR_RETURN(auto rows,
                   Runs(std::string(kSelectRuns) +
                            " FROM runs r JOIN standing s ON s.run_id = r.run_id WHERE r.run_id = "
                            ":run_id",
                        false, [&](soci::statement& query) { query.exchange(soci::use(run_id)); }));
  if (rows.empty()) return std::optional<RunRow>();
  return std::optional<RunRow>(std::move(rows.front()));
}

Result<std::vector<RunRow>> SqlBrowser::FamilyRuns(const std::string& family,
                                                   const std::optional<PageStart>& start,
                                                   std::size_t limit) {
  const long long most = Most(limit);
  const PageStart from = start.value_or(kNewest);
  const long long from_ms = ToMs(from.time);
  const Direction to = NewestFirst(from.toward);
  auto rows = Runs(
      fmt::format("{} FROM runs r JOIN standing s ON s.run_id = r.run_id WHERE r.family = :family "
                  "AND (r.started_ms, r.run_id) {} (:from, :name) ORDER BY r.started_ms {}, "
                  "r.run_id {} LIMIT :most",
                  kSelectRuns, to.sign, to.order, to.order),
      false, [&](soci::statement& query) {
        query.exchange(soci::use(family));
        query.exchange(soci::use(from_ms));
        query.exchange(soci::use(from.name));
        query.exchange(soci::use(most));
      });
  if (!rows.ok()) return rows;
  return InOrder(std::move(*rows), from.toward);
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
    if (!std::filesystem::is_regular_file(path, error)) {
      return InvalidInput("is no file; expected a history", path.string());
    }
    ASSIGN_OR_RETURN(database, SqliteDatabase::OpenForReading(path, limits.lock, limits.answer));
  }
  return std::unique_ptr<HistoryBrowser>(new SqlBrowser(std::move(database)));
}

}  // namespace rharness
