// What objectives count, in SQL: a run once, however often it was checked.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

#include "harness/history/sql_history.h"

namespace rharness {
namespace {

// Verdicts of a window that still count: between :since and :until.
constexpr char kCounted[] =
    "v.decided_ms >= :since AND v.decided_ms < :until AND v.verdict <> 'infra' AND NOT EXISTS "
    "(SELECT 1 FROM drills n WHERE n.supersedes = v.drill_id)";

// Those that a run can have, by their number here.
constexpr Verdict kRunVerdicts[] = {Verdict::kIdentical,    Verdict::kEquivalent,
                                    Verdict::kDrifted,      Verdict::kFailed,
                                    Verdict::kInconclusive, Verdict::kNotComparable};
constexpr int kNumbers = 8;  // a power of two that has room for them

std::string NumberOfVerdict() {
  std::string text = "CASE v.verdict";
  for (std::size_t i = 0; i < std::size(kRunVerdicts); ++i) {
    text += fmt::format(" WHEN '{}' THEN {}", VerdictName(kRunVerdicts[i]), i);
  }
  return fmt::format("{} ELSE {} END", text, std::size(kRunVerdicts));
}

// Of every run the number of the verdict entered last in each window, with how many of its verdicts
// are conclusive, whether some are good and some bad, and when it last drifted. A verdict's place
// and its number are one number, so that the greatest is the last one, and no run's verdicts need
// be sorted.
std::string SelectWindows(std::size_t windows) {
  constexpr char kGood[] = "CASE WHEN v.verdict IN ('identical', 'equivalent') THEN 1 ELSE 0 END";
  constexpr char kBad[] = "CASE WHEN v.verdict IN ('drifted', 'failed') THEN 1 ELSE 0 END";
  const std::string place = fmt::format("d.sequence * {} + {}", kNumbers, NumberOfVerdict());
  std::string last =
      fmt::format("MAX({0}) % {1} AS last0, MAX({0}) / {1} AS sequence", place, kNumbers);
  std::string names = "w.last0";
  for (std::size_t i = 1; i < windows; ++i) {
    last += fmt::format(
        ", COALESCE(MAX(CASE WHEN v.decided_ms >= :since{0} THEN {1} END) % {2}, -1) AS last{0}", i,
        place, kNumbers);
    names += fmt::format(", w.last{}", i);
  }
  return fmt::format(
      "SELECT r.family, r.declared, COUNT(*), "
      "SUM(CASE WHEN w.good + w.bad > 1 THEN 1 ELSE 0 END), "
      "SUM(CASE WHEN w.good > 0 AND w.bad > 0 THEN 1 ELSE 0 END), "
      "SUM(CASE WHEN EXISTS (SELECT 1 FROM attestations a WHERE a.drill_id = l.drill_id AND "
      "a.run_id = w.run_id) THEN 1 ELSE 0 END), "
      "SUM(CASE WHEN w.drifted_at > COALESCE(w.good_at, -1) THEN 1 ELSE 0 END), {0} FROM "
      "(SELECT v.run_id AS run_id, {1}, SUM({2}) AS good, SUM({3}) AS bad, "
      "MAX(CASE WHEN {2} = 1 THEN d.sequence END) AS good_at, "
      "MAX(CASE WHEN v.verdict = 'drifted' THEN d.sequence END) AS drifted_at FROM verdicts v JOIN "
      "drills d ON d.drill_id = v.drill_id WHERE {4} GROUP BY v.run_id) w JOIN drills l ON "
      "l.sequence = w.sequence JOIN runs r ON r.run_id = w.run_id JOIN standing s ON s.run_id = "
      "w.run_id WHERE s.retired = 0 GROUP BY r.family, "
      "r.declared, {0} ORDER BY r.family, r.declared, {0}",
      names, last, kGood, kBad, kCounted);
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

// Nothing changed between two verdicts if their reruns had the same surroundings: environment,
// code, data, seeds, and files read. Drills with several surroundings of one run do not count. The
// computed time keeps the planner from an index by time for each rerun.
constexpr char kFlakes[] =
    "SELECT s.family, COUNT(*), SUM(w.flaked) FROM (SELECT g.run_id AS run_id, MAX(g.good * g.bad) "
    "AS flaked FROM (SELECT v.run_id AS run_id, MAX(CASE WHEN v.verdict IN ('identical', "
    "'equivalent') THEN 1 ELSE 0 END) AS good, MAX(CASE WHEN v.verdict IN ('drifted', 'failed') "
    "THEN 1 ELSE 0 END) AS bad, MIN(v.drill_id) AS one_drill, MAX(v.drill_id) AS another FROM "
    "verdicts v JOIN reruns u ON u.drill_id = v.drill_id AND u.run_id = v.run_id WHERE "
    "v.decided_ms + 0 >= :since AND v.decided_ms + 0 < :until AND v.verdict IN ('identical', "
    "'equivalent', 'drifted', 'failed') AND NOT EXISTS (SELECT 1 FROM drills n WHERE n.supersedes "
    "= v.drill_id) AND u.surroundings_sha256 IS NOT NULL AND NOT EXISTS (SELECT 1 FROM reruns o "
    "WHERE o.drill_id = v.drill_id AND o.run_id = v.run_id AND o.rerun <> u.rerun AND "
    "o.surroundings_sha256 <> u.surroundings_sha256) GROUP BY v.run_id, u.surroundings_sha256) g "
    "WHERE g.one_drill <> g.another GROUP BY g.run_id) w JOIN standing s ON s.run_id = w.run_id "
    "WHERE s.retired = 0 GROUP BY s.family ORDER BY s.family";

// Compared reruns; a recorded duration of 0 does not count. Sums run by run first: an index has the
// verdicts in the order of their runs.
std::string SelectRuntimes() {
  return fmt::format(
      "SELECT r.family, SUM(w.reruns), SUM(w.verdicts), SUM(w.wall), "
      "SUM(w.wall / r.duration_seconds), "
      "SUM(w.squares / (r.duration_seconds * r.duration_seconds)) FROM "
      "(SELECT v.run_id AS run_id, COUNT(*) AS reruns, COUNT(DISTINCT v.drill_id) AS verdicts, "
      "SUM(u.wall_seconds) AS wall, SUM(u.wall_seconds * u.wall_seconds) AS squares FROM "
      "verdicts v JOIN reruns u ON u.drill_id = v.drill_id AND u.run_id = v.run_id WHERE {} AND "
      "v.verdict IN ('identical', 'equivalent', 'drifted', 'inconclusive') GROUP BY v.run_id) w "
      "JOIN runs r ON r.run_id = w.run_id JOIN standing s ON s.run_id = w.run_id WHERE s.retired = "
      "0 AND r.duration_seconds > 0 GROUP BY r.family ORDER BY r.family",
      kCounted);
}

// Of each run the verdict entered last that has measures.
std::string SelectMeasures() {
  const auto count = [](const char* condition) {
    return fmt::format("SUM(CASE WHEN {} THEN 1 ELSE 0 END)", condition);
  };
  return fmt::format(
      "SELECT s.family, COUNT(m.weights_equal), {}, COUNT(m.margins), "
      "COALESCE(SUM(m.margins * m.margins), 0.0), COUNT(m.warnings), {}, COUNT(m.data_had), {}, "
      "COUNT(m.not_recorded), {} FROM (SELECT v.run_id AS run_id, MAX(d.sequence) AS last FROM "
      "verdicts v JOIN drills d ON d.drill_id = v.drill_id WHERE {} AND EXISTS (SELECT 1 FROM "
      "verdict_measures h WHERE h.drill_id = v.drill_id AND h.run_id = v.run_id) GROUP BY "
      "v.run_id) w JOIN drills d ON d.sequence = w.last JOIN verdict_measures m ON m.drill_id = "
      "d.drill_id AND m.run_id = w.run_id JOIN standing s ON s.run_id = w.run_id WHERE s.retired = "
      "0 GROUP BY s.family ORDER BY s.family",
      count("m.weights_equal = 1"), count("m.warnings > 0"), count("m.data_had = 1"),
      count("m.not_recorded = 0"), kCounted);
}

// Of each run the rollback entered last.
constexpr char kRollbacks[] =
    "SELECT s.family, COUNT(*), SUM(CASE WHEN w.state IN ('held', 'held_within') THEN 1 ELSE 0 "
    "END), SUM(CASE WHEN w.state = 'lost' THEN 1 ELSE 0 END) FROM (SELECT p.run_id AS run_id, "
    "p.state AS state, ROW_NUMBER() OVER (PARTITION BY p.run_id ORDER BY p.sequence DESC) AS place "
    "FROM property_verdicts p WHERE p.property = :property AND p.decided_ms >= :since AND "
    "p.decided_ms < :until) w JOIN standing s ON s.run_id = w.run_id WHERE w.place = 1 AND "
    "s.retired = 0 GROUP BY s.family ORDER BY s.family";
// Rows of runs that are alike in each window, counted window by window.
class WindowTallies {
 public:
  explicit WindowTallies(std::size_t windows) : counts_(windows) {}

  // `last`: the number of a known verdict a window; below 0: none.
  void Add(const VerdictTally& row, const std::vector<int>& last) {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (last[i] < 0) continue;
      const Verdict verdict = kRunVerdicts[last[i]];
      VerdictTally& tally = counts_[i][{row.family, row.declared, VerdictName(verdict)}];
      tally.family = row.family;
      tally.declared = row.declared;
      tally.verdict = verdict;
      tally.runs += row.runs;
      if (i > 0) continue;
      tally.checked_twice += row.checked_twice;
      tally.flipped += row.flipped;
      tally.attested += row.attested;
      tally.drifted += row.drifted;
    }
  }
  std::vector<std::vector<VerdictTally>> Take() && {
    std::vector<std::vector<VerdictTally>> windows;
    for (auto& counts : counts_) {
      std::vector<VerdictTally>& tallies = windows.emplace_back();
      for (auto& [key, tally] : counts) tallies.push_back(std::move(tally));
    }
    return windows;
  }

 private:
  std::vector<std::map<std::tuple<std::string, std::string, std::string_view>, VerdictTally>>
      counts_;
};

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
  ASSIGN_OR_RETURN(auto windows, TallyWindows({since}, until));
  return std::move(windows.front());
}

Result<std::vector<std::vector<VerdictTally>>> SqlHistory::TallyWindows(
    const std::vector<WallTime>& since, WallTime until) {
  return database_->Guard([&]() -> Result<std::vector<std::vector<VerdictTally>>> {
    std::vector<long long> since_ms;
    std::ranges::transform(since, std::back_inserter(since_ms), ToMs);
    const long long until_ms = ToMs(until);
    VerdictTally row;
    long long runs = 0, twice = 0, flipped = 0, attested = 0, drifted = 0;
    std::vector<int> last(since.size());
    soci::statement query(sql());
    query.exchange(soci::use(since_ms.front(), "since"));
    query.exchange(soci::use(until_ms, "until"));
    for (std::size_t i = 1; i < since.size(); ++i) {
      query.exchange(soci::use(since_ms[i], fmt::format("since{}", i)));
    }
    query.exchange(soci::into(row.family));
    query.exchange(soci::into(row.declared));
    query.exchange(soci::into(runs));
    query.exchange(soci::into(twice));
    query.exchange(soci::into(flipped));
    query.exchange(soci::into(attested));
    query.exchange(soci::into(drifted));
    for (int& one : last) query.exchange(soci::into(one));
    query.alloc();
    query.prepare(SelectWindows(since.size()));
    query.define_and_bind();
    query.execute();
    WindowTallies tallies(since.size());
    while (query.fetch()) {
      row.runs = runs;
      row.checked_twice = twice;
      row.flipped = flipped;
      row.attested = attested;
      row.drifted = drifted;
      if (std::ranges::max(last) >= static_cast<int>(std::size(kRunVerdicts))) {
        RETURN_IF_ERROR(database_->CheckWords());  // names words written since it was opened
        return InternalError("counts a verdict of no known word", database_->name());
      }
      tallies.Add(row, last);
    }
    return std::move(tallies).Take();
  });
}

Result<std::vector<FlakeTally>> SqlHistory::TallyFlakes(WallTime since, WallTime until) {
  return database_->Guard([&]() -> Result<std::vector<FlakeTally>> {
    const long long since_ms = ToMs(since);
    const long long until_ms = ToMs(until);
    std::string family;
    long long unchanged = 0, flaked = 0;
    soci::statement query =
        (sql().prepare << kFlakes, soci::use(since_ms, "since"), soci::use(until_ms, "until"),
         soci::into(family), soci::into(unchanged), soci::into(flaked));
    query.execute();
    std::vector<FlakeTally> tallies;
    while (query.fetch()) tallies.push_back({family, unchanged, flaked});
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
    PartState state = PartState::kUnknown;
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

Result<std::vector<RollbackTally>> SqlHistory::TallyRollbacks(WallTime since, WallTime until) {
  return database_->Guard([&]() -> Result<std::vector<RollbackTally>> {
    const std::string property = kRollbackProperty;
    const long long since_ms = ToMs(since);
    const long long until_ms = ToMs(until);
    std::string family;
    long long runs = 0, held = 0, lost = 0;
    soci::statement query =
        (sql().prepare << kRollbacks, soci::use(property, "property"), soci::use(since_ms, "since"),
         soci::use(until_ms, "until"), soci::into(family), soci::into(runs), soci::into(held),
         soci::into(lost));
    query.execute();
    std::vector<RollbackTally> tallies;
    while (query.fetch()) tallies.push_back({family, runs, held, lost});
    return tallies;
  });
}

}  // namespace rharness
