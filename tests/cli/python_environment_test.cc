// Runs in Python environments: recorded, and rerun in the same one, in another, or in one that is
// made again. With a real Python, its venv and its pip, and packages that are made here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// NAME VERSION NUMBER FOLDER: a wheel of a package whose `value` is NUMBER, with a script.
constexpr char kMakeWheel[] = R"py(
import base64, hashlib, sys, zipfile
name, version, number, folder = sys.argv[1:]
info = '%s-%s.dist-info' % (name, version)
files = {name + '/__init__.py': 'value = %s\ndef main():\n    import runpy, sys\n'
                                '    sys.argv.pop(0)\n    runpy.run_path(sys.argv[0], run_name="__main__")\n' % number,
         info + '/METADATA': 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n' % (name, version),
         info + '/entry_points.txt': '[console_scripts]\n%s-run = %s:main\n' % (name, name),
         info + '/WHEEL': 'Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n'}
record = ''
with zipfile.ZipFile('%s/%s-%s-py3-none-any.whl' % (folder, name, version), 'w') as out:
    for path, text in files.items():
        out.writestr(path, text)
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b'=').decode()
        record += '%s,sha256=%s,%d\n' % (path, digest, len(text))
    out.writestr(info + '/RECORD', record + info + '/RECORD,,\n')
)py";

constexpr char kTrain[] =
    "import json, sys, noise\n"
    "json.dump({'metrics': {'acc': noise.value}, 'curves': {'loss': {'steps': [1, 2, 3], "
    "'values': [3.0, 2.0 + noise.value, 1.0]}}}, open('metrics.json', 'w'))\n"
    "print('prefix', sys.prefix)\n";

class PythonEnvironments : public testing::Test {
 protected:
  PythonEnvironments() : folder_(*ScopedTempDir::Make()), base_(fs::canonical(folder_.path())) {
    fs::create_directories(base_ / "run");
    fs::create_directories(base_ / "wheels");
  }
  void SetUp() override {
    if (!Shell("python3 -m venv --help && python3 -m pip --version && git --version")) {
      GTEST_SKIP() << "python3 with venv and pip, and git, are not all installed";
    }
    Write("wheel.py", kMakeWheel);
    Write("run/train.py", kTrain);
    Write("run/.gitignore", ".venv\n*.json\n");
    ASSERT_TRUE(MakeWheel("1.0", "0.5"));
    ASSERT_TRUE(MakeVenv("run/.venv", "1.0"));
    ASSERT_TRUE(
        Shell("cd run && git init -q . && git add -A && git -c user.email=a@b "
              "-c user.name=a commit -qm a"));
  }

  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories((base_ / name).parent_path());
    ASSERT_TRUE(WriteFileAtomic(base_ / name, text).ok());
  }
  ProcessResult Execute(std::vector<std::string> argv, const fs::path& folder) const {
    ProcessSpec spec;
    spec.argv = std::move(argv);
    spec.environment = PickEnvironment({"PATH", "TMPDIR"});
    spec.environment["HOME"] = base_.string();
    spec.environment["PIP_NO_INDEX"] = "1";
    spec.environment["PIP_FIND_LINKS"] = (base_ / "wheels").string();
    spec.environment["PIP_DISABLE_PIP_VERSION_CHECK"] = "1";
    for (const auto& [name, value] : variables_) spec.environment[name] = value;
    spec.working_directory = folder;
    ProcessLimits limits;
    limits.timeout = std::chrono::minutes(5);
    return RunProcess(spec, limits);
  }
  bool Shell(const std::string& script) const {
    const ProcessResult result = Execute({"sh", "-ec", script}, base_);
    if (!result.outcome.Succeeded()) said_ = result.stdout_text + result.stderr_text;
    return result.outcome.Succeeded();
  }
  bool MakeWheel(const std::string& version, const std::string& number) const {
    return Shell("python3 wheel.py noise " + version + " " + number + " wheels");
  }
  bool MakeVenv(const std::string& path, const std::string& version) const {
    return Shell("python3 -m venv --without-pip " + path) && Install(path, version);
  }
  bool Install(const std::string& path, const std::string& version) const {
    return Shell("python3 -m pip --python " + path +
                 "/bin/python install -q --no-deps noise==" + version);
  }

  // rharness record, in run/.
  Manifest Record(const std::vector<std::string>& command,
                  const std::vector<std::string>& options = {}) {
    std::vector<std::string> argv = {RHARNESS_BIN_DIR "/rharness",
                                     "--quiet",
                                     "record",
                                     "--overwrite",
                                     "--out",
                                     "../run.json",
                                     "--family",
                                     "f",
                                     "--metrics",
                                     "metrics.json",
                                     "--metric",
                                     "acc,direction=higher,margin=0.01,primary",
                                     "--seed",
                                     "s=1",
                                     "--determinism",
                                     "statistical"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.emplace_back("--");
    argv.insert(argv.end(), command.begin(), command.end());
    const ProcessResult result = Execute(argv, base_ / "run");
    EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
    const auto manifest = LoadManifest(base_ / "run.json");
    EXPECT_TRUE(manifest.ok());
    return manifest.ok() ? *manifest : Manifest();
  }
  // The exit code of a drill of it.
  int Drill(const std::vector<std::string>& options = {}) {
    EXPECT_TRUE(Shell("rm -rf runs.db drill; " RHARNESS_BIN_DIR
                      "/rharness --quiet history add --history runs.db run.json"))
        << said_;
    std::vector<std::string> argv = {RHARNESS_BIN_DIR "/rharness",
                                     "drill",
                                     "--history",
                                     "runs.db",
                                     "--out",
                                     "drill",
                                     "--root",
                                     base_.string(),
                                     "--attempts",
                                     "1"};
    argv.insert(argv.end(), options.begin(), options.end());
    const ProcessResult result = Execute(argv, base_);
    said_ = result.stdout_text + result.stderr_text;
    return result.outcome.exit_code;
  }
  Evidence Seen() const {
    auto evidence = LoadEvidence(base_ / "drill/runs/run/1/evidence.json");
    EXPECT_TRUE(evidence.ok()) << said_;
    return evidence.ok() ? *evidence : Evidence();
  }
  std::string Printed() const {
    const auto text = ReadFile(base_ / "drill/runs/run/1/stdout.log");
    return text.ok() ? *text : "";
  }
  std::string Venv() const { return (base_ / "run/.venv").string(); }

  const ScopedTempDir folder_;
  const fs::path base_;
  std::map<std::string, std::string> variables_;
  mutable std::string said_;
};

TEST_F(PythonEnvironments, ARelativeInterpreterIsTheSameInARerun) {
  const Manifest recorded = Record({".venv/bin/python", "train.py"});
  ASSERT_TRUE(recorded.environment.python);
  const PythonEnvironment& python = *recorded.environment.python;
  EXPECT_EQ(python.kind, PythonKind::kVenv);
  EXPECT_EQ(python.prefix, Venv());
  EXPECT_EQ(python.place, ".venv");
  EXPECT_EQ(python.program, "bin/python");
  EXPECT_FALSE(python.activated);
  EXPECT_FALSE(python.version.empty());
  EXPECT_EQ(recorded.command.front(), ".venv/bin/python") << "as it was typed";
  EXPECT_EQ(Drill(), 0) << said_;
  ASSERT_TRUE(Seen().environment.python);
  EXPECT_EQ(Seen().environment.python->prefix, Venv());
  EXPECT_EQ(Seen().environment.python->version, python.version);
  EXPECT_EQ(Seen().environment.packages.at("python"), recorded.environment.packages.at("python"));
}

TEST_F(PythonEnvironments, AnActivatedOneIsActivatedAgain) {
  const std::string path = PickEnvironment({"PATH"}).at("PATH");
  variables_ = {{"VIRTUAL_ENV", Venv()}, {"PATH", Venv() + "/bin:" + path}};
  EXPECT_TRUE(Record({"python", "train.py"}).environment.python->activated);
  variables_.clear();
  EXPECT_EQ(Drill(), 0) << said_;
  EXPECT_THAT(Printed(), HasSubstr("prefix " + Venv()));
}

TEST_F(PythonEnvironments, AScriptOfTheEnvironmentIsFoundInIt) {
  Record({".venv/bin/noise-run", "train.py"});
  EXPECT_EQ(Drill(), 0) << said_;
}

TEST_F(PythonEnvironments, AWrapperThatStartsItByItsRelativePathFindsIt) {
  Write("run/train.sh", "echo wrapped\nexec ./.venv/bin/python train.py\n");
  ASSERT_TRUE(Shell("cd run && git add -A && git -c user.email=a@b -c user.name=a commit -qm b"));
  const Manifest recorded = Record({"sh", "train.sh"});
  ASSERT_TRUE(recorded.environment.python);
  EXPECT_EQ(recorded.environment.python->prefix, Venv());
  EXPECT_EQ(recorded.environment.packages.at("python").size(), 1u) << "of the one Python alone";
  EXPECT_EQ(Drill(), 0) << said_;
}

TEST_F(PythonEnvironments, ALauncherInAnotherPythonLeavesTheListToTheOneThatTrained) {
  Write("run/launch.py",
        "import os, sys\nos.execv('.venv/bin/python', ['.venv/bin/python', 'train.py'])\n");
  ASSERT_TRUE(Shell("cd run && git add -A && git -c user.email=a@b -c user.name=a commit -qm b"));
  const Manifest recorded = Record({"python3", "launch.py"});
  ASSERT_TRUE(recorded.environment.python);
  EXPECT_EQ(recorded.environment.python->prefix, Venv());
  EXPECT_EQ(recorded.environment.packages.at("python").size(), 1u);
}

TEST_F(PythonEnvironments, OneThatWasMovedIsAnObstacleUntilAMapSaysWhereItIs) {
  const Manifest recorded = Record({".venv/bin/noise-run", "train.py"});
  fs::rename(base_ / "run/.venv", base_ / "moved");
  EXPECT_NE(Drill(), 0);
  EXPECT_EQ(Seen().obstacle_layer, Layer::kEnvironment);
  EXPECT_THAT(Seen().obstacle, HasSubstr(Venv() + " is not here"));
  EXPECT_THAT(Seen().obstacle, HasSubstr("--make-environments"));
  EXPECT_EQ(Drill({"--map", Venv() + "=" + (base_ / "moved").string()}), 0) << said_;
  EXPECT_EQ(Seen().environment.python->prefix, (base_ / "moved").string());
  EXPECT_EQ(Drill({"--python-environment", "moved"}), 0) << said_;
  EXPECT_EQ(Drill({"--python-environment", "wheels"}), 2) << said_;
}

TEST_F(PythonEnvironments, AChangedPackageIsNamed) {
  Record({".venv/bin/python", "train.py"});
  ASSERT_TRUE(MakeWheel("2.0", "0.1"));
  ASSERT_TRUE(Shell("rm -rf run/.venv/lib/python3*/site-packages/noise*"));
  ASSERT_TRUE(Install("run/.venv", "2.0"));
  EXPECT_NE(Drill(), 0);
  EXPECT_EQ(Seen().obstacle, "");
  EXPECT_THAT(*ReadFile(base_ / "drill/report.json"), HasSubstr("package.python.noise"));
  const ProcessResult available =
      Execute({RHARNESS_BIN_DIR "/rharness", "check", "--available", "run.json"}, base_);
  EXPECT_THAT(available.stdout_text, HasSubstr("noise 2.0 (recorded 1.0)"));
}

TEST_F(PythonEnvironments, OneThatIsGoneIsMadeFromTheRecordedVersions) {
  Record({".venv/bin/noise-run", "train.py"});
  ASSERT_TRUE(MakeWheel("3.0", "0.9")) << "what is newer is not taken";
  fs::remove_all(base_ / "run/.venv");
  const ProcessResult available =
      Execute({RHARNESS_BIN_DIR "/rharness", "check", "--available", "run.json"}, base_);
  EXPECT_EQ(available.outcome.exit_code, 1);
  EXPECT_THAT(available.stdout_text, HasSubstr(": gone: Python environment " + Venv()));
  EXPECT_EQ(Drill({"--make-environments", "--environment-cache", "made"}), 0) << said_;
  EXPECT_THAT(Seen().environment.python->prefix, HasSubstr((base_ / "made").string()));
  for (const auto& entry : fs::directory_iterator(base_ / "made")) {
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("making")));
  }
  EXPECT_TRUE(Shell("mv wheels gone")) << "the second time it is there";
  EXPECT_EQ(Drill({"--make-environments", "--environment-cache", "made"}), 0) << said_;
}

TEST_F(PythonEnvironments, AnIndexWithOtherContentsOfThatVersionIsRefused) {
  Record({".venv/bin/python", "train.py"});
  ASSERT_TRUE(MakeWheel("1.0", "0.4"));
  fs::remove_all(base_ / "run/.venv");
  EXPECT_NE(Drill({"--make-environments", "--environment-cache", "made"}), 0);
  EXPECT_EQ(Seen().obstacle_layer, Layer::kEnvironment);
  EXPECT_THAT(Seen().obstacle, HasSubstr("noise 1.0 with other contents"));
  EXPECT_TRUE(fs::is_empty(base_ / "made"));
}

TEST_F(PythonEnvironments, FoldersOfPythonpathAndEditableInstallsAreThoseOfTheWorkspace) {
  Write("run/src/own.py", "value = 1\n");
  Write("run/lib/other.py", "value = 2\n");
  Write("run/train.py", std::string("import own, other\nprint('own', own.__file__)\n") + kTrain);
  ASSERT_TRUE(
      Shell("cd run && git add -A && git -c user.email=a@b -c user.name=a commit -qm b; "
            "for d in .venv/lib/python3*/site-packages; do echo $PWD/src > $d/own.pth; done"));
  variables_ = {{"PYTHONPATH", "lib"}};
  const Manifest recorded = Record({".venv/bin/python", "train.py"});
  EXPECT_THAT(recorded.environment.python->search_path, testing::ElementsAre("lib", "src"));
  variables_.clear();
  EXPECT_EQ(Drill(), 0) << said_;
  EXPECT_THAT(Printed(), HasSubstr("own " + (base_ / "drill/runs/run/1/workspace/src").string()))
      << "and not what lies in the repository by now";
}

TEST_F(PythonEnvironments, ARecordWithoutOneSaysWhatItsInterpreterNeeds) {
  Manifest recorded = Record({".venv/bin/python", "train.py"});
  recorded.environment.python.reset();
  ASSERT_TRUE(WriteFileAtomic(base_ / "run.json", ToJson(recorded).Dump(2)).ok());
  EXPECT_NE(Drill(), 0);
  EXPECT_EQ(Seen().obstacle_layer, Layer::kEnvironment);
  EXPECT_THAT(Seen().obstacle, HasSubstr("--python-environment DIR gives one"));
  EXPECT_EQ(Drill({"--python-environment", "run/.venv"}), 0) << said_;
}

TEST_F(PythonEnvironments, IsolateFindsTheEnvironmentThatMakesTheDifference) {
  Record({".venv/bin/python", "train.py"}, {"--variable", "COLOUR"});
  ASSERT_TRUE(MakeWheel("2.0", "0.1"));
  ASSERT_TRUE(MakeVenv("two", "2.0"));
  const ProcessResult result =
      Execute({RHARNESS_BIN_DIR "/rharness", "isolate", "run.json", "--bits", "--axis",
               "python:" + (base_ / "two").string(), "--axis", "env:COLOUR=red", "--out", "why",
               "--root", base_.string()},
              base_);
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(result.stdout_text,
              HasSubstr("python: " + Venv() + " -> " + (base_ / "two").string()));
}

}  // namespace
}  // namespace rharness
