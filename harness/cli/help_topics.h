// What `rharness help` says beside the verbs: the select language, the configuration file, the
// environment, verdicts, exit codes. The manual page has the same texts.
#ifndef RHARNESS_HARNESS_CLI_HELP_TOPICS_H_
#define RHARNESS_HARNESS_CLI_HELP_TOPICS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/cli/command.h"

namespace rharness {

struct HelpTopic {
  std::string name;     // "select"
  std::string title;    // a heading
  std::string summary;  // one line
  // Paragraphs with blank lines between them; indented lines stand as they are written.
  std::string text;
};

// The variables that stand in for options of this command and of those below it: name and meaning.
std::vector<std::pair<std::string, std::string>> OptionVariables(const Command& command);
// These of the whole program, and the others that are asked.
std::vector<std::pair<std::string, std::string>> EnvironmentVariables(const Command& root);

std::vector<HelpTopic> HelpTopics(const Command& root);
// The topic that a word means: "exit-codes" for "exit"; the word itself where it is no other name.
std::string_view TopicOf(std::string_view typed);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_HELP_TOPICS_H_
