// Row Q3: what families keep of their objectives, told from a million verdicts, beside the same
// figures asked of the sqlite3 shell in plain SQL.
#include <fmt/format.h>

#include <numeric>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "tests/bench/bench.h"

namespace rharness::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kVerdicts = 1'000'000;

// What counts since so many days ago.
std::string Since(double days) {
  return fmt::format(
      "v.decided_ms >= (strftime('%s', 'now') - {:.0f}) * 1000 AND v.verdict <> 'infra' AND "
      "v.drill_id "
      "NOT IN (SELECT supersedes FROM drills WHERE supersedes IS NOT NULL)",
      days * 86400.0);
}

// Of each run the last of these rows.
std::string Last(const std::string& columns, const std::string& more, double days) {
  return fmt::format(
      "(SELECT {}, ROW_NUMBER() OVER (PARTITION BY v.run_id ORDER BY d.sequence DESC) AS place "
      "FROM "
      "verdicts v JOIN drills d USING (drill_id) {} WHERE {}) w JOIN standing s USING (run_id) "
      "WHERE "
      "w.place = 1 AND s.retired = 0",
      columns, more, Since(days));
}

// The rate of each family, as one would type it.
std::string Rates(double days) {
  return fmt::format("SELECT s.family, w.verdict, COUNT(*) FROM {} GROUP BY 1, 2;\n",
                     Last("v.run_id, v.verdict", "", days));
}

// All that `rharness slo` tells, a statement a figure.
std::string AllFigures() {
  std::string sql;
  for (const double days : {28.0, 7.0, 1.0, 0.25}) sql += Rates(days);
  sql += fmt::format(
      "SELECT s.family, SUM(t.bad > 0 AND t.good > 0), SUM(t.bad + t.good > 1) FROM (SELECT "
      "v.run_id, SUM(v.verdict IN ('identical', 'equivalent')) AS good, SUM(v.verdict IN "
      "('drifted', "
      "'failed')) AS bad FROM verdicts v WHERE {} GROUP BY v.run_id) t JOIN standing s USING "
      "(run_id) "
      "WHERE s.retired = 0 GROUP BY 1;\n",
      Since(28));
  sql += fmt::format(
      "SELECT s.family, COUNT(*), SUM(u.wall_seconds), AVG(u.wall_seconds / r.duration_seconds) "
      "FROM "
      "verdicts v JOIN reruns u USING (drill_id, run_id) JOIN runs r USING (run_id) JOIN standing "
      "s "
      "USING (run_id) WHERE s.retired = 0 AND {} GROUP BY 1;\n",
      Since(28));
  sql += fmt::format(
      "SELECT s.family, SUM(w.weights_equal), SUM(w.margins * w.margins), SUM(w.warnings > 0), "
      "SUM(w.data_had), SUM(w.not_recorded = 0) FROM {} GROUP BY 1;\n",
      Last("m.*", "JOIN verdict_measures m USING (drill_id, run_id)", 28));
  sql += fmt::format(
      "SELECT s.family, COUNT(DISTINCT t.run_id), SUM(t.bad > 0 AND t.good > 0) FROM (SELECT "
      "v.run_id, SUM(v.verdict IN ('identical', 'equivalent')) AS good, SUM(v.verdict IN "
      "('drifted', 'failed')) AS bad, COUNT(*) AS drills FROM verdicts v JOIN (SELECT drill_id, "
      "run_id, MIN(surroundings_sha256) AS environment FROM reruns GROUP BY 1, 2 HAVING "
      "MIN(surroundings_sha256) = MAX(surroundings_sha256)) u ON u.drill_id = v.drill_id AND "
      "u.run_id = v.run_id WHERE {} GROUP BY "
      "v.run_id, u.environment) t JOIN standing s USING (run_id) WHERE t.drills > 1 AND "
      "s.retired = 0 GROUP BY 1;\n",
      Since(28));
  return sql +
         "SELECT family, COUNT(*), SUM(verified_ms IS NULL), MIN(verified_ms) FROM standing WHERE "
         "retired = 0 GROUP BY 1;\n";
}

// Both count as many runs that reproduce.
Status CheckAlike(const std::vector<std::string>& slo, const fs::path& history,
                  const fs::path& scratch) {
  std::vector<std::string> json = slo;
  json.push_back("--json");
  ASSIGN_OR_RETURN([[maybe_unused]] const Usage ours, RunChild(json, scratch / "slo.json"));
  const std::string good =
      fmt::format("SELECT COUNT(*) FROM {} AND w.verdict IN ('identical', 'equivalent');",
                  Last("v.run_id, v.verdict", "", 28));
  ASSIGN_OR_RETURN([[maybe_unused]] const Usage peer,
                   RunChild({"sqlite3", history.string(), good}, scratch / "good"));
  ASSIGN_OR_RETURN(const Json report, ReadJsonFile(scratch / "slo.json"));
  ASSIGN_OR_RETURN(const std::string text, ReadFile(scratch / "good"));
  double sum = 0.0;
  for (const Json& family : report.Find("families")->AsArray()) {
    sum += family.Find("good")->ToDouble().value_or(0.0);
  }
  if (sum == std::stod(text)) return {};
  return InternalError(fmt::format("{} runs reproduce, and sqlite3 counts {}", sum, text));
}

Result<Measured> TellObjectives(const Context& context) {
  if (!HasProgram("sqlite3")) return Unsupported("sqlite3 is not installed");
  const fs::path history = context.scratch / "verdicts.db";
  ASSIGN_OR_RETURN([[maybe_unused]] const Usage filled,
                   RunChild({(context.bin / "rharness-overhead").string(), "verdicts",
                             history.string(), std::to_string(kVerdicts)}));
  const std::vector<std::string> slo = {(context.bin / "rharness").string(), "slo", "--history",
                                        history.string()};
  RETURN_IF_ERROR(CheckAlike(slo, history, context.scratch));
  ASSIGN_OR_RETURN(const auto usages, Interleave({slo,
                                                  {"sqlite3", history.string(), AllFigures()},
                                                  {"sqlite3", history.string(), Rates(28)}},
                                                 context.rounds));
  RETURN_IF_ERROR(RemoveTree(history));
  const double ours = MedianCpu(usages[0]), peer = MedianCpu(usages[1]);
  const double rates = MedianCpu(usages[2]);
  return Measured{
      ours / peer, fmt::format("{:.2f} s", ours), fmt::format("sqlite3 {:.2f} s", peer),
      fmt::format("beside the rates of one window alone, {:.2f} s: {:.2f}", rates, ours / rates)};
}

}  // namespace

std::vector<Row> ObjectiveRows() {
  return {{"Q3", "slo over 1,000,000 verdicts, CPU", Goal::kAtMost, 1.2, "", TellObjectives}};
}

}  // namespace rharness::bench
