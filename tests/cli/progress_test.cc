// Progress as somebody sees it who looks at the terminal, or reads the log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <filesystem>
#include <optional>
#include <sstream>

#include "tests/cli/drill_program.h"
#include "tests/cli/terminal.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class ProgressShown : public DrillProgram {
 protected:
  ProgressShown() { environment_["TERM"] = "xterm"; }

  // The drill of runs.db to its end on a terminal, with options before the verb.
  TerminalProgram& DrillOnTerminal(const std::vector<std::string>& before = {}) {
    std::vector<std::string> argv = DrillArguments({"--jobs", "1"});
    argv.insert(argv.begin() + 1, before.begin(), before.end());
    return OnTerminal(argv, 0);
  }
  TerminalProgram& OnTerminal(const std::vector<std::string>& argv, int exit_code) {
    terminal_.emplace(argv, At(""), environment_);
    const int status = terminal_->Wait();
    EXPECT_TRUE(WIFEXITED(status)) << terminal_->written();
    EXPECT_EQ(WEXITSTATUS(status), exit_code) << terminal_->written();
    return *terminal_;
  }

  std::optional<TerminalProgram> terminal_;
};

TEST_F(ProgressShown, IsOneLineOfATerminalThatIsGoneAtTheEnd) {
  RecordRuns(4);
  const TerminalProgram& drill = DrillOnTerminal();
  EXPECT_THAT(drill.written(),
              HasSubstr("\r\x1b[K0/4 reruns done, 1 running, 0:00 elapsed, about"));
  EXPECT_THAT(drill.written(), HasSubstr("\r\x1b[K3/4 reruns done, 1 running, "));
  EXPECT_THAT(drill.written(), HasSubstr("\r\x1b[K4/4 reruns done, 0:0"));
  EXPECT_THAT(drill.screen().text(), Not(HasSubstr("reruns done")));
  EXPECT_THAT(drill.screen().text(), Not(HasSubstr("runs compared")));
  EXPECT_THAT(drill.screen().lines().front(), HasSubstr("4 identical"));
}

TEST_F(ProgressShown, StaysBelowTheLinesOfAVerboseDrillAndTearsNone) {
  RecordRuns(4);
  const TerminalProgram& drill = DrillOnTerminal({"-v"});
  int messages = 0;
  for (const std::string& line : drill.screen().lines()) {
    if (line.find("rharness: ") == std::string::npos) continue;
    ++messages;
    EXPECT_THAT(line, testing::MatchesRegex("rharness: debug: [a-d]\\.1: (attempt 1 starts|"
                                            "exited with 0)"));
  }
  EXPECT_EQ(messages, 8);
  // Drawn anew right below a message, by the same write.
  EXPECT_THAT(drill.written(), HasSubstr("exited with 0\r\n0/4 reruns done, 1 running, "));
  EXPECT_THAT(drill.screen().text(), Not(HasSubstr("reruns done")));
}

TEST_F(ProgressShown, IsNothingUnderQuiet) {
  RecordRuns(4);
  EXPECT_EQ(DrillOnTerminal({"--quiet"}).written(), "");
  fs::remove_all(At("out"));
  std::vector<std::string> quiet = DrillArguments();
  quiet.insert(quiet.begin() + 1, "--quiet");
  const ProcessResult drill = Run(quiet);
  EXPECT_EQ(drill.outcome.exit_code, 0);
  EXPECT_EQ(drill.stdout_text + drill.stderr_text, "");
}

TEST_F(ProgressShown, IsPlainWhereATerminalWantsNoControlSequences) {
  RecordRuns(4);
  for (const auto& [name, value] : {std::pair("NO_COLOR", "1"), std::pair("TERM", "dumb")}) {
    const auto before = environment_;
    environment_[name] = value;
    const TerminalProgram& drill = DrillOnTerminal();
    environment_ = before;
    EXPECT_THAT(drill.written(), Not(HasSubstr("\x1b"))) << name;
    EXPECT_THAT(drill.screen().text(), HasSubstr("rharness: 2/4 reruns done, 1 running, ")) << name;
    fs::remove_all(At("out"));
  }
}

TEST_F(ProgressShown, IsALineAQuarterInALog) {
  RecordRuns(8);
  const ProcessResult drill = Drill({"--jobs", "1"});
  ASSERT_EQ(drill.outcome.exit_code, 0);
  std::vector<std::string> lines;
  std::istringstream text(drill.stderr_text);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 3u) << drill.stderr_text;
  EXPECT_THAT(lines[0], HasSubstr("rharness: 2/8 reruns done, 1 running, 0:0"));
  EXPECT_THAT(lines[1], HasSubstr("rharness: 4/8 reruns done, 1 running, 0:0"));
  EXPECT_THAT(lines[2], HasSubstr("rharness: 6/8 reruns done, 1 running, 0:0"));
  EXPECT_THAT(lines, Each(HasSubstr(" elapsed, about 0:0")));
}

TEST_F(ProgressShown, LeavesTheTerminalCleanWhenInterrupted) {
  RecordRuns(3);
  Write("gate", "");
  TerminalProgram drill(DrillArguments({"--jobs", "1"}), At(""), environment_);
  ASSERT_TRUE(drill.ReadUntil([&](const std::string& written) {
    return written.find("1/3 reruns done, 1 running") != std::string::npos && Calls() == 2;
  })) << drill.written();
  drill.Type("\x03");
  const int status = drill.Wait();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 4);
  // What was never started is not done.
  EXPECT_THAT(drill.written(), Not(HasSubstr("3/3 reruns done")));
  EXPECT_THAT(drill.screen().text(), Not(HasSubstr("reruns done")));
  EXPECT_THAT(drill.screen().text(), Not(HasSubstr("^C")));
  EXPECT_THAT(drill.screen().lines().front(), HasSubstr("Runs"));
}

TEST_F(ProgressShown, CountsInAResumedDrillWhatWasDoneBefore) {
  RecordRuns(3);
  Write("gate", "");
  {
    TerminalProgram drill(DrillArguments({"--jobs", "1"}), At(""), environment_);
    ASSERT_TRUE(drill.ReadUntil([&](const std::string& written) {
      return written.find("1/3 reruns done, 1 running") != std::string::npos && Calls() == 2;
    })) << drill.written();
    drill.Type("\x03");
    drill.Wait();
  }
  fs::remove(At("gate"));
  const ProcessResult resumed = Run({kRharness, "drill", "--resume", "--out", "out"});
  EXPECT_EQ(resumed.outcome.exit_code, 0) << resumed.stderr_text;
  EXPECT_THAT(resumed.stderr_text, HasSubstr("rharness: 1/3 reruns done, 1 running, "));
  EXPECT_THAT(resumed.stderr_text, HasSubstr("rharness: 2/3 reruns done, 1 running, "));
}

TEST_F(ProgressShown, IsTheSameForPairsThatAreCompared) {
  for (const char* name : {"1", "2", "3", "4"}) {
    for (const char* side : {"before", "after"}) {
      Write(std::string("pairs/") + name + "/" + side + ".csv",
            "step,loss\n1,4\n2,3.5\n3,3\n4,2.5\n5,2.25\n6,2\n");
    }
  }
  const std::vector<std::string> argv = {kRharness, "compare", "--pairs", "pairs"};
  const TerminalProgram& shown = OnTerminal(argv, 0);
  EXPECT_THAT(shown.written(),
              HasSubstr("\r\x1b[K1/4 pairs compared, 0:00 elapsed, about 0:01 left: 2"));
  EXPECT_THAT(shown.screen().text(), Not(HasSubstr("pairs compared")));
  const ProcessResult logged = Run(argv);
  EXPECT_THAT(logged.stderr_text,
              HasSubstr("rharness: 2/4 pairs compared, 0:00 elapsed, about 0:01 "
                        "left: 3\n"));
  EXPECT_THAT(logged.stderr_text, EndsWith("left: 4\n"));
}

TEST_F(ProgressShown, IsTheSameForProbes) {
  std::vector<std::string> argv = {kRharness,     "probe", "run",   "--repeat", "1",
                                   "--processes", "1",     "--out", "f.json"};
  for (const char* probe : {"atomic_spread", "env_ident", "own_reduce_tree", "symv_bits"}) {
    argv.insert(argv.end(), {"--probe", probe});
  }
  const TerminalProgram& shown = OnTerminal(argv, 0);
  EXPECT_THAT(shown.written(), HasSubstr("\r\x1b[K1/4 probes done, 0:0"));
  EXPECT_THAT(shown.screen().text(), Not(HasSubstr("probes done")));
  EXPECT_THAT(shown.screen().lines().front(), HasSubstr("4 probes: 4 ok; written to f.json"));
  const ProcessResult logged = Run(argv);
  EXPECT_THAT(logged.stderr_text, HasSubstr("rharness: 2/4 probes done, 0:0"));
  EXPECT_THAT(logged.stderr_text, HasSubstr(" left: own_reduce_tree\n"));
  argv.insert(argv.begin() + 1, "--quiet");
  EXPECT_EQ(Run(argv).stderr_text, "");
}

}  // namespace
}  // namespace rharness
