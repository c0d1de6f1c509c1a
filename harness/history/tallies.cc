// What objectives count, in SQL: a run once, however often it was checked.
#include <fmt/format.h>

#include <cmath>

#include "harness/history/sql_history.h"

namespace rharness {
namespace {

// Verdicts of a window that still count: what :since and :until have between them.
constexpr char kCounted[] =
    "v.decided_ms >= :since AND v.decided_ms < :until AND v.verdict <> 'infra' AND NOT EXISTS "
    "(SELECT 1 FROM drills n WHERE n.supersedes = v.drill_id)";

// Of every run the verdict entered last, with how many of its verdicts there are conclusive, and
// whether some are good and some bad.
std::string SelectTallies() {
  constexpr char kGood[] = "CASE WHEN v.verdict IN ('identical', 'equivalent') THEN 1 ELSE 0 END";
  constexpr char kBad[] = "CASE WHEN v.verdict IN ('drifted', 'failed') THEN 1 ELSE 0 END";
  return fmt::format(
      "SELECT r.family, r.declared, w.verdict, COUNT(*), "
      "SUM(CASE WHEN w.good + w.bad > 1 THEN 1 ELSE 0 END), "
      "SUM(CASE WHEN w.good > 0 AND w.bad > 0 THEN 1 ELSE 0 END) FROM "
      "(SELECT v.run_id AS run_id, v.verdict AS verdict, SUM({0}) OVER (PARTITION BY v.run_id) AS "
      "good, SUM({1}) OVER (PARTITION BY v.run_id) AS bad, ROW_NUMBER() OVER (PARTITION BY "
      "v.run_id ORDER BY d.sequence DESC) AS place FROM verdicts v JOIN drills d ON d.drill_id = "
      "v.drill_id WHERE {2}) w JOIN runs r ON r.run_id = w.run_id JOIN standing s ON s.run_id = "
      "w.run_id WHERE w.place = 1 AND s.retired = 0 GROUP BY r.family, r.declared, w.verdict "
      "ORDER BY r.family, r.declared, w.verdict",
      kGood, kBad, kCounted);
}

// A run that was never verified waits since it was added.
constexpr char kWaiting[] =
    "SELECT s.family, COUNT(*), SUM(CASE WHEN s.verified_ms IS NULL THEN 1 ELSE 0 END), "
    "SUM(CASE WHEN COALESCE(s.verified_ms, r.added_ms) < :limit THEN 1 ELSE 0 END), "
    "MIN(COALESCE(s.verified_ms, r.added_ms)) FROM standing s JOIN runs r ON r.run_id = s.run_id "
    "WHERE s.retired = 0 GROUP BY s.family ORDER BY s.family";

constexpr char kRebuilds[] =
    "SELECT s.family, a.state, COUNT(*) FROM (SELECT run_id, state, ROW_NUMBER() OVER (PARTITION "
    "BY run_id ORDER BY asked_ms DESC) AS place FROM rebuild_answers) a JOIN standing s ON "
    "s.run_id = a.run_id WHERE a.place = 1 AND s.retired = 0 GROUP BY s.family, a.state "
    "ORDER BY s.family, a.state";

// Reruns that came to be compared; a recorded duration of 0 is none.
std::string SelectRuntimes() {
  return fmt::format(
      "SELECT r.family, COUNT(*), COUNT(DISTINCT v.drill_id || ' ' || v.run_id), "
      "SUM(u.wall_seconds), SUM(u.wall_seconds / r.duration_seconds), "
      "SUM((u.wall_seconds / r.duration_seconds) * (u.wall_seconds / r.duration_seconds)) FROM "
      "verdicts v JOIN reruns u ON u.drill_id = v.drill_id AND u.run_id = v.run_id JOIN runs r ON "
      "r.run_id = v.run_id JOIN standing s ON s.run_id = v.run_id WHERE {} AND v.verdict IN "
      "('identical', 'equivalent', 'drifted', 'inconclusive') AND s.retired = 0 AND "
      "r.duration_seconds > 0 GROUP BY r.family ORDER BY r.family",
      kCounted);
}

// Of each run the verdict entered last that has measures.
std::string SelectMeasures() {
  const auto count = [](const char* condition) {
    return fmt::format("SUM(CASE WHEN {} THEN 1 ELSE 0 END)", condition);
  };
  return fmt::format(
      "SELECT s.family, COUNT(w.weights_equal), {}, COUNT(w.margins), "
      "COALESCE(SUM(w.margins * w.margins), 0.0), COUNT(w.warnings), {}, COUNT(w.data_had), {}, "
      "COUNT(w.not_recorded), {} FROM (SELECT m.*, ROW_NUMBER() OVER (PARTITION BY v.run_id ORDER "
      "BY d.sequence DESC) AS place FROM verdicts v JOIN verdict_measures m ON m.drill_id = "
      "v.drill_id AND m.run_id = v.run_id JOIN drills d ON d.drill_id = v.drill_id WHERE {}) w "
      "JOIN standing s ON s.run_id = w.run_id WHERE w.place = 1 AND s.retired = 0 GROUP BY "
      "s.family ORDER BY s.family",
      count("w.weights_equal = 1"), count("w.warnings > 0"), count("w.data_had = 1"),
      count("w.not_recorded = 0"), kCounted);
}

RuntimeTally RuntimeOf(std::string family, long long reruns, long long verdicts, double wall,
                       double sum, double squares) {
  const auto n = static_cast<double>(reruns);
  RuntimeTally tally{std::move(family), reruns, wall, verdicts, sum / n, {}};
  if (reruns > 1) {
    tally.ratio_sd = std::sqrt(std::max(0.0, (squares - sum * tally.mean_ratio) / (n - 1.0)));
  }
  return tally;
}

}  // namespace

Result<std::vector<VerdictTally>> SqlHistory::TallyVerdicts(WallTime since, WallTime until) {
  return database_->Guard([&]() -> Result<std::vector<VerdictTally>> {
    const long long since_ms = ToMs(since);
    const long long until_ms = ToMs(until);
    VerdictTally tally;
    long long runs = 0;
    long long twice = 0;
    long long flipped = 0;
    soci::statement query =
        (sql().prepare << SelectTallies(), soci::use(since_ms, "since"),
         soci::use(until_ms, "until"), soci::into(tally.family), soci::into(tally.declared),
         soci::into(tally.verdict), soci::into(runs), soci::into(twice), soci::into(flipped));
    query.execute();
    std::vector<VerdictTally> tallies;
    while (query.fetch()) {
      tally.runs = runs;
      tally.checked_twice = twice;
      tally.flipped = flipped;
      tallies.push_back(tally);
    }
    return tallies;
  });
}

Result<std::vector<WaitingTally>> SqlHistory::TallyWaiting(WallTime limit) {
  return database_->Guard([&]() -> Result<std::vector<WaitingTally>> {
    const long long limit_ms = ToMs(limit);
    std::string family;
    long long runs = 0;
    long long never = 0;
    long long waiting = 0;
    long long oldest_ms = 0;
    soci::statement query =
        (sql().prepare << kWaiting, soci::use(limit_ms, "limit"), soci::into(family),
         soci::into(runs), soci::into(never), soci::into(waiting), soci::into(oldest_ms));
    query.execute();
    std::vector<WaitingTally> tallies;
    while (query.fetch()) tallies.push_back({family, runs, never, waiting, FromMs(oldest_ms)});
    return tallies;
  });
}

Result<std::vector<RebuildTally>> SqlHistory::TallyRebuilds() {
  return database_->Guard([&]() -> Result<std::vector<RebuildTally>> {
    std::string family;
    std::string state;
    long long runs = 0;
    soci::statement query =
        (sql().prepare << kRebuilds, soci::into(family), soci::into(state), soci::into(runs));
    query.execute();
    std::vector<RebuildTally> tallies;
    while (query.fetch()) tallies.push_back({family, state, runs});
    return tallies;
  });
}

Result<std::vector<RuntimeTally>> SqlHistory::TallyRuntimes(WallTime since, WallTime until) {
  return database_->Guard([&]() -> Result<std::vector<RuntimeTally>> {
    const long long since_ms = ToMs(since);
    const long long until_ms = ToMs(until);
    std::string family;
    long long reruns = 0;
    long long verdicts = 0;
    double wall = 0.0;
    double sum = 0.0;
    double squares = 0.0;
    soci::statement query =
        (sql().prepare << SelectRuntimes(), soci::use(since_ms, "since"),
         soci::use(until_ms, "until"), soci::into(family), soci::into(reruns), soci::into(verdicts),
         soci::into(wall), soci::into(sum), soci::into(squares));
    query.execute();
    std::vector<RuntimeTally> tallies;
    while (query.fetch())
      tallies.push_back(RuntimeOf(family, reruns, verdicts, wall, sum, squares));
    return tallies;
  });
}

Result<std::vector<MeasureTally>> SqlHistory::TallyMeasures(WallTime since, WallTime until) {
  return database_->Guard([&]() -> Result<std::vector<MeasureTally>> {
    const long long since_ms = ToMs(since);
    const long long until_ms = ToMs(until);
    MeasureTally tally;
    long long weights = 0, equal = 0, metrics = 0, looked_at = 0, warned = 0;
    long long data = 0, had = 0, records = 0, admitted = 0;
    soci::statement query =
        (sql().prepare << SelectMeasures(), soci::use(since_ms, "since"),
         soci::use(until_ms, "until"), soci::into(tally.family), soci::into(weights),
         soci::into(equal), soci::into(metrics), soci::into(tally.margins_squared),
         soci::into(looked_at), soci::into(warned), soci::into(data), soci::into(had),
         soci::into(records), soci::into(admitted));
    query.execute();
    std::vector<MeasureTally> tallies;
    while (query.fetch()) {
      tally.weights = weights;
      tally.weights_equal = equal;
      tally.metrics = metrics;
      tally.looked_at = looked_at;
      tally.warned = warned;
      tally.data = data;
      tally.data_had = had;
      tally.records = records;
      tally.admitted = admitted;
      tallies.push_back(tally);
    }
    return tallies;
  });
}

}  // namespace rharness
