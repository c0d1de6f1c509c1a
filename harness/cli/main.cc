// rharness: the command line. One subcommand a verb; see verb.h.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <exception>

#include "harness/base/log.h"
#include "harness/base/version.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

void AddGlobals(CLI::App& app) {
  app.set_version_flag("--version", kVersion);
  app.add_flag("-q,--quiet", Globals().quiet, "Print nothing on success, one line on failure")
      ->envname("RHARNESS_QUIET");
  app.add_flag("-v,--verbose", Globals().verbose,
               "Say of each rerun when it starts and how it ended");
  app.add_flag("--no-color", Globals().no_color, "Never colour the output");
  const char* config = std::getenv("RHARNESS_CONFIG");
  const bool given = config != nullptr && *config != '\0';
  app.set_config("--config", given ? config : "",
                 "Read options from an INI or TOML file (Env:RHARNESS_CONFIG)", given);
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.require_subcommand(1);
  app.fallthrough();
}

void AddVerbs(CLI::App& app, Action* action) {
  // In the order of a run's life.
  AddRecord(app, action);
  AddAdmit(app, action);
  AddHistory(app, action);
  AddDrill(app, action);
  AddCompare(app, action);
  AddProbe(app, action);
  AddGate(app, action);
  AddReport(app, action);
  AddHash(app, action);
  AddStats(app, action);
}

// The verb as typed: the first word that is no option. Empty if there is none.
std::string_view TypedVerb(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--config") {
      ++i;  // its value is no verb
    } else if (!word.starts_with('-')) {
      return word;
    }
  }
  return {};
}

// Says which word is no verb, where CLI11 would only miss one. True when it did.
bool RefuseUnknownVerb(const CLI::App& app, std::string_view verb) {
  std::string known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == verb) return false;
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  if (verb.empty()) return false;
  LogError("'" + std::string(verb) + "' is no verb; expected one of " + known);
  return true;
}

int Run(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app(
      "Reruns recorded training runs, compares what comes out, and says whether it drifted.",
      "rharness");
  Action action;
  AddGlobals(app);
  AddVerbs(app, &action);
  if (RefuseUnknownVerb(app, TypedVerb(argc, argv))) return kExitUsage;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    LogError(error.what());
    LogError("see `rharness " + std::string(TypedVerb(argc, argv)) + " --help`");
    return kExitUsage;
  }
  SetLogLevel(Globals().quiet     ? LogLevel::kError
              : Globals().verbose ? LogLevel::kDebug
                                  : LogLevel::kInfo);
  return action ? action() : kExitUsage;
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
