// Which runs to drill: an expression over fields, then a weighted sample with a seed. Pure.
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
//             last_verdict
//   value  := a bare word or a "quoted string"; times are RFC 3339 or "30d" / "12h" ago;
//             verified = never
class Selection {
 public:
  // Empty text selects everything. Errors: invalid_input with the column and what was expected.
  static Result<Selection> Parse(std::string_view text);
  Selection(Selection&&) noexcept;
  Selection& operator=(Selection&&) noexcept;
  ~Selection();
  bool Matches(const HistoryEntry& entry, WallTime now) const;
  // What it compares text with by name, in the order of the expression: not by patterns.
  std::vector<NamedValue> NamedValues() const;

  struct Node;

 private:
  explicit Selection(std::unique_ptr<Node> root);
  std::unique_ptr<Node> root_;
};

// `size` entries without replacement, the chance of each proportional to the days since it was last
// verified (never verified: as the longest unverified one, and at least 30 days), reproducible from
// `seed` on any machine. Returned in the order of `entries`. size >= entries: all of them.
// Source: Efraimidis & Spirakis 2006, weighted random sampling with a reservoir.
std::vector<HistoryEntry> SampleUnverified(const std::vector<HistoryEntry>& entries,
                                           std::size_t size, std::uint64_t seed, WallTime now);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_SELECT_H_
