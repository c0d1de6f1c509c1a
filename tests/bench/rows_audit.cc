// Rows A1 and A2: an audit log of a million entries verified, beside SHA-256 over the same bytes,
// and proofs out of it.
#include <fmt/format.h>

#include "tests/bench/bench.h"

namespace rharness::bench {
namespace {

Result<std::map<std::string, double>> AuditNumbers(const Context& context) {
  return NumbersOf(context, {(context.bin / "rharness-audit-cost").string(),
                             context.scratch.string(), std::to_string(context.rounds)});
}

Result<Measured> VerifyAMillion(const Context& context) {
  ASSIGN_OR_RETURN(const auto numbers, AuditNumbers(context));
  const double ours = numbers.at("verify_seconds"), peer = numbers.at("hash_seconds");
  return Measured{peer / ours, fmt::format("{:.0f} ms", ours * 1e3),
                  fmt::format("SHA-256 of the entries {:.0f} ms", peer * 1e3),
                  fmt::format("lines, tree and hashes, without a history; appended in {:.1f} s",
                              numbers.at("append_seconds"))};
}

Result<Measured> ProveOne(const Context& context) {
  ASSIGN_OR_RETURN(const auto numbers, AuditNumbers(context));
  return Measured{numbers.at("proof_ms"),
                  fmt::format("longest {:.3f} ms", numbers.at("proof_worst_ms")), "-",
                  "the entry by its index, its path, and both held to the root"};
}

}  // namespace

std::vector<Row> AuditRows() {
  return {{"A1", "1,000,000 audit entries verified, rate of CPU", Goal::kAtLeast, 0.5, "",
           VerifyAMillion},
          {"A2", "inclusion proof among 1,000,000, CPU", Goal::kAtMost, 1.0, "ms", ProveOne}};
}

}  // namespace rharness::bench
