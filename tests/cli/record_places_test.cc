// Programs that write to a place that the command names by an absolute path, as `rharness record`
// finds their outputs, and their drills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/record_finds.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RecordPlaces : public RecordFinds {
 protected:
  // out/ becomes `folder` in the program's source, an expression.
  void WriteTo(const std::string& folder) {
    std::string program = kFoundProgram;
    for (std::size_t at = 0; (at = program.find("\"out/", at)) != program.npos; at += 5) {
      program.replace(at, 5, "home + \"/");
    }
    program.insert(program.find("os.makedirs"), "import sys\nhome = " + folder + "\n");
    Write("train.py", program);
  }
  std::string Text(const fs::path& path) const {
    const auto text = ReadFile(path);
    return text.ok() ? *text : "absent";
  }
  ProcessResult Drill() {
    return Run({RHARNESS_BIN_DIR "/rharness", "drill", "runs", "--out",
                "drill-" + std::to_string(++drills_)});
  }
  // The drill reproduces it, and leaves the place of the recorded run alone.
  void ExpectReproducedElsewhere(const fs::path& place) {
    ASSERT_TRUE(fs::exists(place / "model.npy"));
    ASSERT_TRUE(WriteFileAtomic(place / "model.npy", "mark").ok());
    const ProcessResult drill = Drill();
    EXPECT_THAT(drill.stdout_text, HasSubstr("1 identical"))
        << drill.stdout_text << drill.stderr_text;
    EXPECT_EQ(Text(place / "model.npy"), "mark");
  }

 private:
  int drills_ = 0;
};

TEST_F(RecordPlaces, OutsideOfTheRunsFolder) {
  WriteTo("sys.argv[1]");
  const std::string place = At("scratch/run7").string();
  const ProcessResult result = Record({}, {"/usr/bin/python3", "train.py", place});
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  const Manifest manifest = Recorded();
  EXPECT_TRUE(Admit(manifest).empty()) << result.stderr_text;
  EXPECT_THAT(manifest.command, ElementsAre("/usr/bin/python3", "train.py", "run7"));
  ASSERT_EQ(manifest.artifacts.size(), 1u);
  EXPECT_EQ(manifest.artifacts[0].path, "run7/model.npy");
  EXPECT_EQ(manifest.metrics_path, "run7/log.jsonl");
  EXPECT_NE(GuessOf(manifest, "artifacts[0]"), "");
  EXPECT_THAT(GuessOf(manifest, "command"), HasSubstr(place + " as run7"));
  ExpectReproducedElsewhere(place);
}

TEST_F(RecordPlaces, OfTheRunsFolder) {
  WriteTo("sys.argv[1].split('=')[1]");
  const std::string place = At("project/results").string();
  ASSERT_EQ(
      Record({}, {"/usr/bin/python3", "train.py", "--output_dir=" + place + "/"}).outcome.exit_code,
      0);
  const Manifest manifest = Recorded();
  EXPECT_EQ(manifest.command.back(), "--output_dir=results/");
  EXPECT_EQ(manifest.artifacts.at(0).path, "results/model.npy");
  ExpectReproducedElsewhere(place);
}

TEST_F(RecordPlaces, ThatARecordedVariableNames) {
  WriteTo("os.environ['TMPDIR'] + '/run'");
  Write("run.sh", "export TMPDIR=$1; exec /usr/bin/python3 train.py\n");
  const std::string place = At("scratch").string();
  ASSERT_EQ(
      Run({"env", "OUT=" + place, RHARNESS_BIN_DIR "/rharness", "record", "--find", "--variable",
           "OUT", "--", "sh", "-c", "TMPDIR=$OUT exec /usr/bin/python3 train.py"})
          .outcome.exit_code,
      0);
  const Manifest manifest = Recorded();
  EXPECT_EQ(manifest.environment.variables.at("OUT"), "scratch");
  EXPECT_EQ(manifest.artifacts.at(0).path, "scratch/run/model.npy");
  ExpectReproducedElsewhere(place + "/run");
}

TEST_F(RecordPlaces, ThatHoldOlderOutputsToo) {
  WriteTo("sys.argv[1]");
  const std::string place = At("scratch/run7").string();
  fs::create_directories(place);
  for (const char* old : {"/best.npy", "/a.jsonl"}) {
    ASSERT_TRUE(WriteFileAtomic(place + old, Text(At("project/parts.py"))).ok());
  }
  const ProcessResult result = Record({}, {"/usr/bin/python3", "train.py", place});
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_EQ(Recorded().artifacts.at(0).path, "run7/model.npy");
  EXPECT_EQ(Recorded().metrics_path, "run7/log.jsonl");
}

TEST_F(RecordPlaces, WithOneNameHaveTwoInARerun) {
  WriteTo("sys.argv[1]");
  std::string program = Text(At("project/train.py"));
  program.replace(program.find("home + \"/log.jsonl\""), 19, "sys.argv[2] + '/log.jsonl'");
  program.insert(program.find("with open(sys.argv[2]"), "os.makedirs(sys.argv[2])\n");
  Write("train.py", program);
  const std::string one = At("a/run").string(), other = At("b/run").string();
  ASSERT_EQ(Record({}, {"/usr/bin/python3", "train.py", one, other}).outcome.exit_code, 0);
  EXPECT_THAT(Recorded().command, ElementsAre("/usr/bin/python3", "train.py", "run", "run_2"));
  EXPECT_EQ(Recorded().artifacts.at(0).path, "run/model.npy");
  EXPECT_EQ(Recorded().metrics_path, "run_2/log.jsonl");
  EXPECT_THAT(Drill().stdout_text, HasSubstr("1 identical"));
}

// A rerun would read what is there.
TEST_F(RecordPlaces, StayIfTheRunReadsThere) {
  WriteTo("sys.argv[1]");
  fs::rename(At("project/input"), At("scratch"));
  std::string program = Text(At("project/train.py"));
  program.replace(program.find("\"input/data.csv\""), 16,
                  "__import__('sys').argv[1] + '/data.csv'");
  Write("train.py", program);
  const std::string place = At("scratch").string();
  const ProcessResult result = Record({}, {"/usr/bin/python3", "train.py", place});
  EXPECT_EQ(result.outcome.exit_code, 4) << result.stderr_text;
  EXPECT_THAT(result.stderr_text, HasSubstr("that an argument or a variable of the record names"));
  EXPECT_EQ(Recorded().command.back(), place);
}

TEST_F(RecordPlaces, StayIfTheyWereThereAndNothingInThemIsCompared) {
  WriteTo("'out'");
  std::string program = Text(At("project/train.py"));
  Write("train.py", program + "open(sys.argv[1] + '/mark', 'w').write('x')\n");
  fs::create_directories(At("scratch"));
  const std::string place = At("scratch").string();
  const ProcessResult result = Record({}, {"/usr/bin/python3", "train.py", place});
  EXPECT_THAT(result.stderr_text,
              HasSubstr(place + ": the run wrote there, and a rerun does, too"));
  EXPECT_EQ(Recorded().command.back(), place);
}

TEST_F(RecordPlaces, ThatTheRunMakes) {
  WriteTo("'out'");
  const std::string program = Text(At("project/train.py"));
  Write("train.py",
        program + "os.makedirs(sys.argv[1]); open(sys.argv[1] + '/mark', 'w').write('x')\n");
  const std::string place = At("scratch/logs").string();
  ASSERT_EQ(Record({}, {"/usr/bin/python3", "train.py", place}).outcome.exit_code, 0);
  EXPECT_EQ(Recorded().command.back(), "logs");
  fs::remove_all(place);
  EXPECT_THAT(Drill().stdout_text, HasSubstr("1 identical"));
  EXPECT_FALSE(fs::exists(place));
}

// The run's own folder, with what it reads and writes.
TEST_F(RecordPlaces, ThatAreTheRunsFolder) {
  WriteTo("sys.argv[1] + '/results'");
  std::string program = Text(At("project/train.py"));
  program.replace(program.find("\"input/data.csv\""), 16,
                  "__import__('sys').argv[1] + '/input/data.csv'");
  Write("train.py", program);
  const std::string place = fs::canonical(At("project")).string();
  ASSERT_EQ(Record({}, {"/usr/bin/python3", "train.py", place}).outcome.exit_code, 0);
  EXPECT_EQ(Recorded().command.back(), ".");
  ExpectReproducedElsewhere(place + "/results");
}

TEST_F(RecordPlaces, ThatAreAFile) {
  std::string program = kFoundProgram;
  program.replace(program.find("\"out/model.npy\""), 15, "out");
  program.insert(
      program.find("os.makedirs"),
      "import sys\nout = sys.argv[1]\nos.makedirs(os.path.dirname(out), exist_ok=True)\n");
  Write("train.py", program);
  const std::string place = At("scratch/model.npy").string();
  ASSERT_EQ(Record({}, {"/usr/bin/python3", "train.py", place}).outcome.exit_code, 0);
  EXPECT_EQ(Recorded().command.back(), "./model.npy");
  EXPECT_EQ(Recorded().artifacts.at(0).path, "model.npy");
  ExpectReproducedElsewhere(At("scratch"));
}

// Its reruns would write into the folder of the recorded run.
TEST_F(RecordPlaces, OfTheRunItselfInAScript) {
  const std::string here = fs::canonical(At("project")).string();
  Write("go.sh", "# of " + here + "\nset -e\ncd \"" + here + "\" && python3 train.py\n");
  const ProcessResult result = Record({}, {"/bin/sh", "go.sh"});
  EXPECT_NE(result.stderr_text.find("go.sh, line 3, goes to " + here + ", where this run was"),
            std::string::npos)
      << result.stderr_text;
  EXPECT_EQ(Admit(Recorded("runs/go-1.json")).at(0).code, "not_recorded");
  Write("go.sh",
        "# of " + here + "\nls " + here + "\ncd " + here + "2 || cd .\npython3 train.py\n");
  ASSERT_EQ(Record({}, {"/bin/sh", "go.sh"}).outcome.exit_code, 0);
  EXPECT_TRUE(Admit(Recorded("runs/go-2.json")).empty());
}

// What the run writes to the folder of its data is none of them.
TEST_F(RecordFinds, NoDataInWhatTheRunWritesBesideThem) {
  for (int i = 0; i < 12; ++i) Write("input/" + std::to_string(i), std::to_string(i));
  std::string program = kFoundProgram;
  program.insert(program.find("weights ="),
                 "data += [float(open(f'input/{i}').read()) for i in range(12)]\n"
                 "if not os.path.exists('input/cache'):\n"
                 "    open('input/cache', 'w').write(str(__import__('time').time_ns() % 9973))\n"
                 "data.append(float(open('input/cache').read()))\n");
  Write("train.py", program);
  ASSERT_EQ(Record({"--find", "--determinism", "bitwise"}).outcome.exit_code, 0);
  EXPECT_EQ(Recorded("runs/project-1.json").data.size(), 13u);
  const ProcessResult drill = Run({RHARNESS_BIN_DIR "/rharness", "drill", "runs"});
  EXPECT_EQ(drill.outcome.exit_code, 1) << drill.stdout_text << drill.stderr_text;
}

}  // namespace
}  // namespace rharness
