// `rharness record -- PROGRAM` without an option, and the drill of what it recorded.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/admission.h"
#include "harness/records/manifest/manifest.h"
#include "tests/cli/record_finds.h"

namespace rharness {
namespace {

TEST_F(RecordFinds, WhatARunReadsAndWritesWithoutAnOption) {
  const ProcessResult result = Record({});
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  const Manifest manifest = Recorded();
  EXPECT_EQ(manifest.run_id, "project-1");
  EXPECT_EQ(manifest.family, "project");
  std::vector<std::string> code;
  for (const CodeFile& file : manifest.code.files) code.push_back(file.path);
  EXPECT_EQ(code, (std::vector<std::string>{"parts.py", "train.py"}));
  ASSERT_EQ(manifest.data.size(), 1u);
  EXPECT_EQ(manifest.data[0].path, "input/data.csv");
  EXPECT_EQ(manifest.data[0].name, "data");
  ASSERT_EQ(manifest.artifacts.size(), 1u);
  EXPECT_EQ(manifest.artifacts[0].path, "out/model.npy");
  EXPECT_FALSE(manifest.artifacts[0].tensor_digest.empty());
  EXPECT_EQ(manifest.metrics_path, "out/log.jsonl");
  ASSERT_FALSE(manifest.metrics.empty());
  EXPECT_EQ(manifest.metrics[0].name, "val_accuracy");
  EXPECT_TRUE(manifest.metrics[0].primary);
  EXPECT_EQ(manifest.metrics[0].direction, MetricDirection::kHigher);
  EXPECT_EQ(manifest.metrics[0].margin, 0.01);
  EXPECT_EQ(manifest.seeds, (std::map<std::string, std::int64_t>{{"random.seed", 11}}));
  EXPECT_TRUE(Admit(manifest).empty()) << result.stderr_text;
  for (const char* path : {"family", "code.files[0]", "data[0]", "artifacts[0]", "metrics_path",
                           "metrics.val_accuracy", "seeds.random.seed"}) {
    EXPECT_NE(GuessOf(manifest, path), "") << path;
  }
  EXPECT_NE(result.stderr_text.find("next: rharness drill runs"), std::string::npos)
      << result.stderr_text;
}

TEST_F(RecordFinds, ARunThatADrillOfItsFolderReproduces) {
  ASSERT_EQ(Record({}).outcome.exit_code, 0);
  const ProcessResult drill = Run({RHARNESS_BIN_DIR "/rharness", "drill", "runs"});
  EXPECT_EQ(drill.outcome.exit_code, 0) << drill.stdout_text << drill.stderr_text;
  EXPECT_NE(drill.stdout_text.find("1 identical"), std::string::npos) << drill.stdout_text;
  EXPECT_TRUE(fs::exists(At("project/runs/runs.db")));
  // Another version of the data is another result.
  Write("input/data.csv", "1,2,4");
  EXPECT_EQ(
      Run({RHARNESS_BIN_DIR "/rharness", "drill", "runs", "--out", "again"}).outcome.exit_code, 3);
}

TEST_F(RecordFinds, WhatIsNotStatedAndLeavesWhatIs) {
  const ProcessResult result =
      Record({"--find", "--out", "a.json", "--family", "mine", "--data", "set=input", "--seed",
              "init=3", "--metric", "train_loss,direction=lower,margin=0.1,primary"});
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  const Manifest manifest = Recorded("a.json");
  EXPECT_EQ(manifest.family, "mine");
  ASSERT_EQ(manifest.data.size(), 1u);
  EXPECT_EQ(manifest.data[0].name, "set");
  EXPECT_EQ(manifest.seeds.size(), 1u);
  EXPECT_EQ(manifest.metrics[0].name, "train_loss");
  EXPECT_EQ(manifest.code.files.size(), 2u);
  EXPECT_EQ(GuessOf(manifest, "family"), "");
  EXPECT_EQ(GuessOf(manifest, "data[0]"), "");
  EXPECT_NE(GuessOf(manifest, "artifacts[0]"), "");
}

TEST_F(RecordFinds, NothingWhereAnythingIsStated) {
  ASSERT_EQ(Record({"--out", "a.json", "--code-file", "train.py"}).outcome.exit_code, 0);
  const Manifest manifest = Recorded("a.json");
  EXPECT_FALSE(manifest.origin);
  EXPECT_TRUE(manifest.data.empty());
  EXPECT_TRUE(manifest.artifacts.empty());
  EXPECT_EQ(Record({"--find", "--no-observe", "--out", "b.json"}).outcome.exit_code, 2);
}

TEST_F(RecordFinds, AGeneratorWithoutASeedAndSaysSo) {
  std::string program = kFoundProgram;
  program.replace(program.find("random.seed(11)"), 15, "r = random.Random()");
  program.replace(program.find("+ random.random()"), 17, "+ r.random()");
  Write("train.py", program);
  const ProcessResult result = Record({});
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_NE(result.stderr_text.find("missing_seed"), std::string::npos) << result.stderr_text;
  EXPECT_NE(result.stderr_text.find("next: state what is missing"), std::string::npos)
      << result.stderr_text;
}

TEST_F(RecordFinds, NoGeneratorInAProgramWithoutOneWhichIsAdmitted) {
  std::string program = kFoundProgram;
  program.replace(program.find("random.seed(11)"), 15, "");
  program.replace(program.find("+ random.random()"), 17, "");
  Write("train.py", program);
  const ProcessResult result = Record({});
  const Manifest manifest = Recorded();
  EXPECT_TRUE(manifest.seeds.empty());
  EXPECT_TRUE(manifest.rng_sources.empty());
  EXPECT_TRUE(Admit(manifest).empty()) << result.stderr_text;
}

TEST_F(RecordFinds, WhatAPythonDoesThatAScriptStarts) {
  Write("run.sh", "exec /usr/bin/python3 train.py\n");
  const ProcessResult result = Record({}, {"sh", "run.sh"});
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  const Manifest manifest = Recorded();
  EXPECT_EQ(manifest.code.files.size(), 3u);
  EXPECT_EQ(manifest.seeds.size(), 1u);
  EXPECT_TRUE(Admit(manifest).empty()) << result.stderr_text;
  // A program without a Python says nothing of its generators.
  const ProcessResult other = Record({"--out", "runs/other.json"}, {"sh", "-c", "echo 1 > a.csv"});
  EXPECT_NE(other.stderr_text.find("missing_rng_sources"), std::string::npos) << other.stderr_text;
}

TEST_F(RecordFinds, TheCommitAsCodeInARepository) {
  for (const std::vector<std::string>& argv : std::vector<std::vector<std::string>>{
           {"git", "init", "-q"},
           {"git", "add", "train.py", "parts.py"},
           {"git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"}}) {
    ASSERT_EQ(Run(argv).outcome.exit_code, 0);
  }
  ASSERT_EQ(Record({}).outcome.exit_code, 0);
  const Manifest manifest = Recorded();
  EXPECT_EQ(manifest.code.commit.size(), 40u);
  EXPECT_TRUE(manifest.code.files.empty());
  ASSERT_EQ(manifest.data.size(), 1u);
}

TEST_F(RecordFinds, ASourceThatTheCommitDoesNotHave) {
  Write(".gitignore", "out\nruns\ndrill\nagain\n__pycache__\nparts.py\n");
  const ProcessResult made =
      Run({"sh", "-c",
           "git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm one"});
  if (!made.outcome.Succeeded()) GTEST_SKIP() << "git is not installed: " << made.stderr_text;
  ASSERT_EQ(Record({}).outcome.exit_code, 0);
  const Manifest manifest = Recorded();
  EXPECT_TRUE(manifest.code.dirty);
  EXPECT_EQ(GuessOf(manifest, "code.kept_diff_sha256"),
            "the run read parts.py, which the commit does not have");
  EXPECT_TRUE(Admit(manifest).empty());
  // It is kept: the one of the work tree may change.
  Write("parts.py", "def load(p):\n    return [0.0]\n");
  const ProcessResult drill = Run({RHARNESS_BIN_DIR "/rharness", "drill", "runs"});
  EXPECT_NE(drill.stdout_text.find("1 identical"), std::string::npos)
      << drill.stdout_text << drill.stderr_text;
}

TEST_F(RecordFinds, TheSourcesInARepositoryWithoutACommit) {
  ASSERT_EQ(Run({"git", "init", "-q"}).outcome.exit_code, 0);
  ASSERT_EQ(Record({}).outcome.exit_code, 0);
  const Manifest manifest = Recorded();
  EXPECT_FALSE(manifest.code.files.empty());
  EXPECT_TRUE(Admit(manifest).empty()) << testing::PrintToString(manifest.notes);
}

TEST_F(RecordFinds, ThePathsOfTheFirstVersionInALaterOne) {
  std::string program = kFoundProgram;
  for (std::size_t at = 0; (at = program.find("\"out/", at)) != program.npos; at += 5) {
    program.replace(at, 5, "home + \"/");
  }
  program.insert(program.find("os.makedirs"),
                 "n = len(os.listdir('logs')) if os.path.isdir('logs') else 0\n"
                 "home = 'logs/version_' + str(n)\n");
  Write("train.py", program);
  ASSERT_EQ(Record({}).outcome.exit_code, 0);
  const ProcessResult second = Record({});
  ASSERT_EQ(second.outcome.exit_code, 0) << second.stderr_text;
  EXPECT_EQ(Recorded().artifacts.at(0).path, "logs/version_0/model.npy");
  const Manifest later = Recorded("runs/project-2.json");
  EXPECT_EQ(later.artifacts.at(0).path, "logs/version_0/model.npy");
  EXPECT_EQ(later.metrics_path, "logs/version_0/log.jsonl");
  EXPECT_NE(GuessOf(later, "artifacts[0].path").find("logs/version_1/model.npy"),
            std::string::npos);
  const ProcessResult drill = Run({RHARNESS_BIN_DIR "/rharness", "drill", "runs"});
  EXPECT_NE(drill.stdout_text.find("2 identical"), std::string::npos)
      << drill.stdout_text << drill.stderr_text;
}

TEST_F(RecordFinds, AFolderOfManyFilesOrFoldersAsOneItem) {
  for (int i = 0; i < 10; ++i) {
    fs::create_directories(At("project/images/" + std::to_string(i)));
    for (int k = 0; k < 10; ++k) {
      Write("images/" + std::to_string(i) + "/" + std::to_string(k) + ".txt", std::to_string(k));
    }
  }
  std::string program = kFoundProgram;
  program.insert(program.find("weights ="),
                 "data += [float(open(f'images/{i}/{k}.txt').read()) for i in range(10) for k in "
                 "range(10)]\n");
  Write("train.py", program);
  ASSERT_EQ(Record({}).outcome.exit_code, 0);
  const Manifest manifest = Recorded();
  ASSERT_EQ(manifest.data.size(), 2u);
  EXPECT_EQ(manifest.data[0].path, "images");
  EXPECT_EQ(manifest.data[0].kind, DataKind::kDirectory);
  EXPECT_EQ(GuessOf(manifest, "data[0]"), "the run read 100 files of it");
}

// A pass says nothing of a checkpoint beside the one that was compared.
TEST_F(RecordFinds, AllCheckpointsOfOneFolder) {
  std::string program = kFoundProgram;
  program += R"py(import shutil
shutil.copy("out/model.npy", "out/average.npy")
os.makedirs("out/steps", exist_ok=True)
shutil.copy("out/model.npy", "out/steps/1.npy")
os.makedirs("out/bad\nname", exist_ok=True)
shutil.copy("out/model.npy", "out/bad\nname/x.npy")
)py";
  Write("train.py", program);
  const ProcessResult first = Record({});
  ASSERT_EQ(first.outcome.exit_code, 0) << first.stderr_text;
  const Manifest manifest = Recorded();
  std::vector<std::string> paths;
  for (const Artifact& artifact : manifest.artifacts) paths.push_back(artifact.path);
  std::ranges::sort(paths);
  EXPECT_EQ(paths, (std::vector<std::string>{"out/average.npy", "out/model.npy"}));
  EXPECT_NE(GuessOf(manifest, "artifacts[0]").find("not taken, and not compared: "),
            std::string::npos);
  // What was there is written anew: a rerun has none of it.
  const ProcessResult second = Record({});
  EXPECT_NE(second.stderr_text.find("out/model.npy was there before the run"), std::string::npos)
      << second.stderr_text;
}

// What the run wrote itself and read again is no input: a rerun would get the old one.
TEST_F(RecordFinds, NoInputInWhatToolsKeepForThemselves) {
  Write("mlruns/0/meta.yaml", "name: Default\n");
  Write("../.toolrc", "x\n");
  Write("train.py", std::string(kFoundProgram) +
                        "open('mlruns/0/meta.yaml').read()\n"
                        "open(os.path.abspath('../.toolrc')).read()\n");
  ASSERT_EQ(Record({}).outcome.exit_code, 0);
  const Manifest manifest = Recorded();
  EXPECT_EQ(manifest.code.files.size(), 2u);
  ASSERT_EQ(manifest.data.size(), 1u);
  EXPECT_EQ(manifest.data[0].path, "input/data.csv");
}

TEST_F(RecordFinds, NoInputInAFileThatTheRunWrote) {
  std::string program = kFoundProgram;
  program.insert(
      program.find("weights ="),
      "open('cache.txt', 'w').write('7')\ndata.append(float(open('cache.txt').read()))\n");
  Write("train.py", program);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(Record({}).outcome.exit_code, 0);
  for (const char* name : {"runs/project-1.json", "runs/project-2.json"}) {
    const Manifest manifest = Recorded(name);
    ASSERT_EQ(manifest.data.size(), 1u) << name;
    EXPECT_EQ(manifest.data[0].path, "input/data.csv");
  }
}

// A checkpoint behind an absolute path or a link is in no rerun's folder: what is compared without
// it is no pass.
TEST_F(RecordFinds, NoPassWhereTheOnlyCheckpointLiesElsewhere) {
  fs::create_directories(At("elsewhere"));
  std::string program = kFoundProgram;
  program += "open('out/weights.bin', 'w').write('junk')\n";
  const std::string open = "open(\"out/model.npy\"";
  program.replace(program.find(open), open.size(), "open(path");
  for (const std::string& way :
       {"path = '" + At("elsewhere/model.npy").string() + "'\n",
        "if not os.path.exists('out/link'): os.symlink('" + At("elsewhere").string() +
            "', 'out/link')\npath = 'out/link/model.npy'\n"}) {
    std::string changed = program;
    changed.insert(changed.find("header ="), way);
    Write("train.py", changed);
    fs::remove_all(At("project/runs"));
    const ProcessResult result = Record({});
    EXPECT_EQ(result.outcome.exit_code, 4) << result.stderr_text;
    EXPECT_NE(result.stderr_text.find(At("elsewhere/model.npy").string()), std::string::npos)
        << result.stderr_text;
    EXPECT_FALSE(Admit(Recorded()).empty());
    const ProcessResult drill =
        Run({RHARNESS_BIN_DIR "/rharness", "drill", "runs", "--out", way.substr(0, 1) + "-drill"});
    EXPECT_NE(drill.outcome.exit_code, 0) << drill.stdout_text;
    EXPECT_EQ(drill.stdout_text.find("1 identical"), std::string::npos) << drill.stdout_text;
  }
}

TEST_F(RecordFinds, ACheckpointElsewhereBesideOneThatIsCompared) {
  std::string program = kFoundProgram;
  program += "import shutil\nshutil.copyfile('out/model.npy', '" + At("best.npy").string() + "')\n";
  Write("train.py", program);
  const ProcessResult result = Record({});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_NE(result.stderr_text.find(At("best.npy").string() + "' is not compared"),
            std::string::npos)
      << result.stderr_text;
}

// A file above the run's folder makes none of its own ones lie outside.
TEST_F(RecordFinds, WhatNothingCompares) {
  std::string program = kFoundProgram;
  program += R"py(open("predictions.txt", "w").write("1")
open("../note.txt", "w").write("1")
os.makedirs("mlruns/0")
open("mlruns/0/meta.yaml", "w").write("1")
)py";
  Write("train.py", program);
  const ProcessResult result = Record({});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_NE(result.stderr_text.find("compare other outputs: predictions.txt; "), std::string::npos)
      << result.stderr_text;
  EXPECT_EQ(result.stderr_text.find("is not compared"), std::string::npos) << result.stderr_text;
}

// The second run goes on from the first one's checkpoint and writes over it.
TEST_F(RecordFinds, AStartThatTheRunWroteOver) {
  std::string source = kFoundProgram;
  source.insert(source.find("os.makedirs"),
                "if os.path.exists('out/model.npy'):\n"
                "    old = open('out/model.npy', 'rb').read()[-32:]\n"
                "    weights = [a + b for a, b in zip(weights, struct.unpack('<4d', old))]\n");
  Write("train.py", source);
  ASSERT_EQ(Record({"--find", "--determinism", "bitwise"}).outcome.exit_code, 0);
  ASSERT_TRUE(Admit(Recorded("runs/project-1.json")).empty());
  const ProcessResult second = Record({"--find", "--determinism", "bitwise"});
  EXPECT_NE(second.stderr_text.find("what it began from was not recorded"), std::string::npos)
      << second.stderr_text;
  const auto findings = Admit(Recorded("runs/project-2.json"));
  ASSERT_EQ(findings.size(), 1u) << second.stderr_text;
  EXPECT_EQ(findings[0].code, "not_recorded");
  const std::string program = RHARNESS_BIN_DIR "/rharness";
  EXPECT_EQ(Run({program, "drill", "runs"}).outcome.exit_code, 2);
  fs::remove_all(At("project/out"));
  EXPECT_NE(Record({"--find", "--determinism", "bitwise"})
                .stderr_text.find("next: move runs/project-2.json away, which a drill refuses, "
                                  "then rharness drill runs"),
            std::string::npos);
  fs::remove(At("project/runs/project-3.json"));
  ASSERT_EQ(
      Run({program, "history", "add", "--force", "--history", "runs.db", "runs"}).outcome.exit_code,
      0);
  const ProcessResult drill = Run({program, "drill", "--history", "runs.db", "--out", "out2"});
  EXPECT_EQ(drill.outcome.exit_code, 3) << drill.stderr_text;
  EXPECT_NE(drill.stdout_text.find("1 identical, 1 not comparable"), std::string::npos)
      << drill.stdout_text << drill.stderr_text;
  EXPECT_NE(drill.stdout_text.find("read out/model.npy and then wrote over it"), std::string::npos)
      << drill.stdout_text;
}

TEST_F(RecordFinds, NoSeedInTheClock) {
  std::string program = kFoundProgram;
  program.replace(program.find("random.seed(11)"), 15, "import time\nrandom.seed(time.time_ns())");
  Write("train.py", program);
  const ProcessResult result = Record({});
  const Manifest manifest = Recorded();
  EXPECT_TRUE(manifest.seeds.empty());
  EXPECT_EQ(manifest.rng_sources.size(), 1u);
  EXPECT_FALSE(Admit(manifest).empty()) << result.stderr_text;
}

// The exit code of a pipe is that of its last command.
TEST_F(RecordFinds, APythonThatFailedWhereItsShellWentOn) {
  Write("train.py", std::string(kFoundProgram) + "raise SystemExit(3)\n");
  const ProcessResult piped = Record({}, {"sh", "-c", "/usr/bin/python3 train.py | cat"});
  EXPECT_EQ(piped.outcome.exit_code, 0) << piped.stderr_text;
  EXPECT_NE(piped.stderr_text.find("a Python of the run ended with 3"), std::string::npos)
      << piped.stderr_text;
  // A command of the script that says no is a condition.
  Write("train.py", kFoundProgram);
  const ProcessResult asked =
      Record({}, {"sh", "-c", "grep -q zzz train.py; /usr/bin/python3 train.py"});
  EXPECT_EQ(asked.stderr_text.find("ended with"), std::string::npos) << asked.stderr_text;
}

// Both took the first free name before either wrote it.
TEST_F(RecordFinds, PlacesForTwoRunsAtOnce) {
  const std::string record = RHARNESS_BIN_DIR "/rharness record -- /usr/bin/python3 train.py";
  ASSERT_EQ(Run({"/bin/sh", "-c", record + " & " + record + "; wait"}).outcome.exit_code, 0);
  EXPECT_EQ(Recorded("runs/project-1.json").run_id, "project-1");
  EXPECT_EQ(Recorded("runs/project-2.json").run_id, "project-2");
}

TEST_F(RecordFinds, ADrillFolderThatIsFree) {
  fs::create_directories(At("project/drill"));
  const ProcessResult result = Record({});
  EXPECT_NE(result.stderr_text.find("next: rharness drill runs --out drill-2"), std::string::npos)
      << result.stderr_text;
}

}  // namespace
}  // namespace rharness
