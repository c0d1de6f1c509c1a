// Keeps what verbs declare, in the order in which they do.
#include "harness/cli/command.h"

#include <algorithm>

namespace rharness {

Command::Command(std::string name, std::string summary)
    : name_(std::move(name)), summary_(summary), description_(std::move(summary)) {}

Command& Command::AddVerb(std::string name, std::string summary) {
  verbs_.push_back(std::make_unique<Command>(std::move(name), std::move(summary)));
  verbs_.back()->group_ = verb_group_;
  return *verbs_.back();
}

void Command::VerbGroup(std::string group) { verb_group_ = std::move(group); }

Option& Command::Add(std::string names, OptionFacts::Target target, std::string help) {
  options_.push_back(std::make_unique<Option>(std::move(names), target, std::move(help)));
  return options_.back()->Group(heading_);
}

void Command::Heading(std::string heading) { heading_ = std::move(heading); }

void Command::Describe(std::string text) { description_ = std::move(text); }

void Command::Note(std::string paragraph) { notes_.paragraphs.push_back(std::move(paragraph)); }

void Command::ExitCode(int code, std::string meaning) {
  notes_.exit_codes.emplace_back(code, std::move(meaning));
}

void Command::Example(std::string line) { notes_.examples.push_back(std::move(line)); }

void Command::Hide() { hidden_ = true; }

void Command::Do(Action action) { action_ = std::move(action); }

bool Command::Given(std::string_view name) const {
  return std::ranges::any_of(options_, [name](const std::unique_ptr<Option>& option) {
    const std::vector<std::string> names = option->facts().Names();
    return option->given() > 0 && std::ranges::find(names, name) != names.end();
  });
}

const Command* Command::Find(std::string_view name) const {
  const auto verb = std::ranges::find_if(
      verbs_, [name](const std::unique_ptr<Command>& one) { return one->name() == name; });
  return verb == verbs_.end() ? nullptr : verb->get();
}

std::vector<std::string> Command::VerbNames() const {
  std::vector<std::string> names;
  for (const std::unique_ptr<Command>& verb : verbs_) {
    if (!verb->hidden()) names.push_back(verb->name());
  }
  return names;
}

}  // namespace rharness
