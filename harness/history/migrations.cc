// The steps of the schema, in SQL that SQLite and PostgreSQL share.
#include "harness/history/migrations.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "harness/history/known_words.h"
#include "harness/history/records.h"
#include "harness/history/signed_tables.h"

namespace rharness {
namespace {

void Append(const Statements& more, Statements* statements) {
  statements->insert(statements->end(), more.begin(), more.end());
}

Statements RecordTables() {
  return {
      "CREATE TABLE rharness_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
      "INSERT INTO rharness_meta (name, value) VALUES ('schema_version', '0')",
      "CREATE TABLE runs (run_id TEXT PRIMARY KEY NOT NULL, family TEXT NOT NULL, "
      "configuration TEXT NOT NULL, declared TEXT NOT NULL, started_ms BIGINT NOT NULL, "
      "duration_seconds DOUBLE PRECISION NOT NULL, added_ms BIGINT NOT NULL, "
      "sha256 TEXT NOT NULL)",
      // Apart from runs: listing must not read through a million bodies.
      "CREATE TABLE manifests (run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs (run_id), "
      "body TEXT NOT NULL)",
      "CREATE TABLE drills (drill_id TEXT PRIMARY KEY NOT NULL, started_ms BIGINT NOT NULL)",
      "CREATE TABLE reruns (drill_id TEXT NOT NULL REFERENCES drills (drill_id), "
      "run_id TEXT NOT NULL REFERENCES runs (run_id), rerun BIGINT NOT NULL, "
      "outcome TEXT NOT NULL, wall_seconds DOUBLE PRECISION NOT NULL, "
      "evidence_sha256 TEXT NOT NULL, PRIMARY KEY (drill_id, run_id, rerun))",
      "CREATE TABLE verdicts (drill_id TEXT NOT NULL REFERENCES drills (drill_id), "
      "run_id TEXT NOT NULL REFERENCES runs (run_id), verdict TEXT NOT NULL, "
      "decided_ms BIGINT NOT NULL, reruns BIGINT NOT NULL, reasons TEXT NOT NULL, "
      "PRIMARY KEY (drill_id, run_id))",
      "CREATE TABLE retirements (run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs (run_id), "
      "reason TEXT NOT NULL, retired_ms BIGINT NOT NULL)",
      "CREATE INDEX runs_by_start ON runs (started_ms, run_id)",
      "CREATE INDEX runs_by_family ON runs (family, started_ms, run_id)",
      "CREATE INDEX verdicts_by_run ON verdicts (run_id, decided_ms, drill_id, verdict)",
  };
}

Statements AppendOnly(const Dialect& dialect) {
  const std::vector<AppendOnlyTable> tables = {
      {"runs", {"run_id"}},
      {"manifests", {"run_id"}},
      {"drills", {"drill_id"}},
      {"reruns", {"drill_id", "run_id", "rerun"}},
      {"verdicts", {"drill_id", "run_id"}},
      {"retirements", {"run_id"}},
  };
  Statements statements;
  for (const AppendOnlyTable& table : tables) {
    Append(dialect.refuse_changes(table), &statements);
  }
  return statements;
}

// "The last verdict of each run" over a million runs must not be a scan, so the one derived table
// holds it, and the database keeps it in step with the rows it is derived from.
Statements StandingTable(const Dialect& dialect) {
  const std::string last_verdict =
      "COALESCE((SELECT v.verdict FROM verdicts v WHERE v.run_id = {run} "
      "ORDER BY v.decided_ms DESC, v.drill_id DESC LIMIT 1), '')";
  const std::string verified =
      "(SELECT MAX(v.decided_ms) FROM verdicts v WHERE v.run_id = {run} "
      "AND v.verdict IN ('identical', 'equivalent', 'drifted'))";
  const auto of = [](std::string text, const std::string& run) {
    return text.replace(text.find("{run}"), 5, run);
  };
  Statements statements = {
      "CREATE TABLE standing (run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs (run_id), "
      "family TEXT NOT NULL, started_ms BIGINT NOT NULL, last_verdict TEXT NOT NULL, "
      "verified_ms BIGINT, retired BIGINT NOT NULL)",
      "INSERT INTO standing (run_id, family, started_ms, last_verdict, verified_ms, retired) "
      "SELECT r.run_id, r.family, r.started_ms, " +
          of(last_verdict, "r.run_id") + ", " + of(verified, "r.run_id") +
          ", (SELECT COUNT(*) FROM retirements t WHERE t.run_id = r.run_id) FROM runs r",
      "CREATE INDEX standing_next ON standing (retired, verified_ms, started_ms, run_id)",
      "CREATE INDEX standing_summary ON standing (retired, family, last_verdict)",
  };
  Append(dialect.after_insert(
             {"standing_of_run", "runs",
              "INSERT INTO standing (run_id, family, started_ms, last_verdict, verified_ms, "
              "retired) VALUES (NEW.run_id, NEW.family, NEW.started_ms, '', NULL, 0)"}),
         &statements);
  Append(dialect.after_insert(
             {"standing_of_verdict", "verdicts",
              "UPDATE standing SET last_verdict = " + of(last_verdict, "NEW.run_id") +
                  ", verified_ms = " + of(verified, "NEW.run_id") + " WHERE run_id = NEW.run_id"}),
         &statements);
  Append(dialect.after_insert({"standing_of_retirement", "retirements",
                               "UPDATE standing SET retired = 1 WHERE run_id = NEW.run_id"}),
         &statements);
  Append(dialect.refuse_deletion("standing"), &statements);
  return statements;
}

// The reasons of a changed verdict must outlive the folders of the drills, and the wait for a drill
// must be known for every run.
Statements SurroundingsTables(const Dialect& dialect) {
  Statements statements = {
      "CREATE TABLE surroundings (sha256 TEXT PRIMARY KEY NOT NULL, body TEXT NOT NULL)",
      "ALTER TABLE reruns ADD COLUMN surroundings_sha256 TEXT",
      "ALTER TABLE drills ADD COLUMN ended_ms BIGINT",
      "ALTER TABLE drills ADD COLUMN exit_code BIGINT",
      "CREATE INDEX drills_by_start ON drills (started_ms, drill_id)",
      "ALTER TABLE standing ADD COLUMN judged_ms BIGINT",
      "UPDATE standing SET judged_ms = (SELECT MAX(v.decided_ms) FROM verdicts v "
      "WHERE v.run_id = standing.run_id)",
  };
  Append(dialect.after_insert({"standing_judged", "verdicts",
                               "UPDATE standing SET judged_ms = NEW.decided_ms "
                               "WHERE run_id = NEW.run_id "
                               "AND (judged_ms IS NULL OR judged_ms < NEW.decided_ms)"}),
         &statements);
  Append(dialect.refuse_changes({"surroundings", {"sha256"}}), &statements);
  return statements;
}

// The derived table changes only to the values of the records.
Statements StandingStaysTrue(const Dialect& dialect) {
  return dialect.refuse_update_where(
      "standing",
      "NEW.run_id <> OLD.run_id OR NEW.family <> (SELECT r.family FROM runs r WHERE r.run_id = "
      "NEW.run_id) OR NEW.started_ms <> (SELECT r.started_ms FROM runs r WHERE r.run_id = "
      "NEW.run_id) OR NEW.retired <> (SELECT COUNT(*) FROM retirements t WHERE t.run_id = "
      "NEW.run_id) OR NEW.last_verdict <> COALESCE((SELECT v.verdict FROM verdicts v JOIN drills d "
      "ON d.drill_id = v.drill_id WHERE v.run_id = NEW.run_id ORDER BY d.sequence DESC LIMIT 1), "
      "'')");
}

// A later result of a resumed drill is a drill of its own that supersedes the earlier one; and
// entry order counts, whatever the clock showed.
Statements Order(const Dialect& dialect) {
  const std::string effective =
      "NOT EXISTS (SELECT 1 FROM drills n WHERE n.supersedes = v.drill_id)";
  const std::string of_run =
      "FROM verdicts v JOIN drills d ON d.drill_id = v.drill_id WHERE v.run_id = NEW.run_id ";
  Statements statements = {
      "ALTER TABLE drills ADD COLUMN sequence BIGINT",
      "ALTER TABLE drills ADD COLUMN supersedes TEXT",
      "CREATE TABLE drill_order AS SELECT d.drill_id AS drill_id, ROW_NUMBER() OVER (ORDER BY "
      "COALESCE((SELECT MAX(v.decided_ms) FROM verdicts v WHERE v.drill_id = d.drill_id), "
      "d.started_ms), d.drill_id) AS place FROM drills d",
      "CREATE UNIQUE INDEX drill_order_by_id ON drill_order (drill_id)",
  };
  const auto add = [&](const Statements& more) { Append(more, &statements); };
  add(dialect.drop_trigger("drills_no_update", "drills"));
  add(
      {"UPDATE drills SET sequence = (SELECT o.place FROM drill_order o "
       "WHERE o.drill_id = drills.drill_id)",
       "DROP TABLE drill_order", "CREATE UNIQUE INDEX drills_by_sequence ON drills (sequence)",
       "CREATE UNIQUE INDEX drills_by_superseded ON drills (supersedes)"});
  add(dialect.drop_trigger("standing_of_verdict", "verdicts"));
  add(dialect.drop_trigger("standing_judged", "verdicts"));
  add(dialect.after_insert(
      {"standing_of_verdict", "verdicts",
       "UPDATE standing SET last_verdict = NEW.verdict, judged_ms = NEW.decided_ms, "
       "verified_ms = (SELECT v.decided_ms " +
           of_run + "AND v.verdict IN ('identical', 'equivalent', 'drifted') AND " + effective +
           " ORDER BY d.sequence DESC LIMIT 1) WHERE run_id = NEW.run_id"}));
  add({dialect.refuse_changes({"drills", {"drill_id"}}).front()});
  add(StandingStaysTrue(dialect));
  return statements;
}

// Runs that differ by rounding alone, so that how far it carries is measured once.
Statements Replicates(const Dialect& dialect) {
  Statements statements = {
      "CREATE TABLE replicates (configuration TEXT NOT NULL, stack TEXT NOT NULL, "
      "run_id TEXT NOT NULL REFERENCES runs (run_id), replicate BIGINT NOT NULL, "
      "made_ms BIGINT NOT NULL, evidence_sha256 TEXT NOT NULL, sha256 TEXT NOT NULL, "
      "body TEXT NOT NULL, PRIMARY KEY (configuration, stack, run_id, replicate))",
  };
  Append(dialect.refuse_changes({"replicates", {"configuration", "stack", "run_id", "replicate"}}),
         &statements);
  return statements;
}

// What runs that differ in their seeds alone came to together, drill by drill.
Statements FamilyVerdictTable(const Dialect& dialect) {
  Statements statements = {
      "CREATE TABLE family_verdicts (drill_id TEXT NOT NULL REFERENCES drills (drill_id), "
      "family TEXT NOT NULL, configuration TEXT NOT NULL, name TEXT NOT NULL, "
      "verdict TEXT NOT NULL, decided_ms BIGINT NOT NULL, runs BIGINT NOT NULL, "
      "reasons TEXT NOT NULL, PRIMARY KEY (drill_id, configuration))",
      "CREATE INDEX family_verdicts_by_family ON family_verdicts (family, drill_id)",
  };
  Append(dialect.refuse_changes({"family_verdicts", {"drill_id", "configuration"}}), &statements);
  return statements;
}

// Which drill works on which runs now: the only rows that come and go. A run has one claim at most.
Statements ClaimTables() {
  return {
      "CREATE TABLE leases (drill_id TEXT PRIMARY KEY NOT NULL, host TEXT NOT NULL, "
      "pid BIGINT NOT NULL, process TEXT NOT NULL, since_ms BIGINT NOT NULL, until_ms BIGINT NOT "
      "NULL)",
      "CREATE TABLE claims (run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs (run_id), "
      "drill_id TEXT NOT NULL REFERENCES leases (drill_id) ON DELETE CASCADE)",
      "CREATE INDEX claims_by_drill ON claims (drill_id)",
  };
}

// The first text of each environment among the texts of reruns' surroundings. Such a text has the
// digests of its parts, `{"data":"...","environment.hardware":"...", ...}`.
Statements FirstOfEachEnvironment(const Dialect& dialect) {
  std::string parts;
  for (const std::string_view name : kEnvironmentParts) {
    const std::string key = fmt::format("\"{}\":\"", name);
    const std::string at = fmt::format("{}(u.body, '{}')", dialect.position, key);
    parts += fmt::format("{}CASE WHEN {} > 0 THEN substr(u.body, {} + {}, 64) ELSE '' END",
                         parts.empty() ? "" : ", ", at, at, key.size());
  }
  return {fmt::format("CREATE TABLE first_of_environment AS SELECT u.sha256 AS sha256, "
                      "MIN(u.sha256) OVER (PARTITION BY {}) AS first_sha256 FROM surroundings u "
                      "WHERE u.sha256 IN (SELECT surroundings_sha256 FROM reruns)",
                      parts),
          "CREATE UNIQUE INDEX first_of_environment_by_sha256 ON first_of_environment (sha256)"};
}

// The environment of each run's last verification, so that changes since can be listed for a
// hundred thousand runs at once. Older reruns have it among the rest of their surroundings.
Statements EnvironmentColumns(const Dialect& dialect) {
  const auto last = [](const char* column, const char* run) {
    return fmt::format(
        "(SELECT v.{} FROM verdicts v JOIN drills d ON d.drill_id = v.drill_id WHERE v.run_id = {} "
        "AND v.verdict IN ('identical', 'equivalent', 'drifted') AND NOT EXISTS (SELECT 1 FROM "
        "drills n WHERE n.supersedes = v.drill_id) ORDER BY d.sequence DESC LIMIT 1)",
        column, run);
  };
  const auto environment = [&](const char* run) {
    return fmt::format(
        "(SELECT COALESCE(e.environment_sha256, e.surroundings_sha256) FROM reruns e WHERE "
        "e.run_id = {} AND e.drill_id = {} AND e.surroundings_sha256 IS NOT NULL ORDER BY e.rerun "
        "LIMIT 1)",
        run, last("drill_id", run));
  };
  Statements statements = {"ALTER TABLE reruns ADD COLUMN environment_sha256 TEXT",
                           "ALTER TABLE standing ADD COLUMN environment_sha256 TEXT"};
  const auto add = [&](const Statements& more) { Append(more, &statements); };
  add(FirstOfEachEnvironment(dialect));
  // For this column only, whatever the records have in the others.
  add(dialect.drop_trigger("standing_no_update", "standing"));
  add(
      {"UPDATE standing SET environment_sha256 = (SELECT f.first_sha256 FROM first_of_environment "
       "f WHERE f.sha256 = " +
           environment("standing.run_id") + ")",
       "DROP TABLE first_of_environment"});
  add(StandingStaysTrue(dialect));
  add(dialect.drop_trigger("standing_of_verdict", "verdicts"));
  add(dialect.after_insert(
      {"standing_of_verdict", "verdicts",
       fmt::format("UPDATE standing SET last_verdict = NEW.verdict, judged_ms = NEW.decided_ms, "
                   "verified_ms = {}, environment_sha256 = {} WHERE run_id = NEW.run_id",
                   last("decided_ms", "NEW.run_id"), environment("NEW.run_id"))}));
  return statements;
}

// Whether what a run needs can still be had, as `rharness check --available` was told each time.
Statements RebuildAnswers(const Dialect& dialect) {
  Statements statements = {
      "CREATE TABLE rebuild_answers (run_id TEXT NOT NULL REFERENCES runs (run_id), "
      "asked_ms BIGINT NOT NULL, state TEXT NOT NULL, body TEXT NOT NULL, "
      "PRIMARY KEY (run_id, asked_ms))",
  };
  Append(dialect.refuse_changes({"rebuild_answers", {"run_id", "asked_ms"}}), &statements);
  return statements;
}

// Drills' verdicts on properties that need no recorded result.
Statements PropertyVerdictTable(const Dialect& dialect) {
  Statements statements = {
      "CREATE TABLE property_verdicts (drill_id TEXT NOT NULL, "
      "run_id TEXT NOT NULL REFERENCES runs (run_id), property TEXT NOT NULL, state TEXT NOT NULL, "
      "decided_ms BIGINT NOT NULL, reason TEXT NOT NULL, sequence BIGINT NOT NULL, "
      "PRIMARY KEY (drill_id, run_id, property))",
      "CREATE INDEX property_verdicts_by_run ON property_verdicts (run_id, sequence)",
  };
  Append(dialect.refuse_changes({"property_verdicts", {"drill_id", "run_id", "property"}}),
         &statements);
  return statements;
}

// What indicators count beside the verdicts.
Statements VerdictMeasuresTable(const Dialect& dialect) {
  Statements statements = {
      "CREATE TABLE verdict_measures (drill_id TEXT NOT NULL REFERENCES drills (drill_id), "
      "run_id TEXT NOT NULL REFERENCES runs (run_id), node TEXT NOT NULL, weights_equal BIGINT, "
      "margins DOUBLE PRECISION, warnings BIGINT, data_had BIGINT, not_recorded BIGINT, "
      "PRIMARY KEY (drill_id, run_id))",
  };
  Append(dialect.refuse_changes({"verdict_measures", {"drill_id", "run_id"}}), &statements);
  return statements;
}

// Further search keys of a run: its commit, its image as one text, spelled as by LookupImage in
// new_runs.cc, and its last verdict.
Statements Lookups(const Dialect& dialect) {
  const auto member = [&](const char* outer, const char* inner) {
    return fmt::format("COALESCE({}, '')", dialect.json_text("m.body", outer, inner));
  };
  const auto after = [&](const char* sign, const char* inner) {
    return fmt::format("CASE WHEN {0} = '' THEN '' ELSE '{1}' || {0} END", member("image", inner),
                       sign);
  };
  const std::string registry =
      fmt::format("CASE WHEN {0} = '' THEN '' ELSE {0} || '/' END", member("image", "registry"));
  Statements statements = {
      "CREATE TABLE lookups (run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs (run_id), "
      "code_commit TEXT NOT NULL, image TEXT NOT NULL)",
      fmt::format("INSERT INTO lookups (run_id, code_commit, image) SELECT m.run_id, {}, {} || {} "
                  "|| {} || {} || {} FROM manifests m",
                  member("code", "commit"), registry, member("image", "repository"),
                  member("image", "location"), after(":", "tag"), after("@", "digest")),
      "CREATE INDEX lookups_by_commit ON lookups (code_commit, run_id)",
      "CREATE INDEX lookups_by_image ON lookups (image, run_id)",
      "CREATE INDEX standing_by_verdict ON standing (retired, last_verdict, judged_ms, run_id)",
  };
  Append(dialect.refuse_changes({"lookups", {"run_id"}}), &statements);
  return statements;
}

// Words that a later version may add, in an index of nothing else: it is empty, so that the check
// is cheap for a history of any size. A version that adds a word drops its index and makes a new
// one.
Statements UnknownWords() {
  Statements statements;
  for (const KnownWords& known : kKnownWords) statements.push_back(UnknownWordIndex(known));
  return statements;
}

// In the dialect's words: text has one order everywhere, in any language of a server.
Statements WithTextOf(const Dialect& dialect, Statements statements) {
  for (std::string& statement : statements) {
    if (!statement.starts_with("CREATE TABLE") && !statement.starts_with("ALTER TABLE")) continue;
    constexpr std::string_view kText = " TEXT";
    for (std::size_t at = statement.find(kText); at != std::string::npos;
         at = statement.find(kText, at + 1 + dialect.text.size())) {
      statement.replace(at + 1, kText.size() - 1, dialect.text);
    }
  }
  return statements;
}

}  // namespace

std::vector<Migration> Migrations(const Dialect& dialect) {
  std::vector<Migration> steps = {
      {1, "records", RecordTables()},
      {2, "append_only", AppendOnly(dialect)},
      {3, "standing", StandingTable(dialect)},
      {4, "surroundings", SurroundingsTables(dialect)},
      {5, "order", Order(dialect)},
      {6, "replicates", Replicates(dialect)},
      {7, "family_verdicts", FamilyVerdictTable(dialect)},
      {8, "claims", ClaimTables()},
      {9, "verified_environments", EnvironmentColumns(dialect)},
      {10, "rebuild_answers", RebuildAnswers(dialect)},
      {11, "property_verdicts", PropertyVerdictTable(dialect)},
      {12, "verdict_measures", VerdictMeasuresTable(dialect)},
      {13, "attestations", AttestationTable(dialect)},
      {14, "approvals", ApprovalTables(dialect)},
      {15, "lookups", Lookups(dialect)},
      {16, "unknown_words", UnknownWords()},
  };
  Statements& first = steps.front().statements;
  first.insert(first.begin(), dialect.prologue.begin(), dialect.prologue.end());
  for (Migration& step : steps) {
    step.statements = WithTextOf(dialect, std::move(step.statements));
  }
  return steps;
}

int NewestSchema() { return Migrations(SqliteDialect()).back().version; }

}  // namespace rharness
