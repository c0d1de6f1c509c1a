// The texts of the topics; that of the environment is made of the options that ask it.
#include "harness/cli/help_topics.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "harness/cli/help_text.h"

namespace rharness {
namespace {

constexpr char kSelect[] = R"text(
An expression says which runs of a history are meant, for `drill --select` and `history list --select`. Without one, all runs are meant that are not retired.

  expression := term { "or" term }
  term       := factor { "and" factor }
  factor     := "not" factor | "(" expression ")" | field operator value
  operator   := "=" | "!=" | "<" | "<=" | ">" | ">=" | "~"
  value      := a bare word | "quoted" | 'quoted'

The fields are these. Text takes = and !=, and ~ for a pattern in which * and ? match.

  run_id            text    the name of the run
  family            text    runs whose noise may be pooled
  configuration     text    the key of runs that differ in nothing but seeds
  declared          text    bitwise or statistical: what a rerun must meet
  last_verdict      text    identical, equivalent, drifted, ...; "" before the first drill
  rebuild           text    had, unknown or gone: what `rharness check --available` was told last; "" if never asked
  artifact          digest  with = alone: the SHA-256 of a file that the run made, or the tensor digest of its weights (`rharness hash`); every manifest is read for it
  started           time    when the run was recorded
  verified          time    when a drill last gave a verdict; never: none has
  duration_seconds  number  how long the recorded run took

A time is written 2026-11-20T08:03:00Z, and earlier is less; or as an age, what has passed since: 90m, 12h, 30d or 2w (s, m, h, d, w). `verified < 30d` means within the last 30 days, and `verified > 30d` longer ago. A run that was never verified counts as verified before every time, and so longer ago than every age. `verified = never` and `verified != never` ask for just that.

  rharness history list --select 'family = mlp'
  rharness drill --select 'verified > 30d'
  rharness drill --select 'run_id ~ "resnet-*" and not last_verdict = identical'
  rharness history list --retired --select 'artifact = e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
  rharness drill --select 'declared = bitwise and duration_seconds <= 600'
)text";

constexpr char kConfig[] = R"text(
Options can stand in a file, which --config FILE or the variable RHARNESS_CONFIG names. Without either no file is read. What the command line says goes before the environment, and that before the file.

The file is TOML, or INI. Options of the whole program stand first, by their long names without dashes; those of a verb stand in a section of its name, those of a verb below a verb in a section such as [history.list]. A flag is true or false, an option that may be repeated takes a list. Sections of other verbs than the one that runs do no harm; a name that is no option or no verb is refused.

  # rharness.toml
  quiet = true

  [drill]
  history = "/srv/runs.db"
  out = "/srv/drills/latest"
  budget = "2h"
  map = ["/mnt/data=/srv/data", "/mnt/code=/srv/code"]

  [history.list]
  history = "/srv/runs.db"
  retired = true
)text";

constexpr char kVerdicts[] = R"text(
A drill gives each run one verdict. Its reasons have codes; `rharness explain CODE` shows what a code means and what to do, also of a verdict: `rharness explain drifted`.

  identical       0  every declared output and curve is equal bit for bit
  equivalent      0  bits differ, and every metric that decides is shown to be within its margin
  drifted         1  a shift is shown, or bits differ in a run declared deterministic
  inconclusive    3  neither is shown; the report says what would decide
  not_comparable  3  data, code, image or hardware is not the recorded one
  failed          4  the run itself crashed, hung or hit a limit
  infra           4  the run could not be started: no image, no engine, no space, a lost machine

The number is the exit code. That of a drill is its worst verdict's, in the order 1, 4, 3, 0.
)text";

constexpr char kExitCodesEnd[] = R"text(
The exit code of a drill is that of its worst verdict, in the order 1, 4, 3, 0. An integrity failure (5) goes before all verdicts. `rharness VERB --help` ends with what the codes of that verb mean.
)text";

// Those that no option asks.
constexpr std::pair<const char*, const char*> kOtherVariables[] = {
    {"COLUMNS", "Width of reports in a pipe or a file"},
    {"NO_COLOR", "Set to anything: no colour, as --no-color"},
    {"PATH", "Folders of commands, podman, docker and git"},
    {"RHARNESS_CONFIG", "File of options, as --config; see CONFIGURATION"},
    {"RHARNESS_ENDPOINT_CERTIFICATES", "Authorities of a server; see `probe endpoint --help`"},
    {"RHARNESS_ENDPOINT_TOKEN", "Key for a server; see `probe endpoint --help`"},
    {"RHARNESS_PKCS11_PIN_FILE", "File whose first line is a token's PIN; see `sign --help`"},
    {"TERM", "\"dumb\": no colour"},
    {"TMPDIR", "Where short-lived folders are made; /tmp without it"},
    {"VAULT_ADDR", "Server of a key in Vault, with VAULT_TOKEN_FILE; see `sign --help`"},
};

// The lines below the one that opens the literal.
std::string Below(std::string_view literal) { return std::string(literal.substr(1)); }

// Variable to "history list --history".
void CollectOptions(const Command& command, const std::string& path,
                    std::multimap<std::string, std::string>* found) {
  for (const auto& option : command.options()) {
    if (option->facts().env.empty()) continue;
    found->emplace(option->facts().env,
                   path + (path.empty() ? "" : " ") + option->facts().LongName());
  }
  for (const auto& verb : command.verbs()) {
    if (verb->hidden()) continue;
    CollectOptions(*verb, path + (path.empty() ? "" : " ") + verb->name(), found);
  }
}

std::string EnvironmentText(const Command& root) {
  constexpr std::size_t kIndent = 28;
  std::string text =
      "Each variable sets an option that the command line does not give. An empty variable counts "
      "as not set.\n\n";
  for (const auto& [name, meaning] : EnvironmentVariables(root)) {
    std::string wrapped = Wrap(meaning, kHelpColumns - kIndent);
    for (auto at = wrapped.find('\n'); at != wrapped.npos; at = wrapped.find('\n', at + 1)) {
      wrapped.insert(at + 1, kIndent, ' ');
    }
    text += fmt::format("  {:<{}} {}\n", name, kIndent - 3, wrapped);
  }
  return text;
}

std::string ExitCodesText(const Command& root) {
  std::string text;
  for (const auto& [code, meaning] : root.notes().exit_codes) {
    text += fmt::format("  {}  {}\n", code, meaning);
  }
  return text + kExitCodesEnd;
}

// What people type, and the topic that it means.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"codes", "exit-codes"},      {"configuration", "config"}, {"env", "environment"},
    {"exit", "exit-codes"},       {"exit-code", "exit-codes"}, {"exit-status", "exit-codes"},
    {"expression", "select"},     {"selection", "select"},     {"status", "exit-codes"},
    {"variables", "environment"}, {"verdict", "verdicts"},
};

}  // namespace

std::string_view TopicOf(std::string_view typed) {
  const auto* found =
      std::ranges::find(kOtherNames, typed, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(kOtherNames) ? typed : found->second;
}

std::vector<std::pair<std::string, std::string>> OptionVariables(const Command& command) {
  std::multimap<std::string, std::string> options;
  CollectOptions(command, "", &options);
  std::map<std::string, std::string> variables;
  for (const auto& [variable, option] : options) {
    std::string& meaning = variables[variable];
    meaning += (meaning.empty() ? "As " : ", ") + option;
  }
  return {variables.begin(), variables.end()};
}

std::vector<std::pair<std::string, std::string>> EnvironmentVariables(const Command& root) {
  std::vector<std::pair<std::string, std::string>> variables = OptionVariables(root);
  variables.insert(variables.end(), std::begin(kOtherVariables), std::end(kOtherVariables));
  std::ranges::sort(variables);
  return variables;
}

std::vector<HelpTopic> HelpTopics(const Command& root) {
  return {
      {"select", "Selecting runs", "the language that selects runs of a history", Below(kSelect)},
      {"config", "Configuration", "the file of options", Below(kConfig)},
      {"environment", "Environment", "the variables that rharness reads", EnvironmentText(root)},
      {"verdicts", "Verdicts", "what each verdict means, with its exit code", Below(kVerdicts)},
      {"exit-codes", "Exit codes", "what each exit code means", ExitCodesText(root)}};
}

}  // namespace rharness
