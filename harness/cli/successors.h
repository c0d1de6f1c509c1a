// Verbs that were merged into others: what is typed now where an old name was.
//
// Role: the one table of them. Not aliases: an old name is a usage error that names the new one.
#ifndef RHARNESS_HARNESS_CLI_SUCCESSORS_H_
#define RHARNESS_HARNESS_CLI_SUCCESSORS_H_

#include <algorithm>
#include <array>
#include <string_view>

namespace rharness {

struct Successor {
  std::string_view was;
  std::string_view is;
};

inline constexpr std::array kSuccessors = {
    Successor{"admit", "check"},
    Successor{"alerts", "slo rules"},
    Successor{"attest", "sign"},
    Successor{"complete", "import --complete"},
    Successor{"lint", "check"},
    Successor{"publish", "report --to"},
    Successor{"rebuild", "check --available"},
    Successor{"retention", "history prune"},
    Successor{"retire", "history retire"},
    Successor{"runbook", "explain"},
    Successor{"trends", "history trends"},
};

// "check --available" for "rebuild"; empty for a word that never was a verb.
constexpr std::string_view SuccessorOf(std::string_view typed) {
  const auto* found = std::ranges::find(kSuccessors, typed, &Successor::was);
  return found == kSuccessors.end() ? std::string_view() : found->is;
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_SUCCESSORS_H_
