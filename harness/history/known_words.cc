// Known words in SQL that SQLite and PostgreSQL share.
#include "harness/history/known_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/files.h"

namespace rharness {

// An index is used if a query repeats its condition.
std::string UnknownWordIndex(const KnownWords& known) {
  return fmt::format("CREATE INDEX {0}_unknown ON {0} ({1}, {2}) WHERE {2} NOT IN {3}", known.table,
                     known.of, known.column, known.words);
}

std::string UnknownWordQuery(const KnownWords& known) {
  return fmt::format("SELECT {1}, {2} FROM {0} WHERE {2} NOT IN {3} ORDER BY {1}, {2} LIMIT 1",
                     known.table, known.of, known.column, known.words);
}

Error UnknownWord(const KnownWords& known, const std::string& about, const std::string& word,
                  const std::string& history) {
  std::string words = known.words;
  std::erase_if(words, [](char c) { return c == '(' || c == ')' || c == '\''; });
  return Unsupported(
      fmt::format("{} '{}' has the {} '{}', a word that this version does not know (it knows {}); "
                  "a newer rharness wrote it: use that one for this history",
                  known.subject, TerminalSafe(about.substr(0, 200)), known.what,
                  TerminalSafe(word.substr(0, 40)), words),
      history);
}

}  // namespace rharness
