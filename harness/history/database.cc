// Transactions, migrations and the check of a schema, alike for every database.
#include "harness/history/database.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "harness/history/known_words.h"
#include "harness/history/migrations.h"

namespace rharness {
namespace {

std::vector<std::string> TableNames(soci::session& sql, const Dialect& dialect) {
  std::vector<std::string> names;
  std::string name;
  soci::statement query = (sql.prepare << dialect.list_tables, soci::into(name));
  query.execute();
  while (query.fetch()) names.push_back(name);
  return names;
}

}  // namespace

Database::Transaction::Transaction(soci::session& sql, const Statements& begin) : sql_(sql) {
  try {
    for (const std::string& statement : begin) {
      sql_ << statement;
      open_ = true;
    }
  } catch (const std::exception&) {
    Rollback();
    throw;
  }
}

Database::Transaction::~Transaction() { Rollback(); }

void Database::Transaction::Rollback() {
  if (!open_) return;
  open_ = false;
  try {
    sql_ << "ROLLBACK";
  } catch (const std::exception&) {
    // SQLite rolls back by itself after some errors, as does a server with a lost connection; then
    // there is nothing left to do.
  }
}

void Database::Transaction::Commit() {
  sql_ << "COMMIT";
  open_ = false;
}

std::string Database::MessageOf(const std::exception& exception) {
  const auto* error = dynamic_cast<const soci::soci_error*>(&exception);
  return error != nullptr ? error->get_error_message() : exception.what();
}

Result<int> Database::SchemaVersion() {
  const std::vector<std::string> tables = TableNames(sql_, dialect_);
  if (tables.empty()) return 0;
  if (std::find(tables.begin(), tables.end(), kMetaTable) == tables.end()) {
    return InvalidInput(fmt::format("a database of something else (no table {}); expected "
                                    "a history or a new one",
                                    kMetaTable),
                        name_);
  }
  std::string text;
  sql_ << "SELECT value FROM rharness_meta WHERE name = 'schema_version'", soci::into(text);
  int version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || version < 1) {
    return IntegrityError(fmt::format("the schema's version is '{}', which is no number", text),
                          name_);
  }
  if (version > NewestSchema()) {
    return Unsupported(fmt::format("schema rharness.history.database/v{} is newer than "
                                   "rharness.history.database/v{}, the newest "
                                   "that this version knows; use a newer rharness",
                                   version, NewestSchema()),
                       name_);
  }
  return version;
}

// The database may be untrusted: a view in place of a table, or an additional trigger, would run
// with every statement of ours.
Status Database::CheckSchema(int version) {
  const std::vector<std::string> expected = SchemaAt(version);
  const std::vector<std::string> seen = SchemaSeen();
  const auto differs = [this](std::string_view what, const std::string& part) {
    return IntegrityError(fmt::format("its schema is not that of a history: {} '{}'", what,
                                      part.substr(0, part.find(':'))),
                          name_);
  };
  for (const std::string& part : seen) {
    if (!std::binary_search(expected.begin(), expected.end(), part)) return differs("has", part);
  }
  for (const std::string& part : expected) {
    if (!std::binary_search(seen.begin(), seen.end(), part)) return differs("lacks", part);
  }
  return {};
}

Status Database::CheckWords() {
  for (const KnownWords& known : kKnownWords) {
    std::string about, word;
    sql_ << UnknownWordQuery(known), soci::into(about), soci::into(word);
    if (sql_.got_data()) return UnknownWord(known, about, word, name_);
  }
  return {};
}

Error Database::UnknownWordSeen(const UnknownWordInColumn& word) {
  try {
    if (const Status named = CheckWords(); !named.ok()) return named.error();
  } catch (const std::exception& exception) {
    return ErrorOf(exception);
  }
  return Unsupported(
      fmt::format("{}; a newer rharness wrote it: use that one for this history", word.what()),
      name_);
}

Status Database::Migrate() {
  int found = 0;
  {
    // One view of the database, whatever other processes migrate meanwhile.
    const Transaction reading(sql_, dialect_.begin_check);
    ASSIGN_OR_RETURN(found, SchemaVersion());
    RETURN_IF_ERROR(CheckSchema(found));
  }
  for (const Migration& step : Migrations(dialect_)) {
    if (step.version <= found) continue;
    RETURN_IF_ERROR(In(dialect_.begin_migration, [&]() -> Status {
      // Another process may have been faster.
      ASSIGN_OR_RETURN(const int current, SchemaVersion());
      if (step.version <= current) return {};
      for (const std::string& statement : step.statements) sql_ << statement;
      const std::string version = std::to_string(step.version);
      sql_ << "UPDATE rharness_meta SET value = :value WHERE name = 'schema_version'",
          soci::use(version);
      return {};
    }));
  }
  return CheckWords();
}

Status Database::RequireNewest() {
  const Transaction reading(sql_, dialect_.begin_check);
  ASSIGN_OR_RETURN(const int found, SchemaVersion());
  RETURN_IF_ERROR(CheckSchema(found));
  if (found == NewestSchema()) return CheckWords();
  return InvalidInput(fmt::format("schema rharness.history.database/v{} is older than v{}, and is "
                                  "opened for reading alone; `rharness history list` brings it up "
                                  "to date",
                                  found, NewestSchema()),
                      name_);
}

}  // namespace rharness
