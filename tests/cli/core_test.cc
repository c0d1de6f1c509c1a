// The program of a first drill: which words it takes itself, and which it leaves to rharness-more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A copy of rharness in a folder of its own.
class CoreProgram : public testing::Test {
 protected:
  void SetUp() override { fs::copy_file(RHARNESS_BIN_DIR "/rharness", At("rharness")); }
  fs::path At(const std::string& name) const { return folder_->path() / name; }
  ProcessResult Run(std::vector<std::string> words,
                    std::map<std::string, std::string> environment = {}) const {
    words.insert(words.begin(), At("rharness"));
    return RunProcess({.argv = std::move(words),
                       .environment = std::move(environment),
                       .working_directory = folder_->path()});
  }
  // One that says how it was called.
  void PutMoreBeside() const {
    ASSERT_TRUE(WriteFileAtomic(At("rharness-more"), "#!/bin/sh\necho more \"$@\"\n").ok());
    fs::permissions(At("rharness-more"), fs::perms{0755});
    ASSERT_TRUE(WriteFileAtomic(At("empty"), "").ok());
  }

 private:
  Result<ScopedTempDir> folder_ = ScopedTempDir::Make();
};

TEST_F(CoreProgram, BecomesTheOtherProgramForItsVerbsAndForHelp) {
  PutMoreBeside();
  EXPECT_EQ(Run({"gate", "--out", "a b"}).stdout_text, "more gate --out a b\n");
  EXPECT_EQ(Run({"-q", "no-such-verb"}).stdout_text, "more -q no-such-verb\n");
  EXPECT_EQ(Run({"history", "trends", "--history", "list"}).stdout_text,
            "more history trends --history list\n");
  EXPECT_EQ(Run({"history", "--help"}).stdout_text, "more history --help\n");
  EXPECT_EQ(Run({"--help"}).stdout_text, "more --help\n");
  EXPECT_EQ(Run({}).stdout_text, "more\n");
}

TEST_F(CoreProgram, ActsOnItsOwnVerbs) {
  PutMoreBeside();
  EXPECT_THAT(Run({"-q", "hash", "empty"}).stdout_text, StartsWith("e3b0c442"));
  EXPECT_THAT(Run({"drill", "--help"}).stdout_text, HasSubstr("--history"));
}

// It may set options of verbs that this program does not know.
TEST_F(CoreProgram, LeavesEveryConfigurationFileToTheOtherProgram) {
  PutMoreBeside();
  EXPECT_EQ(Run({"--config=empty", "hash", "empty"}).stdout_text,
            "more --config=empty hash empty\n");
  EXPECT_EQ(Run({"hash", "empty"}, {{"RHARNESS_CONFIG", "empty"}}).stdout_text,
            "more hash empty\n");
}

TEST_F(CoreProgram, SaysWhereTheOtherProgramWouldBe) {
  const ProcessResult result = Run({"gate"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stderr_text,
              AllOf(HasSubstr(At("rharness-more").string()), HasSubstr("./dev build")));
}

TEST_F(CoreProgram, HelpsWithItsOwnVerbsWhereItIsAlone) {
  const ProcessResult result = Run({"--help"});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_THAT(result.stdout_text, AllOf(HasSubstr("drill"), Not(HasSubstr("gameday"))));
}

}  // namespace
}  // namespace rharness
