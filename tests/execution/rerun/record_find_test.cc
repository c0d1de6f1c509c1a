// What a name says: of a metric its direction, of a program its family.
#include "harness/execution/rerun/record_find.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harness/base/files.h"

namespace rharness {
namespace {

TEST(DirectionByName, IsThatOfTheWordsInIt) {
  for (const char* name : {"loss", "eval/loss", "val_perplexity", "test.rmse", "WER",
                           "valid_0-mlogloss", "gamma-nloglik"}) {
    EXPECT_EQ(DirectionByName(name), MetricDirection::kLower) << name;
  }
  for (const char* name : {"accuracy", "eval_accuracy", "val/f1", "mIoU", "bleu-4", "r2"}) {
    EXPECT_EQ(DirectionByName(name), MetricDirection::kHigher) << name;
  }
  for (const char* name : {"lr", "epoch", "glossary", "", "grad_norm"}) {
    EXPECT_EQ(DirectionByName(name), MetricDirection::kNotStated) << name;
  }
}

TEST(FamilyByName, IsThatOfTheProgramOrOfTheFolderOfACommonOne) {
  EXPECT_EQ(FamilyByName({"python3", "train.py"}, "projects/digits"), "digits");
  EXPECT_EQ(FamilyByName({"python3", "-u", "scripts/run_glue.py", "--lr", "1"}, "projects/a"),
            "run_glue");
  EXPECT_EQ(FamilyByName({"python3", "-m", "nanogpt", "x.py"}, "projects/a"), "nanogpt");
  EXPECT_EQ(FamilyByName({"bash", "-c", "cd b; python3 fit.py | tee log"}, "projects/a"), "fit");
  EXPECT_EQ(FamilyByName({"python3", "my fit.py"}, "projects/a"), "my fit");
  EXPECT_EQ(FamilyByName({"./fit"}, "projects/a"), "fit");
  EXPECT_EQ(FamilyByName({"train"}, "/"), "train");
}

// A rerun in a tree of its own must not run the code of the live one.
TEST(CommandOfTree, IsRelativeToTheRunsFolderBelowTheRootOfTheCode) {
  const auto kept = ScopedTempDir::Make("rharness-command-").value();
  const std::filesystem::path base = std::filesystem::weakly_canonical(kept.path());
  const auto write = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories((base / name).parent_path());
    EXPECT_TRUE(WriteFileAtomic(base / name, text).ok());
    return (base / name).string();
  };
  const std::string script = write("job/train.py", "");
  const std::string shell = write("job/go.sh", "#!/bin/sh\n");
  const std::string binary = write("job/train",
                                   "\x7f"
                                   "ELF");
  const std::string common = write("common/c.yaml", "");
  write("venv/pyvenv.cfg", "");
  const std::string python = write("venv/bin/python", "#!");
  std::filesystem::create_symlink("/etc/hostname", base / "job/link.py");
  const auto of = [&](const std::vector<std::string>& command) {
    return CommandOfTree(command, base / "job", "job");
  };
  const std::string out = base / "job/new/model";
  EXPECT_EQ(of({"python", script, "--config=" + common, "--out", out, base}),
            (std::vector<std::string>{"python", "train.py", "--config=../common/c.yaml", "--out",
                                      out, base}));
  EXPECT_EQ(of({shell}), (std::vector<std::string>{"./go.sh"}));
  for (const std::string& word : {binary, python, std::string("/bin/true")}) {
    EXPECT_EQ(of({word}), (std::vector<std::string>{word}));
  }
  const std::vector<std::string> others = {"cat", base / "job/link.py", base.string() + "2/a",
                                           "a=" + script, "/etc"};
  EXPECT_EQ(of(others), others);
}

TEST(FoundSeeds, MayBeLists) {
  RecordRequest request;
  request.find = true;
  request.command = {"train", "7"};
  Recording recording;
  recording.observation.emplace();
  recording.observation->seeds["numpy.random.seed"] = {"[7, 12345678901]"};
  const auto folder = ScopedTempDir::Make("rharness-seeds-").value();
  FindRandomness(request, folder.path(), &recording);
  EXPECT_EQ(recording.found.seeds,
            (std::map<std::string, std::int64_t>{{"numpy.random.seed", 7},
                                                 {"numpy.random.seed 2", 12345678901}}));
  EXPECT_TRUE(recording.found.rng_sources.empty());
  recording.found = {};
  recording.observation->seeds["numpy.random.seed"] = {"[7, x]"};
  FindRandomness(request, folder.path(), &recording);
  EXPECT_EQ(recording.found.rng_sources, (std::vector<std::string>{"numpy.random.seed"}));
}

TEST(ProposedMetric, IsMeasuredOnHeldOutDataAndAScoreBeforeALoss) {
  RecordRequest request;
  request.find = true;
  Recording recording;
  recording.metrics.metrics = {{"lr", 0.1},
                               {"train_loss", 2.0},
                               {"eval_loss", 3.0},
                               {"eval_accuracy", 0.75},
                               {"train_accuracy", 0.9}};
  ProposeMetrics(request, &recording);
  ASSERT_EQ(recording.found.metrics.size(), 1u);
  EXPECT_EQ(recording.found.metrics[0].name, "eval_accuracy");
  recording.found = {};
  recording.metrics.metrics.erase("eval_accuracy");
  ProposeMetrics(request, &recording);
  EXPECT_EQ(recording.found.metrics.at(0).name, "eval_loss");
  EXPECT_DOUBLE_EQ(recording.found.metrics.at(0).margin.value(), 0.03);
  recording.found = {};
  recording.metrics.metrics = {{"lr", 0.1}};
  ProposeMetrics(request, &recording);
  EXPECT_TRUE(recording.found.metrics.empty());
}

class FoundOutputs : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& content) const {
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / name, content).ok());
  }
  std::vector<std::string> Found() {
    std::vector<std::string> found;
    for (const Artifact& artifact : FindOutputs(folder_.path(), {}, &recording_)) {
      found.push_back(artifact.role + " " + artifact.path);
    }
    return found;
  }
  static std::string Array() {
    std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }";
    header.resize(117, ' ');
    return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n" + std::string(8, 'a');
  }
  Recording recording_;

 private:
  ScopedTempDir folder_ = ScopedTempDir::Make().value();
};

TEST_F(FoundOutputs, AreNotHiddenByOneThatCannotBeRead) {
  Write("model.npy", Array());
  Write("weights.bin", "junk");
  EXPECT_EQ(Found(), (std::vector<std::string>{"weights model.npy"}));
}

TEST_F(FoundOutputs, AreComparedByTheirBytesWhereNoneCanBeRead) {
  Write("weights.bin", "junk");
  Write("model.pkl", "junk");
  std::vector<std::string> found = Found();
  std::ranges::sort(found);
  EXPECT_EQ(found, (std::vector<std::string>{"other model.pkl", "other weights.bin"}));
}

TEST_F(FoundOutputs, HaveTheNamesOfAnyTextWhereTheyAreTrees) {
  Write("notes.txt", "tree of words");
  Write("model.json", R"({"learner": {"x": [1]}, "version": [2, 0, 0]})");
  EXPECT_EQ(Found(), (std::vector<std::string>{"other model.json"}));
}

}  // namespace
}  // namespace rharness
