// Looking for names, runs and counts by week.
#include <fmt/format.h>

#include <algorithm>

#include "harness/history/sql_browser.h"

namespace rharness {
namespace {

constexpr std::int64_t kWeekMs = 604'800'000;
constexpr std::int64_t kMondayMs = 3 * 86'400'000;  // before a Thursday: 1970

}  // namespace

Result<std::vector<std::string>> SqlBrowser::Names(
    const std::string& text, const std::function<void(soci::statement&)>& bind) {
  return database_.Guard([&]() -> Result<std::vector<std::string>> {
    std::string name;
    soci::indicator some = soci::i_null;
    soci::statement query(sql());
    query.exchange(soci::into(name, some));
    bind(query);
    query.alloc();
    query.prepare(text);
    query.define_and_bind();
    query.execute();
    std::vector<std::string> names;
    while (query.fetch()) {
      if (some == soci::i_ok) names.push_back(name);
    }
    return names;
  });
}

// Few different names are checked one by one, from each to the next in the index, however many runs
// share them. For many names that costs ten times as much as reading the index row by row.
Result<NamesFound> SqlBrowser::FindNames(const NamesAsked& asked, const NameStart& start,
                                         std::size_t limit, Look look) {
  const Direction to = DirectionOf(start.toward);
  const long long most_few = static_cast<long long>(kFewNames) + 1;
  ASSIGN_OR_RETURN(
      auto names,
      Names(fmt::format("WITH RECURSIVE names(name, place) AS (SELECT {2}({0}), 1 FROM {1} WHERE "
                        "{0} {3} :start UNION ALL SELECT (SELECT {2}({0}) FROM {1} WHERE {0} {3} "
                        "names.name), place + 1 FROM names WHERE names.name IS NOT NULL AND place "
                        "< :most) SELECT name FROM names WHERE name > ''",
                        asked.column, asked.table, to.first, to.sign),
            [&](soci::statement& query) {
              query.exchange(soci::use(start.name));
              query.exchange(soci::use(most_few));
            }));
  NamesFound found{.names = {}, .many = names.size() > kFewNames};
  if (!found.many) {
    std::erase_if(names,
                  [&](const std::string& name) { return name.find(asked.part) == name.npos; });
    if (names.size() > limit) names.resize(limit);
  } else if (look == Look::kFewOnly) {
    names.clear();
  } else {
    const long long most = Most(limit);
    ASSIGN_OR_RETURN(
        names, Names(fmt::format("SELECT DISTINCT {0} FROM {1} WHERE {0} {2} :start AND {0} > '' "
                                 "AND {3}({0}, :part) > 0 ORDER BY {0} {4} LIMIT :most",
                                 asked.column, asked.table, to.sign, database_.dialect().position,
                                 to.order),
                     [&](soci::statement& query) {
                       query.exchange(soci::use(start.name));
                       query.exchange(soci::use(asked.part));
                       query.exchange(soci::use(most));
                     }));
  }
  found.names = InOrder(std::move(names), start.toward);
  return found;
}

// Each in the order of the index that it reads.
Result<std::vector<RunRow>> SqlBrowser::FindRuns(RunKey key, const std::string& text,
                                                 const FoundStart& start, std::size_t limit) {
  const bool on = start.toward == Toward::kEnd;
  const Direction to = DirectionOf(start.toward);
  const long long most = Most(limit);
  const std::string end = text + "~";  // behind all digits and letters
  const std::string& commit = on ? std::max(text, start.commit) : start.commit;
  const std::string& last = on ? end : text;
  std::string select = kSelectRuns;
  switch (key) {
    case RunKey::kRunId:
      select += fmt::format(
          " FROM (SELECT run_id FROM runs WHERE run_id {0} :start AND {1}(run_id, :text) > 0 ORDER "
          "BY run_id {2} LIMIT :most) f JOIN standing s ON s.run_id = f.run_id JOIN runs r ON "
          "r.run_id = f.run_id ORDER BY s.run_id {2}",
          to.sign, database_.dialect().position, to.order);
      break;
    case RunKey::kCommit:
      select += fmt::format(
          ", l.code_commit FROM (SELECT code_commit, run_id FROM lookups WHERE (code_commit, "
          "run_id) {0} (:commit, :start) AND code_commit {1} :last ORDER BY code_commit {2}, "
          "run_id {2} LIMIT :most) l JOIN standing s ON s.run_id = l.run_id JOIN runs r ON "
          "r.run_id = l.run_id ORDER BY l.code_commit {2}, l.run_id {2}",
          to.sign, on ? "<" : ">=", to.order);
      break;
    case RunKey::kImage:
      select += fmt::format(
          ", l.image FROM (SELECT image, run_id FROM lookups WHERE image = :text AND run_id {0} "
          ":start ORDER BY run_id {1} LIMIT :most) l JOIN standing s ON s.run_id = l.run_id JOIN "
          "runs r ON r.run_id = l.run_id ORDER BY l.run_id {1}",
          to.sign, to.order);
      break;
  }
  auto rows = Runs(select, key != RunKey::kRunId, [&](soci::statement& query) {
    if (key == RunKey::kImage) query.exchange(soci::use(text));
    if (key == RunKey::kCommit) query.exchange(soci::use(commit));
    query.exchange(soci::use(start.run_id));
    if (key == RunKey::kRunId) query.exchange(soci::use(text));
    if (key == RunKey::kCommit) query.exchange(soci::use(last));
    query.exchange(soci::use(most));
  });
  if (!rows.ok()) return rows;
  return InOrder(std::move(*rows), start.toward);
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
    // The verdicts of `drills` d, with this sign. In this order: a planner without statistics would
    // read all verdicts for a few drills.
    const auto counts = [](const char* sign, const char* drills) {
      return fmt::format(
          "SELECT r.family, (v.decided_ms + {}) / {} AS week, v.verdict, {}COUNT(*), "
          "MAX(v.decided_ms) FROM {} CROSS JOIN verdicts v CROSS JOIN runs r WHERE v.drill_id = "
          "d.drill_id AND r.run_id = v.run_id GROUP BY r.family, week, v.verdict",
          kMondayMs, kWeekMs, sign, drills);
    };
    const std::string text =
        counts("",
               "(SELECT e.drill_id FROM drills e WHERE e.sequence > :first AND e.sequence <= :last "
               "AND NOT EXISTS (SELECT 1 FROM drills n WHERE n.supersedes = e.drill_id AND "
               "n.sequence <= :last2)) d") +
        " UNION ALL " +
        counts("-",
               "(SELECT e.drill_id FROM drills n JOIN drills e ON e.drill_id = n.supersedes WHERE "
               "n.sequence > :first2 AND n.sequence <= :last3 AND e.sequence <= :first3) d");
    WeekCount count;
    long long week = 0;
    long long verdicts = 0;
    long long last_ms = 0;
    soci::statement query =
        (sql().prepare << text, soci::use(first), soci::use(last), soci::use(last),
         soci::use(first), soci::use(last), soci::use(first), soci::into(count.family),
         soci::into(week), soci::into(count.verdict), soci::into(verdicts), soci::into(last_ms));
    query.execute();
    std::vector<WeekCount> weeks;
    while (query.fetch()) {
      count.week = FromMs(week * kWeekMs - kMondayMs);
      count.count = verdicts;
      count.last = FromMs(last_ms);
      weeks.push_back(count);
    }
    return weeks;
  });
}

}  // namespace rharness
