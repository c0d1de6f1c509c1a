// Data and sources that a run reads through symbolic links, as `rharness record` finds them, and
// their drills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/record_finds.h"

namespace rharness {
namespace {

using testing::HasSubstr;

class RecordLinks : public RecordFinds {
 protected:
  // input/data.csv behind a link: the file itself, or its folder, at `target`.
  void Link(const std::string& name, const fs::path& target) {
    fs::remove_all(At("project/" + name));
    fs::create_symlink(target, At("project/" + name));
  }
  void Store(const std::string& version, const std::string& content) {
    fs::create_directories(At("store/" + version));
    ASSERT_TRUE(WriteFileAtomic(At("store/" + version + "/data.csv"), content).ok());
  }
  void Commit() {
    Write(".gitignore", "out\nruns\ndrill*\n__pycache__\ninput/v1\n");
    const ProcessResult made =
        Run({"sh", "-c",
             "git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm one"});
    if (!made.outcome.Succeeded()) GTEST_SKIP() << "git is not installed: " << made.stderr_text;
  }
  ProcessResult Drill(const std::vector<std::string>& options = {}) {
    std::vector<std::string> argv = {RHARNESS_BIN_DIR "/rharness", "drill", "runs", "--out",
                                     "drill-" + std::to_string(++drills_)};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(std::move(argv));
  }
  std::string Map(const std::string& folder) const {
    const std::string path = fs::canonical(At(folder)).string();
    return path + "=" + path;
  }
  void ExpectRecordedAndReproduced(const std::string& data, const std::string& place) {
    const ProcessResult result = Record({});
    ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
    EXPECT_THAT(result.stderr_text, HasSubstr("next: rharness drill runs --map " + Map(place)));
    const Manifest manifest = Recorded();
    ASSERT_EQ(manifest.data.size(), 1u);
    EXPECT_EQ(manifest.data[0].path, data);
    EXPECT_EQ(manifest.data[0].location, fs::canonical(At(place) / "data.csv"));
    const ProcessResult drill = Drill({"--map", Map(place)});
    EXPECT_THAT(drill.stdout_text, HasSubstr("1 identical")) << drill.stderr_text;
  }

 private:
  int drills_ = 0;
};

TEST_F(RecordLinks, ToAFileOutsideOfTheRoot) {
  Store("v1", "1,2,3");
  Link("input/data.csv", At("store/v1/data.csv"));
  ExpectRecordedAndReproduced("input/data.csv", "store/v1");
  // Another target now: the recorded bytes are where they were.
  Store("v2", "1,2,4");
  Link("input/data.csv", At("store/v2/data.csv"));
  EXPECT_THAT(Drill({"--map", Map("store/v1")}).stdout_text, HasSubstr("1 identical"));
  Store("v1", "1,2,4");
  EXPECT_THAT(Drill({"--map", Map("store/v1")}).stdout_text, HasSubstr("1 not comparable"));
}

TEST_F(RecordLinks, ToAFolderOutsideOfTheRoot) {
  Store("v1", "1,2,3");
  Link("input", "../store/v1");
  ExpectRecordedAndReproduced("input/data.csv", "store/v1");
}

TEST_F(RecordLinks, ThatTheCommitHas) {
  Store("v1", "1,2,3");
  Link("input", "../store/v1");
  Commit();
  ExpectRecordedAndReproduced("input/data.csv", "store/v1");
}

TEST_F(RecordLinks, WithinTheRunsFolder) {
  fs::create_directories(At("project/input/v1"));
  Write("input/v1/data.csv", "1,2,3");
  Link("input/data.csv", "v1/data.csv");
  ASSERT_EQ(Record({}).outcome.exit_code, 0);
  EXPECT_EQ(Recorded().data.at(0).path, "input/data.csv");
  EXPECT_THAT(Drill().stdout_text, HasSubstr("1 identical"));
}

// The checkout has the link, so the file has its own place.
TEST_F(RecordLinks, WithinTheRunsFolderThatTheCommitHas) {
  fs::create_directories(At("project/input/v1"));
  Write("input/v1/data.csv", "1,2,3");
  Link("input/data.csv", "v1/data.csv");
  Commit();
  ASSERT_EQ(Record({}).outcome.exit_code, 0);
  EXPECT_EQ(Recorded().data.at(0).path, "input/v1/data.csv");
  EXPECT_THAT(Drill().stdout_text, HasSubstr("1 identical"));
}

TEST_F(RecordLinks, OfAFileThatIsReadByItsOwnNameToo) {
  fs::create_directories(At("project/input/v1"));
  Write("input/v1/data.csv", "1,2,3");
  Link("input/data.csv", "v1/data.csv");
  std::string program = kFoundProgram;
  program.insert(program.find("weights ="), "data += parts.load('input/v1/data.csv')\n");
  Write("train.py", program);
  ASSERT_EQ(Record({}).outcome.exit_code, 0);
  EXPECT_EQ(Recorded().data.size(), 2u);
  EXPECT_THAT(Drill().stdout_text, HasSubstr("1 identical"));
}

TEST_F(RecordLinks, ToASourceOutsideOfTheRoot) {
  fs::create_directories(At("store"));
  fs::rename(At("project/parts.py"), At("store/parts.py"));
  Link("parts.py", "../store/parts.py");
  ASSERT_EQ(Record({}).outcome.exit_code, 0);
  EXPECT_THAT(Drill({"--map", Map("store")}).stdout_text, HasSubstr("1 identical"));
}

// Its paths are relative to the run's folder, and those of the code to the repository.
TEST_F(RecordLinks, ToDataOfARunInASubfolderOfTheRepository) {
  Store("v1", "1,2,3");
  fs::remove_all(At("project/input"));
  fs::create_directories(At("project/sub"));
  for (const char* source : {"train.py", "parts.py"}) {
    fs::rename(At("project") / source, At("project/sub") / source);
  }
  fs::create_directory_symlink("../../store/v1", At("project/sub/input"));
  Write(".gitignore", "out\nruns\ndrill*\n__pycache__\nparts.py\n");
  const ProcessResult made =
      Run({"sh", "-c",
           "git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm one"});
  if (!made.outcome.Succeeded()) GTEST_SKIP() << "git is not installed: " << made.stderr_text;
  const std::string program = RHARNESS_BIN_DIR "/rharness";
  const ProcessResult result =
      Run({"sh", "-c", "cd sub && exec \"$0\" record -- /usr/bin/python3 train.py", program});
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  const Manifest manifest = Recorded("sub/runs/sub-1.json");
  EXPECT_EQ(manifest.working_directory, "sub");
  EXPECT_EQ(manifest.data.at(0).path, "input/data.csv");
  EXPECT_EQ(GuessOf(manifest, "code.kept_diff_sha256"),
            "the run read sub/parts.py, which the commit does not have");
  const std::string script = "cd sub && exec \"$0\" drill runs --map \"$1\" --map \"$2\"";
  const ProcessResult drill = Run({"sh", "-c", script, program, Map("store/v1"), Map("project")});
  EXPECT_THAT(drill.stdout_text, HasSubstr("1 identical")) << drill.stderr_text;
}

TEST_F(RecordLinks, ThatAreStated) {
  Store("v1", "1,2,3");
  Link("input", "../store/v1");
  const ProcessResult result = Record({"--find", "--data", "input", "--out", "runs/a.json"});
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_EQ(Recorded("runs/a.json").data.at(0).location, fs::canonical(At("store/v1")));
  EXPECT_THAT(Drill({"--map", Map("store")}).stdout_text, HasSubstr("1 identical"));
}

}  // namespace
}  // namespace rharness
