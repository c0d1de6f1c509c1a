// Source: man(7) and groff_man(7), the macros that groff and mandoc share.
#include "harness/cli/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

#include "harness/cli/help_text.h"

namespace rharness {
namespace {

constexpr std::size_t kSourceColumns = 78;

// A line that begins with a dot would be a request.
std::string Guarded(const std::string& escaped) {
  return (escaped.starts_with('.') ? "\\&" : "") + escaped + "\n";
}

// In lines of the length that mandoc wants, which are filled anew in the page.
std::string Filled(std::string_view text) {
  std::string lines;
  std::istringstream wrapped(Wrap(RoffInline(text), kSourceColumns));
  for (std::string line; std::getline(wrapped, line);) lines += Guarded(line);
  return lines;
}

std::string Bold(std::string_view text) { return "\\fB" + RoffInline(text) + "\\fR"; }
std::string Italic(std::string_view text) { return "\\fI" + RoffInline(text) + "\\fR"; }

std::string Section(std::string_view title) {
  return fmt::format(".SH {}\n", UpperCase(std::string(title)));
}

std::string Item(std::string_view tag, std::string_view body) {
  return fmt::format(".TP\n{}\n{}", tag, RoffOf(body));
}

// In quotes, as a macro's argument.
std::string Argument(std::string_view text) { return "\"" + RoffInline(text) + "\""; }

std::string Title(const std::string& page, const ManualFacts& facts) {
  return fmt::format(".TH {} 1 {} {} {}\n.nh\n.ad l\n", Argument(UpperCase(page)),
                     Argument(facts.date), Argument("rharness " + facts.version),
                     Argument("User Commands"));
}

std::string TagOf(const OptionFacts& option) {
  std::string tag;
  for (const std::string& name : option.Names()) tag += (tag.empty() ? "" : ", ") + Bold(name);
  if (option.IsPositional()) tag = Italic(option.names);
  if (option.IsPositional() || option.IsFlag()) return tag;
  return tag + " " + Italic(option.choices.empty() ? option.ValueWord() : ValueText(option));
}

std::string Sentence(std::string text) { return text.ends_with('.') ? text : text + "."; }

std::string BodyOf(const OptionFacts& option) {
  std::string body = Sentence(option.help);
  if (option.choices.empty() && !option.label.empty()) body += fmt::format(" {}.", option.label);
  if (option.required) body += " Required.";
  if (option.IsPositional() && option.IsRepeatable()) body += " One or more.";
  if (option.shows_default) body += fmt::format(" Default: `{}`.", option.TargetText());
  if (!option.env.empty()) body += fmt::format(" Else the variable {}.", option.env);
  return body;
}

std::string OptionsText(const std::vector<const OptionFacts*>& options, std::string_view heading) {
  std::string text;
  std::string group = "Options";
  for (const OptionFacts* option : options) {
    if (option->group != group) {
      group = option->group;
      text += fmt::format("{} {}\n", heading, Argument(group));
    }
    text += Item(TagOf(*option), BodyOf(*option));
  }
  return text;
}

// Positionals first; those of the first heading before the other groups.
std::vector<const OptionFacts*> OptionsOf(const Command& command, bool positionals) {
  std::vector<const OptionFacts*> options;
  for (const auto& option : command.options()) {
    if (option->facts().IsPositional() == positionals) options.push_back(&option->facts());
  }
  return options;
}

// The line below SYNOPSIS: what is required is named.
std::string Usage(const std::string& path, const Command& command) {
  std::string line = Bold(path);
  for (const OptionFacts* option : OptionsOf(command, false)) {
    if (option->required) line += " " + TagOf(*option);
  }
  line += " [" + Italic("OPTION") + "...]";
  for (const OptionFacts* option : OptionsOf(command, true)) {
    const std::string name = Italic(option->names) + (option->IsRepeatable() ? "..." : "");
    line += option->required ? " " + name : " [" + name + "]";
  }
  return line + "\n";
}

// "history add" and what is below it: the commands that can be run.
std::vector<std::pair<std::string, const Command*>> Leaves(const std::string& path,
                                                           const Command& command) {
  std::vector<std::pair<std::string, const Command*>> leaves;
  if (command.action()) leaves.emplace_back(path, &command);
  for (const auto& verb : command.verbs()) {
    const auto below = Leaves(path + " " + verb->name(), *verb);
    leaves.insert(leaves.end(), below.begin(), below.end());
  }
  return leaves;
}

std::string ParametersText(const Command& command, std::string_view heading) {
  std::string text;
  for (const OptionFacts* option : OptionsOf(command, true)) {
    text += Item(TagOf(*option), BodyOf(*option));
  }
  return text + OptionsText(OptionsOf(command, false), heading);
}

std::string ExitStatus(const CommandNotes& notes) {
  std::string text;
  for (const auto& [code, meaning] : notes.exit_codes) {
    text += Item(Bold(std::to_string(code)), meaning + ".");
  }
  return text;
}

std::string ExamplesText(const CommandNotes& notes) {
  std::string text;
  for (const std::string& example : notes.examples) {
    text += "  " + WrapCommand(example, kExampleColumns) + "\n";
  }
  return RoffOf(text);
}

// Pages of verbs, then those of guides.
std::string SeeAlso(const std::vector<std::string>& verbs, const std::vector<std::string>& guides) {
  std::string text;
  const auto add = [&text](const std::string& page, int section) {
    text += fmt::format("{}.BR {} ({})", text.empty() ? "" : ",\n", RoffInline(page), section);
  };
  for (const std::string& page : verbs) add(page, 1);
  for (const std::string& page : guides) add(page, 7);
  return text + "\n";
}

std::string VariablesText(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::string text;
  for (const auto& [name, meaning] : variables) text += Item(Bold(name), meaning + ".");
  return text;
}

}  // namespace

std::string UpperCase(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string LowerFirst(std::string text) {
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

std::string RoffInline(std::string_view text) {
  std::string escaped;
  bool bold = false;
  for (const char c : text) {
    switch (c) {
      case '`':
        bold = !bold;
        escaped += bold ? "\\fB" : "\\fR";
        break;
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      default:
        escaped += c;
    }
  }
  return bold ? escaped + "\\fR" : escaped;
}

std::string RoffOf(std::string_view text) {
  std::string roff;
  bool literal = false;
  bool gap = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) {
      gap = true;
      continue;
    }
    const bool indented = line.starts_with("  ");
    if (indented && !literal) roff += std::string(roff.empty() ? "" : ".PP\n") + ".nf\n.RS 4\n";
    if (!indented && literal) roff += ".RE\n.fi\n.PP\n";
    if (gap && indented == literal) roff += literal ? "\n" : ".PP\n";
    gap = false;
    literal = indented;
    roff += indented ? Guarded(RoffInline(line.substr(2))) : Filled(line);
  }
  return literal ? roff + ".RE\n.fi\n" : roff;
}

std::string VerbPage(const Command& root, const Command& verb, const ManualFacts& facts) {
  const std::string page = root.name() + "-" + verb.name();
  const std::string path = root.name() + " " + verb.name();
  std::string text = Title(page, facts) + Section("Name") + RoffInline(page) + " \\- " +
                     Filled(LowerFirst(verb.summary())) + Section("Synopsis");
  const auto leaves = Leaves(path, verb);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    text += (i > 0 ? ".br\n" : "") + Usage(leaves[i].first, *leaves[i].second);
  }
  text += Section("Description") + RoffOf(Sentence(verb.description()));
  for (const std::string& paragraph : verb.notes().paragraphs) text += ".PP\n" + RoffOf(paragraph);
  if (verb.action()) text += Section("Options") + ParametersText(verb, ".SS");
  CommandNotes notes = verb.notes();
  for (const auto& [leaf, command] : leaves) {
    if (command == &verb) continue;
    text += Section(leaf.substr(root.name().size() + 1)) +
            RoffOf(Sentence(command->description())) + ParametersText(*command, ".SS");
    const CommandNotes& own = command->notes();
    if (!own.exit_codes.empty()) text += ".SS \"Exit status\"\n" + ExitStatus(own);
    notes.examples.insert(notes.examples.end(), own.examples.begin(), own.examples.end());
  }
  text += Section("Exit status") + ExitStatus(notes.exit_codes.empty() ? root.notes() : notes);
  if (const auto variables = OptionVariables(verb); !variables.empty()) {
    text += Section("Environment") + VariablesText(variables);
  }
  text += Section("Configuration") +
          RoffOf(fmt::format("The options can be set in the section [{}] of the file that --config "
                             "or RHARNESS_CONFIG names; see CONFIGURATION in the page of `{}`.",
                             verb.name(), root.name()));
  if (!notes.examples.empty()) text += Section("Examples") + ExamplesText(notes);
  std::vector<std::string> others = {root.name()};
  for (const std::string& name : root.VerbNames()) {
    if (name != verb.name()) others.push_back(root.name() + "-" + name);
  }
  return text + Section("See also") + SeeAlso(others, {});
}

std::string ProgramPage(const Command& root, const ManualFacts& facts) {
  std::string text = Title(root.name(), facts) + Section("Name") + root.name() + " \\- " +
                     Filled(LowerFirst(root.summary())) + Section("Synopsis") + Bold(root.name()) +
                     " [" + Italic("OPTION") + "...] " + Italic("VERB") + " [" +
                     Italic("ARGUMENT") + "...]\n" + Section("Description") +
                     RoffOf(root.description());
  for (const std::string& paragraph : root.notes().paragraphs) text += ".PP\n" + RoffOf(paragraph);
  text += Section("Verbs");
  std::vector<std::string> pages;
  for (const auto& verb : root.verbs()) {
    if (verb->hidden()) continue;
    pages.push_back(root.name() + "-" + verb->name());
    text += Item(Bold(verb->name()), verb->summary() + ".");
  }
  std::vector<const OptionFacts*> options;
  for (const OptionFacts& option : facts.program_options) options.push_back(&option);
  for (const OptionFacts* option : OptionsOf(root, false)) options.push_back(option);
  text += Section("Options") + OptionsText(options, ".SS");
  for (const HelpTopic& topic : facts.topics) {
    if (topic.name == "environment" || topic.name == "exit-codes") continue;  // below
    text += Section(topic.title) + RoffOf(topic.text);
  }
  text += Section("Environment") + VariablesText(EnvironmentVariables(root));
  text += Section("Exit status") + ExitStatus(root.notes());
  if (!root.notes().examples.empty()) text += Section("Examples") + ExamplesText(root.notes());
  return text + Section("See also") + SeeAlso(pages, facts.guide_pages);
}

}  // namespace rharness
