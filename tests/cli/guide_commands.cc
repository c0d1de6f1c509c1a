// Reads the guides, and runs what they print.
#include "tests/cli/guide_commands.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// The word that ends a here-document which a line begins; empty: none.
std::string HereWord(const std::string& line) {
  std::smatch match;
  return std::regex_search(line, match, std::regex("<<'?([A-Z]+)'?")) ? match[1].str() : "";
}

// Whether a statement goes on behind this line of it: a backslash, a here-document, a loop.
class Continuation {
 public:
  bool After(const std::string& line) {
    if (here_.empty() && line.ends_with("; do")) loop_ = true;
    if (here_.empty() && line == "done") loop_ = false;
    if (loop_) return true;
    if (!here_.empty()) {
      if (line == here_) here_.clear();
      return !here_.empty();
    }
    here_ = HereWord(line);
    return !here_.empty() || line.ends_with('\\');
  }

 private:
  std::string here_;
  bool loop_ = false;
};

std::string Attribute(const std::string& opening, const std::string& name) {
  for (const std::string& word : WordsOf(opening)) {
    if (word.starts_with(name + "=")) return word.substr(name.size() + 1);
  }
  return "";
}

// What is printed as the content of a file is a statement that writes it.
void AddToFile(const std::string& file, const GuideLine& line,
               std::vector<GuideStatement>* statements) {
  constexpr std::string_view kEnd = "\nEND_OF_FILE";
  const std::string start = "cat >" + file + " <<'END_OF_FILE'\n";
  const bool is_new = statements->empty() || !statements->back().line.text.starts_with(start);
  if (is_new) {
    statements->push_back({{line.number, line.opening, start + line.text}, 0, ""});
  } else {
    std::string& text = statements->back().line.text;
    text.resize(text.size() - kEnd.size());
    text += "\n" + line.text;
  }
  statements->back().line.text += kEnd;
}

std::string Quoted(const fs::path& path) { return "'" + path.string() + "'"; }

// Each statement between braces, its output in a file, its exit code in a line of `codes`.
std::string ScriptOf(const std::vector<GuideStatement>& statements, const fs::path& kept) {
  std::string script =
      fmt::format("exec 3>{}; echo \"$EPOCHREALTIME\" >&3\n", Quoted(kept / "codes"));
  for (std::size_t i = 0; i < statements.size(); ++i) {
    script += fmt::format("{{ {}\n}} >{} 2>&1 </dev/null; echo \"$? $EPOCHREALTIME\" >&3\n",
                          statements[i].line.text, Quoted(kept / std::to_string(i)));
  }
  return script;
}

}  // namespace

const std::vector<std::string>& GuideDocuments() {
  static const std::vector<std::string> documents = {"README.md",
                                                     "harness/records/GUIDE.md",
                                                     "harness/drill/GUIDE.md",
                                                     "harness/history/GUIDE.md",
                                                     "compare/GUIDE.md",
                                                     "harness/execution/GUIDE.md",
                                                     "harness/trust/GUIDE.md",
                                                     "probes/GUIDE.md",
                                                     "harness/experiments/GUIDE.md",
                                                     "harness/gate/GUIDE.md",
                                                     "harness/insight/GUIDE.md",
                                                     "harness/python/GUIDE.md"};
  return documents;
}

std::string GuideText(const std::string& document) {
  const auto text = ReadFile(fs::path(RHARNESS_SOURCE_DIR) / document);
  EXPECT_TRUE(text.ok()) << text.error().ToString();
  return text.ok() ? *text : "";
}

std::vector<std::string> WordsOf(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::vector<GuideLine> FencedLines(const std::string& text) {
  std::vector<GuideLine> lines;
  std::istringstream stream(text);
  bool inside = false, goes_on = false;
  std::string opening;
  Continuation continuation;
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.starts_with("```")) {
      opening = line.substr(3);
      inside = !inside;
      goes_on = false;
      continue;
    }
    if (!inside) continue;
    if (goes_on) {
      lines.back().text += "\n" + line;
    } else {
      lines.push_back({number, opening, line});
    }
    goes_on = opening.starts_with("sh") && continuation.After(line);
  }
  return lines;
}

std::vector<GuideLine> InlineCommands(const std::string& text) {
  std::string prose;  // what is between fences left out, line by line
  bool inside = false;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const bool fence = line.starts_with("```");
    if (fence) inside = !inside;
    prose += (fence || inside ? "" : line) + "\n";
  }
  std::vector<GuideLine> lines;
  const std::regex command("`(rharness [^`]*)`");
  for (std::sregex_iterator one(prose.begin(), prose.end(), command), end; one != end; ++one) {
    const auto before = prose.begin() + one->position();
    std::string text_of = (*one)[1];
    std::ranges::replace(text_of, '\n', ' ');
    lines.push_back({1 + static_cast<int>(std::count(prose.begin(), before, '\n')), "", text_of});
  }
  return lines;
}

std::vector<NamedVerb> VerbsNamedIn(const std::string& line) {
  std::vector<NamedVerb> commands;
  bool ours = false;
  const std::vector<std::string> words = WordsOf(line);
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

std::vector<GuideStatement> StatementsIn(const std::string& text) {
  std::vector<GuideStatement> statements;
  const std::regex code("# exit code ([0-9]+)[^\\n]*$");
  for (const GuideLine& line : FencedLines(text)) {
    if (const std::string file = Attribute(line.opening, "file"); !file.empty()) {
      AddToFile(file, line, &statements);
      continue;
    }
    const std::vector<std::string> opening = WordsOf(line.opening);
    if (opening.empty() || opening.front() != "sh") continue;
    const std::vector<std::string> words = WordsOf(line.text);
    if (words.empty() || words.front().starts_with('#')) continue;
    std::smatch match;
    const bool says = std::regex_search(line.text, match, code);
    statements.push_back({line, says ? std::stoi(match[1]) : 0, Attribute(line.opening, "needs")});
  }
  return statements;
}

std::vector<RanStatement> RunStatements(const std::vector<GuideStatement>& statements,
                                        const fs::path& folder,
                                        const std::map<std::string, std::string>& variables) {
  const ScopedTempDir kept = *ScopedTempDir::Make("rharness-guide-");
  EXPECT_TRUE(WriteFileAtomic(kept.path() / "script", ScriptOf(statements, kept.path())).ok());
  ProcessLimits limits;
  limits.timeout = std::chrono::minutes(10);  // some 20 s; on a busy machine far more
  auto environment = PickEnvironment({"TMPDIR", "PATH"});
  environment["PATH"] = RHARNESS_BIN_DIR ":" + environment["PATH"];
  environment["HOME"] = folder.string();
  environment.insert(variables.begin(), variables.end());
  RunProcess({{"bash", (kept.path() / "script").string()}, environment, folder}, limits);
  std::vector<RanStatement> ran;
  const auto read = ReadFile(kept.path() / "codes");
  std::istringstream codes(read.ok() ? *read : "");
  double last = 0;
  codes >> last;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    RanStatement one{statements[i], -1, 0, ""};
    double ended = 0;
    codes >> one.exit_code >> ended;
    if (codes.fail()) {
      one.exit_code = -1;
    } else {
      one.seconds = ended - last;
      last = ended;
    }
    const auto output = ReadFile(kept.path() / std::to_string(i));
    if (output.ok()) one.output = *output;
    ran.push_back(one);
  }
  return ran;
}

}  // namespace rharness
