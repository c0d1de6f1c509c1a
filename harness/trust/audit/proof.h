// Proofs that can be checked without a log: that an entry is in a tree, and that one tree is a
// prefix of another.
//
// Role: made from a log, written as JSON, checked against heads that somebody kept. Source: RFC
// 6962, sections 2.1.1 and 2.1.2.
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_PROOF_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_PROOF_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/trust/audit/log_view.h"
#include "harness/trust/audit/merkle.h"

namespace rharness {

struct EntryProof {
  std::string line;  // the entry's line in the log: the leaf
  std::uint64_t index = 0;
  TreePath path;
};

// "rharness.audit_proof/v1"
struct InclusionProof {
  std::string run_id;
  SizedRoot tree;
  std::string head;  // a head of this tree, from the log; empty: none
  std::vector<EntryProof> entries;
};

// "rharness.audit_consistency/v1"
struct ConsistencyProof {
  SizedRoot first;
  SizedRoot second;
  TreePath path;
};

// The run that an entry of this kind names; empty: none, or not it alone.
std::string_view RunOf(std::string_view kind, std::string_view name);

// Selects the entries about one run, in the order of the log: those that name it; and withdrawals
// of its retirement, which name only the signed statement.
class EntriesOfRun {
 public:
  explicit EntriesOfRun(std::string run_id) : run_id_(std::move(run_id)) {}
  bool Take(std::string_view kind, std::string_view name);

 private:
  std::string run_id_;
  std::set<std::string, std::less<>> statements_;  // signed ones about it
};

// The entry, and its path in the tree of the first `size` entries. Reads as many hashes as the
// logarithm of the size, squared. Errors: integrity if it and the hashes disagree; io.
Result<EntryProof> ProveEntry(LogView* log, std::uint64_t index, const SizedRoot& tree);

// For all entries about a run among the first `tree.size` ones, which must give this root. Reads
// all lines. Errors: not_found without any; integrity; io.
Result<InclusionProof> ProveRun(LogView* log, const std::string& run_id, const SizedRoot& tree);

// first.size <= second.size. Errors: integrity if the log does not give both roots.
Result<ConsistencyProof> ProveConsistency(LogView* log, const SizedRoot& first,
                                          const SizedRoot& second);

Json ToJson(const InclusionProof& proof);
Json ToJson(const ConsistencyProof& proof);
// Errors: invalid_input for an invalid document.
Result<InclusionProof> ParseInclusionProof(const Json& json, std::string_view where);
Result<ConsistencyProof> ParseConsistencyProof(const Json& json, std::string_view where);

// Whether every entry is in the tree, and matches its stated content, in a proof from an
// unavailable log. Errors: integrity, with the entry.
Status CheckProof(const InclusionProof& proof, std::string_view where);
Status CheckProof(const ConsistencyProof& proof, std::string_view where);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_PROOF_H_
