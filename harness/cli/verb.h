// What every verb of the command line shares: its shape, exit codes, and how an Error ends it.
//
// Each verb is one file, verb_NAME.cc, that declares its options and what it does (command.h).
// main.cc holds the list of verbs; core_main.cc names those of a first drill.
#ifndef RHARNESS_HARNESS_CLI_VERB_H_
#define RHARNESS_HARNESS_CLI_VERB_H_

#include <string_view>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/cli/command.h"
#include "harness/cli/command_line.h"

namespace rharness {

inline constexpr int kExitOk = 0;              // identical or equivalent; gate open
inline constexpr int kExitDrift = 1;           // drift; gate closed
inline constexpr int kExitUsage = 2;           // usage or invalid input
inline constexpr int kExitInconclusive = 3;    // inconclusive or not comparable
inline constexpr int kExitInfrastructure = 4;  // infrastructure or the run itself failed
inline constexpr int kExitIntegrity = 5;       // tampered record, bad signature
inline constexpr int kExitClaimed = 6;         // `rerun` alone: the attempt is another process's

// Options before the verb, filled by main before an action runs.
struct GlobalOptions {
  bool quiet = false;  // nothing on success, one line on failure
  bool verbose = false;
  bool no_color = false;
};
GlobalOptions& Globals();

// Whether this stream gets colour: a terminal, no --no-color, NO_COLOR empty, TERM not "dumb".
bool ColorOn(int fd);

// Logs the error in one line on stderr and returns its exit code: invalid_input, not_found and
// unsupported are 2, integrity 5, the rest 4.
int FailWith(const Error& error);

// A line of stdout, with its end: names and messages come from strangers, and may neither forge a
// line of their own nor act on a terminal.
std::string OneLine(std::string_view text);

// stdout, whole and checked: a closed pipe or a full disk is exit code 4.
int Print(std::string_view text);
// What would act on a terminal, such as a mark that reorders text, is written as \uNNNN.
int PrintJson(const Json& json);

// Each adds its verb. `help` knows the verbs that were added before it.
void AddAudit(Command& root);
void AddCheck(Command& root);
void AddCompare(Command& root);
void AddDocuments(Command& root);
void AddDrill(Command& root);
void AddExplain(Command& root);
void AddFetch(Command& root);
void AddGameday(Command& root);
void AddProperties(Command& root);
void AddGate(Command& root);
void AddHash(Command& root);
void AddHelp(Command& root, const ProgramFacts& program);
void AddHistory(Command& root);  // add, list, show; the others: history_verbs.h
void AddImport(Command& root);
void AddIncident(Command& root);
void AddIsolate(Command& root);
void AddPolicy(Command& root);
void AddProbe(Command& root);
void AddRecord(Command& root);
void AddReport(Command& root);
void AddRerun(Command& root);
void AddServe(Command& root);
void AddSign(Command& root);
void AddSlo(Command& root);
void AddStats(Command& root);
void AddVerify(Command& root);
void AddVersion(Command& root);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_VERB_H_
