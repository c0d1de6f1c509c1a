// rharness: the command line. One subcommand a verb; see verb.h.
#include <CLI/CLI.hpp>
#include <csignal>

#include "harness/base/log.h"
#include "harness/base/version.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

void AddGlobals(CLI::App& app) {
  app.set_version_flag("--version", kVersion);
  app.add_flag("-q,--quiet", Globals().quiet, "Print nothing on success, one line on failure")
      ->envname("RHARNESS_QUIET");
  app.add_flag("-v,--verbose", Globals().verbose, "Print what is done as it is done");
  app.add_flag("--no-color", Globals().no_color, "Never colour the output");
  app.set_config("--config", "", "Read options from an INI or TOML file")
      ->envname("RHARNESS_CONFIG");
  app.require_subcommand(1);
  app.fallthrough();
}

void AddVerbs(CLI::App& app, Action* action) {
  // In the order of a run's life.
  AddRecord(app, action);
  AddAdmit(app, action);
  AddHistory(app, action);
  AddDrill(app, action);
  AddReport(app, action);
  AddHash(app, action);
}

int Run(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app(
      "Reruns recorded training runs, compares what comes out, and says whether it drifted.",
      "rharness");
  Action action;
  AddGlobals(app);
  AddVerbs(app, &action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  SetLogLevel(Globals().quiet     ? LogLevel::kError
              : Globals().verbose ? LogLevel::kDebug
                                  : LogLevel::kInfo);
  return action ? action() : kExitUsage;
}

}  // namespace
}  // namespace rharness

int main(int argc, char** argv) { return rharness::Run(argc, argv); }
