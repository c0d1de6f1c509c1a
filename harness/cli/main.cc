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
}

void AddVerbs(Command& root) {
  // In the order of a run's life.
  AddRecord(root);
  AddAdmit(root);
  AddHistory(root);
  AddDrill(root);
  AddCompare(root);
  AddProbe(root);
  AddGate(root);
  AddReport(root);
  AddHash(root);
  AddStats(root);
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
