// Declared commands, parsed: values into their targets, and what is said of a line that is wrong.
#include "harness/cli/command.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/cli/command_line.h"
#include "harness/cli/help_text.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

struct Values {
  bool flag = false;
  int jobs = 1;
  std::uint64_t seed = 0;
  std::uint64_t memory = 0;
  std::optional<std::uint64_t> sample;
  double hours = 0.0;
  int seconds = 0;
  std::string store;
  std::string launcher = "auto";
  std::filesystem::path out;
  std::vector<std::string> maps;
  std::vector<std::string> files;
};

const ProgramFacts kProgram = {.version = "1.2.3", .config_env = "TINY_CONFIG"};

// "tiny": `run` with one option of every kind, and `store add` and `store list` below `store`.
class CommandLine : public testing::Test {
 protected:
  CommandLine() : root_("tiny", "Does little") {
    root_.Add("-q,--quiet", &quiet_, "Say little");
    Command& run = root_.AddVerb("run", "Run it");
    run.Add("--flag", &values_.flag, "A flag");
    run.Add("-j,--jobs", &values_.jobs, "At a time").Between(0, 64).ShowDefault();
    run.Add("--seed", &values_.seed, "Of the sample");
    run.Add("--memory", &values_.memory, "At most").Size();
    run.Add("--sample", &values_.sample, "Draw so many");
    run.Heading("Limits");
    run.Add("--budget", &values_.hours, "To spend").Duration(TimeUnit::kHours);
    run.Add("--wait", &values_.seconds, "To wait").Duration(TimeUnit::kSeconds);
    run.Add("--history", &values_.store, "Store").File("URL").Env("TINY_HISTORY");
    run.Add("--launcher", &values_.launcher, "By what").Choices({"auto", "host"});
    run.Add("--out", &values_.out, "Folder").Folder();
    run.Add("--map", &values_.maps, "FROM=TO").OneEach();
    run.Add("files", &values_.files, "Files").File();
    run.ExitCode(0, "done");
    run.ExitCode(3, "not done");
    run.Example("tiny run a b");
    run.Do([] { return 7; });
    Command& store = root_.AddVerb("store", "Keep it");
    store.AddVerb("add", "Add some").Do([] { return 0; });
    store.AddVerb("list", "List them").Do([] { return 0; });
  }
  ~CommandLine() override {
    ::unsetenv("TINY_HISTORY");
    ::unsetenv("TINY_CONFIG");
  }

  // The exit code; stderr into said_.
  int Parse(std::vector<const char*> words) {
    words.insert(words.begin(), "tiny");
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    const ParsedLine line =
        ParseCommandLine(root_, kProgram, static_cast<int>(words.size()), words.data());
    printed_ = testing::internal::GetCapturedStdout();
    said_ = testing::internal::GetCapturedStderr();
    return line.action ? line.action() : line.exit_code;
  }

  bool quiet_ = false;
  Values values_;
  Command root_;
  std::string said_;
  std::string printed_;
};

TEST_F(CommandLine, PutsEveryKindOfValueIntoItsTarget) {
  EXPECT_EQ(Parse({"run",      "--flag",  "-j",        "8",   "--seed",     "18446744073709551615",
                   "--memory", "2GiB",    "--sample",  "3",   "--budget",   "90m",
                   "--wait",   "1m30s",   "--history", "h",   "--launcher", "host",
                   "--out",    "a \"b\"", "--map",     "a=b", "--map",      "c=d",
                   "x",        "y",       "-q"}),
            7)
      << said_;
  EXPECT_TRUE(values_.flag);
  EXPECT_EQ(values_.jobs, 8);
  EXPECT_EQ(values_.seed, 18446744073709551615U);
  EXPECT_EQ(values_.memory, std::uint64_t{2} << 30);
  EXPECT_EQ(values_.sample, 3U);
  EXPECT_EQ(values_.hours, 1.5);
  EXPECT_EQ(values_.seconds, 90);
  EXPECT_EQ(values_.store, "h");
  EXPECT_EQ(values_.launcher, "host");
  EXPECT_EQ(values_.out, "a \"b\"");
  EXPECT_THAT(values_.maps, ElementsAre("a=b", "c=d"));
  EXPECT_THAT(values_.files, ElementsAre("x", "y"));
  EXPECT_TRUE(quiet_);
}

TEST_F(CommandLine, KnowsWhatWasGiven) {
  EXPECT_EQ(Parse({"run", "--jobs", "1", "--map", "a=b"}), 7);
  const Command& run = *root_.Find("run");
  EXPECT_TRUE(run.Given("-j"));
  EXPECT_TRUE(run.Given("--jobs"));
  EXPECT_TRUE(run.Given("--map"));
  EXPECT_FALSE(run.Given("--seed"));
  EXPECT_FALSE(run.Given("--nosuch"));
  EXPECT_FALSE(values_.sample.has_value());
}

TEST_F(CommandLine, AsksTheLineThenTheEnvironmentThenTheFile) {
  const ScopedTempDir folder = *ScopedTempDir::Make("rharness-command-");
  const std::string file = (folder.path() / "tiny.ini").string();
  ASSERT_TRUE(WriteFileAtomic(file, "[run]\nhistory=\"file\"\nbudget=\"30m\"\njobs=4\n").ok());
  ::setenv("TINY_CONFIG", file.c_str(), 1);
  EXPECT_EQ(Parse({"run"}), 7) << said_;
  EXPECT_EQ(values_.store, "file");
  EXPECT_EQ(values_.hours, 0.5);
  EXPECT_EQ(values_.jobs, 4);
  ::setenv("TINY_HISTORY", "environment", 1);
  EXPECT_EQ(Parse({"run"}), 7);
  EXPECT_EQ(values_.store, "environment");
  EXPECT_EQ(Parse({"run", "--history", "line"}), 7);
  EXPECT_EQ(values_.store, "line");
}

TEST_F(CommandLine, RefusesWhatTheFileMisspells) {
  const ScopedTempDir folder = *ScopedTempDir::Make("rharness-command-");
  const std::string file = (folder.path() / "tiny.ini").string();
  ASSERT_TRUE(WriteFileAtomic(file, "[run]\nhistroy=\"x\"\n").ok());
  EXPECT_EQ(Parse({"--config", file.c_str(), "run"}), 2);
  EXPECT_THAT(said_,
              HasSubstr("'run.histroy', which is no option of run; did you mean --history?"));
  ASSERT_TRUE(WriteFileAtomic(file, "[rnu]\njobs=1\n").ok());
  EXPECT_EQ(Parse({"--config", file.c_str(), "run"}), 2);
  EXPECT_THAT(said_, HasSubstr("'rnu.jobs', which is no verb; did you mean run?"));
}

TEST_F(CommandLine, NamesTheNearestOptionOfAMistypedOne) {
  EXPECT_EQ(Parse({"run", "--histroy", "x"}), 2);
  EXPECT_THAT(said_, HasSubstr("not expected: --histroy; did you mean --history?\n"));
  EXPECT_THAT(said_, HasSubstr("see `tiny run --help`"));
  EXPECT_EQ(Parse({"run", "--memroy=3"}), 2);
  EXPECT_THAT(said_, HasSubstr("did you mean --memory?"));
  EXPECT_EQ(Parse({"--quite", "run"}), 2);
  EXPECT_THAT(said_, HasSubstr("did you mean --quiet?"));
  EXPECT_EQ(Parse({"run", "--confg", "x"}), 2);
  EXPECT_THAT(said_, HasSubstr("did you mean --config?"));
  EXPECT_EQ(Parse({"run", "--banana"}), 2);
  EXPECT_THAT(said_, Not(HasSubstr("did you mean")));
}

TEST_F(CommandLine, NamesTheNearestVerbOfAMistypedOne) {
  EXPECT_EQ(Parse({"rnu"}), 2);
  EXPECT_THAT(said_, HasSubstr("'rnu' is no verb; did you mean run? expected one of run, store"));
  EXPECT_EQ(Parse({"banana"}), 2);
  EXPECT_THAT(said_, HasSubstr("'banana' is no verb; expected one of run, store"));
  EXPECT_EQ(Parse({"--config", "nosuch.ini", "stroe", "--help"}), 2);
  EXPECT_THAT(said_, HasSubstr("did you mean store?"));
  EXPECT_EQ(Parse({"store", "lst"}), 2);
  EXPECT_THAT(said_,
              HasSubstr("'lst' is no verb of store; did you mean list? expected one of add, list"));
  EXPECT_EQ(Parse({"store"}), 2);
  EXPECT_THAT(said_, HasSubstr("expected one of add, list"));
}

TEST_F(CommandLine, SaysWhatItExpectedOfABadValue) {
  struct Case {
    std::vector<const char*> words;
    const char* said;
  };
  const Case cases[] = {
      {{"--budget", "soon"},
       "--budget: 'soon' is no time; expected a number with its unit (s, m, h, d)"},
      {{"--budget", "-1"}, "'-1' is no time"},
      {{"--budget", "nan"}, "'nan' is no time"},
      {{"--budget", "1x"}, "'1x' is no time"},
      {{"--budget", ""}, "'' is no time"},
      {{"--wait", "x"}, "'x' is no time; expected a number with its unit"},
      {{"--wait", "0.5s"}, "'0.5s' is no whole number of seconds"},
      {{"--wait", "999999999h"}, "or too many"},
      {{"--jobs", "65"}, "--jobs: Value 65 not in range 0 to 64"},
      {{"--jobs", "x"}, "Value x not in range 0 to 64"},
      {{"--jobs", "2.5"}, "Value 2.5 not in range 0 to 64"},
      {{"--seed", "-1"}, "'-1' is no number from 0 to 2^64 - 1"},
      {{"--seed", "12x"}, "'12x' is no number from 0 to 2^64 - 1"},
      {{"--sample", "18446744073709551616"}, "'18446744073709551616' is no number"},
      {{"--memory", "16Gix"}, "'16Gix' is no size; expected a whole number with its unit (B, KiB"},
      {{"--memory", "-1"}, "'-1' is no size"},
      {{"--memory", "16"}, "'16' is no size; expected a whole number with its unit"},
      {{"--budget", "2"}, "'2' is no time; expected a number with its unit (s, m, h, d), such as"},
      {{"--memory", "16EiB"}, "'16EiB' is more than 2^64 - 1 bytes"},
      {{"--launcher", "x"}, "--launcher: x not in {auto,host}"},
      {{"--jobs"}, "--jobs: 1 required"},
  };
  for (const Case& one : cases) {
    std::vector<const char*> words = {"run"};
    words.insert(words.end(), one.words.begin(), one.words.end());
    EXPECT_EQ(Parse(words), 2) << one.said;
    EXPECT_THAT(said_, HasSubstr(one.said));
  }
}

TEST_F(CommandLine, TakesSizesInUnitsOf1024s) {
  const std::pair<const char*, std::uint64_t> cases[] = {
      {"16b", 16}, {"0", 0}, {"1k", 1024}, {"3 MiB", 3 << 20}, {"2gb", 2147483648}, {"5B", 5}};
  for (const auto& [text, bytes] : cases) {
    EXPECT_EQ(Parse({"run", "--memory", text}), 7) << said_;
    EXPECT_EQ(values_.memory, bytes) << text;
  }
}

TEST(HelpText, BreaksACommandWhereAShellGoesOn) {
  EXPECT_EQ(WrapCommand("tiny run a b", 78), "tiny run a b");
  EXPECT_EQ(WrapCommand("tiny run --out folder", 21), "tiny run --out folder");
  EXPECT_EQ(WrapCommand("tiny run --out folder", 20), "tiny run \\\n    --out folder");
  EXPECT_EQ(WrapCommand("tiny run --dry --out folder", 20), "tiny run --dry \\\n    --out folder");
  EXPECT_EQ(WrapCommand("tiny run --why 'its data is gone' --out x", 24),
            "tiny run \\\n    --why 'its data is gone' \\\n    --out x");
  EXPECT_EQ(WrapCommand("tiny run $(git log -1 HEAD)..b (a b) x", 12),
            "tiny run \\\n    $(git log -1 HEAD)..b \\\n    (a b) x");
}

TEST_F(CommandLine, HelpsInGroupsThatFitAScreen) {
  EXPECT_EQ(Parse({"run", "--help"}), 0);
  EXPECT_EQ(said_, "");
  for (const char* line :
       {"Run it\nUsage: tiny run [OPTIONS] [files...]\n", "\nOptions:\n",
        "\n\nLimits:\n  --budget TIME ", "(30s, 90m, 1.5h, 7d)", "-j,--jobs INT in [0 - 64]=1",
        "--launcher {auto,host}", "--history URL (Env:TINY_HISTORY)",
        "Exit codes: 0 done; 3 not done.", "Examples:\n  tiny run a b\n"}) {
    EXPECT_THAT(printed_, HasSubstr(line));
  }
  EXPECT_THAT(printed_, Not(HasSubstr("\n\n\n")));
  std::istringstream lines(printed_);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_EQ(*HelpOf(root_, kProgram, {"run"}), printed_);
  EXPECT_EQ(Parse({"--version"}), 0);
  EXPECT_EQ(printed_, "1.2.3\n");
}

TEST(Duration, IsANumberWithAUnitOrZero) {
  const std::pair<const char*, double> cases[] = {
      {"30s", 30.0},     {"90m", 5400.0}, {"2h", 7200.0},     {"1.5h", 5400.0}, {"1d", 86400.0},
      {"1h30m", 5400.0}, {"0", 0.0},      {"1h0.5s", 3600.5}, {"0s", 0.0}};
  for (const auto& [text, seconds] : cases) {
    const auto value = ParseDuration(text, TimeUnit::kSeconds);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(*value, seconds) << text;
  }
  EXPECT_EQ(ParseDuration("90m", TimeUnit::kHours), 1.5);
  EXPECT_EQ(ParseDuration("36h", TimeUnit::kDays), 1.5);
}

TEST(Duration, RefusesWhatIsNone) {
  for (const char* text : {"", "h", "x", "90", "0.25", "1x", "-1", "-1h", "nan", "inf", "1h30",
                           "30m1h", "1h1h", "1 h", "1hh", "1e400", "1h-1m"}) {
    EXPECT_FALSE(ParseDuration(text, TimeUnit::kSeconds)) << text;
  }
}

}  // namespace
}  // namespace rharness
