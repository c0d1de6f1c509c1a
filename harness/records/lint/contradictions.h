// Finds statements of a run's record that cannot all be true.
#ifndef RHARNESS_HARNESS_RECORDS_LINT_CONTRADICTIONS_H_
#define RHARNESS_HARNESS_RECORDS_LINT_CONTRADICTIONS_H_

#include <string>
#include <vector>

#include "harness/records/lint/statements.h"

namespace rharness {

struct Contradiction {
  std::string subject;
  Statement statement;  // the more trusted one
  Statement against;    // the statement that it contradicts
  std::string sentence;
};

struct LintOutcome {
  std::vector<Contradiction> contradictions;  // by subject
  std::size_t compared = 0;                   // subjects with two witnesses
};

// Pure. Two values agree when they are one number, even if one is printed with fewer digits, one
// text in any case, one truth value (true, yes, on, 1), or when one version continues the other
// (2.1 and 2.1.0+cu121). A seed agrees with any seed of the manifest. Steps: a curve beyond the
// declared steps contradicts them, and, unless they are a bound ("max_steps"), a curve that ends
// before them by more than the distance of its last two points. Batch sizes: global = per device x
// devices x accumulation, if all are known. Each subject is reported once per witness.
LintOutcome FindContradictions(const std::vector<Statement>& statements);

// Whether two values may describe one thing, by the rules above.
bool Agree(std::string_view subject, std::string_view a, std::string_view b);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_LINT_CONTRADICTIONS_H_
