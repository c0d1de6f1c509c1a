// What manifests, commands, images, scripts and logs are taken to say.
#include "harness/records/lint/statements.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const std::set<std::string> kSubjects =
    SubjectsOf({{"version of torch", "", {}, ""}, {"dropout", "", {}, ""}});

// "SUBJECT=VALUE" of each.
std::vector<std::string> Texts(const std::vector<Statement>& statements) {
  std::vector<std::string> texts;
  for (const Statement& statement : statements)
    texts.push_back(statement.subject + "=" + statement.value);
  return texts;
}

TEST(SubjectOf, IsOneWordForEachThing) {
  for (const char* name : {"--lr", "learning-rate", "learning_rate", "LR", "base_lr"}) {
    EXPECT_EQ(SubjectOf(name), "learning_rate") << name;
  }
  EXPECT_EQ(SubjectOf("per_device_train_batch_size"), "batch_size");
  EXPECT_EQ(SubjectOf("train_batch_size"), "global_batch_size");
  EXPECT_EQ(SubjectOf("Weight-Decay"), "weight_decay");
}

TEST(StatementsOfCommand, ReadsOptionsAndAssignments) {
  EXPECT_THAT(
      Texts(StatementsOfCommand({"env", "OMP_NUM_THREADS=4", "python3", "train.py", "--lr", "0.1",
                                 "--seed=7", "--fast", "--out", "x", "model.depth=3"})),
      ElementsAre("variable OMP_NUM_THREADS=4", "learning_rate=0.1", "seed=7", "out=x",
                  "model.depth=3"));
}

TEST(StatementsOfImage, ReadsVersionsButNoVendorsDates) {
  Image image;
  image.kind = ImageKind::kOci;
  image.repository = "pytorch/pytorch";
  image.tag = "2.1.0-cuda12.1-cudnn8-runtime";
  EXPECT_THAT(
      Texts(StatementsOfImage(image)),
      UnorderedElementsAre("version of torch=2.1.0", "version of cuda=12.1", "version of cudnn=8"));
  image.repository = "nvidia/pytorch";
  image.tag = "23.04-py3";
  EXPECT_THAT(StatementsOfImage(image), IsEmpty());
  image.repository = "team/train";
  image.tag = "py3.10-torch2.4.1";
  EXPECT_THAT(Texts(StatementsOfImage(image)),
              UnorderedElementsAre("version of python=3.10", "version of torch=2.4.1"));
}

TEST(StatementsOfInspection, ReadsVariablesAndNothingOfWhatIsNoAnswer) {
  const auto json = ParseJson(
      R"([{"Config": {"Env": ["PATH=/bin", "PYTORCH_VERSION=2.1.0", "OMP_NUM_THREADS=8", 3, "x"]}}])",
      "i");
  EXPECT_THAT(
      Texts(StatementsOfInspection(*json, "i.json")),
      ElementsAre("variable PATH=/bin", "version of torch=2.1.0", "variable OMP_NUM_THREADS=8"));
  for (const char* text : {"[]", "{}", "3", R"({"Config": []})", R"({"Config": {"Env": 3}})"}) {
    EXPECT_THAT(StatementsOfInspection(*ParseJson(text, "i"), "i"), IsEmpty()) << text;
  }
}

TEST(StatementsOfScript, ReadsLiteralSeedsAndConstants) {
  const auto statements = StatementsOfScript(
      "import torch\n"
      "torch.manual_seed(42)\n"
      "np.random.seed(args.seed)  # 5\n"
      "# random.seed(9)\n"
      "batch_size = 64\n"
      "lr = 0.1 if debug else 0.2\n"
      "epochs = 4 * 2\n"
      "    seed = 7\n"
      "dropout == 0.3\n"
      "reseed(8)\n",
      "train.py", kSubjects);
  EXPECT_THAT(Texts(statements), ElementsAre("seed=42", "batch_size=64"));
  EXPECT_EQ(statements[0].place, "train.py: line 2");
}

TEST(StatementsOfLog, ReadsSettingsAndLeavesOutWhatVaries) {
  const auto statements = StatementsOfLog(
      "PyTorch version: 2.1.0+cu121\n"
      "Namespace(batch_size=64, dropout=0.1, seed=7)\n"
      "{'world_size': 8, \"global_batch_size\": 512}\r\n"
      "step 1 lr=0.1 loss=3\nstep 2 lr=0.05 loss=2\n"
      "if seed == 9\n",
      "run.log", kSubjects);
  EXPECT_THAT(Texts(statements),
              UnorderedElementsAre("version of torch=2.1.0+cu121", "batch_size=64", "dropout=0.1",
                                   "seed=7", "devices=8", "global_batch_size=512"));
}

TEST(StatementsOfLog, ReadsMlperfEvents) {
  const auto statements = StatementsOfLog(
      ":::MLLOG {\"key\": \"seed\", \"value\": 123, \"metadata\": {}}\n"
      ":::MLLOG {\"key\": \"global_batch_size\", \"value\": 256}\n"
      ":::MLLOG {\"key\": \"opt_base_learning_rate\", \"value\": 0.0001}\n:::MLLOG {broken\n",
      "r.txt", kSubjects);
  EXPECT_THAT(Texts(statements),
              UnorderedElementsAre("seed=123", "global_batch_size=256", "learning_rate=0.0001"));
}

TEST(StatementsOfLog, EndsOnWhateverItIsGiven) {
  std::string noise;
  for (int i = 0; i < 200'000; ++i) noise += static_cast<char>((i * 7919) % 256);
  StatementsOfLog(noise, "n", kSubjects);
  StatementsOfScript(noise, "n", kSubjects);
  for (const char* text : {"seed", "seed:", "seed=", "seed='", "seed = \"", "torch v",
                           "torch==", "set_seed(", "set_seed(1", ":::MLLOG", "'"}) {
    EXPECT_THAT(StatementsOfLog(text, "n", kSubjects), IsEmpty()) << text;
    EXPECT_THAT(StatementsOfScript(text, "n", kSubjects), IsEmpty()) << text;
  }
}

TEST(StatementsOf, ReadsTheManifest) {
  Manifest manifest;
  manifest.hyperparameters["lr"] = Json(0.1);
  manifest.hyperparameters["layers"] = Json::MakeArray({1, 2});
  manifest.seeds["init"] = 7;
  manifest.environment.software["torch"] = "2.1.0";
  manifest.environment.variables["OMP_NUM_THREADS"] = "4";
  manifest.environment.variables["CUDA_VISIBLE_DEVICES"] = std::nullopt;
  manifest.environment.hardware.gpus.resize(8);
  manifest.curves.push_back({"loss", {10, 20, 30}, {3, 2, 1}});
  EXPECT_THAT(Texts(StatementsOf(manifest)),
              UnorderedElementsAre("learning_rate=0.1", "seed=7", "version of torch=2.1.0",
                                   "variable OMP_NUM_THREADS=4", "devices_per_node=8",
                                   "steps done=30 by 10"));
}

}  // namespace
}  // namespace rharness
