// Manual pages of the declared commands, in roff's man macros. Pure.
#ifndef RHARNESS_HARNESS_CLI_MANUAL_H_
#define RHARNESS_HARNESS_CLI_MANUAL_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/command.h"
#include "harness/cli/help_topics.h"

namespace rharness {

struct ManualFacts {
  std::string version;
  std::string date;  // 2026-11-22; empty: the page names none
  // Of the whole program, and not declared as options: --help, --version, --config.
  std::vector<OptionFacts> program_options;
  std::vector<HelpTopic> topics;
  std::vector<std::string> guide_pages;  // "rharness-guide-drill"
};

// The page of the program: its verbs, options, topics and exit codes.
std::string ProgramPage(const Command& root, const ManualFacts& facts);

// The page of one of its verbs, with those below it.
std::string VerbPage(const Command& root, const Command& verb, const ManualFacts& facts);

// For headings, and for a page's NAME: "A page" as "a page", and "YAML" as it is.
std::string UpperCase(std::string text);
std::string LowerFirst(std::string text);

// One line of roff: `words` in bold, and nothing that roff would take for its own.
std::string RoffInline(std::string_view text);

// What roff prints as this text: `words` in bold, blank lines between paragraphs, indented lines as
// they are. Ends with a newline.
std::string RoffOf(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_MANUAL_H_
