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

#include "harness/base/files.h"
#include "harness/base/glob.h"
#include "harness/base/log.h"
#include "harness/base/trouble.h"
#include "harness/cli/verb.h"
#include "harness/cli/verify_text.h"
#include "harness/trust/attestation/attest_drill.h"
#include "harness/trust/attestation/endorsement.h"
#include "harness/trust/attestation/held_subjects.h"
#include "harness/trust/attestation/verification.h"
#include "reports/text.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kTrustFile[] =
    R"text(A trust policy is a YAML (or JSON) file. It lists the keys, their owners and the days on which they are valid, and in its rules the signatures that each kind of statement needs. Dates are optional, and so are the patterns and the threshold of a rule. The first matching rule holds; a statement without one is refused. Endorsements of files (`rharness sign FILE`) and signatures of models (https://model_signing/signature/v1.0) have no family: rules with patterns of families do not match them. A model's signature has no time, so its keys must be valid today.

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
    - {predicates: ["urn:rharness:verdict:*"], families: ["mlp*"], keys: [lab-2026]}
    - {predicates: ["urn:rharness:endorsement:*", "https://model_signing/*"], keys: [lab-2026]}

The signer states a verdict's run and family, and the family chooses the rule: a key for one family could state that family for a run of a different one. So each line prints the family and the rule. --family and --run refuse statements about anything else. --artifacts checks a verdict against the manifest RUN.json in that folder: its run, its family and the recorded weights. A rule for every family behind a stricter rule with patterns is easily evaded: a warning lists what it accepts without any of these options.

In a folder every *.intoto.jsonl and *.sigstore.json counts, also a link or a pipe, and every other *.json that declares itself an envelope or a bundle. RUN.verdict.intoto.jsonl must be about that run. Every line of every file must hold: one that is tampered with, signed by nobody in the policy, or no statement of ours at all is refused, and the exit code is 5. A signature carries no third party's time, so an end date is not enough for a key that somebody else may have: remove it from the policy. From then on a line that it signed is reported as not counted, and ignored where another line of the same file holds; a file of such lines alone is refused. An invalid signature by a known key is always an error.

--artifacts checks files against what was signed. A folder must hold every checkpoint of every verdict, by its path in the run, and the manifest RUN.json must be the signed one where it is there. A single file must be one of the subjects of every verdict, by its content. An endorsed file must have the content of the newest line for its name; lines for other contents are listed as older. A model's folder must hold every signed file, and no other but those that its signature ignores; a link is refused if the signature allows none. --tensors checks a checkpoint, in any files, against the tensors of a model that rharness signed.

Bundles of OpenSSF Model Signing are verified if a key signed them (ECDSA over P-256) and their hash is SHA-256; bundles with a certificate or an entry of a log are refused.

Verification shows who signed a verdict, not that the verdict is good: the line prints it, and --reproduced requires identical or equivalent.)text";

struct VerifyArguments {
  std::vector<std::string> paths;
  std::string trust;
  std::vector<std::string> artifacts;
  std::vector<std::string> tensors;
  std::string run;     // empty: of any
  std::string family;  // a glob; empty: any
  bool reproduced = false;
  bool json = false;
};

// What the reader expects it to be about.
Status HoldToExpected(const Verified& one, const VerifyArguments& arguments) {
  const SaidOf said = RunOf(one);
  const auto other = [](std::string_view what, const std::string& is, std::string_view option,
                        const std::string& asked) {
    return IntegrityError(
        fmt::format("is about {}; {} asks for '{}'",
                    is.empty() ? fmt::format("no {}", what) : fmt::format("{} '{}'", what, is),
                    option, asked),
        {});
  };
  if (!arguments.run.empty() && said.run_id != arguments.run) {
    return other("run", said.run_id, "--run", arguments.run);
  }
  const bool has_family = !said.run_id.empty();
  if (arguments.family.empty() || (has_family && GlobMatches(arguments.family, said.family))) {
    return {};
  }
  return other("family", said.family, "--family", arguments.family);
}

// RUN.verdict.intoto.jsonl must hold statements about RUN.
Status HoldToName(const Verified& one, const fs::path& file) {
  if (one.verdict() == nullptr) return {};
  const std::string name = file.filename().string();
  if (!name.ends_with(AttestationName("")) || name == AttestationName(one.verdict()->run_id)) {
    return {};
  }
  return IntegrityError(
      fmt::format("is about run '{}'; its name is that of another run's verdict, expected {}",
                  TerminalSafe(one.verdict()->run_id),
                  TerminalSafe(AttestationName(one.verdict()->run_id))),
      {});
}

struct HeldAll {
  std::size_t held = 0;
  std::vector<bool> manifests;  // by statement: its manifest was looked at
};

Result<HeldAll> HoldAll(const std::vector<Verified>& statements, const fs::path& file,
                        const VerifyArguments& arguments) {
  HeldAll all{.held = 0, .manifests = std::vector<bool>(statements.size())};
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const Verified& one = statements[i];
    RETURN_IF_ERROR(HoldToName(one, file));
    RETURN_IF_ERROR(HoldToExpected(one, arguments));
    for (const std::string& path : arguments.artifacts) {
      if (one.endorsement() != nullptr) continue;
      ASSIGN_OR_RETURN(const HeldSubjects subjects, HoldToFiles(one, path));
      all.held += subjects.held;
      if (subjects.manifest) all.manifests[i] = true;
    }
    for (const std::string& path : arguments.tensors) RETURN_IF_ERROR(HoldToTensors(one, path));
  }
  for (const std::string& path : arguments.artifacts) {
    ASSIGN_OR_RETURN(const HeldSubjects subjects, HoldEndorsements(statements, path));
    all.held += subjects.held;
  }
  return all;
}

// Of verdicts whose family is as its signer says alone, by a rule that asks for less than another
// one does of other families.
void WarnOfWeakRules(const fs::path& file, const std::vector<Verified>& statements,
                     const HeldAll& held, const TrustPolicy& policy) {
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const Verified& one = statements[i];
    if (one.verdict() == nullptr || held.manifests[i]) continue;
    const TrustRule* stricter = policy.StricterBefore(one.rule, kVerdictPredicate);
    if (stricter == nullptr) continue;
    LogWarning(fmt::format(
        "{}: only its signer states the family '{}'; rule {}, which is for every family, accepted "
        "it, and rule {} requires more of some families; --family or --artifacts with {} check it",
        file.string(), one.verdict()->family, one.rule + 1, stricter - policy.rules.data() + 1,
        one.verdict()->manifest.name));
  }
}

// A file that is no statement, beside which lies what was signed of it.
Error WithHint(Error error, const fs::path& file) {
  const fs::path bundle = EndorsementPath(file);
  std::error_code ignored;
  if (error.code == ErrorCode::kIntegrity && fs::is_regular_file(bundle, ignored)) {
    error.message +=
        fmt::format("; its signatures are in {}, and --artifacts {} checks it against them",
                    bundle.string(), file.string());
  }
  return error;
}

// `found`: below a folder that was given.
Looked Look(const fs::path& file, bool found, const TrustPolicy& policy,
            const VerifyArguments& arguments, WallTime now) {
  Looked looked{.file = file, .statements = {}, .not_counted = {}, .refused = {}};
  auto verified = VerifyFile(file, policy, now);
  if (!verified.ok()) {
    looked.refused = WithHint(verified.error(), file);
    // Found in a folder by its name: a pipe, or a link to nowhere, is not what was signed.
    if (found && !IsTrouble(verified.error())) looked.refused->code = ErrorCode::kIntegrity;
    return looked;
  }
  const auto held = HoldAll(verified->statements, file, arguments);
  if (!held.ok()) {
    const Error& error = held.error();
    looked.refused = Error{error.code, error.ToString(), file.string()};
    return looked;
  }
  looked.held = held->held;
  if (arguments.family.empty()) {
    WarnOfWeakRules(file, verified->statements, *held, policy);
  }
  looked.statements = std::move(verified->statements);
  looked.not_counted = std::move(verified->not_counted);
  return looked;
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
  if (verdicts.empty()) LogError("--reproduced: none of these statements is about a verdict");
  return ExitCodeOf(verdicts);
}

Result<int> Verify(const VerifyArguments& arguments) {
  const WallTime now = SystemClock().Now();
  ASSIGN_OR_RETURN(const TrustPolicy policy, LoadTrustPolicy(arguments.trust));
  std::vector<Looked> all;
  for (const std::string& path : arguments.paths) {
    ASSIGN_OR_RETURN(const auto files, FindAttestations(path));
    for (const fs::path& file : files) {
      all.push_back(Look(file, file != fs::path(path), policy, arguments, now));
    }
  }
  const int code = arguments.json ? PrintJson(VerifyJson(all)) : Print(VerifyText(all));
  return code == kExitOk ? VerifyExitCode(all, arguments.reproduced) : code;
}

}  // namespace

void AddVerify(Command& root) {
  Command& verb = root.AddVerb("verify", "Verify signed statements against a trust policy");
  auto arguments = std::make_shared<VerifyArguments>();
  verb.Add("paths", &arguments->paths, "Signed statements, or folders of them").Path().Required();
  verb.Add("--trust", &arguments->trust, "The trust policy").File().Required();
  verb.Add("--artifacts", &arguments->artifacts, "Folder of the signed files, or one of them")
      .Path()
      .OneEach();
  verb.Add("--tensors", &arguments->tensors,
           "Checkpoint whose tensors must be the signed ones, in any files")
      .Path()
      .OneEach();
  verb.Add("--run", &arguments->run, "The run that every statement must be about")
      .Value("ID")
      .NotEmpty();
  verb.Add("--family", &arguments->family, "The families that every statement must be about")
      .Value("PATTERN")
      .NotEmpty();
  verb.Add("--reproduced", &arguments->reproduced,
           "Every verdict must be identical or equivalent as well");
  verb.Add("--json", &arguments->json, "Print the outcome as JSON");
  verb.Note(kTrustFile);
  verb.ExitCode(kExitOk, "everything is signed as the policy requires");
  verb.ExitCode(kExitDrift, "with --reproduced: they are, and one drifted");
  verb.ExitCode(kExitUsage, "a path or the policy cannot be used");
  verb.ExitCode(kExitInconclusive,
                "with --reproduced: they are, and one shows nothing, or none is a verdict");
  verb.ExitCode(kExitInfrastructure,
                "a file could not be read; with --reproduced: a run failed, or could not be run");
  verb.ExitCode(kExitIntegrity,
                "something was tampered with, or has no valid signature of a trusted key");
  verb.Example(
      "rharness verify signed/mlp-1.verdict.intoto.jsonl --trust trust.yaml --artifacts "
      "registry/mlp-1");
  verb.Example("rharness verify signed --trust trust.yaml --family 'llama*' --reproduced");
  verb.Example(
      "rharness verify mlp-1.sigstore.json --trust trust.yaml --tensors merged.safetensors");
  verb.Do([arguments] {
    const auto code = Verify(*arguments);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
