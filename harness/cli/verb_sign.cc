// rharness sign: a drill's verdicts as signed statements, a file a run; or one for a file that
// somebody answers for; or one for a checkpoint.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "harness/base/files.h"
#include "harness/cli/verb.h"
#include "harness/trust/attestation/attest_drill.h"
#include "harness/trust/attestation/attest_model.h"
#include "harness/trust/attestation/endorsement.h"
#include "harness/trust/attestation/open_signer.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr char kWhatIsSigned[] =
    R"text(Each verdict of the drill, good or bad, becomes OUT/RUN.verdict.intoto.jsonl: one line, a DSSE envelope around an in-toto Statement v1 with the predicate urn:rharness:verdict:v1 (share/rharness/schemas/verdict.schema.json). Its subjects are the recorded checkpoints and the manifest, by their SHA-256; a checkpoint of a reproduced run only if a rerun wrote the same file or the recorded one is kept. First the evidence of every rerun is checked against the drill's journal, and the report against the history: every run and rerun of the drill must be there, with its verdict, headline, reasons and outcome. If they disagree, nothing is written. For a drill of an older version of rharness the history has only verdicts, decisive reasons and outcomes; a warning says so.

For a file, such as a policy with its waivers or the record of accepted baselines (baseline.jsonl), it signs an endorsement of the present content: a line in FILE.intoto.jsonl with the predicate urn:rharness:endorsement:v1, the file's SHA-256 and the --reason. `rharness gate --trust` requires these. A changed file needs a new endorsement, and so does an older content that comes back: the newest one holds. Two people who sign at the same time wait for each other.

With --model it signs a checkpoint, a file or a folder: OUT/NAME.sigstore.json, by default beside it, is a bundle of OpenSSF Model Signing, which `model_signing verify key` takes (pip install model-signing). It lists every file but those of git by its SHA-256; a symbolic link is refused, also as the checkpoint itself. The signed predicate also has the member urn:rharness:tensors:v1, the tensor digest that `rharness hash` prints: `rharness verify --tensors` checks a copy in other shards or a different format against it. The key is one of ECDSA, and a bundle has one signature.

Make a key with openssl, and give the public half to those who verify:

  openssl genpkey -algorithm ed25519 -out lab.pem
  openssl pkey -in lab.pem -pubout -out lab.pub

Use -algorithm EC -pkeyopt ec_paramgen_curve:P-256 for ECDSA. Add -aes256 to encrypt the key; --passphrase-file opens it. A key or passphrase file that others may read is refused. The history records which verdicts are signed: `rharness slo` counts them. A second call changes nothing; with a different key it adds that key's signature to the same statement.

A key may also lie on a token: --key is then its PKCS#11 URI (RFC 7512), such as 'pkcs11:token=lab;object=signing?pin-source=file:/etc/lab.pin'. Without pin-source the PIN is read from the file that RHARNESS_PKCS11_PIN_FILE names; a PIN in the URI is refused, since a list of processes shows it. module-path names the module; without it, those of p11-kit's configuration are tried. Or it lies in Vault's transit engine: --key vault:transit/KEY, with VAULT_ADDR (https, or this machine), VAULT_NAMESPACE, VAULT_CACERT, VAULT_CLIENT_TIMEOUT and VAULT_MAX_RETRIES, and the token in the file that VAULT_TOKEN_FILE names, or in ~/.vault-token. Each signature is verified with the key's public half before a file is written.)text";

struct SignArguments {
  AttestRequest request;
  std::string what;
  std::string reason;
  std::filesystem::path out;
  std::string key;
  std::string passphrase_file;
  bool model = false;
  bool json = false;
};

std::string SignText(const std::vector<AttestedFile>& files) {
  std::string text;
  for (const AttestedFile& one : files) {
    text += TerminalSafe(fmt::format("{}: {} {}: {}", one.path.string(), one.run_id,
                                     VerdictName(one.verdict), AttestStateWords(one.state))) +
            "\n";
  }
  return text;
}

Json SignJson(const std::vector<AttestedFile>& files, const PublicKey& key) {
  Json list = Json::MakeArray();
  for (const AttestedFile& one : files) {
    list.Append(Json::MakeObject({{"run_id", one.run_id},
                                  {"verdict", VerdictName(one.verdict)},
                                  {"file", one.path.string()},
                                  {"state", AttestStateName(one.state)}}));
  }
  return Json::MakeObject({{"schema", "rharness.sign/v1"},
                           {"keyid", key.id()},
                           {"algorithm", key.algorithm()},
                           {"attested", std::move(list)}});
}

Result<int> SignFile(const SignArguments& arguments, Signer* signer) {
  const std::filesystem::path file = arguments.what;
  std::error_code error;
  if (std::filesystem::exists(file.parent_path() / "journal.jsonl", error)) {
    return InvalidInput("a file of a drill; expected the drill's folder", file.string());
  }
  std::filesystem::path bundle = EndorsementPath(file);
  if (!arguments.out.empty()) bundle = arguments.out / bundle.filename();
  ASSIGN_OR_RETURN(const AttestState state,
                   EndorseFile(file, bundle, arguments.reason, SystemClock().Now(), signer));
  if (arguments.json) {
    return PrintJson(Json::MakeObject({{"schema", "rharness.sign/v1"},
                                       {"keyid", signer->public_key().id()},
                                       {"algorithm", signer->public_key().algorithm()},
                                       {"endorsed", file.string()},
                                       {"file", bundle.string()},
                                       {"state", AttestStateName(state)}}));
  }
  if (Globals().quiet) return kExitOk;
  return Print(TerminalSafe(fmt::format("{}: {}", bundle.string(), AttestStateWords(state))) +
               "\n");
}

Json ModelJson(const AttestedModel& attested, const PublicKey& key) {
  const SignedModel& model = attested.model;
  return Json::MakeObject({{"schema", "rharness.sign/v1"},
                           {"key", key.id()},
                           {"algorithm", key.algorithm()},
                           {"model", model.name},
                           {"sha256", ModelRoot(model.resources)},
                           {"files", std::uint64_t{model.resources.size()}},
                           {"tensors", TensorsJson(*model.tensors)},
                           {"file", attested.path.string()},
                           {"state", AttestStateName(attested.state)}});
}

Result<int> SignModel(const SignArguments& arguments, Signer* signer) {
  ASSIGN_OR_RETURN(const AttestedModel attested,
                   AttestModel(arguments.what, arguments.out, signer));
  if (arguments.json) return PrintJson(ModelJson(attested, signer->public_key()));
  if (Globals().quiet) return kExitOk;
  const SignedModel& model = attested.model;
  return Print(TerminalSafe(fmt::format("{}: model '{}' of {} and {}: {}", attested.path.string(),
                                        model.name, Counted(model.resources.size(), "file"),
                                        Counted(model.tensors->tensors, "tensor"),
                                        AttestStateWords(attested.state))) +
               "\n");
}

Status CheckOptions(const SignArguments& arguments) {
  std::error_code error;
  if (!std::filesystem::exists(arguments.what, error)) {
    return NotFound(
        "is not there; expected a drill's folder, a file to answer for, or a checkpoint",
        arguments.what);
  }
  const bool file = std::filesystem::is_regular_file(arguments.what, error);
  if (!arguments.model && file && !arguments.request.history.empty()) {
    return InvalidInput("is that of a drill; a file is signed without", "--history");
  }
  if (!arguments.model) return {};
  if (!arguments.reason.empty()) {
    return InvalidInput("Model Signing has no place for one; --reason is for a file",
                        arguments.what);
  }
  if (arguments.request.history.empty()) return {};
  return InvalidInput("is that of a drill; a model is signed without", "--history");
}

Result<int> Sign(SignArguments arguments) {
  RETURN_IF_ERROR(CheckOptions(arguments));
  ASSIGN_OR_RETURN(const auto signer, OpenSigner(arguments.key, arguments.passphrase_file));
  if (arguments.model) return SignModel(arguments, signer.get());
  std::error_code error;
  if (std::filesystem::is_regular_file(arguments.what, error)) {
    return SignFile(arguments, signer.get());
  }
  if (!arguments.reason.empty()) {
    return InvalidInput("a drill's verdicts have their own reasons; --reason is for a file",
                        arguments.what);
  }
  arguments.request.drill = arguments.what;
  arguments.request.out = arguments.out;
  ASSIGN_OR_RETURN(const auto files, AttestDrill(arguments.request, signer.get()));
  if (arguments.json) return PrintJson(SignJson(files, signer->public_key()));
  return Globals().quiet ? kExitOk : Print(SignText(files));
}

}  // namespace

void AddSign(Command& root) {
  Command& verb = root.AddVerb(
      "sign", "Sign a drill's verdicts, a file or a checkpoint, as in-toto statements");
  auto arguments = std::make_shared<SignArguments>();
  verb.Add("what", &arguments->what, "Drill folder, a file to answer for, or a checkpoint")
      .Path()
      .Required();
  verb.Add("--key", &arguments->key,
           "The private key, Ed25519 or ECDSA P-256: a PEM file, pkcs11:... or vault:MOUNT/KEY")
      .File()
      .Required();
  verb.Add("--passphrase-file", &arguments->passphrase_file,
           "File whose first line opens an encrypted key")
      .File();
  verb.Add("--out", &arguments->out,
           "Folder for the statements; default: attestations, in the drill's folder; beside a file "
           "or checkpoint")
      .Folder();
  verb.Add("--model", &arguments->model, "What is given is a checkpoint, to be signed as a model");
  verb.Add("--history", &arguments->request.history,
           "Store that the drill wrote to; default: the drill's own")
      .Value("URL");
  verb.Add("--reason", &arguments->reason, "Why you answer for a file, in words");
  verb.Add("--json", &arguments->json, "Print what was signed as JSON");
  verb.Note(kWhatIsSigned);
  verb.ExitCode(kExitOk, "it is signed: all verdicts, whatever they are");
  verb.ExitCode(
      kExitUsage,
      "no drill, no checkpoint, no key that can be used, or another statement in its place");
  verb.ExitCode(kExitInfrastructure,
                "something could not be read or written; the token or Vault does not answer");
  verb.ExitCode(kExitIntegrity,
                "report, journal, evidence and history do not agree; FILE.intoto.jsonl holds "
                "something else; the signature that came back is not the key's");
  verb.Example("rharness sign tonight --key lab.pem --out signed");
  verb.Example("rharness sign policy.yaml --key ada.pem --reason 'reviewed with the vendor'");
  verb.Example("rharness sign checkpoints/final --model --key vault:transit/lab-2026");
  verb.Do([arguments] {
    const auto code = Sign(*arguments);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
