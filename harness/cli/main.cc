// rharness: the command line. See verb.h.
#include <csignal>
#include <exception>

#include "harness/base/log.h"
#include "harness/base/version.h"
#include "harness/cli/command_line.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

const ProgramFacts& Program() {
  static const ProgramFacts facts = {.version = kVersion, .config_env = "RHARNESS_CONFIG"};
  return facts;
}

void AddGlobals(Command& root) {
  root.Add("-q,--quiet", &Globals().quiet, "Print nothing on success, one line on failure")
      .Env("RHARNESS_QUIET");
  root.Add("-v,--verbose", &Globals().verbose, "Say of each rerun when it starts and how it ended");
  root.Add("--no-color", &Globals().no_color, "Never colour the output");
  root.Note(
      "`rharness help VERB` is as `rharness VERB --help`; `rharness help` also knows the topics "
      "select, config and environment.");
  root.ExitCode(kExitOk, "everything is identical or equivalent; the gate is open");
  root.ExitCode(kExitDrift, "something drifted; the gate is closed");
  root.ExitCode(kExitUsage, "usage or invalid input");
  root.ExitCode(kExitInconclusive, "inconclusive or not comparable");
  root.ExitCode(kExitInfrastructure, "infrastructure, or the run itself failed");
  root.ExitCode(kExitIntegrity, "a record was tampered with");
  root.Example("rharness record --out runs/a.json --metrics metrics.json -- python3 train.py");
  root.Example("rharness history add --history runs.db runs/a.json");
  root.Example("rharness drill --history runs.db --out tonight");
}

void AddVerbs(Command& root) {
  // In the order of a run's life.
  AddRecord(root);
  AddImport(root);
  AddComplete(root);
  AddAdmit(root);
  AddLint(root);
  AddHistory(root);
  AddRetire(root);
  AddRetention(root);
  AddRebuild(root);
  AddFetch(root);
  AddDrill(root);
  AddRerun(root);
  AddCompare(root);
  AddIsolate(root);
  AddGameday(root);
  AddProperties(root);
  AddProbe(root);
  AddGate(root);
  AddPolicy(root);
  AddSlo(root);
  AddAlerts(root);
  AddTrends(root);
  AddIncident(root);
  AddRunbook(root);
  AddServe(root);
  AddReport(root);
  AddPublish(root);
  AddAttest(root);
  AddVerify(root);
  AddAudit(root);
  AddHash(root);
  AddStats(root);
  AddVersion(root);
  AddDocuments(root);
  AddHelp(root, Program());
}

int Run(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  Command root("rharness",
               "Reruns recorded training runs, compares what comes out, and says whether it "
               "drifted.");
  AddGlobals(root);
  AddVerbs(root);
  const ParsedLine line = ParseCommandLine(root, Program(), argc, argv);
  SetLogLevel(Globals().quiet     ? LogLevel::kError
              : Globals().verbose ? LogLevel::kDebug
                                  : LogLevel::kInfo);
  return line.action ? line.action() : line.exit_code;
}

// The last fence: a library that throws, or memory that is not to be had, ends in one line.
int RunFenced(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::exception& failure) {
    return FailWith(InternalError(failure.what()));
  }
}

}  // namespace
}  // namespace rharness

int main(int argc, char** argv) { return rharness::RunFenced(argc, argv); }
