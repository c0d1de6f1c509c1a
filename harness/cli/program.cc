// The program around its verbs. See program.h.
#include "harness/cli/program.h"

#include <csignal>
#include <exception>

#include "harness/base/log.h"
#include "harness/base/version.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

void AddGlobals(Command& root) {
  root.Add("-q,--quiet", &Globals().quiet, "Print nothing on success, one line on failure")
      .Env("RHARNESS_QUIET");
  root.Add("-v,--verbose", &Globals().verbose, "Say of each rerun when it starts and how it ended");
  root.Add("--no-color", &Globals().no_color, "Never colour the output");
  root.Note(
      "`rharness help VERB` is as `rharness VERB --help`; `rharness help guide` lists the guides, "
      "and `rharness help verdicts`, `exit-codes`, `select`, `config` and `environment` are "
      "topics.");
  root.ExitCode(kExitOk, "everything is identical or equivalent; the gate is open");
  root.ExitCode(kExitDrift, "something drifted; the gate is closed");
  root.ExitCode(kExitUsage, "usage or invalid input");
  root.ExitCode(kExitInconclusive, "inconclusive or not comparable");
  root.ExitCode(kExitInfrastructure, "it could not be done, or the run itself failed");
  root.ExitCode(kExitIntegrity, "a record was tampered with");
  root.Example(
      "rharness record --out runs/a.json --run-id a --family mlp --code-file train.py --seed "
      "init=1 "
      "--weights model.safetensors --determinism bitwise -- python3 train.py");
  root.Example("rharness history add --history runs.db runs/a.json");
  root.Example("rharness drill --history runs.db --out tonight");
}

int Run(void (*add_verbs)(Command& root), int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  Command root("rharness",
               "Rerun recorded training runs, compare the results, and report which drifted.");
  AddGlobals(root);
  add_verbs(root);
  const ParsedLine line = ParseCommandLine(root, Program(), argc, argv);
  SetLogLevel(Globals().quiet     ? LogLevel::kError
              : Globals().verbose ? LogLevel::kDebug
                                  : LogLevel::kInfo);
  return line.action ? line.action() : line.exit_code;
}

}  // namespace

const ProgramFacts& Program() {
  static const ProgramFacts facts = {.version = kVersion, .config_env = "RHARNESS_CONFIG"};
  return facts;
}

// The last fence: a library that throws, or memory that is not to be had, ends in one line.
int RunProgram(void (*add_verbs)(Command& root), int argc, char** argv) {
  try {
    return Run(add_verbs, argc, argv);
  } catch (const std::exception& failure) {
    return FailWith(InternalError(failure.what()));
  }
}

}  // namespace rharness
