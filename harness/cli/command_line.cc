// The declared commands as a CLI11 application, and its errors in words of ours.
#include "harness/cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <map>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/spelling.h"
#include "harness/cli/help_text.h"
#include "harness/cli/successors.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

constexpr std::size_t kLeftColumns = 30;

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(const std::map<const CLI::App*, const Command*>* commands)
      : commands_(commands) {
    column_width(kLeftColumns);
  }

  // CLI11 puts two blank lines between groups.
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    for (auto at = text.find("\n\n\n"); at != text.npos; at = text.find("\n\n\n", at)) {
      text.erase(at, 1);
    }
    return text;
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return Wrap(option->get_description(), kHelpColumns - kLeftColumns);
  }
  std::string make_description(const CLI::App* app) const override {
    return Wrap(app->get_description(), kHelpColumns) + "\n";
  }
  // In a list a verb has its summary, however much there is to say of it.
  std::string make_subcommand(const CLI::App* app) const override {
    std::ostringstream line;
    CLI::detail::format_help(line, app->get_name(),
                             Wrap(commands_->at(app)->summary(), kHelpColumns - kLeftColumns),
                             kLeftColumns);
    return line.str();
  }

 private:
  const std::map<const CLI::App*, const Command*>* commands_;
};

std::vector<std::string> LongNames(const Command& command) {
  std::vector<std::string> names;
  for (const auto& option : command.options()) {
    if (!option->facts().IsPositional()) names.push_back(option->facts().LongName());
  }
  return names;
}

// "; did you mean list?", or nothing.
std::string Hint(std::string_view typed, const std::vector<std::string>& known) {
  const std::string nearest = NearestName(typed, known);
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

// The configuration file. CLI11 asks it before the environment, which shall have the last word of
// the two: what a variable says is not taken from the file.
class ConfigFile : public CLI::ConfigTOML {
 public:
  explicit ConfigFile(const Command* root) : root_(root) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::vector<CLI::ConfigItem> items = CLI::ConfigTOML::from_config(input);
    std::erase_if(items, [this](const CLI::ConfigItem& item) { return InEnvironment(item); });
    return items;
  }

 private:
  bool InEnvironment(const CLI::ConfigItem& item) const {
    if (item.name == "++" || item.name == "--") return false;  // a section begins or ends
    const OptionFacts& facts = OptionOf(item);
    const char* value = facts.env.empty() ? nullptr : std::getenv(facts.env.c_str());
    return value != nullptr && *value != '\0';
  }

  const OptionFacts& OptionOf(const CLI::ConfigItem& item) const {
    const Command* command = root_;
    for (const std::string& parent : item.parents) {
      const Command* next = command->Find(parent);
      if (next == nullptr) {
        const std::string_view successor =
            command == root_ ? SuccessorOf(parent) : std::string_view();
        throw CLI::ConfigError(fmt::format(
            "the configuration file has '{}', which is no verb{}", item.fullname(),
            successor.empty() ? Hint(parent, command->VerbNames())
                              : fmt::format(" any more; expected that of `{}`", successor)));
      }
      command = next;
    }
    for (const auto& option : command->options()) {
      if (option->facts().LongName() == "--" + item.name) return option->facts();
    }
    throw CLI::ConfigError(
        fmt::format("the configuration file has '{}', which is no option of {}{}", item.fullname(),
                    command->name(), Hint("--" + item.name, LongNames(*command))));
  }

  const Command* root_;
};

// All that is declared, as CLI11 has it.
class Application {
 public:
  Application(Command& root, const ProgramFacts& program)
      : root_(root), program_(program), app_(root.description(), root.name()) {
    app_.formatter(std::make_shared<HelpFormatter>(&commands_));
    app_.set_version_flag("--version", program.version);
    AddConfig();
    app_.config_formatter(std::make_shared<ConfigFile>(&root));
    app_.allow_config_extras(CLI::config_extras_mode::error);
    app_.fallthrough();
    Fill(app_, root);
  }

  CLI::App& app() { return app_; }

  // Tells every option how often it was given.
  void Count() {
    for (const auto& [option, parsed] : options_) option->SetGiven(parsed->count());
  }

  // The commands that were named, from the root on.
  std::vector<const Command*> Named() const {
    std::vector<const Command*> path = {&root_};
    for (const CLI::App* app = &app_; !app->get_subcommands().empty();) {
      app = app->get_subcommands().back();
      path.push_back(commands_.at(app));
    }
    return path;
  }

 private:
  void AddConfig() {
    const char* named = std::getenv(program_.config_env.c_str());
    const bool given = named != nullptr && *named != '\0';
    app_.set_config(
            program_.config_option, given ? named : "",
            fmt::format("Read options from an INI or TOML file (Env:{})", program_.config_env),
            given)
        ->type_name("FILE");
  }

  void Fill(CLI::App& app, const Command& command) {
    commands_[&app] = &command;
    for (const auto& option : command.options()) AddOption(app, option.get());
    for (const auto& verb : command.verbs()) {
      CLI::App* added = app.add_subcommand(verb->name(), verb->description());
      // CLI11 would give it the group of the verb above.
      added->group(verb->hidden() ? "" : verb->group().empty() ? "Subcommands" : verb->group());
      Fill(*added, *verb);
    }
    if (!command.verbs().empty()) app.require_subcommand(command.needs_verb() ? 1 : 0, 1);
    app.footer(NotesText(command.notes()));
  }

  void AddOption(CLI::App& app, Option* option) {
    const OptionFacts& facts = option->facts();
    CLI::Option* added = std::visit(
        [&](auto* target) { return Bind(app, facts.names, target, facts.help); }, facts.target);
    if (!facts.IsFlag()) added->type_name(ValueText(facts));
    if (facts.required) added->required();
    if (facts.one_each) added->allow_extra_args(false);
    if (facts.shows_default) added->default_str(facts.TargetText());
    if (!facts.env.empty()) added->envname(facts.env);
    if (!facts.checks.empty()) {
      added->transform(CLI::Validator(
          [&facts](std::string& text) {
            std::string wrong;
            for (const auto& check : facts.checks) {
              if (wrong.empty()) wrong = check(&text);
            }
            return wrong;
          },
          ""));
    }
    added->group(facts.group);
    options_[option] = added;
  }

  static CLI::Option* Bind(CLI::App& app, const std::string& names, bool* target,
                           const std::string& help) {
    return app.add_flag(names, *target, help);
  }
  // As a text: CLI11 would take quotes off a path.
  static CLI::Option* Bind(CLI::App& app, const std::string& names, std::filesystem::path* target,
                           const std::string& help) {
    return app.add_option_function<std::string>(
        names, [target](const std::string& text) { *target = text; }, help);
  }
  template <class Target>
  static CLI::Option* Bind(CLI::App& app, const std::string& names, Target* target,
                           const std::string& help) {
    return app.add_option(names, *target, help);
  }

  const Command& root_;
  const ProgramFacts& program_;
  CLI::App app_;
  std::map<const CLI::App*, const Command*> commands_;
  std::map<Option*, CLI::Option*> options_;
};

std::string NoVerb(std::string_view typed, const Command& command, bool is_root) {
  const std::string_view successor = is_root ? SuccessorOf(typed) : std::string_view();
  if (!successor.empty()) {
    return fmt::format("'{}' is no verb any more; expected `{} {}`", typed, command.name(),
                       successor);
  }
  return fmt::format(
      "'{}' is no verb{}{} expected one of {}", TerminalSafe(typed),
      is_root ? "" : fmt::format(" of {}", command.name()),
      NearestName(typed, command.VerbNames()).empty() ? ";" : Hint(typed, command.VerbNames()),
      fmt::join(command.VerbNames(), ", "));
}

// The options that can stand here: those of the commands that were named, and of the whole program.
std::vector<std::string> OptionsHere(const std::vector<const Command*>& named,
                                     const ProgramFacts& program) {
  std::vector<std::string> names = {"--help", "--version", program.config_option};
  for (const Command* command : named) {
    const std::vector<std::string> own = LongNames(*command);
    names.insert(names.end(), own.begin(), own.end());
  }
  return names;
}

// For words that nothing takes: the first of them that is near to something.
std::string HintOf(const std::vector<std::string>& words, const std::vector<const Command*>& named,
                   const ProgramFacts& program) {
  for (const std::string& word : words) {
    const std::string hint = word.starts_with("--")
                                 ? Hint(word.substr(0, word.find('=')), OptionsHere(named, program))
                                 : Hint(word, named.back()->VerbNames());
    if (!hint.empty()) return hint;
  }
  return "";
}

// For a file behind --json, which is a flag.
std::string FileHint(const Command& command, int argc, const char* const* argv) {
  const std::vector<std::string> options = LongNames(command);
  if (std::ranges::find(options, "--json-file") == options.end()) return "";
  constexpr std::string_view kFlag = "--json", kWithValue = "--json=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    std::string_view file;
    if (word.starts_with(kWithValue)) file = word.substr(kWithValue.size());
    if (word == kFlag && i + 1 < argc) file = argv[i + 1];
    if (file.empty() || (file.starts_with('-') && file != "-")) continue;
    return fmt::format("; --json prints to stdout, and --json-file {} writes to a file", file);
  }
  return "";
}

// What is wrong, in one line.
std::string Explain(const CLI::ParseError& error, Application& application,
                    const ProgramFacts& program, int argc, const char* const* argv) {
  const std::vector<const Command*> named = application.Named();
  const Command& last = *named.back();
  const std::vector<std::string> words = application.app().remaining(true);
  if (last.needs_verb() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    const auto typed =
        std::ranges::find_if(words, [](const std::string& word) { return !word.starts_with('-'); });
    if (typed != words.end()) return NoVerb(*typed, last, named.size() == 1);
    return fmt::format("A subcommand is required; expected one of {}{}",
                       fmt::join(last.VerbNames(), ", "), HintOf(words, named, program));
  }
  std::string text = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    text = fmt::format("The following argument{} not expected: {}",
                       words.size() == 1 ? " was" : "s were", fmt::join(words, " "));
  }
  const std::string file = FileHint(last, argc, argv);
  return TerminalSafe(text + (file.empty() ? HintOf(words, named, program) : file));
}

// "rharness history add"
std::string PathOf(const std::vector<const Command*>& named) {
  std::string path;
  for (const Command* command : named) path += (path.empty() ? "" : " ") + command->name();
  return path;
}

}  // namespace

std::string_view TypedVerb(const ProgramFacts& program, int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == program.config_option) {
      ++i;  // its value is no verb
    } else if (!word.starts_with('-')) {
      return word;
    }
  }
  return {};
}

ParsedLine ParseCommandLine(Command& root, const ProgramFacts& program, int argc,
                            const char* const* argv) {
  // Before anything is parsed: --help would help with the program and not with a mistyped verb.
  const std::string_view verb = TypedVerb(program, argc, argv);
  if (!verb.empty() && root.Find(verb) == nullptr) {
    LogError(NoVerb(verb, root, true));
    return {{}, kExitUsage};
  }
  Application application(root, program);
  try {
    application.app().parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return {{}, application.app().exit(error)};
    LogError(Explain(error, application, program, argc, argv));
    LogError("see `" + PathOf(application.Named()) + " --help`");
    return {{}, kExitUsage};
  }
  application.Count();
  return {application.Named().back()->action(), kExitUsage};
}

Result<std::string> HelpOf(Command& root, const ProgramFacts& program,
                           const std::vector<std::string>& verbs) {
  Application application(root, program);
  const CLI::App* app = &application.app();
  const Command* command = &root;
  std::string above;
  for (const std::string& verb : verbs) {
    const Command* next = command->Find(verb);
    if (next == nullptr) return NotFound(NoVerb(verb, *command, command == &root));
    above += (above.empty() ? "" : " ") + command->name();
    command = next;
    app = app->get_subcommand(verb);
  }
  return app->help(above);
}

}  // namespace rharness
