// check --registry: a model version at a server, its run's record, drill and weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/imported_runs.h"
#include "tests/history/raw_history.h"
#include "tests/insight/publish/registry_world.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

// Writes a safetensors file whose only weight is the letter that lies in the folder $1.
constexpr char kTrainer[] = R"sh(letter=$(cat "$1/letter")
printf '\065\000\000\000\000\000\000\000' > model.safetensors
printf '{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}%s' "$letter" >> model.safetensors
printf '{"metrics": {"accuracy": 0.75}}' > metrics.json
)sh";

std::string WeightsWith(char letter) {
  return std::string("\065\0\0\0\0\0\0\0", 8) +
         R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})" + letter;
}

class RegistryAdmit : public ImportedRuns {
 protected:
  void SetUp() override {
    if (!FakeRegistry::CanRun()) GTEST_SKIP() << "no python3 here";
    Write("train.sh", kTrainer);
    Write("letter", "a");
    RecordImported("mlflow-abc", "abc",
                   {"--weights", "model.safetensors", "--determinism", "bitwise"});
    Json state = RunsOfRegistry({"abc", "unknown"});
    const auto version = [](const char* run, const char* uri) {
      return Json::MakeObject({{"run_id", run}, {"uri", uri}});
    };
    const Json versions =
        Json::MakeObject({{"1", version("abc", "mlflow-artifacts:/1/models/m-1/artifacts")},
                          {"2", version("unknown", "mlflow-artifacts:/1/models/m-2/artifacts")},
                          {"3", version("abc", "mlflow-artifacts:/1/models/m-3/artifacts")},
                          {"4", version("abc", "s3://bucket/m-4")}});
    Json logged = Json::MakeObject();
    for (const char* number : {"1", "2", "3", "4"}) {
      logged.Set(number, version("abc", (std::string("mlflow-artifacts:/1/odd/") + number).c_str())
                             .Set("model_id", "m-9"));
    }
    const auto model = [](Json of) {
      return Json::MakeObject({{"versions", std::move(of)}, {"aliases", Json::MakeObject()}});
    };
    state.Set("models", Json::MakeObject({{"digits", model(versions)}, {"odd", model(logged)}}));
    state.Set("files",
              Json::MakeObject({{"1/models/m-1/artifacts/MLmodel", "x"},
                                {"1/models/m-1/artifacts/data/model.safetensors", WeightsWith('a')},
                                {"1/models/m-3/artifacts/model.safetensors", WeightsWith('b')},
                                {"1/models/m-3/artifacts/old/model.safetensors", WeightsWith('a')},
                                {"1/odd/1/MLmodel", "x"},
                                {"1/odd/1/metadata/MLmodel", "x"},
                                {"1/odd/1/model.safetensors", WeightsWith('a')},
                                {"1/odd/2/model.safetensors", WeightsWith('a')},
                                {"1/odd/2/model.pkl", "x"},
                                {"1/odd/3/model.safetensors", WeightsWith('a')},
                                {"1/odd/3/metadata/model.pkl", "x"},
                                {"1/odd/4/model.safetensors", WeightsWith('a')},
                                {"1/odd/4/model.safetensors\x01", "x"}}));
    server_.Start("good", state);
  }
  ProcessResult Admit(const std::string& version, std::vector<std::string> options = {}) const {
    std::vector<std::string> argv = {kRharness,   "check",  "--registry", server_.url(),
                                     "--model",   "digits", "--version",  version,
                                     "--history", "runs.db"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  }

  FakeRegistry server_;
};

TEST_F(RegistryAdmit, AdmitsOnceADrillReproducedItAndItsWeightsAreTheRecordedOnes) {
  Add();
  const ProcessResult before = Admit("1");
  EXPECT_EQ(before.outcome.exit_code, 3) << before.stderr_text;
  EXPECT_THAT(before.stdout_text, HasSubstr("model digits version 1: never_drilled: "));
  ASSERT_EQ(Drill().outcome.exit_code, 0);

  const ProcessResult after = Admit("1");
  EXPECT_EQ(after.outcome.exit_code, 0) << after.stdout_text << after.stderr_text;
  EXPECT_THAT(after.stdout_text, HasSubstr("model digits version 1: admitted: identical"));
  EXPECT_THAT(Admit("1", {"--max-age", "0"}).stdout_text, HasSubstr("too_old"));

  const ProcessResult other = Admit("3");
  EXPECT_EQ(other.outcome.exit_code, 5);
  EXPECT_THAT(other.stdout_text, HasSubstr("weights_differ: the run recorded model.safetensors"));
  const ProcessResult unread = Admit("4");
  EXPECT_EQ(unread.outcome.exit_code, 3);
  EXPECT_THAT(unread.stdout_text, HasSubstr("'s3://bucket/m-4', which the server does not hand"));
  EXPECT_EQ(server_.Writes(), 0u);
}

TEST_F(RegistryAdmit, AdmitsNoLoggedModelWithAFileThatNobodyRecorded) {
  Add();
  ASSERT_EQ(Drill().outcome.exit_code, 0);
  const auto admit = [&](const std::string& version) {
    return Run({kRharness, "check", "--registry", server_.url(), "--model", "odd", "--version",
                version, "--history", "runs.db"});
  };
  const ProcessResult whole = admit("1");
  EXPECT_EQ(whole.outcome.exit_code, 0) << whole.stdout_text << whole.stderr_text;
  const std::pair<const char*, const char*> odd[] = {
      {"2", "the first: model.pkl"},
      {"3", "the first: metadata/model.pkl"},
      {"4", "the first: model.safetensors (no name to ask for)"}};
  for (const auto& [version, first] : odd) {
    const ProcessResult refused = admit(version);
    EXPECT_EQ(refused.outcome.exit_code, 3) << refused.stdout_text << refused.stderr_text;
    EXPECT_THAT(refused.stdout_text, HasSubstr("no_weights: of 1 of the logged model's files"));
    EXPECT_THAT(refused.stdout_text, HasSubstr(first));
  }
}

TEST_F(RegistryAdmit, TakesTheNewestVersionAndSaysWhichRunHasNoManifest) {
  Add();
  const ProcessResult newest = Run({kRharness, "check", "--registry", server_.url(), "--model",
                                    "digits", "--history", "runs.db", "--json"});
  EXPECT_THAT(newest.stdout_text, HasSubstr("\"subject\": \"model digits version 4\""));
  const ProcessResult unknown = Admit("2");
  EXPECT_EQ(unknown.outcome.exit_code, 3);
  EXPECT_THAT(unknown.stdout_text, HasSubstr("no_manifest: there is no manifest of the run unkn"));
}

TEST_F(RegistryAdmit, ClosesAfterADrift) {
  Add();
  ASSERT_EQ(Drill().outcome.exit_code, 0);
  EXPECT_EQ(Admit("1").outcome.exit_code, 0);
  std::filesystem::remove_all(At("out"));
  Write("letter", "b");  // what nobody recorded, and everything depends on
  ASSERT_EQ(Drill().outcome.exit_code, 1);
  const ProcessResult result = Admit("1");
  EXPECT_EQ(result.outcome.exit_code, 1) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("drifted: the last verdict is drifted"));
}

TEST_F(RegistryAdmit, NamesNobodyForARetirementThatIsNotAsItWasSigned) {
  Add();
  ASSERT_EQ(
      Run({kRharness, "history", "retire", "mlflow-abc", "--history", "runs.db", "--reason", "old"})
          .outcome.exit_code,
      0);
  const ProcessResult alone = Admit("1");
  EXPECT_EQ(alone.outcome.exit_code, 2) << alone.stderr_text;
  EXPECT_THAT(alone.stdout_text, HasSubstr("retired: the run was retired: old (unsigned)"));
  // As somebody enters it who can write to the file and has nobody's key.
  EXPECT_EQ(
      RawHistory(At("runs.db").string())
          .Run("INSERT INTO signed_retirements (run_id, statement_sha256, asked_by, asked_ms, "
               "approved_by, approved_ms) VALUES ('mlflow-abc', 'none', 'Ada', 1, 'Bob', 2)"),
      "");
  const ProcessResult forged = Admit("1");
  EXPECT_EQ(forged.outcome.exit_code, 5) << forged.stderr_text;
  EXPECT_THAT(forged.stdout_text,
              HasSubstr("retirement_doubtful: the run is retired, and not as it was signed: the "
                        "statement that it holds by is not in the history"));
  EXPECT_THAT(forged.stdout_text, Not(HasSubstr("Ada")));
}

TEST_F(RegistryAdmit, SaysWhatIsMissingOfTheQuestion) {
  Add();
  const ProcessResult neither =
      Run({kRharness, "check", "--registry", server_.url(), "--history", "runs.db"});
  EXPECT_EQ(neither.outcome.exit_code, 2);
  EXPECT_THAT(neither.stderr_text, HasSubstr("expected --model NAME, or --run ID"));
  const ProcessResult gone = Admit("9");
  EXPECT_EQ(gone.outcome.exit_code, 2);
  EXPECT_THAT(gone.stderr_text, HasSubstr("404"));
  EXPECT_EQ(Run({kRharness, "check"}).outcome.exit_code, 2);
  const ProcessResult run = Run(
      {kRharness, "check", "--registry", server_.url(), "--run", "abc", "--history", "runs.db"});
  EXPECT_THAT(run.stdout_text, HasSubstr("run abc: never_drilled"));
}

}  // namespace
}  // namespace rharness
