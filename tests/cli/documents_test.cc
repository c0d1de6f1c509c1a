// Help, manual pages and completion of the real program, read by the shells and the formatter that
// users have.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/drill/select.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

constexpr char kRharness[] = RHARNESS_BIN_DIR "/rharness";

ProcessResult Execute(std::vector<std::string> argv, const fs::path& folder = "/") {
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(60);
  auto environment = PickEnvironment({"PATH", "TMPDIR"});
  environment["HOME"] = folder.string();
  return RunProcess({std::move(argv), environment, folder}, limits);
}

std::string Printed(const std::vector<std::string>& words) {
  std::vector<std::string> argv = {kRharness};
  argv.insert(argv.end(), words.begin(), words.end());
  const ProcessResult result = Execute(argv);
  EXPECT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
  return result.stdout_text;
}

std::string Read(const fs::path& path) {
  const auto text = ReadFile(path);
  EXPECT_TRUE(text.ok()) << text.error().ToString();
  return text.ok() ? *text : "";
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool Installed(const char* program) {
  return Execute({"sh", "-c", std::string("command -v ") + program}).outcome.Succeeded();
}

constexpr const char* kVerbs[] = {
    "record",  "import",   "check",   "history", "fetch",      "drill", "rerun",
    "compare", "probe",    "gate",    "policy",  "report",     "hash",  "stats",
    "version", "help",     "isolate", "gameday", "properties", "sign",  "verify",
    "slo",     "incident", "explain", "audit",   "serve"};

class Documents : public testing::Test {
 protected:
  Documents() : folder_(*ScopedTempDir::Make("rharness-documents-")) {
    const ProcessResult result = Execute(
        {kRharness, "documents", "--documentation", At("man"), "--completion", At("share")});
    EXPECT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
  }
  std::string At(const std::string& name) const { return (folder_.path() / name).string(); }

  // What bash would offer for the last of these words.
  std::vector<std::string> Bash(const std::string& words, const std::string& before = "") const {
    const std::string script = fmt::format(
        "{}\nsource '{}'\nCOMP_WORDS=({})\nCOMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n_rharness "
        "2>/dev/null\n[ ${{#COMPREPLY[@]}} = 0 ] || printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        before, At("share/bash-completion/completions/rharness"), words);
    const ProcessResult result = Execute({"bash", "--norc", "-c", script}, folder_.path());
    EXPECT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
    return Lines(result.stdout_text);
  }

  ScopedTempDir folder_;
};

TEST_F(Documents, HaveAPageForEveryVerbWithTheSectionsOfAPage) {
  for (const char* verb : kVerbs) {
    const std::string page = Read(At(fmt::format("man/rharness-{}.1", verb)));
    for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "CONFIGURATION",
                                "EXAMPLES", "SEE ALSO"}) {
      EXPECT_THAT(page, HasSubstr(fmt::format("\n.SH {}\n", section))) << verb;
    }
  }
  const std::string page = Read(At("man/rharness.1"));
  for (const char* section :
       {"NAME", "SYNOPSIS", "DESCRIPTION", "VERBS", "OPTIONS", "SELECTING RUNS", "CONFIGURATION",
        "ENVIRONMENT", "EXIT STATUS", "EXAMPLES", "SEE ALSO"}) {
    EXPECT_THAT(page, HasSubstr(fmt::format("\n.SH {}\n", section)));
  }
  EXPECT_FALSE(fs::exists(At("man/rharness-documents.1")));
}

TEST_F(Documents, HavePagesThatTheFormatterTakesWithoutAWarning) {
  if (!Installed("groff")) GTEST_SKIP() << "groff is not installed";
  for (const auto& page : fs::directory_iterator(At("man"))) {
    const ProcessResult result =
        Execute({"groff", "-man", "-Tutf8", "-ww", "-rLL=78n", page.path().string()});
    EXPECT_TRUE(result.outcome.Succeeded());
    EXPECT_EQ(result.stderr_text, "") << page.path();
    EXPECT_GT(result.stdout_text.size(), 500U) << page.path();
  }
}

TEST_F(Documents, AreTheSameTwiceAndNameTheDateOfTheSources) {
  const std::string dated = fmt::format(
      "SOURCE_DATE_EPOCH=86400 '{}' documents --documentation '{}'", kRharness, At("dated"));
  ASSERT_TRUE(Execute({"sh", "-c", dated}).outcome.Succeeded());
  EXPECT_THAT(Read(At("dated/rharness-drill.1")), HasSubstr("\"1970\\-01\\-02\""));
  EXPECT_THAT(Read(At("man/rharness-drill.1")), HasSubstr(".TH \"RHARNESS\\-DRILL\" 1 \"\" "));
}

TEST_F(Documents, CompleteVerbsAndOptionsInBash) {
  EXPECT_THAT(Bash("rharness dri"), ElementsAre("drill"));
  EXPECT_THAT(Bash("rharness ''"), testing::UnorderedElementsAreArray(kVerbs));
  EXPECT_THAT(Bash("rharness history ''"), Contains("retire"));
  EXPECT_THAT(Bash("rharness history add --fo"), ElementsAre("--force"));
  EXPECT_THAT(Bash("rharness drill --timeout-f"),
              ElementsAre("--timeout-factor", "--timeout-floor"));
  EXPECT_THAT(Bash("rharness drill --no-col"), ElementsAre("--no-color"));
  EXPECT_THAT(Bash("rharness gate baseline accept --expi"), ElementsAre("--expires"));
  // A value that reads like a verb is none.
  EXPECT_THAT(Bash("rharness --config history dri"), ElementsAre("drill"));
}

TEST_F(Documents, CompleteChoicesAndFilesInBash) {
  EXPECT_THAT(Bash("rharness drill --launcher po"), ElementsAre("podman"));
  EXPECT_THAT(Bash("rharness drill --launcher = po"), ElementsAre("podman"));
  EXPECT_THAT(Bash("rharness help sel"), ElementsAre("select"));
  ASSERT_TRUE(WriteFileAtomic(At("files/one two.json"), "").ok());
  ASSERT_TRUE(MakeDirectories(At("files/folder")).ok());
  const std::string there = fmt::format("cd '{}'", At("files"));
  EXPECT_THAT(Bash("rharness check on", there), ElementsAre("one two.json"));
  EXPECT_THAT(Bash("rharness drill --out ''", there), ElementsAre("folder"));
  EXPECT_TRUE(Bash("rharness drill --jobs ''", there).empty());
}

TEST_F(Documents, CompleteInFish) {
  if (!Installed("fish")) GTEST_SKIP() << "fish is not installed";
  const auto fish = [this](const std::string& line) {
    const std::string script = fmt::format(
        "source '{}'; complete -C '{}'", At("share/fish/vendor_completions.d/rharness.fish"), line);
    const ProcessResult result = Execute({"fish", "--no-config", "-c", script}, folder_.path());
    EXPECT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
    std::vector<std::string> words = Lines(result.stdout_text);
    for (std::string& word : words) word = word.substr(0, word.find('\t'));
    return words;
  };
  EXPECT_THAT(fish("rharness dri"), ElementsAre("drill"));
  EXPECT_THAT(fish("rharness history re"), ElementsAre("retire"));
  EXPECT_THAT(fish("rharness history add --fo"), ElementsAre("--force"));
  EXPECT_THAT(fish("rharness drill --launcher po"), ElementsAre("podman"));
  EXPECT_THAT(fish("rharness drill --timeout-f"),
              ElementsAre("--timeout-factor", "--timeout-floor"));
  EXPECT_THAT(fish("rharness check sh"), Contains("share/"));
}

TEST_F(Documents, CompleteInZsh) {
  if (!Installed("zsh")) GTEST_SKIP() << "zsh is not installed";
  // A shell on a terminal of its own, with the line as typed and the tabulator; the line as it is
  // then.
  constexpr char kScript[] = R"(zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=('$1' \$fpath); autoload -Uz compinit; compinit -u -D"
zpty -w shell "show() { print -r -- \"<\$BUFFER>\"; exit }; zle -N show; bindkey '^X' show; print ready"
zpty -r shell line '*ready'$'\r'
zpty -n -w shell "$2"$'\t'$'\x18'
zpty -r shell line '*<*>*'
print -r -- "${${line##*<}%%>*}"
)";
  const auto zsh = [&](const std::string& line) {
    const ProcessResult result =
        Execute({"zsh", "-f", "-c", kScript, "zsh", At("share/zsh/site-functions"), line});
    return result.stdout_text;
  };
  EXPECT_EQ(zsh("rharness dri"), "rharness drill \n");
  EXPECT_EQ(zsh("rharness history ret"), "rharness history retire \n");
  EXPECT_EQ(zsh("rharness history add --fo"), "rharness history add --force \n");
  EXPECT_EQ(zsh("rharness drill --launcher po"), "rharness drill --launcher podman \n");
}

TEST(Help, OfAVerbIsWhatTheVerbSaysItself) {
  EXPECT_EQ(Printed({"help", "drill"}), Printed({"drill", "--help"}));
  EXPECT_EQ(Printed({"help", "history", "add"}), Printed({"history", "add", "--help"}));
  EXPECT_EQ(Printed({"help"}), Printed({"--help"}));
  EXPECT_THAT(Printed({"--help"}), Not(HasSubstr("documents")));
}

TEST(Help, NamesTheNearestVerbOrTopic) {
  const std::string codes = Printed({"help", "exit-codes"});
  EXPECT_THAT(codes, HasSubstr("  5  a record was tampered with"));
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"exit"}, {"exit-code"}, {"exit", "codes"}, {"exit-status"}, {"codes"}}) {
    std::vector<std::string> typed = {"help"};
    typed.insert(typed.end(), words.begin(), words.end());
    EXPECT_EQ(Printed(typed), codes) << words.front();
  }
  EXPECT_THAT(Printed({"help", "verdicts"}), HasSubstr("  not_comparable  3  data, code, image"));
  EXPECT_EQ(Printed({"help", "verdict"}), Printed({"help", "verdicts"}));
  EXPECT_EQ(Printed({"help", "env"}), Printed({"help", "environment"}));
  EXPECT_EQ(Printed({"help", "trust"}), Printed({"help", "guide", "trust"}));
  EXPECT_EQ(Printed({"help", "guides"}), Printed({"help", "guide"}));
  const ProcessResult topic = Execute({kRharness, "help", "slect"});
  EXPECT_EQ(topic.outcome.exit_code, 2);
  EXPECT_THAT(topic.stderr_text, HasSubstr("did you mean select?"));
  const ProcessResult verb = Execute({kRharness, "help", "drlil"});
  EXPECT_EQ(verb.outcome.exit_code, 2);
  EXPECT_THAT(verb.stderr_text, HasSubstr("did you mean drill?"));
  const ProcessResult none = Execute({kRharness, "help", "nosuch"});
  EXPECT_EQ(none.outcome.exit_code, 2);
  EXPECT_THAT(none.stderr_text, HasSubstr("version, help, select, config, environment"));
}

TEST(Help, OfSelectHasExamplesThatTheLanguageTakes) {
  const std::string text = Printed({"help", "select"});
  constexpr std::string_view kExample = "--select '";
  int seen = 0;
  for (std::size_t at = text.find(kExample); at != text.npos; at = text.find(kExample, at)) {
    at += kExample.size();
    const auto selection = Selection::Parse(text.substr(at, text.find('\'', at) - at));
    EXPECT_TRUE(selection.ok()) << selection.error().ToString();
    ++seen;
  }
  EXPECT_GE(seen, 4);
  // What the language expects of a field, this names.
  const auto refused = Selection::Parse("nosuch = 1");
  ASSERT_FALSE(refused.ok());
  for (const char* field :
       {"run_id", "family", "configuration", "declared", "started", "duration_seconds", "verified",
        "last_verdict", "rebuild", "artifact"}) {
    EXPECT_THAT(refused.error().message, HasSubstr(field));
    EXPECT_THAT(text, HasSubstr(fmt::format("\n  {} ", field)));
  }
}

TEST(Help, OfConfigHasAFileThatIsRead) {
  const std::string text = Printed({"help", "config"});
  std::string file;
  for (const std::string& line : Lines(text)) {
    if (line.starts_with("  ") || line.empty()) file += line + "\n";
  }
  EXPECT_THAT(file, HasSubstr("[drill]"));
  const ScopedTempDir folder = *ScopedTempDir::Make("rharness-documents-");
  const std::string path = (folder.path() / "rharness.toml").string();
  ASSERT_TRUE(WriteFileAtomic(path, file).ok());
  // It is read as far as the history that it names.
  for (const std::vector<std::string>& verb :
       {std::vector<std::string>{"drill", "--dry-run"}, {"history", "list"}}) {
    std::vector<std::string> argv = {kRharness, "--config", path};
    argv.insert(argv.end(), verb.begin(), verb.end());
    const ProcessResult result = Execute(argv);
    EXPECT_EQ(result.outcome.exit_code, 2);
    EXPECT_THAT(result.stderr_text, HasSubstr("/srv/runs.db: no"));
  }
}

TEST(Help, OfTheEnvironmentNamesWhatOptionsAsk) {
  const std::string text = Printed({"help", "environment"});
  for (const char* name : {"RHARNESS_HISTORY", "RHARNESS_CONFIG", "RHARNESS_PROBE", "RHARNESS_OUT",
                           "RHARNESS_QUIET", "RHARNESS_THREADS", "NO_COLOR"}) {
    EXPECT_THAT(text, HasSubstr(fmt::format("\n  {} ", name)));
  }
}

TEST(Version, NamesCommitBuildAndLibraries) {
  EXPECT_EQ(Printed({"--version"}), "0.1.0\n");
  const std::string text = Printed({"version"});
  EXPECT_THAT(text, testing::StartsWith("rharness 0.1.0\ncommit "));
  const auto json = ParseJson(Printed({"version", "--json"}), "version");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->Find("schema")->AsString(), "rharness.version/v1");
  EXPECT_THAT(json->Find("commit")->AsString(), MatchesRegex("unknown|[0-9a-f]{40}(-dirty)?"));
  std::string zlib;
  for (const Json& library : json->Find("libraries")->AsArray()) {
    const std::string& name = library.Find("name")->AsString();
    EXPECT_THAT(library.Find("version")->AsString(), MatchesRegex("[0-9]+[.].*")) << name;
    EXPECT_THAT(text, HasSubstr("\n  " + name + " "));
    if (name == "zlib") zlib = library.Find("version")->AsString();
  }
  EXPECT_EQ(zlib, zlibVersion());
}

// The script that the build asks, in a checkout of its own.
class Commit : public testing::Test {
 protected:
  Commit() : folder_(*ScopedTempDir::Make("rharness-commit-")) {}
  void Shell(const std::string& command) {
    const ProcessResult result = Execute({"sh", "-ec", command}, folder_.path());
    ASSERT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
    output_ = result.stdout_text;
  }
  // What is between the quotes of the source that it wrote.
  std::string Asked() {
    Shell("cmake -DSOURCE=\"$PWD/s\" -DOUT=\"$PWD/commit.cc\" -P " RHARNESS_SOURCE_DIR
          "/harness/cli/commit.cmake");
    const std::string text = Read(folder_.path() / "commit.cc");
    constexpr std::string_view kBefore = "kCommit[] = \"";
    const std::size_t at = text.find(kBefore);
    EXPECT_NE(at, text.npos) << text;
    const std::size_t start = at + kBefore.size();
    return at == text.npos ? "" : text.substr(start, text.find('"', start) - start);
  }

  ScopedTempDir folder_;
  std::string output_;
};

TEST_F(Commit, IsThatOfACleanCheckoutOrSaysThatItIsNot) {
  Shell("mkdir s; echo a >s/a");
  EXPECT_EQ(Asked(), "unknown");
  Shell(
      "cd s; git init -q .; git add a; git -c user.name=a -c user.email=a@b commit -qm a; "
      "git rev-parse HEAD | tr -d '\\n'");
  const std::string head = output_;
  EXPECT_EQ(Asked(), head);
  const auto written = fs::last_write_time(folder_.path() / "commit.cc");
  EXPECT_EQ(Asked(), head);
  EXPECT_EQ(fs::last_write_time(folder_.path() / "commit.cc"), written);  // nothing is rebuilt
  Shell("echo b >s/a");
  EXPECT_EQ(Asked(), head + "-dirty");
}

TEST_F(Commit, IsNotThatOfAnotherCheckoutAround) {
  Shell(
      "git init -q .; mkdir s; echo a >s/a; git add s; "
      "git -c user.name=a -c user.email=a@b commit -qm a");
  EXPECT_EQ(Asked(), "unknown");
}

TEST(SchemaDocuments, AreThereForEachReportUnderItsOwnName) {
  const auto folder = ScopedTempDir::Make("rharness-schemas-");
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(
      Execute({kRharness, "documents", "--schemas", folder->path().string()}).outcome.Succeeded());
  std::set<std::string> ids;
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder->path())) {
    const auto schema = ReadJsonFile(entry.path());
    ASSERT_TRUE(schema.ok()) << schema.error().ToString();
    for (const char* key : {"$schema", "$id", "title"}) {
      EXPECT_NE(schema->Find(key), nullptr) << entry.path() << key;
    }
    ids.insert(schema->Find("$id")->AsString());
    EXPECT_THAT(entry.path().filename().string(), testing::EndsWith(".schema.json"));
    ++count;
  }
  EXPECT_GE(count, 19);
  EXPECT_EQ(static_cast<int>(ids.size()), count);
}

}  // namespace
}  // namespace rharness
