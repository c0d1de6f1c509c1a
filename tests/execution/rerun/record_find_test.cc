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
  for (const char* name : {"loss", "eval/loss", "val_perplexity", "test.rmse", "WER"}) {
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
