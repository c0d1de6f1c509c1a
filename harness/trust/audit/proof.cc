// Making proofs and checking them.
#include "harness/trust/audit/proof.h"

#include <fmt/format.h>

#include <utility>

#include "harness/base/files.h"
#include "harness/trust/audit/entry.h"

namespace rharness {
namespace {

// The part of "a/b/c" at this place, counted from 0; empty: there are fewer.
std::string_view PartOf(std::string_view name, int place) {
  for (; place > 0; --place) {
    const auto slash = name.find('/');
    if (slash == name.npos) return {};
    name.remove_prefix(slash + 1);
  }
  return name.substr(0, name.find('/'));
}

std::string RootText(const SizedRoot& tree) {
  return fmt::format("{} over {} entries", ToHex(tree.root), tree.size);
}

Status HoldToTree(LogView* log, const SizedRoot& tree) {
  if (tree.size > log->entries.count()) {
    return IntegrityError(fmt::format("has {} entries; expected at least {}, as a head was signed "
                                      "over",
                                      log->entries.count(), tree.size),
                          log->entries.path().string());
  }
  ASSIGN_OR_RETURN(const TreeHash root, TreeRoot(&log->nodes, tree.size));
  if (root == tree.root) return {};
  return IntegrityError(fmt::format("does not come to the root {}", RootText(tree)),
                        log->folder.string());
}

}  // namespace

std::string_view RunOf(std::string_view kind, std::string_view name) {
  for (const std::string_view first :
       {"run", "manifest", "retirement", "rebuild", "signed_statement", "signed_retirement"}) {
    if (kind == first) return PartOf(name, 0);
  }
  for (const std::string_view second : {"verdict", "reruns", "property_verdict", "attestation"}) {
    if (kind == second) return PartOf(name, 1);
  }
  if (kind == "replicate") return PartOf(name, 2);
  return {};
}

bool EntriesOfRun::Take(std::string_view kind, std::string_view name) {
  if (RunOf(kind, name) == run_id_) {
    if (kind == "signed_statement") statements_.emplace(PartOf(name, 1));
    return true;
  }
  // The statement of a withdrawal is about the withdrawn statement.
  if (kind == "signed_statement") return statements_.contains(PartOf(name, 0));
  return kind == "withdrawal" && statements_.contains(name);
}

Result<EntryProof> ProveEntry(LogView* log, std::uint64_t index, const SizedRoot& tree) {
  EntryProof proof{.line = {}, .index = index, .path = {}};
  ASSIGN_OR_RETURN(proof.line, log->entries.LineAt(index));
  ASSIGN_OR_RETURN(proof.path, InclusionPath(&log->nodes, index, tree.size));
  const auto root = RootOfInclusion(LeafHash(proof.line), index, tree.size, proof.path);
  if (root && *root == tree.root) return proof;
  return IntegrityError(
      fmt::format("entry {} and its hashes do not come to the root {}", index, RootText(tree)),
      log->entries.Where(index));
}

Result<InclusionProof> ProveRun(LogView* log, const std::string& run_id, const SizedRoot& tree) {
  RETURN_IF_ERROR(HoldToTree(log, tree));
  std::vector<std::uint64_t> found;
  EntriesOfRun of_run(run_id);
  std::uint64_t index = 0;
  RETURN_IF_ERROR(log->entries.ReadAll([&](std::span<const std::string_view> lines) -> Status {
    for (const std::string_view line : lines) {
      EntryParts parts;
      if (ScanEntry(line, &parts) && index < tree.size && of_run.Take(parts.kind, parts.name)) {
        found.push_back(index);
      }
      ++index;
    }
    return {};
  }));
  if (found.empty()) {
    return NotFound(fmt::format("none of the first {} entries is about run '{}'", tree.size,
                                TerminalSafe(run_id)),
                    log->folder.string());
  }
  InclusionProof proof{.run_id = run_id, .tree = tree, .head = {}, .entries = {}};
  for (const std::uint64_t at : found) {
    ASSIGN_OR_RETURN(proof.entries.emplace_back(), ProveEntry(log, at, tree));
  }
  return proof;
}

Result<ConsistencyProof> ProveConsistency(LogView* log, const SizedRoot& first,
                                          const SizedRoot& second) {
  RETURN_IF_ERROR(HoldToTree(log, first));
  RETURN_IF_ERROR(HoldToTree(log, second));
  ConsistencyProof proof{.first = first, .second = second, .path = {}};
  ASSIGN_OR_RETURN(proof.path, ConsistencyPath(&log->nodes, first.size, second.size));
  return proof;
}

Status CheckProof(const InclusionProof& proof, std::string_view where) {
  if (proof.entries.empty()) return IntegrityError("proves no entry", std::string(where));
  EntriesOfRun of_run(proof.run_id);
  for (const EntryProof& one : proof.entries) {
    ASSIGN_OR_RETURN(const AuditEntry entry, ParseEntry(one.line, where));
    const std::string words = EntryWords(entry.index, entry.kind, entry.name);
    if (entry.index != one.index || !of_run.Take(entry.kind, entry.name)) {
      return IntegrityError(fmt::format("{} stands where entry {} about run '{}' should", words,
                                        one.index, TerminalSafe(proof.run_id)),
                            std::string(where));
    }
    const auto root = RootOfInclusion(LeafHash(one.line), one.index, proof.tree.size, one.path);
    if (root && *root == proof.tree.root) continue;
    return IntegrityError(
        fmt::format("{} and its path do not come to the root {}", words, RootText(proof.tree)),
        std::string(where));
  }
  return {};
}

Status CheckProof(const ConsistencyProof& proof, std::string_view where) {
  if (IsConsistent(proof.first, proof.second, proof.path)) return {};
  return IntegrityError(
      fmt::format("its path does not show that the root {} is of the beginning of "
                  "{}",
                  RootText(proof.first), RootText(proof.second)),
      std::string(where));
}

}  // namespace rharness
