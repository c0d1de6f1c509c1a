// The catalogue as lines, and our own statements as the same lines.
#include "harness/history/postgresql_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "harness/base/result.h"
#include "harness/history/migrations.h"

namespace rharness {
namespace {

// For relations c in the schema s, whose table of versions has the owner s.owner.
constexpr const char* kRelations =
    "SELECT 'relation ' || c.relname || ': ' || CASE c.relkind WHEN 'r' THEN 'table' ELSE 'no "
    "table' END || CASE c.relpersistence WHEN 'p' THEN '' ELSE ', not permanent' END || CASE WHEN "
    "c.relrowsecurity OR c.relforcerowsecurity THEN ', row security' ELSE '' END || CASE WHEN "
    "EXISTS (SELECT 1 FROM pg_rewrite w WHERE w.ev_class = c.oid) THEN ', rules' ELSE '' END || "
    "CASE WHEN EXISTS (SELECT 1 FROM pg_inherits h WHERE c.oid IN (h.inhrelid, h.inhparent)) THEN "
    "', inheritance' ELSE '' END || CASE WHEN c.relowner <> s.owner THEN ', owned by another' ELSE "
    "'' END || CASE WHEN EXISTS (SELECT 1 FROM pg_trigger g WHERE g.tgrelid = c.oid AND "
    "g.tgisinternal AND g.tgenabled <> 'O') THEN ', keys not enforced' ELSE '' END "
    "FROM s JOIN pg_class c ON c.relnamespace = s.oid WHERE c.relkind NOT IN ('i', 'I', 't')";

constexpr const char* kColumns =
    "SELECT 'column ' || a.attname || ' of ' || c.relname || ': ' || format_type(a.atttypid, "
    "a.atttypmod) || CASE WHEN l.collname IS NULL THEN '' ELSE ' collate ' || l.collname END || "
    "CASE WHEN a.attnotnull THEN ' not null' ELSE '' END || CASE WHEN a.atthasdef OR a.attidentity "
    "<> '' OR a.attgenerated <> '' THEN ' default' ELSE '' END FROM s JOIN pg_class c ON "
    "c.relnamespace = s.oid AND c.relkind NOT IN ('i', 'I', 't') JOIN pg_attribute a ON a.attrelid "
    "= c.oid AND a.attnum > 0 AND NOT a.attisdropped LEFT JOIN pg_collation l ON l.oid = "
    "a.attcollation";

constexpr const char* kIndexes =
    "SELECT 'index ' || x.relname || ' on ' || c.relname || ': ' || CASE WHEN i.indisunique THEN "
    "'unique ' ELSE '' END || '(' || (SELECT string_agg(COALESCE(a.attname, 'an expression'), ', ' "
    "ORDER BY k.place) FROM unnest(CAST(i.indkey AS int2[])) WITH ORDINALITY k(attnum, place) LEFT "
    "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum AND k.attnum > 0) || ')' || "
    "CASE WHEN i.indpred IS NULL THEN '' ELSE ' where' END || CASE WHEN i.indisvalid THEN '' ELSE "
    "' not valid' END FROM s JOIN pg_class c ON c.relnamespace = s.oid JOIN pg_index i ON "
    "i.indrelid = c.oid JOIN pg_class x ON x.oid = i.indexrelid WHERE c.relkind <> 't'";

constexpr const char* kConstraints =
    "SELECT 'constraint on ' || c.relname || ': ' || pg_get_constraintdef(t.oid) || CASE WHEN "
    "t.convalidated THEN '' ELSE ' not valid' END FROM s JOIN pg_class c ON c.relnamespace = s.oid "
    "JOIN pg_constraint t ON t.conrelid = c.oid WHERE t.contype <> 'n'";

// Bits of tgtype: 1 a row, 2 before, 4 insert, 8 delete, 16 update, 32 truncate.
constexpr const char* kTriggers =
    "SELECT 'trigger ' || g.tgname || ' on ' || c.relname || ': ' || g.tgtype || ' calls ' || "
    "p.proname || CASE WHEN p.pronamespace = s.oid THEN '' ELSE ' elsewhere' END || CASE "
    "g.tgenabled WHEN 'O' THEN '' ELSE ' not enabled' END || CASE WHEN g.tgqual IS NULL AND "
    "COALESCE(array_length(CAST(g.tgattr AS int2[]), 1), 0) = 0 THEN '' ELSE ' sometimes' END "
    "FROM s JOIN pg_class c ON c.relnamespace = s.oid JOIN pg_trigger g ON g.tgrelid = c.oid AND "
    "NOT g.tgisinternal JOIN pg_proc p ON p.oid = g.tgfoid";

constexpr const char* kFunctions =
    "SELECT 'function ' || p.proname || ': ' || l.lanname || CASE WHEN p.prosecdef THEN ', of its "
    "owner''s rights' ELSE '' END || CASE WHEN p.proconfig IS NULL THEN '' ELSE ', configured' END "
    "|| CASE WHEN p.proowner <> s.owner THEN ', owned by another' ELSE '' END || CASE WHEN "
    "p.prorettype = CAST('pg_catalog.trigger' AS regtype) THEN '' ELSE ', no trigger' END || ' ' "
    "|| p.prosrc FROM s JOIN pg_proc p ON p.pronamespace = s.oid JOIN pg_language l ON l.oid = "
    "p.prolang";

constexpr const char* kOperators =
    "SELECT 'operator ' || o.oprname || ': ' FROM s JOIN pg_operator o ON o.oprnamespace = s.oid";

// A schema as it grows, statement by statement.
class Schema {
 public:
  void Apply(std::string_view statement);
  std::vector<std::string> Lines() const;

 private:
  void CreateTable(std::string_view rest);
  void AddColumn(const std::string& table, std::string_view item);
  void AddItem(const std::string& table, std::string_view item);
  void CreateIndex(std::string_view rest, const char* unique);
  void CreateFunction(std::string_view rest);
  void CreateTrigger(std::string_view rest);
  void DropTable(const std::string& table);

  // The lines of each table; "" has those of none.
  std::map<std::string, std::vector<std::string>> tables_;
  std::map<std::string, std::pair<std::string, std::string>> triggers_;  // to table and line
  std::map<std::string, std::string> functions_;
};

bool Take(std::string_view* text, std::string_view prefix) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// The next word, which ends at a blank or a parenthesis; removes following blanks.
std::string Word(std::string_view* text) {
  const std::size_t end = std::min(text->find_first_of(" ("), text->size());
  std::string word(text->substr(0, end));
  text->remove_prefix(end);
  while (text->starts_with(' ')) text->remove_prefix(1);
  return word;
}

// "(a, b (c)) d" gives "a, b (c)".
std::string_view Inside(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return text.substr(1, i - 1);
  }
  Abort("a statement of a migration without its closing parenthesis");
}

std::vector<std::string_view> Items(std::string_view text) {
  std::vector<std::string_view> items;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != ',' || depth != 0)) continue;
    items.push_back(text.substr(start, i - start));
    start = std::min(i + 2, text.size());
  }
  return items;
}

void Schema::AddColumn(const std::string& table, std::string_view item) {
  std::vector<std::string>& lines = tables_[table];
  const bool key = item.find("PRIMARY KEY") != std::string_view::npos;
  const bool not_null = key || item.find("NOT NULL") != std::string_view::npos;
  const std::string name = Word(&item);
  const char* type = Take(&item, "TEXT COLLATE \"C\"") ? "text collate C"
                     : Take(&item, "BIGINT")           ? "bigint"
                     : Take(&item, "DOUBLE PRECISION") ? "double precision"
                                                       : nullptr;
  if (type == nullptr) Abort("a column of a migration that is of no known type");
  lines.push_back(
      fmt::format("column {} of {}: {}{}", name, table, type, not_null ? " not null" : ""));
  if (key) AddItem(table, fmt::format("PRIMARY KEY ({})", name));
  constexpr std::string_view kReferences = "REFERENCES ";
  const std::size_t at = item.find(kReferences);
  if (at == std::string_view::npos) return;
  item.remove_prefix(at + kReferences.size());
  const std::string other = Word(&item);
  const std::string column(Inside(item));
  const bool cascades = item.find("ON DELETE CASCADE") != std::string_view::npos;
  lines.push_back(fmt::format("constraint on {}: FOREIGN KEY ({}) REFERENCES {}({}){}", table, name,
                              other, column, cascades ? " ON DELETE CASCADE" : ""));
}

void Schema::AddItem(const std::string& table, std::string_view item) {
  if (!item.starts_with("PRIMARY KEY")) return AddColumn(table, item);
  const std::string columns(Inside(item.substr(item.find('('))));
  tables_[table].push_back(fmt::format("constraint on {}: PRIMARY KEY ({})", table, columns));
  tables_[table].push_back(fmt::format("index {0}_pkey on {0}: unique ({1})", table, columns));
}

void Schema::CreateTable(std::string_view rest) {
  const std::string table = Word(&rest);
  tables_[table].push_back(fmt::format("relation {}: table", table));
  if (!rest.starts_with('(')) return;  // one that lasts no longer than its step
  for (const std::string_view item : Items(Inside(rest))) AddItem(table, item);
}

void Schema::CreateIndex(std::string_view rest, const char* unique) {
  const std::string name = Word(&rest);
  Word(&rest);  // ON
  const std::string table = Word(&rest);
  const char* where = rest.find(" WHERE ") == rest.npos ? "" : " where";
  tables_[table].push_back(
      fmt::format("index {} on {}: {}({}){}", name, table, unique, Inside(rest), where));
}

void Schema::CreateFunction(std::string_view rest) {
  const std::string name = Word(&rest);
  const std::size_t begin = rest.find("$$") + 2;
  functions_[name] =
      fmt::format("function {}: plpgsql {}", name, rest.substr(begin, rest.rfind("$$") - begin));
}

void Schema::CreateTrigger(std::string_view rest) {
  const std::string name = Word(&rest);
  int type = Word(&rest) == "BEFORE" ? 2 : 0;
  const std::string event = Word(&rest);
  type += event == "INSERT" ? 4 : event == "DELETE" ? 8 : event == "UPDATE" ? 16 : 32;
  Word(&rest);  // ON
  const std::string table = Word(&rest);
  if (rest.find("FOR EACH ROW") != std::string_view::npos) type += 1;
  rest.remove_prefix(rest.rfind(' ') + 1);
  triggers_[name] = {table, fmt::format("trigger {} on {}: {} calls {}", name, table, type,
                                        rest.substr(0, rest.find('(')))};
}

void Schema::DropTable(const std::string& table) {
  tables_.erase(table);
  std::erase_if(triggers_, [&](const auto& one) { return one.second.first == table; });
}

void Schema::Apply(std::string_view rest) {
  if (Take(&rest, "INSERT ") || Take(&rest, "UPDATE ")) return;
  if (Take(&rest, "CREATE TABLE ")) return CreateTable(rest);
  if (Take(&rest, "CREATE INDEX ")) return CreateIndex(rest, "");
  if (Take(&rest, "CREATE UNIQUE INDEX ")) return CreateIndex(rest, "unique ");
  if (Take(&rest, "CREATE FUNCTION ")) return CreateFunction(rest);
  if (Take(&rest, "CREATE TRIGGER ")) return CreateTrigger(rest);
  if (Take(&rest, "DROP TABLE ")) return DropTable(std::string(rest));
  if (Take(&rest, "DROP TRIGGER ")) {
    triggers_.erase(Word(&rest));
    return;
  }
  if (Take(&rest, "DROP FUNCTION IF EXISTS ")) {
    functions_.erase(Word(&rest));
    return;
  }
  if (!Take(&rest, "ALTER TABLE ")) Abort("a statement of a migration of no known form");
  const std::string table = Word(&rest);
  if (!Take(&rest, "ADD COLUMN ")) Abort("a table that a migration changes in no known way");
  AddColumn(table, rest);
}

std::vector<std::string> Schema::Lines() const {
  std::vector<std::string> lines;
  for (const auto& [table, parts] : tables_) lines.insert(lines.end(), parts.begin(), parts.end());
  for (const auto& [name, part] : triggers_) lines.push_back(part.second);
  for (const auto& [name, part] : functions_) lines.push_back(part);
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace

std::string PostgresqlSchemaQuery() {
  constexpr const char* kParts[] = {kRelations, kColumns,   kIndexes,  kConstraints,
                                    kTriggers,  kFunctions, kOperators};
  return fmt::format(
      "WITH s AS (SELECT n.oid, COALESCE((SELECT m.relowner FROM pg_class m WHERE m.relnamespace = "
      "n.oid AND m.relname = '{}'), n.nspowner) AS owner FROM pg_namespace n WHERE n.nspname = "
      "'{}') {}",
      kMetaTable, kHistorySchema, fmt::join(kParts, " UNION ALL "));
}

std::vector<std::string> PostgresqlSchemaAt(int version) {
  Schema schema;
  for (const Migration& step : Migrations(PostgresqlDialect())) {
    if (step.version > version) break;
    for (const std::string& statement : step.statements) schema.Apply(statement);
  }
  return schema.Lines();
}

}  // namespace rharness
