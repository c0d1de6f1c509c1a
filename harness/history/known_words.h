// The words that columns of a history may hold, as this version knows them.
//
// Role: private to this folder. A newer version may write others, and a reader that took them for
// its own would report a verdict that nobody decided.
#ifndef RHARNESS_HARNESS_HISTORY_KNOWN_WORDS_H_
#define RHARNESS_HARNESS_HISTORY_KNOWN_WORDS_H_

#include <array>
#include <string>

#include "harness/base/result.h"

namespace rharness {

// A column, the subject of its words, and all of them.
struct KnownWords {
  const char* table;
  const char* column;
  const char* of;       // the column that names the subject of a row
  const char* subject;  // what that is: "run"
  const char* what;     // what the word is
  const char* words;    // as SQL lists them
};

inline constexpr std::array<KnownWords, 5> kKnownWords = {{
    {"verdicts", "verdict", "run_id", "run", "verdict",
     "('identical', 'equivalent', 'drifted', 'inconclusive', 'not_comparable', 'failed', 'infra')"},
    {"family_verdicts", "verdict", "family", "family", "verdict",
     "('identical', 'equivalent', 'drifted', 'inconclusive', 'not_comparable', 'failed', 'infra')"},
    {"property_verdicts", "state", "run_id", "run", "state of a property",
     "('held', 'held_within', 'lost', 'not_judged')"},
    {"rebuild_answers", "state", "run_id", "run", "answer of rebuild",
     "('had', 'unknown', 'gone')"},
    {"deleted_items", "step", "list_sha256", "deletion list", "step of a deletion",
     "('about', 'gone', 'missing', 'stays')"},
}};

// The statement that makes the index over the rows with any other word. Usually the index is empty.
std::string UnknownWordIndex(const KnownWords& known);
// Selects the subject of the first such row, and its word. Reads that index alone.
std::string UnknownWordQuery(const KnownWords& known);
// unsupported: names both, and the remedy.
Error UnknownWord(const KnownWords& known, const std::string& about, const std::string& word,
                  const std::string& history);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_KNOWN_WORDS_H_
