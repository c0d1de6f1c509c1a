// Which statements of a run's record cannot all be true.
#ifndef RHARNESS_HARNESS_RECORDS_LINT_CONTRADICTIONS_H_
#define RHARNESS_HARNESS_RECORDS_LINT_CONTRADICTIONS_H_

#include <string>
#include <vector>

#include "harness/records/lint/statements.h"

namespace rharness {

struct Contradiction {
  std::string subject;
  Statement statement;  // the more trusted one
  Statement against;    // what it cannot be true beside
  std::string sentence;
};

struct LintOutcome {
  std::vector<Contradiction> contradictions;  // by subject
  std::size_t compared = 0;                   // subjects that two witnesses spoke of
};

// Pure. Two values agree when they are one number, also where one is printed with fewer digits, one
// text but for its case, one truth (true, yes, on, 1), or when one version continues the other (2.1
// and 2.1.0+cu121). A seed agrees with any seed of the manifest. Steps: a curve that goes on beyond
// the declared steps contradicts them, and, unless they are a bound ("max_steps"), one that ends
// before by more than the distance of its last two points. Batch sizes: global = per device x
// devices x accumulation, where all are known. Each subject is told once a witness.
LintOutcome FindContradictions(const std::vector<Statement>& statements);

// Whether two values may be of one thing, by the rules above.
bool Agree(std::string_view subject, std::string_view a, std::string_view b);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_LINT_CONTRADICTIONS_H_
