// Folders of a Hugging Face Trainer, after the documented form of its files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/records/intake/training_args.h"
#include "tests/compare/weights/pickle_bytes.h"
#include "tests/compare/weights/safetensors_file.h"
#include "tests/records/intake/source_tree.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kState[] = R"({"best_metric": 0.5, "best_model_checkpoint": "out/checkpoint-2",
  "epoch": 1.0, "global_step": 4, "max_steps": 4, "logging_steps": 2, "is_world_process_zero": true,
  "log_history": [
    {"epoch": 0.5, "grad_norm": 1.5, "learning_rate": 5e-05, "loss": 2.5, "step": 2},
    {"epoch": 0.5, "eval_loss": 0.75, "eval_runtime": 1.0, "step": 2},
    {"epoch": 1.0, "grad_norm": NaN, "learning_rate": 0.0, "loss": 1.25, "step": 4},
    {"epoch": 1.0, "eval_loss": 0.5, "eval_runtime": 1.5, "step": 4},
    {"epoch": 1.0, "step": 4, "total_flos": 12.0, "train_loss": 1.875, "train_runtime": 9.0}]})";

std::string Weights() { return FileOf({{"w", "F32", "[2]", BytesOf<float>({1.0F, 2.0F})}}); }

// As pickle protocol 2 writes an object of TrainingArguments with these members.
std::string ArgsPickle(const std::string& members) {
  return PickleOf(PGlobal("transformers.training_args", "TrainingArguments") + ")\x81" + members +
                  "b");
}

class Trainer : public SourceTree {};

TEST_F(Trainer, FolderBecomesARunWithCurvesMetricsAndWeights) {
  Put("out/trainer_state.json", kState);
  Put("out/config.json",
      R"({"architectures": ["BertModel"], "hidden_size": 8, "transformers_version": "4.40.0"})");
  Put("out/training_args.json", R"({"learning_rate": 5e-05, "seed": 42, "data_seed": null,
      "hub_token": "hf_secret"})");
  Put("out/model.safetensors", Weights());
  Put("out/checkpoint-2/model.safetensors", Weights());
  Put("out/checkpoint-2/trainer_state.json", kState);
  Put("out/checkpoint-2/rng_state.pth", "never read");
  const ImportOutcome outcome = Import();
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.error().ToString();
  ASSERT_EQ(outcome.runs.size(), 1u);
  const Manifest& run = outcome.runs[0];
  EXPECT_THAT(run.run_id, HasSubstr("trainer-out-"));
  EXPECT_EQ(run.family, "BertModel");
  EXPECT_THAT(CurveOf(run, "loss")->steps, ElementsAre(2, 4));
  EXPECT_THAT(CurveOf(run, "eval_loss")->values, ElementsAre(0.75, 0.5));
  EXPECT_EQ(CurveOf(run, "train_loss"), nullptr);
  ASSERT_NE(CurveOf(run, "grad_norm"), nullptr);
  EXPECT_THAT(CurveOf(run, "grad_norm")->values, ElementsAre(1.5, testing::IsNan()));
  EXPECT_FALSE(HasRemark(run, "expected a number"));
  EXPECT_EQ(MetricOf(run, "eval_loss"), 0.5);
  EXPECT_EQ(MetricOf(run, "train_loss"), 1.875);
  EXPECT_EQ(MetricOf(run, "best_metric"), 0.5);
  EXPECT_EQ(MetricOf(run, "global_step"), 4.0);
  EXPECT_EQ(run.seeds.at("seed"), 42);
  EXPECT_EQ(run.seeds.size(), 1u);
  EXPECT_EQ(run.hyperparameters.at("config.hidden_size").ToInt64(), 8);
  EXPECT_EQ(ToJson(run).Dump().find("hf_secret"), std::string::npos);
  EXPECT_EQ(run.environment.software.at("transformers"), "4.40.0");
  ASSERT_EQ(run.artifacts.size(), 2u);
  EXPECT_EQ(run.artifacts[0].path, "model.safetensors");
  EXPECT_EQ(run.artifacts[0].sha256, Sha256HexOf(Weights()));
  EXPECT_EQ(run.artifacts[0].tensors.at(0).name, "w");
  EXPECT_THAT(WorthOf(run, "artifacts[0]"),
              HasSubstr("hint out/model.safetensors; as it is today"));
  EXPECT_EQ(run.artifacts[1].path, "checkpoint-2/model.safetensors");
  EXPECT_TRUE(HasRemark(run, "rng_state"));
  EXPECT_TRUE(Import("", "", false).runs.at(0).artifacts.at(0).sha256.empty());
}

TEST_F(Trainer, ProcessesOnAnUnknownNumberOfNodesAreNoGuess) {
  Put("trainer_state.json", kState);
  Put("checkpoint-2/rng_state_0.pth", "never read");
  Put("checkpoint-2/rng_state_1.pth", "never read");
  const ImportOutcome outcome = Import();
  ASSERT_EQ(outcome.runs.size(), 1u);
  EXPECT_FALSE(outcome.runs[0].gang.has_value());
  EXPECT_TRUE(HasRemark(outcome.runs[0], "on how many nodes they ran is not known"));
}

TEST_F(Trainer, OutputsLieInTheFolderThatTheCommandWasGiven) {
  Put("trainer_state.json", kState);
  Put("training_args.json", R"({"output_dir": "./runs/out/", "seed": 42})");
  Put("model.safetensors", Weights());
  Put("checkpoint-2/model.safetensors", Weights());
  const ImportOutcome outcome = Import();
  ASSERT_EQ(outcome.runs.size(), 1u);
  ASSERT_EQ(outcome.runs[0].artifacts.size(), 2u);
  EXPECT_EQ(outcome.runs[0].artifacts[0].path, "runs/out/model.safetensors");
  EXPECT_EQ(outcome.runs[0].artifacts[1].path, "runs/out/checkpoint-2/model.safetensors");
  EXPECT_EQ(outcome.runs[0].artifacts[0].location, (root() / "model.safetensors").string());
  Put("training_args.json", R"({"output_dir": "/scratch/out", "seed": 42})");
  const ImportOutcome absolute = Import();
  EXPECT_EQ(absolute.runs.at(0).artifacts[0].path, "model.safetensors");
  EXPECT_TRUE(HasRemark(absolute.runs[0], "rharness import --complete --output"));
}

TEST_F(Trainer, CheckpointsWithoutAStateOfTheRunGiveTheLastOne) {
  Put("checkpoint-2/trainer_state.json", R"({"log_history": [{"loss": 3, "step": 2}]})");
  Put("checkpoint-10/trainer_state.json", R"({"log_history": [{"loss": 1, "step": 10}]})");
  const ImportOutcome outcome = Import();
  ASSERT_EQ(outcome.runs.size(), 1u);
  EXPECT_THAT(CurveOf(outcome.runs[0], "loss")->steps, ElementsAre(10));
  EXPECT_TRUE(HasRemark(outcome.runs[0], "read from checkpoint-10/trainer_state.json"));
}

TEST_F(Trainer, WhatIsOfAnotherFormInTheHistoryIsNamedByIndexAndTheRestKept) {
  Put("trainer_state.json", R"({"log_history": [7, {"loss": 1}, {"loss": "high", "step": 1},
      {"loss": 0.5, "step": 2}, {"loss": 0.25, "step": 2}]})");
  const ImportOutcome outcome = Import();
  ASSERT_EQ(outcome.runs.size(), 1u);
  const Manifest& run = outcome.runs[0];
  EXPECT_TRUE(HasRemark(run, "log_history[0]: expected an object"));
  EXPECT_TRUE(HasRemark(run, "log_history[1].step: expected an integer"));
  EXPECT_TRUE(HasRemark(run, "log_history[2].'loss': expected a number, found string"));
  EXPECT_THAT(CurveOf(run, "loss")->values, ElementsAre(0.25));
}

TEST_F(Trainer, BrokenStatesAreRefusedAndTheOthersKept) {
  Put("a/trainer_state.json", kState);
  Put("b/trainer_state.json", std::string(kState).substr(0, 300));
  Put("c/trainer_state.json", "[]");
  Put("d/trainer_state.json", std::string(300'000, '['));
  PutLink("e.json", "/etc/passwd");
  Put("f/x", "");
  PutPipe("f/trainer_state.json");
  PutLink("a/model.safetensors", "/etc/passwd");
  const ImportOutcome outcome = Import("trainer");
  ASSERT_EQ(outcome.runs.size(), 1u);
  EXPECT_TRUE(outcome.runs[0].artifacts.empty());
  EXPECT_EQ(outcome.refused.size(), 5u);
}

TEST_F(Trainer, StateBeyondTheLimitIsRefusedUnread) {
  Put("a/trainer_state.json", "{}");
  std::filesystem::resize_file(root() / "a/trainer_state.json", std::uintmax_t{1} << 30);
  const ImportOutcome outcome = Import("trainer");
  EXPECT_FALSE(outcome.status.ok());
  ASSERT_EQ(outcome.refused.size(), 1u);
  EXPECT_THAT(outcome.refused[0].second, HasSubstr("67108864"));
}

TEST_F(Trainer, WeightsThatAreBrokenAreHashedAndTold) {
  Put("trainer_state.json", kState);
  Put("model.safetensors", Weights().substr(0, 20));
  const ImportOutcome outcome = Import();
  ASSERT_EQ(outcome.runs.size(), 1u);
  EXPECT_FALSE(outcome.runs[0].artifacts.at(0).sha256.empty());
  EXPECT_TRUE(outcome.runs[0].artifacts.at(0).tensor_digest.empty());
  EXPECT_TRUE(HasRemark(outcome.runs[0], "its tensors were not read"));
}

TEST_F(Trainer, ArgumentsInAPickleAreReadAsInertValues) {
  const std::string members =
      PDict({{"learning_rate", "G" + std::string("\x3f\x50\x62\x4d\xd2\xf1\xa9\xfc", 8)},
             {"seed", PInt(7)},
             {"fp16", "\x89"},
             {"data_seed", "N"},
             {"lr_scheduler_type",
              PCall("transformers.trainer_utils", "SchedulerType", {PStr("linear")})},
             {"evil", PCall("os", "system", {PStr("touch /tmp/rharness-pwned")})}});
  Put("trainer_state.json", kState);
  Put("training_args.bin",
      ZipOf({{.name = "training_args/data.pkl", .content = ArgsPickle(members)}}));
  const ImportOutcome outcome = Import();
  ASSERT_EQ(outcome.runs.size(), 1u);
  const Manifest& run = outcome.runs[0];
  EXPECT_EQ(run.hyperparameters.at("learning_rate").ToDouble(), 0.001);
  EXPECT_EQ(run.hyperparameters.at("lr_scheduler_type").AsString(), "linear");
  EXPECT_EQ(run.hyperparameters.count("evil"), 0u);
  EXPECT_EQ(run.seeds.at("seed"), 7);
  EXPECT_TRUE(HasRemark(run, "not read: evil"));
  EXPECT_FALSE(std::filesystem::exists("/tmp/rharness-pwned"));
}

TEST_F(Trainer, ArgumentsThatAreNoSuchPickleAreARemark) {
  Put("trainer_state.json", kState);
  Put("training_args.bin", "no zip archive");
  const ImportOutcome outcome = Import();
  ASSERT_EQ(outcome.runs.size(), 1u);
  EXPECT_TRUE(HasRemark(outcome.runs[0], "training_args.bin was not read"));
  EXPECT_FALSE(ParseTrainingArgs(PickleOf(PInt(1)), "x").ok());
  EXPECT_FALSE(ParseTrainingArgs("", "x").ok());
}

}  // namespace
}  // namespace rharness
