// `rharness probe diff`: which behaviours changed between two stacks.
#include "harness/cli/probe_diff.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/version.h"
#include "harness/cli/document_options.h"
#include "harness/cli/outputs.h"
#include "harness/cli/progress_line.h"
#include "reports/fingerprint_report.h"

namespace rharness {
namespace {

struct DiffArguments {
  std::string before;
  std::string after;
  DocumentOptions formats;
  bool json = false;
};

int Show(const FingerprintDifference& difference, const Document& document,
         const std::vector<Output>& outputs, const DiffArguments& arguments) {
  const int code = ExitCodeOf(difference);
  int shown = kExitOk;
  if (arguments.json) {
    shown = PrintJson(ToJson(difference));
  } else if (const Output* output = OnStdout(outputs)) {
    shown = Print(output->make());
  } else if (!Globals().quiet) {
    shown = Print(WriteTerminal(document, ReportColumns(STDOUT_FILENO), ColorOn(STDOUT_FILENO),
                                ReportRows(STDOUT_FILENO)));
  } else if (code != kExitOk) {
    LogError(TerminalSafe(difference.summary));
  }
  return shown == kExitOk ? code : shown;
}

// A fingerprint of a newer schema is one, and compares with nothing.
Result<Fingerprint> LoadSide(const std::string& path) {
  auto fingerprint = LoadFingerprint(path);
  if (!fingerprint.ok() && fingerprint.error().code == ErrorCode::kUnsupported) {
    return UnreadableFingerprint(path, fingerprint.error());
  }
  return fingerprint;
}

Result<int> Run(const DiffArguments& arguments) {
  RETURN_IF_ERROR(CheckOutputs(FilesOf(arguments.formats), {arguments.before, arguments.after},
                               arguments.json));
  ASSIGN_OR_RETURN(const Fingerprint before, LoadSide(arguments.before));
  ASSIGN_OR_RETURN(const Fingerprint after, LoadSide(arguments.after));
  const FingerprintDifference difference = DiffFingerprints(before, after);
  const Document document = DocumentOf(difference, before, after, kVersion);
  const std::vector<Output> outputs = OutputsOf(arguments.formats, document);
  RETURN_IF_ERROR(WriteFiles(outputs));
  return Show(difference, document, outputs, arguments);
}

}  // namespace

void AddProbeDiff(Command& probe) {
  auto arguments = std::make_shared<DiffArguments>();
  Command& verb = probe.AddVerb(
      "diff", "Say which behaviours changed between two fingerprints: choice, tree, bits");
  verb.Add("before", &arguments->before, "Fingerprint of the stack before").File().Required();
  verb.Add("after", &arguments->after, "Fingerprint of the stack after").File().Required();
  verb.Add("--json", &arguments->json, "Print rharness.fingerprint_diff/v1 instead of text");
  AddDocumentOptions(&verb, &arguments->formats, "a probe");
  verb.ExitCode(kExitOk, "the same");
  verb.ExitCode(kExitDrift, "changed");
  verb.ExitCode(kExitUsage, "unreadable input");
  verb.ExitCode(kExitInconclusive, "not comparable");
  verb.Example("rharness probe diff now.json next.json");
  verb.Do([arguments] {
    const auto code = Run(*arguments);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
