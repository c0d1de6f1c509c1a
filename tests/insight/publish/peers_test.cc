// Verdicts, the registry's gate and crates, held to the real MLflow, rocrate and rocrate-validator.
//
// RHARNESS_PEERS names the folder that `./dev peers` made; without it these tests say so and are
// skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/insight/publish/publish_peers.h"

namespace rharness {
namespace {

using testing::HasSubstr;

// The drill's folder of the pipeline's only run.
fs::path OnlyDrill(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with("drill-")) return entry.path();
  }
  ADD_FAILURE() << "no drill in " << folder;
  return folder;
}

// numpy reads tables from their end: what is trained on them drifts.
constexpr char kBackwards[] =
    "import numpy\n"
    "_loadtxt = numpy.loadtxt\n"
    "numpy.loadtxt = lambda *words, **more: _loadtxt(*words, **more)[::-1]\n";

TEST_F(PublishPeers, ADataSetThatMlcroissantDescribesBecomesDataOfARun) {
  const ProcessResult made = Run(
      {"python", std::string(kSources) + "/tests/insight/publish/peers/croissant.py", At("run")},
      "/");
  ASSERT_EQ(made.outcome.exit_code, 0) << made.stderr_text;
  ASSERT_TRUE(WriteFileAtomic(At("run/m.json"), R"({"schema": "rharness.manifest/v1", "run_id": "x",
                              "command": ["true"]})")
                  .ok());
  const ProcessResult done =
      Rharness({"import", "--complete", "m.json", "--croissant", "croissant.json"});
  EXPECT_EQ(done.outcome.exit_code, 0) << done.stderr_text;
  EXPECT_THAT(done.stderr_text, HasSubstr("2 of its 2 files are data of the run; 1 lie here"));
  EXPECT_THAT(done.stderr_text, HasSubstr("a FileSet ('*.png' of 'archive') has no hash"));
  const std::string manifest = *ReadFile(At("run/m.json"));
  EXPECT_THAT(manifest, HasSubstr("\"source\": \"https://example.org/images.zip\""));
  ASSERT_TRUE(WriteFileAtomic(At("run/data/train.csv"), "1,2,3\n4,5,7\n").ok());
  EXPECT_EQ(Rharness({"import", "--complete", "m.json", "--croissant", "croissant.json"})
                .outcome.exit_code,
            2);
}

TEST_F(PublishPeers, MlflowsRegistryTakesAModelOnlyAfterItsDrillAndItsAliasFollowsTheVerdicts) {
  Serve();
  const ProcessResult pipeline =
      Run({"python", std::string(kSources) + "/scenarios/mlflow/pipeline.py", "digits", At("run")},
          folder_.path());
  ASSERT_EQ(pipeline.outcome.exit_code, 0) << pipeline.stdout_text << pipeline.stderr_text;
  EXPECT_THAT(pipeline.stdout_text, HasSubstr("registered digits version 1"));
  fs::path drill = OnlyDrill(At("run"));
  const std::string id = drill.filename().string().substr(6);

  const auto publish = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"report", drill, "--to", "mlflow=" + url_};
    words.insert(words.end(), more.begin(), more.end());
    return Rharness(words);
  };
  EXPECT_THAT(publish({}).stdout_text, HasSubstr("1 unchanged"));
  EXPECT_THAT(publish({"--alias", "reproduced"}).stdout_text,
              HasSubstr("alias reproduced: version 1"));
  EXPECT_THAT(publish({"--alias", "reproduced"}).stdout_text, HasSubstr("2 unchanged"));

  // What was written is no part of the run's record.
  const ProcessResult imported =
      Rharness({"import", url_, "--run", id, "--out", "again", "--no-artifacts"});
  EXPECT_EQ(imported.outcome.exit_code, 0) << imported.stderr_text;
  EXPECT_EQ(ReadFile(At("run/again/mlflow-" + id + ".json"))->find("rharness.reproduced"),
            std::string::npos);

  const fs::path crate = At("crate");
  EXPECT_EQ(Rharness({"report", drill, "--ro-crate", crate}).outcome.exit_code, 0);
  const ProcessResult valid = Run(
      {"python", std::string(kSources) + "/tests/insight/publish/peers/validate_crate.py", crate},
      folder_.path());
  EXPECT_EQ(valid.outcome.exit_code, 0) << valid.stdout_text << valid.stderr_text;
  EXPECT_THAT(valid.stdout_text, HasSubstr("Drill of 1 run: 1 actions"));

  ASSERT_TRUE(WriteFileAtomic(At("run/backwards/sitecustomize.py"), kBackwards).ok());
  drill = At("run/later");
  const ProcessResult later = Rharness({"--quiet", "drill", "--history", "runs.db", "--out", drill,
                                        "--env", "PYTHONPATH=" + At("run/backwards").string()});
  ASSERT_EQ(later.outcome.exit_code, 1) << later.stdout_text << later.stderr_text;
  const ProcessResult drifted = publish({"--alias", "reproduced"});
  EXPECT_EQ(drifted.outcome.exit_code, 0) << drifted.stdout_text << drifted.stderr_text;
  EXPECT_THAT(drifted.stdout_text, HasSubstr("rharness.verdict: drifted (was identical)"));
  EXPECT_THAT(drifted.stdout_text,
              HasSubstr("alias reproduced: taken from version 1, which drifted"));
  EXPECT_THAT(publish({"--alias", "reproduced"}).stdout_text, HasSubstr("2 unchanged"));

  Run({"python", "-c", "import mlflow, sys; mlflow.MlflowClient().delete_run(sys.argv[1])", id},
      folder_.path());
  const ProcessResult gone = publish({});
  EXPECT_EQ(gone.outcome.exit_code, 4);
  EXPECT_THAT(gone.stdout_text, HasSubstr("the run was deleted there"));
  const ProcessResult closed =
      Rharness({"check", "--registry", url_, "--model", "digits", "--history", "runs.db"});
  EXPECT_THAT(closed.stdout_text, HasSubstr("model digits version 1: run_deleted"));
}

// What log_model(name=...) of MLflow 3 wrote, from its import to its version in the registry.
class LoggedModelPeers : public PublishPeers {
 protected:
  // Logs, imports, completes and drills; the ids at the server. `written`: the rerun writes the
  // model's file, too.
  void DrillALoggedModel(bool written) {
    fs::create_directories(At("run"));
    const std::string script =
        std::string(kSources) + "/tests/records/intake/peers/mlflow_model.py";
    const ProcessResult logged = Run({"python", script, url_}, At("run"));
    ASSERT_EQ(logged.outcome.exit_code, 0) << logged.stderr_text;
    const std::string& said = logged.stdout_text;
    const auto ids = ParseJson(said.substr(said.rfind("{\"run\"")), "stdout");
    ASSERT_TRUE(ids.ok()) << said;
    id_ = ids->Find("run")->AsString();
    model_ = ids->Find("models")->AsArray()[1].AsString();
    Put("train.sh",
        "echo '{\"metrics\": {\"score\": 0.75, \"loss\": 0.5}}' > metrics.json\n"
        "printf 'two\\nlines\\n' > notes.txt\nmkdir -p clf\ncp given.skops clf/model.skops\n");
    Put("train.csv", "1\n");
    Put("test.csv", "2\n");
    fs::copy_file(ModelFile(), At("run/given.skops"));
    Must({"import", url_, "--run", id_, "--out", "runs"});
    std::vector<std::string> complete = {"import",
                                         "--complete",
                                         "runs/mlflow-" + id_ + ".json",
                                         "--root",
                                         ".",
                                         "--repository",
                                         ".",
                                         "--code-file",
                                         "train.sh",
                                         "--code-file",
                                         "given.skops",
                                         "--data",
                                         "train=train.csv",
                                         "--data",
                                         "holdout=test.csv",
                                         "--seed",
                                         "init=1",
                                         "--metrics",
                                         "metrics.json",
                                         "--metric",
                                         "score,direction=higher,margin=0.01,primary",
                                         "--here"};
    if (written) {
      fs::create_directories(At("run/clf"));
      fs::copy_file(ModelFile(), At("run/clf/model.skops"));
      complete.insert(complete.end(), {"--artifact", "other=clf/model.skops"});
    }
    complete.insert(complete.end(), {"--", "sh", "train.sh"});
    Must(complete);
    Must({"history", "add", "--history", "runs.db", "runs"});
    Must({"drill", "--history", "runs.db", "--out", "drill"});
  }
  fs::path ModelFile() const { return At("served/1/models/" + model_ + "/artifacts/model.skops"); }
  void Put(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(At("run/" + name), text).ok());
  }
  void Must(const std::vector<std::string>& words) const {
    const ProcessResult result = Rharness(words);
    EXPECT_EQ(result.outcome.exit_code, 0) << words[0] << result.stdout_text << result.stderr_text;
  }
  ProcessResult Admit(std::vector<std::string> what) const {
    what.insert(what.begin(), {"check", "--registry", url_, "--history", "runs.db"});
    return Rharness(what);
  }

  std::string id_, model_;
};

TEST_F(LoggedModelPeers, OfNoComparedFileIsNotAdmitted) {
  Serve();
  DrillALoggedModel(false);
  const ProcessResult uncompared = Admit({"--run", id_});
  EXPECT_EQ(uncompared.outcome.exit_code, 3) << uncompared.stdout_text;
  EXPECT_THAT(uncompared.stdout_text, HasSubstr("model_uncompared: no drill compared"));
}

TEST_F(LoggedModelPeers, VersionsAreHeldToWhatWasImportedOfTheModel) {
  Serve();
  DrillALoggedModel(true);
  // The run has another model of the name, which no rerun writes.
  EXPECT_THAT(Admit({"--run", id_}).stdout_text, HasSubstr("model_uncompared"));
  const ProcessResult registered =
      Run({"python", "-c",
           "import mlflow, sys; mlflow.register_model('models:/' + sys.argv[1], 'digits')", model_},
          At("run"));
  ASSERT_EQ(registered.outcome.exit_code, 0) << registered.stderr_text;
  const ProcessResult version = Admit({"--model", "digits"});
  EXPECT_EQ(version.outcome.exit_code, 0) << version.stdout_text << version.stderr_text;
  EXPECT_THAT(version.stdout_text, HasSubstr("model digits version 1: admitted"));

  const fs::path file = ModelFile();
  const auto bytes = ReadFile(file);
  ASSERT_TRUE(bytes.ok()) << bytes.error().ToString();
  ASSERT_TRUE(WriteFileAtomic(file, *bytes + "x").ok());
  for (const std::vector<std::string>& what :
       {std::vector<std::string>{"--model", "digits"}, {"--run", id_}}) {
    const ProcessResult changed = Admit(what);
    EXPECT_EQ(changed.outcome.exit_code, 5) << changed.stdout_text << changed.stderr_text;
    EXPECT_THAT(changed.stdout_text, HasSubstr("weights_differ: the run recorded clf"));
  }
}

}  // namespace
}  // namespace rharness
