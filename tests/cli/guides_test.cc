// README.md and the guides say what the program does: every option that a command of theirs names
// is one of its verb's, links lead somewhere, and README's first drill runs as it is printed.
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

const std::vector<std::string>& Documents() {
  static const std::vector<std::string> documents = {"README.md",
                                                     "harness/records/GUIDE.md",
                                                     "harness/drill/GUIDE.md",
                                                     "compare/GUIDE.md",
                                                     "harness/execution/GUIDE.md",
                                                     "harness/trust/GUIDE.md",
                                                     "probes/GUIDE.md",
                                                     "harness/experiments/GUIDE.md",
                                                     "harness/gate/GUIDE.md",
                                                     "harness/insight/GUIDE.md"};
  return documents;
}

std::string TextOf(const std::string& document) {
  const auto text = ReadFile(fs::path(RHARNESS_SOURCE_DIR) / document);
  EXPECT_TRUE(text.ok()) << text.error().ToString();
  return text.ok() ? *text : "";
}

// The lines between fences; those that end with a backslash joined with what follows.
std::vector<std::string> FencedLines(const std::string& text, std::string_view opening) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  bool inside = false, wanted = false, goes_on = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("```")) {
      wanted = !inside && (opening.empty() || line == opening);
      inside = !inside;
      continue;
    }
    if (!inside || !wanted) continue;
    const bool further = line.ends_with('\\');
    if (further) line.pop_back();
    if (goes_on) {
      lines.back() += line;
    } else {
      lines.push_back(line);
    }
    goes_on = further;
  }
  return lines;
}

std::vector<std::string> Words(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

struct Named {
  std::string verb;  // "history add"
  std::vector<std::string> options;
};

// The commands of a line, up to what they run themselves.
std::vector<Named> CommandsOf(const std::string& line) {
  std::vector<Named> commands;
  bool ours = false;
  const std::vector<std::string> words = Words(line);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "rharness" || word.ends_with("/rharness")) {
      while (i + 1 < words.size() && words[i + 1].starts_with('-')) ++i;  // of the whole program
      ours = i + 1 < words.size() && std::regex_match(words[i + 1], std::regex("[a-z]+"));
      if (ours) commands.push_back({words[++i], {}});
      continue;
    }
    if (word.starts_with('#')) break;
    if (word == "--" || word == "|" || word == "&&" || word == ";") ours = false;
    if (!ours) continue;
    std::smatch option;
    if (std::regex_search(word, option, std::regex("^\\[?(--[a-z][a-z-]*)"))) {
      commands.back().options.push_back(option[1]);
    } else if (commands.back().options.empty() && std::regex_match(word, std::regex("[a-z]+"))) {
      commands.back().verb += " " + word;  // a verb below it, or an argument
    }
  }
  return commands;
}

std::string HelpOf(const std::string& verb) {
  static std::map<std::string, std::string> known;
  const auto found = known.find(verb);
  if (found != known.end()) return found->second;
  std::vector<std::string> argv = Words(verb);
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
  for (const std::string& document : Documents()) {
    for (const std::string& line : FencedLines(TextOf(document), "")) {
      for (const Named& command : CommandsOf(line)) {
        const std::string help = NearestHelp(command.verb);
        EXPECT_NE(help, "") << document << ": no verb '" << command.verb << "' in: " << line;
        for (const std::string& option : command.options) {
          ++checked;
          EXPECT_TRUE(Lists(help, option)) << document << ": `rharness " << command.verb
                                           << "` has no " << option << ": " << line;
        }
      }
    }
  }
  EXPECT_GT(checked, 200);
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
  for (const std::string& document : Documents()) {
    const std::string text = TextOf(document);
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
  for (const std::string& document : Documents()) {
    if (document == "README.md") continue;
    const std::string name = fs::path(document).parent_path().filename().string();
    EXPECT_THAT(list.stdout_text, HasSubstr("\n  " + name + " "));
    const ProcessResult printed = Execute({kRharness, "help", "guide", name});
    EXPECT_EQ(Words(printed.stdout_text), Words(TextOf(document))) << name;
  }
  const ProcessResult unknown = Execute({kRharness, "help", "guide", "drills"});
  EXPECT_EQ(unknown.outcome.exit_code, 2);
  EXPECT_THAT(unknown.stderr_text, HasSubstr("expected one of records, drill"));
}

TEST(Readme, FitsThreeScreens) {
  const std::string text = TextOf("README.md");
  EXPECT_LE(std::ranges::count(text, '\n'), 150);
  EXPECT_LE(Words(text).size(), 1600u);
}

// Writes a safetensors file without any library, as a stranger's program would with one.
constexpr char kTrain[] = R"py(
import json, random, struct, sys
random.seed(int(sys.argv[2]))
rows = open('data/train.csv').read().split()
values = [random.random() * len(rows) for _ in range(4)]
body = struct.pack('<4f', *values)
head = json.dumps({'w': {'dtype': 'F32', 'shape': [4], 'data_offsets': [0, 16]}}).encode()
open('model.safetensors', 'wb').write(struct.pack('<Q', len(head)) + head + body)
)py";

TEST(Readme, ItsFirstDrillRunsAsItIsPrinted) {
  const std::string text = TextOf("README.md");
  const std::size_t begin = text.find("## A first drill of your own program");
  ASSERT_NE(begin, text.npos);
  const std::vector<std::string> lines =
      FencedLines(text.substr(begin, text.find("\n## ", begin + 4) - begin), "```sh");
  ASSERT_GE(lines.size(), 5u);
  const ScopedTempDir folder = *ScopedTempDir::Make();
  fs::create_directory(folder.path() / "data");
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "train.py", kTrain).ok());
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "data/train.csv", "x,y\n1,2\n3,4\n").ok());
  std::string said;
  for (const std::string& line : lines) {
    const ProcessResult result = Execute({"sh", "-c", line}, folder.path());
    said += result.stdout_text;
    EXPECT_TRUE(result.outcome.Succeeded()) << line << "\n" << result.stderr_text;
    EXPECT_EQ(result.stderr_text.find("not admissible"), std::string::npos) << result.stderr_text;
  }
  EXPECT_THAT(said, HasSubstr("identical"));
  EXPECT_TRUE(fs::exists(folder.path() / "tonight/report.html"));
}

}  // namespace
}  // namespace rharness
