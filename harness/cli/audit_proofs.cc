// rharness audit prove, consistency and check: what somebody without the log can hold to a head.
#include "harness/cli/audit_proofs.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/files.h"
#include "harness/cli/audit_text.h"
#include "harness/cli/verb.h"
#include "harness/trust/audit/audit.h"
#include "harness/trust/audit/entry.h"
#include "harness/trust/audit/proof.h"

namespace rharness {
namespace {

constexpr std::uint64_t kMostProofBytes = std::uint64_t{64} << 20;

struct ProofArguments {
  std::string history;
  std::string log;
  std::string run_id;
  std::string head;
  std::vector<std::string> heads;
  std::vector<std::string> files;
  std::string trust;
  bool json = false;
};

Result<LogView> OpenNamedLog(const ProofArguments& arguments) {
  if (!arguments.log.empty()) return OpenLog(arguments.log);
  if (arguments.history.empty()) {
    return InvalidInput("say where the log is: its folder, or --history", "--log");
  }
  ASSIGN_OR_RETURN(const auto folder, DefaultLogFolder(arguments.history));
  return OpenLog(folder);
}

// The tree that a proof is for: that of the head that was asked for, or of the log's newest one, or
// where nothing was ever signed the whole log.
struct ProvenTree {
  SizedRoot tree;
  std::string head;
};
Result<ProvenTree> TreeToProve(LogView* log, const std::string& head_file) {
  std::optional<HeadText> head;
  if (!head_file.empty()) {
    ASSIGN_OR_RETURN(head, ReadKeptHead(head_file));
  } else if (!log->heads.empty()) {
    head = log->heads.back();
  }
  if (head) {
    ASSIGN_OR_RETURN(const TreeHead peeked, PeekTreeHead(head->text, head->where));
    return ProvenTree{peeked.tree, std::move(head->text)};
  }
  ProvenTree proven{.tree = {.size = log->entries.count(), .root = {}}, .head = {}};
  ASSIGN_OR_RETURN(proven.tree.root, TreeRoot(&log->nodes, proven.tree.size));
  return proven;
}

Result<int> ProveNow(const ProofArguments& arguments) {
  ASSIGN_OR_RETURN(LogView log, OpenNamedLog(arguments));
  ASSIGN_OR_RETURN(ProvenTree proven, TreeToProve(&log, arguments.head));
  ASSIGN_OR_RETURN(InclusionProof proof, ProveRun(&log, arguments.run_id, proven.tree));
  proof.head = std::move(proven.head);
  return PrintJson(ToJson(proof));
}

Result<int> ProveBetween(const ProofArguments& arguments) {
  ASSIGN_OR_RETURN(LogView log, OpenNamedLog(arguments));
  if (arguments.files.size() > 2) {
    return InvalidInput("expected one head or two", arguments.files[2]);
  }
  ASSIGN_OR_RETURN(const ProvenTree one, TreeToProve(&log, arguments.files[0]));
  ASSIGN_OR_RETURN(const ProvenTree other,
                   TreeToProve(&log, arguments.files.size() > 1 ? arguments.files[1] : ""));
  const bool in_order = one.tree.size <= other.tree.size;
  ASSIGN_OR_RETURN(
      const ConsistencyProof proof,
      ProveConsistency(&log, in_order ? one.tree : other.tree, in_order ? other.tree : one.tree));
  return PrintJson(ToJson(proof));
}

// One document of proofs, and what it needs a head for.
struct CheckedProof {
  ProvenFile shown;
  std::vector<SizedRoot> trees;
  std::optional<HeadText> head;  // that came with it
};

Result<CheckedProof> CheckOne(const std::string& file) {
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(file, kMostProofBytes));
  CheckedProof checked{.shown = {.file = file, .proves = {}}, .trees = {}, .head = {}};
  const Json* schema = json.Find("schema");
  const bool between = schema != nullptr && schema->kind() == Json::Kind::kString &&
                       schema->AsString().starts_with("rharness.audit_consistency/");
  if (between) {
    ASSIGN_OR_RETURN(const ConsistencyProof proof, ParseConsistencyProof(json, file));
    RETURN_IF_ERROR(CheckProof(proof, file));
    checked.trees = {proof.first, proof.second};
    checked.shown.proves.push_back(
        fmt::format("the tree of {} entries is the beginning of that of {}", proof.first.size,
                    proof.second.size));
    return checked;
  }
  ASSIGN_OR_RETURN(const InclusionProof proof, ParseInclusionProof(json, file));
  RETURN_IF_ERROR(CheckProof(proof, file));
  checked.trees = {proof.tree};
  if (!proof.head.empty()) checked.head = HeadText{proof.head, file + ": $.head"};
  for (const EntryProof& one : proof.entries) {
    ASSIGN_OR_RETURN(const AuditEntry entry, ParseEntry(one.line, file));
    checked.shown.proves.push_back(
        fmt::format("{} with sha256 {} is in the tree of {} entries, since {}",
                    EntryWords(entry.index, entry.kind, entry.name), entry.sha256, proof.tree.size,
                    FormatTime(entry.time)));
  }
  return checked;
}

Result<SeenHead> SeeGivenHead(const HeadText& text, const std::optional<TrustPolicy>& trust) {
  if (!trust) {
    ASSIGN_OR_RETURN(const TreeHead head, PeekTreeHead(text.text, text.where));
    return SeenHead{head, {}, text.where};
  }
  ASSIGN_OR_RETURN(VerifiedHead head,
                   VerifyTreeHead(text.text, text.where, *trust, SystemClock().Now()));
  return SeenHead{head.head, std::move(head.signed_by), text.where};
}

// "the head over 26 entries"; "the heads over 26 and over 30 entries".
std::string NeededHeads(const std::vector<SizedRoot>& trees) {
  if (trees.size() == 1) return fmt::format("the head over {} entries", trees[0].size);
  return fmt::format("the heads over {} and over {} entries", trees[0].size, trees[1].size);
}

// Of a tree that is no given head's: a head that says otherwise of as many entries is a fault, one
// that was not given is not.
Error NoHeadFor(const SizedRoot& tree, const CheckedProof& proof,
                const std::vector<SeenHead>& heads) {
  const bool otherwise = std::ranges::any_of(
      heads, [&](const SeenHead& head) { return head.head.tree.size == tree.size; });
  const bool between = proof.trees.size() == 2;
  const bool other_side = std::ranges::any_of(heads, [&](const SeenHead& head) {
    return std::ranges::find(proof.trees, head.head.tree) != proof.trees.end();
  });
  if (otherwise || (between && !other_side)) {
    return IntegrityError(fmt::format("is for the root {} over {} entries, which is that of no "
                                      "head that was given",
                                      ToHex(tree.root), tree.size),
                          proof.shown.file);
  }
  return InvalidInput(
      fmt::format(
          "needs {}; missing: the one over {}{}", NeededHeads(proof.trees), tree.size,
          between ? "" : "; `rharness audit prove --head OLDER` proves it for an older one"),
      proof.shown.file);
}

// Every tree of every proof must be that of a head. Those that were given must be used: a head that
// no proof is for proves nothing of them.
Status HoldToGivenHeads(const std::vector<CheckedProof>& proofs,
                        const std::vector<SeenHead>& heads) {
  std::vector<bool> used(heads.size());
  for (const CheckedProof& proof : proofs) {
    for (const SizedRoot& tree : proof.trees) {
      const auto found =
          std::ranges::find_if(heads, [&](const SeenHead& head) { return head.head.tree == tree; });
      if (found == heads.end()) return NoHeadFor(tree, proof, heads);
      used[static_cast<std::size_t>(found - heads.begin())] = true;
    }
  }
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (!used[i]) return InvalidInput("is a head that no proof is for", heads[i].where);
  }
  return {};
}

Result<int> CheckProofs(const ProofArguments& arguments) {
  std::optional<TrustPolicy> trust;
  if (!arguments.trust.empty()) {
    ASSIGN_OR_RETURN(trust, LoadTrustPolicy(arguments.trust));
  }
  std::vector<CheckedProof> proofs;
  std::vector<HeadText> texts;
  for (const std::string& file : arguments.heads) {
    ASSIGN_OR_RETURN(texts.emplace_back(), ReadKeptHead(file));
  }
  for (const std::string& file : arguments.files) {
    ASSIGN_OR_RETURN(const CheckedProof& proof, CheckOne(file));
    // One that came with the proof says something where it is known who may sign.
    if (arguments.heads.empty() && trust && proof.head) texts.push_back(*proof.head);
    proofs.push_back(proof);
  }
  if (texts.empty()) {
    return InvalidInput(
        "a proof needs a head: --head names a kept one, --trust the keys to trust where the proof "
        "brings its own",
        "--head");
  }
  std::vector<SeenHead> heads;
  for (const HeadText& text : texts) {
    ASSIGN_OR_RETURN(heads.emplace_back(), SeeGivenHead(text, trust));
  }
  RETURN_IF_ERROR(HoldToGivenHeads(proofs, heads));
  if (arguments.json) {
    std::vector<ProvenFile> shown;
    for (const CheckedProof& proof : proofs) shown.push_back(proof.shown);
    return PrintJson(CheckedJson(shown, heads));
  }
  if (Globals().quiet) return kExitOk;
  std::string text;
  for (const CheckedProof& proof : proofs) {
    for (const std::string& line : proof.shown.proves) {
      text += TerminalSafe(fmt::format("{}: {}", proof.shown.file, line)) + "\n";
    }
  }
  for (const SeenHead& head : heads) {
    text += TerminalSafe(fmt::format("{}: {}", head.where, HeadWords(head))) + "\n";
  }
  return Print(text);
}

using ProofStep = Result<int> (*)(const ProofArguments&);

Command& AddProofStep(Command& audit, const std::shared_ptr<ProofArguments>& arguments,
                      const char* name, const char* summary, ProofStep run) {
  Command& step = audit.AddVerb(name, summary);
  step.Do([arguments, run] {
    const Result<int> code = run(*arguments);
    return code.ok() ? *code : FailWith(code.error());
  });
  step.ExitCode(kExitOk, "it is proved");
  step.ExitCode(kExitUsage, "usage or invalid input");
  step.ExitCode(kExitInfrastructure, "it could not be done: a file, the network or the machine");
  step.ExitCode(kExitIntegrity, "it is not so");
  return step;
}

void AddWhichLog(Command& step, ProofArguments* arguments) {
  step.Add("--log", &arguments->log, "Folder of the log; default: HISTORY.audit")
      .Folder()
      .Env("RHARNESS_AUDIT_LOG");
  step.Add("--history", &arguments->history, "The history that the log is beside")
      .File("URL")
      .Env("RHARNESS_HISTORY");
}

}  // namespace

void AddAuditProofs(Command& audit) {
  const auto arguments = std::make_shared<ProofArguments>();
  Command& prove = AddProofStep(audit, arguments, "prove",
                                "Prove that the entries about a run are in the log", ProveNow);
  prove.Add("run_id", &arguments->run_id, "The run").Required();
  AddWhichLog(prove, arguments.get());
  prove
      .Add("--head", &arguments->head,
           "The tree head to prove it for; default: the newest one of the log")
      .File();
  prove.Note(
      "Prints one JSON document (rharness.audit_proof/v1): each entry as the log has it, and the "
      "hashes from it to the root. `rharness audit check` checks it against a head without log and "
      "history.");
  prove.Example("rharness audit prove mlp-1 --history runs.db > mlp-1.proof.json");

  Command& between = AddProofStep(audit, arguments, "consistency",
                                  "Prove that what one head was signed over is the beginning of "
                                  "what another was",
                                  ProveBetween);
  between
      .Add("heads", &arguments->files,
           "One tree head, or two; the second is the newest one of the log unless given")
      .Path()
      .Required();
  AddWhichLog(between, arguments.get());
  between.Note("Prints one JSON document (rharness.audit_consistency/v1).");
  between.Example(
      "rharness audit consistency heads/january.json --history runs.db > since-january.json");

  Command& check = AddProofStep(audit, arguments, "check",
                                "Check proofs against tree heads, without the log", CheckProofs);
  check.Add("proofs", &arguments->files, "Proofs, of either kind").Path().Required();
  check.Add("--head", &arguments->heads, "A tree head that was kept").File().OneEach();
  check
      .Add("--trust", &arguments->trust,
           "Trust policy: the keys for heads; needed where the proof brings its own")
      .File();
  check.Add("--json", &arguments->json, "Print one JSON document");
  check.Note(
      "A proof is for the tree of one head, one of `rharness audit consistency` for those of two: "
      "all of them are given. A head that is missing is a usage error (2).");
  check.Example("rharness audit check mlp-1.proof.json --head kept.json --trust trust.yaml");
  check.Example(
      "rharness audit check since-january.json --head january.json --head now.json --trust "
      "trust.yaml");
}

}  // namespace rharness
