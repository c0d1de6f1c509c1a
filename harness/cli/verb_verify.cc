// rharness verify: are these statements signed as the policy asks, and are the files the signed
// ones?
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/attestation/held_subjects.h"
#include "harness/attestation/verification.h"
#include "harness/base/files.h"
#include "harness/cli/verb.h"
#include "reports/text.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kTrustFile[] =
    R"text(A trust policy is a YAML (or JSON) file that says which keys there are, whose they are, for verdicts of which days they hold, and whose signatures verdicts of which runs need. Dates are optional, and so are the patterns and the threshold of a rule; the first rule that is for a statement holds, and what no rule is for is refused. Endorsements of files (`rharness attest FILE`) and signatures of models (https://model_signing/signature/v1.0) have no family: rules with patterns of families are not for them. A model's signature says no time, so its keys must hold today.

  version: 1
  keys:
    - name: lab-2026
      owner: ML platform, Ada
      public_key: lab-2026.pub        # PEM, relative to this file; or pem: and the text itself
      from: 2026-01-01
      until: 2026-12-31
    - {name: audit, owner: Model risk, public_key: audit.pub}
  rules:
    - predicates: ["urn:rharness:verdict:*"]
      families: ["llama*"]
      keys: [lab-2026, audit]
      threshold: 2                    # that many different keys
    - keys: [lab-2026]

Every line of every file must hold: one that is tampered with, signed by nobody in the policy, or no statement of ours at all is refused, and the exit code is 5. A signature carries no time that anybody else vouches for, so a key that somebody else may have does not only get an end: it leaves the policy.

--artifacts holds files to what was signed. Of a folder every checkpoint of every verdict must lie there, by its path in the run, and the manifest RUN.json must be the signed one where it is there. A single file must be one of the subjects of every verdict, by its content. Of a model every signed file must lie there, and no other but those that its signature ignores. --tensors holds a checkpoint to the tensors of a model that rharness signed, whatever files they lie in.

Bundles of OpenSSF Model Signing are verified where a key signed them, of ECDSA over P-256, and SHA-256 is their hash; those with a certificate or an entry of a log are refused.

What was verified is that the verdict is theirs who signed it, not that it is a good one: the line says which it is, and --reproduced asks for it.)text";

struct VerifyArguments {
  std::vector<std::string> paths;
  std::string trust;
  std::vector<std::string> artifacts;
  std::vector<std::string> tensors;
  bool reproduced = false;
  bool json = false;
};

// One file, as far as it held.
struct Looked {
  fs::path file;
  std::vector<Verified> statements;
  std::size_t held = 0;
  std::optional<Error> refused;  // set: nothing of the file is to be believed
};

Result<std::size_t> HoldAll(const std::vector<Verified>& statements,
                            const VerifyArguments& arguments) {
  std::size_t held = 0;
  for (const Verified& one : statements) {
    for (const std::string& path : arguments.artifacts) {
      ASSIGN_OR_RETURN(const HeldSubjects subjects, HoldToFiles(one, path));
      held += subjects.held;
    }
    for (const std::string& path : arguments.tensors) RETURN_IF_ERROR(HoldToTensors(one, path));
  }
  return held;
}

Looked Look(const fs::path& file, const TrustPolicy& policy, const VerifyArguments& arguments,
            WallTime now) {
  Looked looked{.file = file, .statements = {}, .refused = {}};
  auto statements = VerifyFile(file, policy, now);
  if (!statements.ok()) {
    looked.refused = statements.error();
    return looked;
  }
  const auto held = HoldAll(*statements, arguments);
  if (!held.ok()) {
    const Error& error = held.error();
    looked.refused = Error{error.code, error.ToString(), file.string()};
    return looked;
  }
  looked.held = *held;
  looked.statements = std::move(*statements);
  return looked;
}

std::string SignersText(const Verified& one) {
  std::string text;
  for (const AcceptedKey& key : one.signed_by) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", key.name, key.owner);
  }
  return text;
}

std::string SaidText(const Verified& one) {
  if (const Endorsement* said = one.endorsement()) {
    return fmt::format("{} with sha256 {} is answered for, since {}{}", said->file.name,
                       said->file.sha256, FormatTime(said->made),
                       said->reason.empty() ? "" : fmt::format(" ({})", said->reason));
  }
  if (const SignedModel* said = one.model()) {
    return fmt::format(
        "model {} of {} {}, sha256 {}{}", said->name, said->resources.size(),
        said->serialization.shard_bytes == 0 ? "files" : "shards", ModelRoot(said->resources),
        said->tensors
            ? fmt::format(", {} tensors with {}", said->tensors->tensors, said->tensors->sha256)
            : "");
  }
  const std::string people = one.people() > 1 ? "" : " (by one person: not approved)";
  if (const auto* said = std::get_if<Retirement>(&one.said)) {
    return fmt::format("retirement of {}, asked for {}{}: {}", said->run_id,
                       FormatTime(said->requested), people, said->reason);
  }
  if (const auto* said = std::get_if<Deletion>(&one.said)) {
    return fmt::format("deletion of the {} items of list {}, asked for {}{}", said->items,
                       said->list.sha256, FormatTime(said->requested), people);
  }
  if (const auto* said = std::get_if<Withdrawal>(&one.said)) {
    if (said->run_id.empty()) {
      return fmt::format("the deletion {} is taken back, {}: {}", said->statement.sha256,
                         FormatTime(said->withdrawn), said->reason);
    }
    return fmt::format("the retirement {} of {} is taken back, {}: {}", said->statement.sha256,
                       said->run_id, FormatTime(said->withdrawn), said->reason);
  }
  const AttestedVerdict& said = *one.verdict();
  return fmt::format("{} {}, decided {} by drill {}", said.run_id, VerdictName(said.verdict),
                     FormatTime(said.decided), said.drill_id);
}

// Names come from strangers, and may forge no line.
std::string OneLine(std::string line) {
  std::ranges::replace(line, '\n', ' ');
  return TerminalSafe(line) + "\n";
}

std::string VerifyText(const std::vector<Looked>& all) {
  std::string text;
  for (const Looked& one : all) {
    if (one.refused) {
      text += OneLine("refused: " + one.refused->ToString());
      continue;
    }
    if (Globals().quiet) continue;
    for (const Verified& verified : one.statements) {
      text += OneLine(fmt::format("{}: {}, signed by {}", one.file.string(), SaidText(verified),
                                  SignersText(verified)));
    }
    if (one.held > 0) {
      text += OneLine(
          fmt::format("{}: {} of its files looked at, as signed", one.file.string(), one.held));
    }
  }
  return text;
}

Json SaidJson(const Verified& one) {
  if (const Endorsement* said = one.endorsement()) {
    return Json::MakeObject({{"predicate", kEndorsementPredicate},
                             {"name", said->file.name},
                             {"sha256", said->file.sha256},
                             {"made", FormatTime(said->made)},
                             {"reason", said->reason}});
  }
  if (const SignedModel* said = one.model()) {
    Json json = Json::MakeObject({{"predicate", kModelPredicate},
                                  {"name", said->name},
                                  {"sha256", ModelRoot(said->resources)},
                                  {"resources", std::uint64_t{said->resources.size()}}});
    if (said->tensors) json.Set("tensors", TensorsJson(*said->tensors));
    return json;
  }
  if (const auto* said = std::get_if<Retirement>(&one.said)) {
    return Json::MakeObject({{"predicate", kRetirementPredicate},
                             {"run_id", said->run_id},
                             {"reason", said->reason},
                             {"requested", FormatTime(said->requested)},
                             {"people", std::uint64_t{one.people()}}});
  }
  if (const auto* said = std::get_if<Deletion>(&one.said)) {
    return Json::MakeObject({{"predicate", kDeletionPredicate},
                             {"list", said->list.sha256},
                             {"items", said->items},
                             {"bytes", said->bytes},
                             {"requested", FormatTime(said->requested)},
                             {"people", std::uint64_t{one.people()}}});
  }
  if (const auto* said = std::get_if<Withdrawal>(&one.said)) {
    return Json::MakeObject({{"predicate", kWithdrawalPredicate},
                             {"run_id", said->run_id},
                             {"statement", said->statement.sha256},
                             {"withdrawn", FormatTime(said->withdrawn)}});
  }
  const AttestedVerdict& said = *one.verdict();
  return Json::MakeObject({{"predicate", kVerdictPredicate},
                           {"run_id", said.run_id},
                           {"family", said.family},
                           {"verdict", VerdictName(said.verdict)},
                           {"headline", said.headline},
                           {"drill_id", said.drill_id},
                           {"decided", FormatTime(said.decided)}});
}

Json StatementJson(const Looked& looked, const Verified& one) {
  Json keys = Json::MakeArray();
  for (const AcceptedKey& key : one.signed_by) {
    keys.Append(Json::MakeObject({{"name", key.name}, {"owner", key.owner}, {"keyid", key.id}}));
  }
  Json json = SaidJson(one);
  json.Set("file", looked.file.string());
  json.Set("signed_by", std::move(keys));
  json.Set("threshold", std::uint64_t{one.threshold});
  return json;
}

Json VerifyJson(const std::vector<Looked>& all) {
  Json verified = Json::MakeArray();
  Json refused = Json::MakeArray();
  std::uint64_t held = 0;
  for (const Looked& one : all) {
    held += one.held;
    for (const Verified& statement : one.statements) {
      verified.Append(StatementJson(one, statement));
    }
    if (!one.refused) continue;
    refused.Append(Json::MakeObject({{"file", one.file.string()},
                                     {"where", one.refused->where},
                                     {"code", ErrorCodeName(one.refused->code)},
                                     {"message", one.refused->message}}));
  }
  return Json::MakeObject({{"schema", "rharness.verify/v1"},
                           {"verified", std::move(verified)},
                           {"refused", std::move(refused)},
                           {"files_as_signed", held}});
}

// What is not to be trusted goes before what could not be read, and that before drift.
int VerifyExitCode(const std::vector<Looked>& all, bool reproduced) {
  const Error* worst = nullptr;
  std::size_t refused = 0;
  for (const Looked& one : all) {
    if (!one.refused) continue;
    ++refused;
    const bool first_of_integrity = worst != nullptr && worst->code != ErrorCode::kIntegrity &&
                                    one.refused->code == ErrorCode::kIntegrity;
    if (worst == nullptr || first_of_integrity) worst = &*one.refused;
  }
  if (worst != nullptr) {
    return FailWith(Error{
        worst->code,
        fmt::format("{} of {} {} refused; the first: {}", refused, Counted(all.size(), "file"),
                    refused == 1 ? "is" : "are", TerminalSafe(worst->ToString())),
        {}});
  }
  if (!reproduced) return kExitOk;
  std::vector<Verdict> verdicts;
  for (const Looked& one : all) {
    for (const Verified& verified : one.statements) {
      if (verified.verdict() != nullptr) verdicts.push_back(verified.verdict()->verdict);
    }
  }
  return ExitCodeOf(verdicts);
}

Result<int> Verify(const VerifyArguments& arguments) {
  const WallTime now = SystemClock().Now();
  ASSIGN_OR_RETURN(const TrustPolicy policy, LoadTrustPolicy(arguments.trust));
  std::vector<Looked> all;
  for (const std::string& path : arguments.paths) {
    ASSIGN_OR_RETURN(const auto files, FindAttestations(path));
    for (const fs::path& file : files) {
      all.push_back(Look(file, policy, arguments, now));
    }
  }
  const int code = arguments.json ? PrintJson(VerifyJson(all)) : Print(VerifyText(all));
  return code == kExitOk ? VerifyExitCode(all, arguments.reproduced) : code;
}

}  // namespace

void AddVerify(Command& root) {
  Command& verb =
      root.AddVerb("verify", "Check signed statements against a policy of whom to trust");
  auto arguments = std::make_shared<VerifyArguments>();
  verb.Add("paths", &arguments->paths, "Signed statements, or folders of them").Path().Required();
  verb.Add("--trust", &arguments->trust, "The trust policy").File().Required();
  verb.Add("--artifacts", &arguments->artifacts,
           "Folder of the files that were signed for, or one of them")
      .Path()
      .OneEach();
  verb.Add("--tensors", &arguments->tensors,
           "Checkpoint whose tensors must be those that were signed for, in whatever files")
      .Path()
      .OneEach();
  verb.Add("--reproduced", &arguments->reproduced,
           "Every verdict must be identical or equivalent as well");
  verb.Add("--json", &arguments->json, "Print the outcome as JSON");
  verb.Note(kTrustFile);
  verb.ExitCode(kExitOk, "everything is signed as the policy asks");
  verb.ExitCode(kExitDrift, "with --reproduced: they are, and one drifted");
  verb.ExitCode(kExitUsage, "a path or the policy cannot be used");
  verb.ExitCode(kExitInconclusive, "with --reproduced: they are, and one shows nothing");
  verb.ExitCode(kExitInfrastructure,
                "a file could not be read; with --reproduced: a run failed, or could not be run");
  verb.ExitCode(kExitIntegrity, "something was tampered with, or is signed by nobody who may");
  verb.Example(
      "rharness verify signed/mlp-1.verdict.intoto.jsonl --trust trust.yaml --artifacts "
      "registry/mlp-1");
  verb.Example(
      "rharness verify mlp-1.sigstore.json --trust trust.yaml --tensors merged.safetensors");
  verb.Do([arguments] {
    const auto code = Verify(*arguments);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
