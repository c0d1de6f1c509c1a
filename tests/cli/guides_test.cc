// README.md and the guides say what the program does: every option that a command of theirs names
// is one of its verb's, and links lead somewhere. guides_run_test.cc runs the commands.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "tests/cli/guide_commands.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr char kRharness[] = RHARNESS_BIN_DIR "/rharness";

ProcessResult Execute(std::vector<std::string> argv, const fs::path& folder = "/") {
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(100);
  auto environment = PickEnvironment({"TMPDIR", "PATH", "HOME"});
  environment["PATH"] = RHARNESS_BIN_DIR ":" + environment["PATH"];
  return RunProcess({std::move(argv), environment, folder}, limits);
}

std::string HelpOf(const std::string& verb) {
  static std::map<std::string, std::string> known;
  const auto found = known.find(verb);
  if (found != known.end()) return found->second;
  std::vector<std::string> argv = WordsOf(verb);
  argv.insert(argv.begin(), kRharness);
  argv.emplace_back("--help");
  const ProcessResult result = Execute(argv);
  return known[verb] = result.outcome.Succeeded() ? result.stdout_text : "";
}

// Of "gate baseline accept now" the help of "gate baseline accept": the rest are its arguments.
std::string NearestHelp(std::string verb) {
  while (true) {
    const std::string help = HelpOf(verb);
    const std::size_t last = verb.rfind(' ');
    if (!help.empty() || last == verb.npos) return help;
    verb.resize(last);
  }
}

// Whether a help lists an option, at the start of a line.
bool Lists(const std::string& help, const std::string& option) {
  return std::regex_search(help, std::regex("\n  (-[a-zA-Z], ?)?" + option + "(?![a-z-])"));
}

TEST(Guides, NameOptionsThatTheirVerbsHave) {
  int checked = 0;
  for (const std::string& document : GuideDocuments()) {
    std::vector<GuideLine> lines = FencedLines(GuideText(document));
    const std::vector<GuideLine> more = InlineCommands(GuideText(document));
    lines.insert(lines.end(), more.begin(), more.end());
    for (const GuideLine& line : lines) {
      for (const NamedVerb& command : VerbsNamedIn(line.text)) {
        const std::string help = NearestHelp(command.verb);
        EXPECT_NE(help, "") << document << ":" << line.number << ": no verb '" << command.verb
                            << "'";
        for (const std::string& option : command.options) {
          ++checked;
          EXPECT_TRUE(Lists(help, option)) << document << ":" << line.number << ": `rharness "
                                           << command.verb << "` has no " << option;
        }
      }
    }
  }
  EXPECT_GT(checked, 250);
}

// The verbs that a help lists: lines of two blanks, a name and a summary, below a group's title.
std::vector<std::string> VerbsIn(const std::string& help) {
  std::vector<std::string> verbs;
  bool listed = false;
  std::istringstream stream(help);
  for (std::string line; std::getline(stream, line);) {
    const std::regex title(
        "(Record runs|Rerun them|Compare|Roll out|Operate|Prove|Plumbing|Subcommands):"),
        verb("  ([a-z]+)( .*|)");
    std::smatch name;
    if (!line.starts_with("  ")) listed = line.empty() ? listed : std::regex_match(line, title);
    if (listed && std::regex_match(line, name, verb)) verbs.push_back(name[1]);
  }
  return verbs;
}

// The options of a help, each with its lines: the name, the variable and what it says.
std::map<std::string, std::string> OptionsIn(const std::string& help) {
  std::map<std::string, std::string> options;
  std::string* last = nullptr;
  std::istringstream stream(help);
  for (std::string line; std::getline(stream, line);) {
    std::smatch name;
    if (std::regex_search(line, name, std::regex("^  (-[a-zA-Z], ?)?(--[a-z][a-z-]*)"))) {
      last = &options[name[2]];
    }
    if (!line.starts_with("  ")) last = nullptr;
    if (last != nullptr) *last += line + "\n";
  }
  return options;
}

// A verb and those below it, however deep.
void AppendVerbs(const std::string& verb, std::vector<std::string>* all) {
  all->push_back(verb);
  for (const std::string& below : VerbsIn(HelpOf(verb))) AppendVerbs(verb + " " + below, all);
}

// Options that share a name and mean something else, or are not asked of the environment.
bool MeansSomethingElse(const std::string& verb, const std::string& option,
                        const std::string& says) {
  // The file of one record or fingerprint; the variable names the folder of a drill.
  if (option == "--out") return says.find("Folder of this") == says.npos;
  // What a run wrote; the variable names an audit log.
  if (option == "--log") return !verb.starts_with("audit");
  // These take the history of the drill that they are given.
  return option == "--history" && (verb == "sign" || verb == "report");
}

TEST(Options, ThatHaveAVariableHaveItInEveryVerb) {
  std::vector<std::string> all;
  for (const std::string& verb : VerbsIn(Execute({kRharness, "--help"}).stdout_text)) {
    AppendVerbs(verb, &all);
  }
  ASSERT_GT(all.size(), 45u);
  std::map<std::string, std::string> variables;
  for (const std::string& verb : all) {
    for (const auto& [option, says] : OptionsIn(HelpOf(verb))) {
      std::smatch variable;
      if (std::regex_search(says, variable, std::regex("\\(Env:(RHARNESS_[A-Z_]+)\\)"))) {
        const auto [known, is_new] = variables.emplace(option, variable[1]);
        EXPECT_EQ(known->second, variable[1]) << verb << " " << option;
      }
    }
  }
  EXPECT_GE(variables.size(), 6u);
  int checked = 0;
  for (const std::string& verb : all) {
    for (const auto& [option, says] : OptionsIn(HelpOf(verb))) {
      const auto known = variables.find(option);
      if (known == variables.end() || MeansSomethingElse(verb, option, says)) continue;
      ++checked;
      EXPECT_THAT(says, HasSubstr("(Env:" + known->second + ")")) << verb << " " << option;
    }
  }
  EXPECT_GT(checked, 40);
}

// A time and a size take a unit, whichever verb asks.
TEST(Options, OfOneNameTakeValuesOfOneKind) {
  std::vector<std::string> all;
  for (const std::string& verb : VerbsIn(Execute({kRharness, "--help"}).stdout_text)) {
    AppendVerbs(verb, &all);
  }
  int checked = 0;
  for (const std::string& verb : all) {
    for (const auto& [option, says] : OptionsIn(HelpOf(verb))) {
      for (const char* name : {"--limit", "--timeout", "--wait", "--valid", "--max-age",
                               "--timeout-floor", "--rerun-time", "--gpu-budget"}) {
        if (option != name) continue;
        ++checked;
        EXPECT_THAT(says, HasSubstr(" TIME")) << verb << " " << option;
        EXPECT_THAT(says, HasSubstr("30s")) << verb << " " << option;
      }
    }
  }
  EXPECT_GE(checked, 8);
}

TEST(Guides, LinkToFilesThatAreThere) {
  int checked = 0;
  for (const std::string& document : GuideDocuments()) {
    const std::string text = GuideText(document);
    const std::regex link("\\]\\(([^)#:]+)\\)");
    for (std::sregex_iterator one(text.begin(), text.end(), link), end; one != end; ++one) {
      const fs::path at = fs::path(RHARNESS_SOURCE_DIR) / fs::path(document).parent_path();
      EXPECT_TRUE(fs::exists(at / (*one)[1].str())) << document << ": " << (*one)[1];
      ++checked;
    }
  }
  EXPECT_GT(checked, 10);
}

TEST(Guides, ArePrintedByHelpAsTheyLieBesideTheCode) {
  const ProcessResult list = Execute({kRharness, "help", "guide"});
  for (const std::string& document : GuideDocuments()) {
    if (document == "README.md") continue;
    const std::string name = fs::path(document).parent_path().filename().string();
    EXPECT_THAT(list.stdout_text, HasSubstr("\n  " + name + " "));
    const ProcessResult printed = Execute({kRharness, "help", "guide", name});
    EXPECT_EQ(WordsOf(printed.stdout_text), WordsOf(GuideText(document))) << name;
  }
  const ProcessResult unknown = Execute({kRharness, "help", "guide", "drills"});
  EXPECT_EQ(unknown.outcome.exit_code, 2);
  EXPECT_THAT(unknown.stderr_text, HasSubstr("expected one of records, drill"));
}

TEST(Readme, FitsThreeScreens) {
  const std::string text = GuideText("README.md");
  EXPECT_LE(std::ranges::count(text, '\n'), 150);
  EXPECT_LE(WordsOf(text).size(), 1600u);
}

TEST(Help, ListsVerbsBelowAVerbWithoutItsGroup) {
  for (const char* verb : {"history", "gate"}) {
    const std::string help = Execute({kRharness, verb, "--help"}).stdout_text;
    EXPECT_THAT(help, HasSubstr("\nSubcommands:\n")) << verb;
    EXPECT_THAT(help, testing::Not(testing::ContainsRegex("(Record runs|Roll out):"))) << verb;
  }
}

}  // namespace
}  // namespace rharness
