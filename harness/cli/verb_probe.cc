// `rharness probe`: what fingerprints of a stack are for.
#include <CLI/CLI.hpp>

#include "harness/cli/probe_diff.h"
#include "harness/cli/verb.h"

namespace rharness {

void AddProbe(CLI::App& app, Action* action) {
  CLI::App* verb = app.add_subcommand("probe", "Compare the arithmetic of stacks");
  verb->require_subcommand(1);
  AddProbeDiff(*verb, action);
}

}  // namespace rharness
