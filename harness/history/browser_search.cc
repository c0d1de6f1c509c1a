// Looking for names, runs and counts by week.
#include <fmt/format.h>

#include <algorithm>

#include "harness/history/sql_browser.h"

namespace rharness {
namespace {

constexpr std::int64_t kWeekMs = 604'800'000;
constexpr std::int64_t kMondayMs = 3 * 86'400'000;  // before a Thursday: 1970

}  // namespace

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

// Each in the order of the index that it reads.
Result<std::vector<RunRow>> SqlBrowser::FindRuns(RunKey key, const std::string& text,
                                                 const FoundAfter& after, std::size_t limit) {
  const long long most = Most(limit);
  const std::string end = text + "~";  // behind all digits and letters
  const std::string& first = std::max(text, after.commit);
  std::string select = kSelectRuns;
  switch (key) {
    case RunKey::kRunId:
      select += fmt::format(
          " FROM (SELECT run_id FROM runs WHERE run_id > :after AND {}(run_id, :text) > 0 ORDER BY "
          "run_id LIMIT :most) f JOIN standing s ON s.run_id = f.run_id JOIN runs r ON r.run_id = "
          "f.run_id ORDER BY s.run_id",
          database_.dialect().position);
      break;
    case RunKey::kCommit:
      select +=
          ", l.code_commit FROM (SELECT code_commit, run_id FROM lookups WHERE (code_commit, "
          "run_id) > (:first, :after) AND code_commit < :end ORDER BY code_commit, run_id LIMIT "
          ":most) l JOIN standing s ON s.run_id = l.run_id JOIN runs r ON r.run_id = l.run_id "
          "ORDER "
          "BY l.code_commit, l.run_id";
      break;
    case RunKey::kImage:
      select +=
          ", l.image FROM (SELECT image, run_id FROM lookups WHERE image = :text AND run_id > "
          ":after ORDER BY run_id LIMIT :most) l JOIN standing s ON s.run_id = l.run_id JOIN runs "
          "r "
          "ON r.run_id = l.run_id ORDER BY l.run_id";
      break;
  }
  return Runs(select, key != RunKey::kRunId, [&](soci::statement& query) {
    if (key == RunKey::kImage) query.exchange(soci::use(text));
    if (key == RunKey::kCommit) query.exchange(soci::use(first));
    query.exchange(soci::use(after.run_id));
    if (key == RunKey::kRunId) query.exchange(soci::use(text));
    if (key == RunKey::kCommit) query.exchange(soci::use(end));
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
      count.week = FromMs(week * kWeekMs - kMondayMs);
      count.count = verdicts;
      count.last = FromMs(last_ms);
      weeks.push_back(count);
    }
    return weeks;
  });
}

}  // namespace rharness
