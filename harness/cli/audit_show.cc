// rharness audit show: the auditor's question about one run, on one page.
#include "harness/cli/audit_show.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/progress.h"
#include "harness/base/version.h"
#include "harness/cli/document_options.h"
#include "harness/cli/outputs.h"
#include "harness/cli/verb.h"
#include "harness/history/location.h"
#include "harness/trust/attestation/verification.h"
#include "harness/trust/audit/answer.h"
#include "harness/trust/audit/audit.h"

namespace rharness {
namespace {

struct ShowArguments {
  AnswerRequest request;
  std::string log;
  std::string trust;
  DocumentOptions formats;
  bool json = false;
};

Result<int> ShowAnswer(const ShowArguments& arguments) {
  AnswerRequest request = arguments.request;
  if (arguments.log.empty()) {
    ASSIGN_OR_RETURN(request.log, DefaultLogFolder(request.history));
  } else {
    request.log = arguments.log;
  }
  std::vector<std::string> inputs = FilesOfHistory(request.history);
  inputs.insert(inputs.end(), request.policies.begin(), request.policies.end());
  inputs.push_back(arguments.trust);
  for (const char* file : {"entries.jsonl", "heads.jsonl"}) inputs.push_back(request.log / file);
  for (const std::string& statements : request.statements) {
    ASSIGN_OR_RETURN(const auto files, FindAttestations(statements));
    for (const std::filesystem::path& file : files) inputs.push_back(file);
  }
  RETURN_IF_ERROR(CheckOutputs(FilesOf(arguments.formats), inputs, arguments.json));
  std::optional<TrustPolicy> trust;
  if (!arguments.trust.empty()) {
    ASSIGN_OR_RETURN(trust, LoadTrustPolicy(arguments.trust));
    request.trust = &*trust;
  }
  request.now = SystemClock().Now();
  ASSIGN_OR_RETURN(AuditReport report, AnswerFor(request));
  report.version = kVersion;
  const Document document = DocumentOf(report);
  const std::vector<Output> outputs = OutputsOf(arguments.formats, document);
  RETURN_IF_ERROR(WriteFiles(outputs));
  return PrintReport(outputs, {.verb = "audit show",
                               .headline = report.headline,
                               .exit_code = report.exit_code,
                               .as_json = arguments.json,
                               .json = [&] { return ToJson(report); },
                               .text = [&] { return ScreenText(document); }});
}

}  // namespace

void AddAuditShow(Command& audit) {
  auto arguments = std::make_shared<ShowArguments>();
  Command& verb = audit.AddVerb(
      "show", "Show how a run was made, when it last reproduced, and its entries in the log");
  verb.Describe(
      "Answers the auditor's question about one run on one page: code, image, data, seeds and "
      "hardware; when it was last reproduced, by which drill and with whose signatures; which "
      "exceptions exist, deleted files among them; and whether each of its records is as it was "
      "entered in the log. Reads the lines of the log and the history's records of the run; "
      "`rharness audit verify` reads everything. A signed verdict must have the run, the family "
      "and the manifest of its record, and must agree with the history of its drill, or it is "
      "refused.");
  verb.Add("run_id", &arguments->request.run_id, "The run").Required();
  verb.Add("--history", &arguments->request.history,
           "The history: a path, sqlite:PATH or postgresql://HOST:PORT/DATABASE")
      .File("URL")
      .Env("RHARNESS_HISTORY")
      .Required();
  verb.Add("--log", &arguments->log,
           "Folder of the log; default: HISTORY.audit, beside the history's file")
      .Folder()
      .Env("RHARNESS_AUDIT_LOG");
  verb.Add("--policy", &arguments->request.policies,
           "Policy: its waivers of probes that the run may depend on, and substitutes for its "
           "GPUs, are listed; with --trust, who signed it")
      .File()
      .Env("RHARNESS_POLICY")
      .OneEach();
  verb.Add("--statements", &arguments->request.statements,
           "Signed statements (rharness sign), or folders of them; those about the run are shown")
      .Path()
      .OneEach();
  verb.Add("--trust", &arguments->trust,
           "Trust policy: the keys for statements, heads, policies, retirements and deletions")
      .File();
  AddDocumentOptions(&verb, &arguments->formats, "a statement and an entry of the log");
  verb.Add("--json", &arguments->json, "Print one JSON document (rharness.audit_report/v1)");
  verb.ExitCode(kExitOk, "answered, whatever the verdicts; all that is entered is as it was");
  verb.ExitCode(kExitDrift, "answered; with --trust: nobody has signed a head of the log");
  verb.ExitCode(kExitUsage, "usage or invalid input, no such run, or no log");
  verb.ExitCode(kExitInfrastructure, "it could not be done: a file, the network or the machine");
  verb.ExitCode(
      kExitIntegrity,
      "a record is not as it was entered, a statement (a policy's or a deletion's among "
      "them) is refused or contradicts record or history, or a retirement is not what was "
      "signed");
  verb.Example(
      "rharness audit show mlp-1 --history runs.db --policy policy.yaml --statements signed "
      "--trust "
      "trust.yaml --html mlp-1.html");
  verb.Do([arguments] {
    const auto code = ShowAnswer(*arguments);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
