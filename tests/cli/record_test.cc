// rharness record as a program: what they write, what they say, how they end.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/admission.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// SHA-256 of "abc" (FIPS 180-4), and the canonical digest of kCheckpoint by Python's hashlib.
constexpr char kSha256OfAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr char kTensorDigest[] = "2a49b4aec8ac0c58f5b48dac68056befe4bc0d136174c05f67697d324d7e3470";
constexpr char kLeafDigest[] = "ad663c67bc8ef2b45d1a6515df150c55e5f530075883248b204a0a9cd203bd95";

// A safetensors file with one tensor "w", F32 [2]: 1.0 and -2.5.
std::string Checkpoint() {
  const std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  std::string file(1, static_cast<char>(header.size()));
  file += std::string(7, '\0') + header;
  return file + std::string("\0\0\x80\x3f\0\0\x20\xc0", 8);
}

// A folder of its own for each test, in which the programs run.
class RecordProgram : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = ScopedTempDir::Make();
    ASSERT_TRUE(folder.ok());
    folder_ = std::make_unique<ScopedTempDir>(std::move(*folder));
    Write("data.bin", "abc");
    Write("model.src", Checkpoint());
    Write("metrics.src", R"({"metrics": {"accuracy": 0.75, "loss": 0.5},
                             "curves": {"loss": {"steps": [1, 2], "values": [1.0, 0.5]}}})");
  }
  fs::path At(const std::string& name) const { return folder_->path() / name; }
  void Write(const std::string& name, const std::string& content) const {
    ASSERT_TRUE(WriteFileAtomic(At(name), content).ok());
  }
  ProcessResult Run(std::vector<std::string> argv) const {
    ProcessSpec spec;
    spec.argv = std::move(argv);
    spec.environment = PickEnvironment({"PATH", "HOME", "TMPDIR"});
    spec.working_directory = folder_->path();
    ProcessLimits limits;
    limits.timeout = std::chrono::seconds(60);
    return RunProcess(spec, limits);
  }
  // rharness record OPTIONS --out run.json -- sh -c SCRIPT
  ProcessResult Record(const std::vector<std::string>& options, const std::string& script) const {
    std::vector<std::string> argv = {RHARNESS_BIN_DIR "/rharness", "record"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.insert(argv.end(), {"--out", "run.json", "--", "sh", "-c", script});
    return Run(std::move(argv));
  }

 private:
  std::unique_ptr<ScopedTempDir> folder_;
};

TEST_F(RecordProgram, WritesAManifestThatIsAdmitted) {
  const ProcessResult result = Record(
      {"--family", "tiny", "--data", "set=data.bin", "--code-file", "data.bin", "--seed", "init=7",
       "--weights", "out/model.st", "--metrics", "metrics.json", "--metric",
       "accuracy,direction=higher,margin=0.01,primary", "--hyper", "lr=0.1", "--hyper", "name=a b"},
      "mkdir out; cp model.src out/model.st; cp metrics.src metrics.json; echo hello");
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_EQ(result.stdout_text, "hello\n");
  const auto manifest = LoadManifest(At("run.json"));
  ASSERT_TRUE(manifest.ok()) << manifest.error().ToString();
  EXPECT_EQ(manifest->run_id, "run");
  ASSERT_EQ(manifest->data.size(), 1u);
  EXPECT_EQ(manifest->data[0].name, "set");
  EXPECT_EQ(manifest->data[0].sha256, kSha256OfAbc);
  EXPECT_EQ(manifest->data[0].size_bytes, 3u);
  EXPECT_EQ(manifest->command.back().substr(0, 9), "mkdir out");
  EXPECT_EQ(manifest->seeds.at("init"), 7);
  EXPECT_EQ(manifest->rng_sources, std::vector<std::string>{"init"});
  EXPECT_EQ(manifest->hyperparameters.at("lr").ToDouble(), 0.1);
  EXPECT_EQ(manifest->hyperparameters.at("name").AsString(), "a b");
  ASSERT_EQ(manifest->metrics.size(), 2u);
  EXPECT_EQ(manifest->metrics[0].value, 0.75);
  EXPECT_TRUE(manifest->metrics[0].primary);
  EXPECT_EQ(manifest->metrics[1].name, "loss");
  EXPECT_EQ(manifest->curves.at(0).steps, (std::vector<std::int64_t>{1, 2}));
  ASSERT_EQ(manifest->artifacts.size(), 1u);
  EXPECT_EQ(manifest->artifacts[0].tensor_digest, kTensorDigest);
  EXPECT_EQ(manifest->artifacts[0].tensors.at(0).sha256, kLeafDigest);
  EXPECT_EQ(manifest->code.repository, fs::canonical(At(".")).string());
  ASSERT_EQ(manifest->notes.size(), 2u);  // cp reads them, and nothing declares them
  EXPECT_TRUE(manifest->notes[0].starts_with("undeclared input metrics.src, sha256 "));
  EXPECT_TRUE(manifest->notes[1].starts_with("undeclared input model.src, sha256 "));
  for (const Finding& finding : Admit(*manifest)) {
    // Hosts without dpkg have no package list.
    EXPECT_EQ(finding.code, "missing_packages") << finding.subject << finding.message;
  }
}

TEST_F(RecordProgram, FindsWeightsAndCurvesThatAreNotFinite) {
  const std::string finite = Checkpoint();
  Write("model.src", finite.substr(0, finite.size() - 4) + "\xff\xff\xff\xff");
  Write("metrics.src", R"({"metrics": {}, "curves": {
      "loss": {"steps": [1, 2, 3], "values": [1.0, "nan", 0.5]},
      "lost": {"steps": [1, 2, 3], "values": [1.0, 0.5, "nan"]}}})");
  const ProcessResult result = Record({"--weights", "w.st", "--metrics", "m.json"},
                                      "cp model.src w.st; cp metrics.src m.json");
  for (const char* words :
       {"non_finite_weights: 1 of 1 tensors of w.st",
        "curve 'lost' ends with nan: 1 of 3 values are not finite, the first at step 3",
        "curve 'loss' has 1 of 3 values that are not finite, the first at step 2"}) {
    EXPECT_NE(result.stderr_text.find(words), std::string::npos) << words << result.stderr_text;
  }
  EXPECT_EQ(LoadManifest(At("run.json"))->artifacts[0].tensors[0].non_finite, 1U);
}

TEST_F(RecordProgram, RecordsTheVariablesThatTheCommandReadsByName) {
  const ProcessResult result =
      Run({"env", "BATCH=64", RHARNESS_BIN_DIR "/rharness", "record", "--variable", "BATCH",
           "--variable", "ABSENT", "--seed", "init=1", "--out", "run.json", "--", "true"});
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  const auto manifest = LoadManifest(At("run.json"));
  ASSERT_TRUE(manifest.ok()) << manifest.error().ToString();
  const auto& variables = manifest->environment.variables;
  EXPECT_EQ(variables.at("BATCH"), "64");
  EXPECT_EQ(variables.at("ABSENT"), std::nullopt);
  const ProcessResult wrong = Record({"--variable", "BATCH=64"}, "true");
  EXPECT_EQ(wrong.outcome.exit_code, 2);
  EXPECT_NE(wrong.stderr_text.find("expected the name of a variable, found 'BATCH=64'"),
            std::string::npos)
      << wrong.stderr_text;
}

TEST_F(RecordProgram, ReadsTheFamiliesOfProbesOffTheKernelsThatRan) {
  const auto families = [&](const std::string& kernels) {
    const ProcessResult result =
        Record({"--overwrite", "--probe-family", "math", "--kernel-list", "kernels.txt"},
               "printf '" + kernels + "' > kernels.txt");
    EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
    const auto manifest = LoadManifest(At("run.json"));
    EXPECT_TRUE(manifest.ok());
    return manifest.ok() ? manifest->probe_families : std::vector<std::string>{"unreadable"};
  };
  using Families = std::vector<std::string>;
  EXPECT_EQ(families("sgemm_128\\nncclDevKernel_AllReduce\\n"),
            (Families{"collective", "gemm", "math"}));
  EXPECT_EQ(families("sgemm_128\\nsecret\\n"), Families{}) << "a kernel that tells nothing";
}

TEST_F(RecordProgram, KeepsThePackagesOfThePythonThatRan) {
  // A shell by the name of an interpreter, in a virtual environment with one package.
  const std::string script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
  Write("venv/pyvenv.cfg", "home = /usr/bin\n");
  Write("venv/lib/python3.9/site-packages/numpy-1.26.4.dist-info/RECORD", "numpy/x.so,,\n");
  ASSERT_TRUE(Run({"sh", "-c", "mkdir venv/bin; cp \"$(command -v sh)\" venv/bin/python3.9"})
                  .outcome.Succeeded());
  ASSERT_EQ(Run({RHARNESS_BIN_DIR "/rharness", "record", "--out", "run.json", "--",
                 "venv/bin/python3.9", "-c", script})
                .outcome.exit_code,
            0);
  const auto manifest = LoadManifest(At("run.json"));
  ASSERT_TRUE(manifest.ok()) << manifest.error().ToString();
  const auto& packages = manifest->environment.packages;
  ASSERT_TRUE(packages.contains("python"));
  EXPECT_EQ(packages.at("python").at("numpy").version, "1.26.4");
  EXPECT_EQ(packages.at("python").at("numpy").use, PackageUse::kNotUsed);
  EXPECT_EQ(packages.at("python").size(), 1u);
}

TEST_F(RecordProgram, WritesNoManifestOfACommandThatFails) {
  const ProcessResult result = Record({}, "exit 3");
  EXPECT_EQ(result.outcome.exit_code, 4);
  EXPECT_NE(result.stderr_text.find("the command failed"), std::string::npos) << result.stderr_text;
  EXPECT_FALSE(fs::exists(At("run.json")));
}

TEST_F(RecordProgram, KeepsAFailedRunWhenAsked) {
  EXPECT_EQ(Record({"--keep-failed"}, "exit 3").outcome.exit_code, 4);
  const auto manifest = LoadManifest(At("run.json"));
  ASSERT_TRUE(manifest.ok());
  ASSERT_FALSE(manifest->notes.empty());
  EXPECT_NE(manifest->notes[0].find("the command failed"), std::string::npos);
}

TEST_F(RecordProgram, KeepsAManifestThatIsThereAlready) {
  ASSERT_EQ(Record({}, "true").outcome.exit_code, 0);
  const std::string first = *ReadFile(At("run.json"));
  const ProcessResult again = Record({}, "touch ran");
  EXPECT_EQ(again.outcome.exit_code, 2);
  EXPECT_EQ(*ReadFile(At("run.json")), first);
  EXPECT_FALSE(fs::exists(At("ran"))) << "refused before the command runs";
  EXPECT_EQ(Record({"--overwrite"}, "true").outcome.exit_code, 0);
}

TEST_F(RecordProgram, SaysThatAnInputChangedDuringTheRun) {
  const ProcessResult result = Record({"--data", "data.bin"}, "printf abd > data.bin");
  EXPECT_EQ(result.outcome.exit_code, 5);
  const auto manifest = LoadManifest(At("run.json"));
  ASSERT_TRUE(manifest.ok());
  EXPECT_EQ(manifest->data.at(0).sha256, kSha256OfAbc);
  ASSERT_EQ(manifest->notes.size(), 1u);
  EXPECT_NE(manifest->notes[0].find("data 'data.bin' changed during the run"), std::string::npos);
}

TEST_F(RecordProgram, RefusesAnAbsoluteOutputBeforeItRuns) {
  const ProcessResult result = Record({"--weights", "/srv/model.st"}, "touch ran");
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_NE(result.stderr_text.find("is absolute"), std::string::npos) << result.stderr_text;
  EXPECT_FALSE(fs::exists(At("ran")));
}

TEST_F(RecordProgram, RefusesARequestThatNoReaderWouldAccept) {
  EXPECT_EQ(Record({"--run-id", "../x"}, "touch ran").outcome.exit_code, 2);
  EXPECT_EQ(Record({"--data", "../x"}, "touch ran").outcome.exit_code, 2);
  EXPECT_EQ(Record({"--data", "missing.bin"}, "touch ran").outcome.exit_code, 2);
  EXPECT_EQ(Record({"--image", "ml/train:1"}, "touch ran").outcome.exit_code, 2);
  EXPECT_EQ(Record({"--artifact", "model=x"}, "touch ran").outcome.exit_code, 2);
  EXPECT_EQ(Record({"--metric", "accuracy,margin=-1"}, "touch ran").outcome.exit_code, 2);
  EXPECT_FALSE(fs::exists(At("ran")));
}

TEST_F(RecordProgram, DoesNotTakeAnOldOutputForANewOne) {
  Write("model.st", Checkpoint());
  const ProcessResult result = Record({"--weights", "model.st"}, "true");
  EXPECT_EQ(result.outcome.exit_code, 4);
  EXPECT_NE(result.stderr_text.find("was there before the run"), std::string::npos);
  EXPECT_EQ(
      Record({"--overwrite", "--weights", "model.st"}, "cp model.src model.st").outcome.exit_code,
      0);
}

TEST_F(RecordProgram, WantsEveryDeclaredOutputAndKeepsTheRecordOfTheRest) {
  struct Row {
    std::vector<std::string> options;
    std::string script;
    std::string note;
  };
  const std::vector<Row> rows = {
      {{"--weights", "none.st"},
       "cp metrics.src m.json",
       "output 'none.st' was not recorded: the run "
       "did not write it"},
      {{"--weights", "torn.st"},
       "cp metrics.src m.json; mkdir torn.st",
       "output 'torn.st' was not recorded: "},
      {{"--metric", "f1"}, "cp metrics.src m.json", "metric 'f1' was not recorded: it is not in "},
      {{}, "echo '{' > m.json", "output 'm.json' was not recorded: m.json: byte "}};
  for (const Row& row : rows) {
    std::vector<std::string> options = {"--overwrite", "--metrics", "m.json", "--seed", "init=1"};
    options.insert(options.end(), row.options.begin(), row.options.end());
    const ProcessResult result = Record(options, row.script);
    EXPECT_EQ(result.outcome.exit_code, 4) << row.note;
    EXPECT_NE(result.stderr_text.find(row.note), std::string::npos) << result.stderr_text;
    const auto manifest = LoadManifest(At("run.json"));
    ASSERT_TRUE(manifest.ok()) << row.note;
    EXPECT_EQ(manifest->seeds.at("init"), 1);
    EXPECT_EQ(manifest->notes.at(0).substr(0, row.note.size()), row.note);
    EXPECT_EQ(manifest->metrics.size(), row.script.starts_with("cp") ? 2u : 0u);
    const auto findings = Admit(*manifest);
    EXPECT_TRUE(std::ranges::any_of(findings, [](const Finding& finding) {
      return finding.code == "not_recorded";
    })) << row.note;
    fs::remove(At("m.json"));
  }
}

TEST_F(RecordProgram, LeavesUnknownMembersOfTheMetricsOutAndSaysSo) {
  const ProcessResult result = Record(
      {"--metrics", "m.json", "--metric", "accuracy,direction=higher,margin=0.1,primary"},
      R"(printf '{"metrics": {"accuracy": 0.5, "loss": NaN, "table": [1]}, "epochs": 3}' > m.json)");
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_NE(result.stderr_text.find("unknown member \"epochs\"; left out"), std::string::npos)
      << result.stderr_text;
  const auto manifest = LoadManifest(At("run.json"));
  ASSERT_TRUE(manifest.ok());
  ASSERT_EQ(manifest->metrics.size(), 2u);
  EXPECT_EQ(manifest->metrics[0].value, 0.5);
  EXPECT_EQ(manifest->notes.size(), 3u);
}

TEST_F(RecordProgram, WritesTheManifestElsewhereWhereItsPlaceIsGone) {
  const ProcessResult result =
      Run({"sh", "-c",
           "mkdir sub tmp && TMPDIR=$PWD/tmp " RHARNESS_BIN_DIR
           "/rharness record --out sub/run.json --seed a=1 -- sh -c 'rmdir sub && touch sub'"});
  EXPECT_EQ(result.outcome.exit_code, 4) << result.stderr_text;
  EXPECT_NE(result.stderr_text.find("the manifest lies at "), std::string::npos)
      << result.stderr_text;
  std::size_t found = 0;
  for (const auto& entry : fs::directory_iterator(At("tmp"))) {
    const auto manifest = LoadManifest(entry.path());
    ASSERT_TRUE(manifest.ok()) << entry.path();
    EXPECT_EQ(manifest->run_id, "run");
    ++found;
  }
  EXPECT_EQ(found, 1u);
}

TEST_F(RecordProgram, KeepsTheRecordWhereACopyCannotBeKept) {
  const ProcessResult result =
      Record({"--weights", "model.st", "--keep", "kept"}, "cp model.src model.st; touch kept");
  EXPECT_EQ(result.outcome.exit_code, 4);
  EXPECT_NE(result.stderr_text.find("output 'model.st' was not kept: "), std::string::npos)
      << result.stderr_text;
  const auto manifest = LoadManifest(At("run.json"));
  ASSERT_TRUE(manifest.ok());
  EXPECT_EQ(manifest->artifacts.at(0).tensor_digest, kTensorDigest);
  EXPECT_EQ(manifest->artifacts.at(0).location, "");
}

TEST_F(RecordProgram, RefusesToTakeThePlaceOfWhatTheRunReadsOrWrites) {
  const ProcessResult result = Run({RHARNESS_BIN_DIR "/rharness", "record", "--metrics", "m.json",
                                    "--out", "m.json", "--", "touch", "ran"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_NE(result.stderr_text.find("would take the place of m.json"), std::string::npos)
      << result.stderr_text;
  EXPECT_FALSE(fs::exists(At("ran")));
}

TEST_F(RecordProgram, StopsTheCommandAtItsTimeLimit) {
  const ProcessResult result = Record({"--timeout", "0.2s"}, "sleep 60");
  EXPECT_EQ(result.outcome.exit_code, 4);
  EXPECT_NE(result.stderr_text.find("timed out"), std::string::npos) << result.stderr_text;
}

TEST_F(RecordProgram, KeepsCopiesOfOutputsOnceOnly) {
  const std::vector<std::string> options = {"--weights", "model.st", "--keep",
                                            "kept",      "--root",   "."};
  ASSERT_EQ(Record(options, "cp model.src model.st").outcome.exit_code, 0);
  const auto manifest = LoadManifest(At("run.json"));
  EXPECT_EQ(manifest->artifacts.at(0).location, "kept/run/model.st");
  EXPECT_EQ(*ReadFile(At("kept/run/model.st")), Checkpoint());
  EXPECT_EQ(Record(options, "touch ran").outcome.exit_code, 2);
  EXPECT_FALSE(fs::exists(At("ran")));
}

TEST_F(RecordProgram, RecordsTheStateOfAGitTree) {
  const ProcessResult made = Run(
      {"sh", "-c",
       "git init -q . && git add data.bin && git -c user.name=a -c user.email=a@b commit -qm one "
       "&& printf abd > data.bin && git rev-parse HEAD && git diff HEAD"});
  if (!made.outcome.Succeeded()) GTEST_SKIP() << "git is not installed: " << made.stderr_text;
  ASSERT_EQ(Record({"--root", "."}, "true").outcome.exit_code, 0);
  const auto manifest = LoadManifest(At("run.json"));
  EXPECT_EQ(manifest->code.repository, ".");
  EXPECT_EQ(manifest->code.commit, made.stdout_text.substr(0, 40));
  EXPECT_TRUE(manifest->code.dirty);
  EXPECT_EQ(manifest->code.diff_sha256, Sha256HexOf(made.stdout_text.substr(41)));
}

TEST_F(RecordProgram, NamesASourceOfTheCommandThatARerunWouldNotHave) {
  Write("tracked.sh", "true");
  Write("new.sh", "true");
  const auto notes = [&](const std::vector<std::string>& options, const std::string& script) {
    std::vector<std::string> argv = {RHARNESS_BIN_DIR "/rharness", "record", "--overwrite", "--out",
                                     "run.json"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.insert(argv.end(), {"--", "sh", script});
    EXPECT_EQ(Run(argv).outcome.exit_code, 0);
    const auto manifest = LoadManifest(At("run.json"));
    return manifest.ok() ? manifest->notes : std::vector<std::string>{"unreadable"};
  };
  using Notes = std::vector<std::string>;
  EXPECT_EQ(notes({"--code-file", "new.sh"}, "new.sh"), Notes{});
  EXPECT_EQ(notes({"--data", "new.sh", "--code-file", "data.bin"}, "new.sh"), Notes{});
  EXPECT_EQ(
      notes({"--code-file", "tracked.sh"}, "new.sh"),
      Notes{"the command's 'new.sh' was not recorded: other code files are, and a rerun has no "
            "more; expected it among --code-file"});
  const ProcessResult made =
      Run({"sh", "-c",
           "git init -q . && git add tracked.sh && git -c user.name=a -c user.email=a@b commit -qm "
           "one"});
  if (!made.outcome.Succeeded()) GTEST_SKIP() << "git is not installed: " << made.stderr_text;
  EXPECT_EQ(notes({}, "tracked.sh"), Notes{});
  EXPECT_EQ(notes({}, "new.sh"), Notes{}) << "it was read, and is kept";
  EXPECT_NE(LoadManifest(At("run.json"))->code.kept_diff_sha256, "");
  EXPECT_EQ(notes({"--no-observe"}, "new.sh"),
            Notes{"the command's 'new.sh' was not recorded: it is in no commit; "
                  "expected it among --code-file"});
}

TEST_F(RecordProgram, HandsOptionsOfTheCommandOn) {
  ASSERT_EQ(Run({RHARNESS_BIN_DIR "/rharness", "record", "--out", "run.json", "--", "sh", "-c",
                 "test \"$1\" = --data && test \"$2\" = --", "x", "--data", "--"})
                .outcome.exit_code,
            0);
  EXPECT_EQ(LoadManifest(At("run.json"))->command.size(), 6u);
}

}  // namespace
}  // namespace rharness
