// The commands of README.md and the guides: what stands between fences, a statement of the shell
// each.
#ifndef RHARNESS_TESTS_CLI_GUIDE_COMMANDS_H_
#define RHARNESS_TESTS_CLI_GUIDE_COMMANDS_H_

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace rharness {

// README.md, then the guides, by their paths from the root.
const std::vector<std::string>& GuideDocuments();
std::string GuideText(const std::string& document);

std::vector<std::string> WordsOf(const std::string& line);

struct GuideLine {
  int number = 0;       // of the document, from 1
  std::string opening;  // "sh", "sh needs=slurm", "yaml"; empty: output of a program
  std::string text;     // with the lines that follow a backslash, or belong to a here-document
};

// The lines between fences.
std::vector<GuideLine> FencedLines(const std::string& text);
// `rharness ...` between backquotes outside of fences.
std::vector<GuideLine> InlineCommands(const std::string& text);

struct NamedVerb {
  std::string verb;  // "history add"
  std::vector<std::string> options;
};

// The commands of a line, up to what they run themselves.
std::vector<NamedVerb> VerbsNamedIn(const std::string& line);

struct GuideStatement {
  GuideLine line;
  int exit_code = 0;  // what "# exit code 1: drifted" at its end says
  std::string needs;  // "slurm": what a machine must have; empty: it runs here
};

// The statements of blocks that open with ```sh, in order; no empty lines, no comments.
std::vector<GuideStatement> StatementsIn(const std::string& text);

struct RanStatement {
  GuideStatement statement;
  int exit_code = -1;  // -1: it did not run
  double seconds = 0;
  std::string output;  // of both streams
};

// Runs them one after the other in one shell, in `folder`, with these variables beside PATH and
// HOME. One may change folder and variables of the next.
std::vector<RanStatement> RunStatements(const std::vector<GuideStatement>& statements,
                                        const std::filesystem::path& folder,
                                        const std::map<std::string, std::string>& variables);

}  // namespace rharness

#endif  // RHARNESS_TESTS_CLI_GUIDE_COMMANDS_H_
