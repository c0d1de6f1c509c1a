// The commands of rharness as a tree of facts: verbs, their options, what they do and how they end.
//
// Role: what verbs declare themselves with. command_line.h parses by it, manual.h and
// completion.h write the manual pages and the completion from it; this file knows no parser.
#ifndef RHARNESS_HARNESS_CLI_COMMAND_H_
#define RHARNESS_HARNESS_CLI_COMMAND_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/cli/option.h"

namespace rharness {

// The work of a verb once its options are parsed; returns the exit code.
using Action = std::function<int()>;

// The paragraphs below a verb's options.
struct CommandNotes {
  std::vector<std::string> paragraphs;
  std::vector<std::pair<int, std::string>> exit_codes;
  std::vector<std::string> examples;  // a command line each
};

class Command {
 public:
  // `summary`: one line without a full stop, as lists of verbs show it.
  Command(std::string name, std::string summary);

  // A verb of this command. A command that has some and no action of its own needs one of them.
  Command& AddVerb(std::string name, std::string summary);
  // The group, in lists, of the verbs that are added from now on: "Record".
  void VerbGroup(std::string group);
  // An option, flag or positional; its target outlives the command. It stands under the heading
  // that was given last. The reference holds as long as this command does.
  Option& Add(std::string names, OptionFacts::Target target, std::string help);
  // The heading of the options that are added from now on.
  void Heading(std::string heading);
  // What it does, in a sentence or more; the summary unless given.
  void Describe(std::string text);
  // A paragraph below the options. Line breaks in it are kept.
  void Note(std::string paragraph);
  void ExitCode(int code, std::string meaning);
  void Example(std::string line);
  // Left out of lists, pages and completion.
  void Hide();
  void Do(Action action);

  // Whether this option, such as "--select", was given: on the command line, in the environment or
  // in the configuration file.
  bool Given(std::string_view name) const;

  const std::string& name() const { return name_; }
  const std::string& summary() const { return summary_; }
  const std::string& description() const { return description_; }
  const CommandNotes& notes() const { return notes_; }
  const Action& action() const { return action_; }
  bool hidden() const { return hidden_; }
  const std::string& group() const { return group_; }  // empty: none was given
  bool needs_verb() const { return !verbs_.empty() && !action_; }
  const std::vector<std::unique_ptr<Command>>& verbs() const { return verbs_; }
  const std::vector<std::unique_ptr<Option>>& options() const { return options_; }
  // The verb of that name; nullptr: there is none.
  const Command* Find(std::string_view name) const;
  // The names of its verbs that are not hidden.
  std::vector<std::string> VerbNames() const;

 private:
  std::string name_;
  std::string summary_;
  std::string description_;
  std::string group_;
  std::string verb_group_;
  std::string heading_ = "Options";
  CommandNotes notes_;
  Action action_;
  bool hidden_ = false;
  std::vector<std::unique_ptr<Command>> verbs_;
  std::vector<std::unique_ptr<Option>> options_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_COMMAND_H_
