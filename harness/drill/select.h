// Selects the runs to drill: an expression over fields, then those that have waited longest. Pure.
#ifndef RHARNESS_HARNESS_DRILL_SELECT_H_
#define RHARNESS_HARNESS_DRILL_SELECT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/history/store.h"

namespace rharness {

// "family = mlp", or the same with "!=".
struct NamedValue {
  std::string field;
  std::string value;
};

// A parsed selection expression:
//   expr   := term { "or" term }      term := factor { "and" factor }
//   factor := "not" factor | "(" expr ")" | field op value
//   op     := "=" | "!=" | "<" | "<=" | ">" | ">=" | "~" (glob with * and ?)
//   field  := run_id | family | configuration | declared | started | duration_seconds | verified |
//             last_verdict | rebuild | artifact
//   value  := a bare word or a "quoted string"; times are RFC 3339, or ages "30d" / "12h":
//             verified < 30d is "within the last 30 days"; verified = never; artifact = the SHA-256
//             of a file that the run made, or the tensor digest of its weights, and no other op
class Selection {
 public:
  // Empty text selects everything. Errors: invalid_input with the column and what was expected.
  static Result<Selection> Parse(std::string_view text);
  Selection(Selection&&) noexcept;
  Selection& operator=(Selection&&) noexcept;
  ~Selection();
  bool Matches(const HistoryEntry& entry, WallTime now) const;
  // The compared names with their values, in the order of the expression; without patterns.
  std::vector<NamedValue> NamedValues() const;
  // The digests of `artifact`; no run matches them before FindArtifacts sets their runs.
  std::vector<std::string> Artifacts() const;
  void TellRunsOf(const std::string& digest, const std::vector<std::string>& runs);  // sorted

  struct Node;

 private:
  explicit Selection(std::unique_ptr<Node> root);
  std::unique_ptr<Node> root_;
};

// The entries by their wait for a drill: first those that no drill has judged, then those judged
// longest ago, whatever the verdict, so that a run that never reaches a conclusion delays no other.
// Equal waits are ordered by a draw from `seed` and run_id, equal on every machine and for every
// order of `entries`.
std::vector<HistoryEntry> OrderByWait(std::vector<HistoryEntry> entries, std::uint64_t seed);
// The first `size` of that order, returned in the order of `entries`. size >= entries: all of them.
std::vector<HistoryEntry> SampleLongestWaiting(const std::vector<HistoryEntry>& entries,
                                               std::size_t size, std::uint64_t seed);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_SELECT_H_
