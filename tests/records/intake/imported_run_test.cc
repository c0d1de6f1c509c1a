// What gets into an imported manifest, and with which worth.
#include "harness/records/intake/imported_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/shown_url.h"
#include "harness/records/intake/blockers.h"
#include "harness/records/intake/local_files.h"
#include "tests/records/intake/intake_world.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Manifest Reread(ImportedRun run) {
  const Manifest manifest = std::move(run).Take();
  auto again = ParseManifest(ToJson(manifest), "test");
  EXPECT_TRUE(again.ok()) << again.error().ToString();
  return again.ok() ? *again : Manifest{};
}

TEST(RunIdOf, IsTheSameAtEveryImportAndNeverThatOfAnotherId) {
  EXPECT_EQ(RunIdOf("mlflow", "3f2a"), "mlflow-3f2a");
  EXPECT_EQ(RunIdOf("mlflow", "a/b"), RunIdOf("mlflow", "a/b"));
  EXPECT_NE(RunIdOf("mlflow", "a/b"), RunIdOf("mlflow", "a-b"));
  EXPECT_NE(RunIdOf("mlflow", std::string(300, 'x')), RunIdOf("mlflow", std::string(301, 'x')));
  EXPECT_LE(RunIdOf("mlflow", std::string(300, 'x')).size(), 128u);
}

TEST(WithoutCredentials, LosesUserPasswordAndQuery) {
  EXPECT_EQ(WithoutCredentials("https://ada:s3cret@host:80/x?token=y#z"), "https://host:80/x");
  EXPECT_EQ(WithoutCredentials("https://host/x@y"), "https://host/x@y");
  EXPECT_EQ(WithoutCredentials("/a/b?c"), "/a/b?c");
}

TEST(RoleByName, TakesWhatDiffersFromRunToRunForALog) {
  for (const char* path : {"output.log", "plots/loss.png", "tb/events.out.tfevents.1.host"}) {
    EXPECT_EQ(RoleByName(path), "log") << path;
  }
  for (const char* path : {"model.pkl", "vocab.txt", "log/data.csv", "png"}) {
    EXPECT_EQ(RoleByName(path), "other") << path;
  }
  EXPECT_EQ(RoleByName("model.safetensors"), "weights");
  EXPECT_EQ(RoleByName("optimizer.pt"), "optimizer");
}

TEST(ImportedRun, NamesWhatNobodySetAsMissing) {
  const Manifest manifest = Reread(ImportedRun("mlflow", "mlruns", "1"));
  EXPECT_EQ(WorthOf(manifest, "code.commit"), "missing");
  EXPECT_EQ(WorthOf(manifest, "seeds"), "missing");
  EXPECT_EQ(manifest.family, "mlflow");
  EXPECT_THAT(manifest.command, IsEmpty());
}

TEST(ImportedRun, HoldsAShortCommitAndAnImageWithoutADigestToBeHints) {
  ImportedRun run("mlflow", "mlruns", "1");
  run.SetCommit("ABC1234", Exact("tag commit"));
  run.SetImage("registry.example/ml/train:2", Exact("tag image"));
  const Manifest manifest = Reread(std::move(run));
  EXPECT_EQ(manifest.code.commit, "abc1234");
  EXPECT_THAT(WorthOf(manifest, "code.commit"), HasSubstr("hint tag commit; not a full commit"));
  EXPECT_THAT(WorthOf(manifest, "image"), HasSubstr("hint tag image; without a digest"));
  EXPECT_EQ(manifest.image.registry, "registry.example");
  EXPECT_EQ(manifest.image.tag, "2");
}

TEST(ImportedRun, LeavesOutWhatNoManifestMayHoldAndSaysSo) {
  ImportedRun run("mlflow", "mlruns", "1");
  run.SetCommit("main", Exact("x"));
  run.SetCommand({"sh", "-c", "a\nb"}, Exact("x"));
  run.SetSeed("init", "12x", Exact("x"));
  run.SetSeed("init", "99999999999999999999", Exact("x"));
  run.SetImage("https://host/x", Exact("x"));
  run.SetRepository("ext::sh -c id", Exact("x"));
  run.SetWorkingDirectory("../..", Exact("x"));
  run.AddCodeFile("../../etc/passwd", "", Exact("x"));
  Artifact artifact;
  artifact.path = "/etc/shadow";
  run.AddArtifact(artifact, Exact("x"));
  const Manifest manifest = Reread(std::move(run));
  EXPECT_TRUE(manifest.code.commit.empty());
  EXPECT_TRUE(manifest.command.empty());
  EXPECT_TRUE(manifest.seeds.empty());
  EXPECT_TRUE(manifest.code.repository.empty());
  EXPECT_TRUE(manifest.code.files.empty());
  EXPECT_TRUE(manifest.artifacts.empty());
  EXPECT_EQ(manifest.image.kind, ImageKind::kHost);
  EXPECT_EQ(manifest.origin->remarks.size(), 9u);
  EXPECT_EQ(WorthOf(manifest, "code.commit"), "missing");
}

TEST(ImportedRun, KeepsNoSecrets) {
  ImportedRun run("wandb", "https://ada:s3cret@host/x", "1");
  run.SetHyperparameter("API_TOKEN", Json("s3cret"), Exact("config"));
  run.SetVariable("AWS_SECRET_ACCESS_KEY", "s3cret", Exact("env"));
  run.SetHyperparameter("credentials", *ParseJson(R"({"user": "s3cret", "x": ["s3cret"]})", ""),
                        Exact("config"));
  run.SetHyperparameter("db.password", Json(421337), Exact("config"));
  run.SetRepository("https://ada:s3cret@git.example/x.git", Exact("git"));
  const Manifest manifest = std::move(run).Take();
  EXPECT_EQ(ToJson(manifest).Dump().find("s3cret"), std::string::npos);
  EXPECT_EQ(ToJson(manifest).Dump().find("421337"), std::string::npos);
}

TEST(ImportedRun, TakesPointsOfACurveInAnyOrderAndTellsWhatGaveWay) {
  ImportedRun run("mlflow", "mlruns", "1");
  run.AddCurve("loss", {2, 1, 2}, {0.5, 1.0, 0.25}, Exact("metrics"));
  const Manifest manifest = Reread(std::move(run));
  ASSERT_EQ(manifest.curves.size(), 1u);
  EXPECT_THAT(manifest.curves[0].steps, ElementsAre(1, 2));
  EXPECT_THAT(manifest.curves[0].values, ElementsAre(1.0, 0.25));
  EXPECT_TRUE(HasRemark(manifest, "1 value at a step that has a later one"));
}

TEST(ImportedRun, TakesAnIntegerUnderASeedsNameForASeed) {
  ImportedRun run("mlflow", "mlruns", "1");
  run.SetHyperparameter("random_seed", Json("7"), Exact("params.random_seed"));
  run.SetHyperparameter("seed_mode", Json(8), Exact("params.seed_mode"));
  run.SetHyperparameter("seed", Json("auto"), Exact("params.seed"));
  const Manifest manifest = Reread(std::move(run));
  EXPECT_EQ(manifest.seeds.size(), 1u);
  EXPECT_EQ(manifest.seeds.at("random_seed"), 7);
  EXPECT_EQ(manifest.hyperparameters.at("random_seed").ToInt64(), 7);
  EXPECT_TRUE(HasRemark(manifest, "hyperparameters.seed_mode may be a seed"));
}

TEST(ImportedRun, WithholdsNoSettingsWhoseNamesContainAWordOfSecrets) {
  ImportedRun run("wandb", "w", "1");
  run.SetHyperparameter("max_tokens", Json(256), Exact("config"));
  run.SetHyperparameter("tokenizer", Json("gpt2"), Exact("config"));
  run.SetHyperparameter("pad_token", Json("</s>"), Exact("config"));
  run.SetHyperparameter("use_auth_token", Json(false), Exact("config"));
  run.SetHyperparameter("nested", *ParseJson(R"({"api_key": "abcdef", "lr": 0.5})", ""),
                        Exact("config"));
  run.SetVariable("TOKENIZERS_PARALLELISM", "false", Exact("env"));
  const Manifest manifest = Reread(std::move(run));
  EXPECT_EQ(manifest.hyperparameters.at("max_tokens").ToInt64(), 256);
  EXPECT_EQ(manifest.hyperparameters.at("tokenizer").AsString(), "gpt2");
  EXPECT_EQ(manifest.hyperparameters.at("pad_token").AsString(), "</s>");
  EXPECT_EQ(manifest.hyperparameters.at("use_auth_token").Dump(), "false");
  EXPECT_EQ(manifest.environment.variables.at("TOKENIZERS_PARALLELISM"), "false");
  const std::string nested = manifest.hyperparameters.at("nested").Dump();
  EXPECT_EQ(nested.find("abcdef"), nested.npos);
  EXPECT_NE(nested.find("0.5"), nested.npos);
}

TEST(ImportedRun, HasAnOriginForTheLongestNamesThatThereAre) {
  ImportedRun run("mlflow", "mlruns", "1");
  run.SetHyperparameter(std::string(250, 'n'), Json("1"), Exact("params"));
  run.SetHyperparameter(std::string(100'000, 'm'), Json("1"), Exact(std::string(100'000, 'w')));
  run.AddMetric(std::string(250, 'm'), 0.5, Exact("metrics"));
  const Manifest manifest = Reread(std::move(run));
  EXPECT_EQ(manifest.hyperparameters.count(std::string(250, 'n')), 1u);
}

// Quadratic, these took minutes.
TEST(ImportedRun, TakesAsMuchAsAStrangerSays) {
  ImportedRun run("record", "r.json", std::string(3'000'000, 'x'));
  for (int i = 0; i < 50'000; ++i) {
    const std::string name = std::to_string(i);
    run.SetSeed(name, name, Exact("seeds"));
    run.AddData(DataItem{.name = name, .path = name}, Exact("data"));
    run.AddData(DataItem{.name = "0", .path = name}, Exact("data"));
    run.AddArtifact(Artifact{.role = "other", .path = name}, Exact("artifacts"));
  }
  const Manifest manifest = std::move(run).Take();
  EXPECT_EQ(manifest.run_id.size(), 113u);
  EXPECT_EQ(manifest.rng_sources.size(), 50'000u);
  EXPECT_EQ(manifest.data.size(), 50'000u);
  EXPECT_EQ(manifest.artifacts.size(), 50'000u);
}

TEST(Blockers, NameTheCommandThatWouldFillWhatIsMissing) {
  const Manifest manifest = Reread(ImportedRun("mlflow", "mlruns", "1"));
  bool command = false;
  std::vector<Blocker> blockers;
  EXPECT_TRUE(CountBlockers(manifest, 1, &blockers));
  EXPECT_TRUE(CountBlockers(manifest, 2, &blockers));
  for (const Blocker& blocker : blockers) {
    EXPECT_EQ(blocker.runs, 2U) << blocker.code;
    if (blocker.code != "missing_command") continue;
    command = true;
    EXPECT_EQ(blocker.command, "rharness import --complete FILE -- PROGRAM ARGUMENT...");
  }
  EXPECT_TRUE(command);
}

TEST(Blockers, NameTheDataThatIsMeantAndKnowWhatFillsADigestOfTensors) {
  Manifest manifest;
  manifest.data.resize(2);
  manifest.data[1].name = "dataset";
  const Finding data{.code = "unpinned_data", .subject = "$.data[1].sha256", .message = "missing"};
  EXPECT_EQ(FillingOf(data), "rharness import --complete FILE --data NAME=PATH");
  EXPECT_EQ(FillingOf(data, manifest, "runs/one.json"),
            "rharness import --complete runs/one.json --data dataset=PATH");
  const Finding beyond{
      .code = "unpinned_data", .subject = "$.data[9].sha256", .message = "missing"};
  EXPECT_EQ(FillingOf(beyond, manifest, "m.json"),
            "rharness import --complete m.json --data NAME=PATH");
  manifest.origin.emplace().kind = "mlflow";
  const Finding metrics{
      .code = "missing_metrics_path", .subject = "$.metrics_path", .message = "missing"};
  EXPECT_THAT(FillingOf(metrics, manifest, "m.json"), HasSubstr("--metrics PATH (of a program"));
  const Finding tensors{.code = "missing_tensor_digest",
                        .subject = "$.artifacts[0].tensor_digest",
                        .message = "missing"};
  EXPECT_EQ(FillingOf(tensors, manifest, "m.json"),
            "rharness import --complete m.json --weights PATH");
}

}  // namespace
}  // namespace rharness
