// Checkpoints that the real flax, Orbax, TensorFlow and Keras wrote have the names, shapes and
// bytes that these say, and one digest in each of their formats.
//
// RHARNESS_PEERS names the folder that `./dev peers` made; without it these tests say so and are
// skipped.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "tests/compare/weights/framework_files.h"
#include "tests/compare/weights/model_files.h"
#include "tests/compare/weights/python_files.h"
#include "tests/compare/weights/python_files_fixture.h"

namespace rharness {
namespace {

class FrameworkFiles : public PythonFiles {
 protected:
  void SetUp() override {
    PythonFiles::SetUp();
    const char* folder = std::getenv("RHARNESS_PEERS");
    if (folder == nullptr) {
      GTEST_SKIP() << "./dev peers installs the frameworks; set RHARNESS_PEERS to their folder";
    }
    python_ = std::string(folder) + "/venv/bin/python";
  }

  // Some tensors of files that have more.
  void CheckSome() {
    std::map<std::string, std::size_t> counts;
    for (const auto& row : Rows("some.txt")) {
      const auto checkpoint = OpenCheckpoint(folder_ / row.at(0));
      ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
      const auto tensor = std::ranges::find((*checkpoint)->tensors(), row.at(1), &TensorInfo::name);
      ASSERT_NE(tensor, (*checkpoint)->tensors().end()) << row[0] << " " << row[1];
      const auto number = std::to_string(counts[row[0]]++);
      std::ifstream bytes(folder_ / (row[0] + ".some." + number + ".bin"), std::ios::binary);
      EXPECT_TRUE(ReadAll(**checkpoint,
                          static_cast<std::size_t>(tensor - (*checkpoint)->tensors().begin())) ==
                  std::string(std::istreambuf_iterator<char>(bytes), {}))
          << row[0] << " " << row[1];
    }
    EXPECT_FALSE(counts.empty());
  }

  void CheckEqual(std::size_t rows) {
    EXPECT_EQ(Rows("equal.txt").size(), rows);
    for (const auto& row : Rows("equal.txt")) {
      for (const std::string& name : row) {
        EXPECT_EQ(DigestOf(folder_ / name), DigestOf(folder_ / row[0])) << name;
      }
    }
  }

  std::string python_;
};

TEST_F(FrameworkFiles, OfFlaxAndOrbaxAreReadAsJaxSays) {
  if (!Run(std::string(kExpectProgram) + std::string(kOrbaxProgram), python_)) {
    GTEST_SKIP() << "RHARNESS_PEERS has no flax or Orbax";
  }
  CheckAll();
  CheckEqual(3);
}

TEST_F(FrameworkFiles, OfTorchAreReadAsTorchSays) {
  if (!Run(kTorchProgram, python_)) GTEST_SKIP() << "RHARNESS_PEERS has no torch";
  CheckAll();
  CheckUnread();
}

TEST_F(FrameworkFiles, OfScikitLearnAreReadAsNumpySays) {
  if (!Run(std::string(kExpectProgram) + std::string(kSklearnProgram), python_)) {
    GTEST_SKIP() << "RHARNESS_PEERS has no scikit-learn or joblib";
  }
  CheckAll();
  CheckEqual(2);
  CheckSome();
}

TEST_F(FrameworkFiles, OfXgboostAndLightgbmAreReadAsTheySay) {
  if (!Run(std::string(kExpectProgram) + std::string(kTreesProgram), python_)) {
    GTEST_SKIP() << "RHARNESS_PEERS has neither XGBoost nor LightGBM";
  }
  CheckSome();
  CheckEqual(Rows("equal.txt").size());
}

TEST_F(FrameworkFiles, OfOnnxAreReadAsOnnxSays) {
  if (!Run(std::string(kExpectProgram) + std::string(kOnnxProgram), python_)) {
    GTEST_SKIP() << "RHARNESS_PEERS has no onnx";
  }
  CheckAll();
  CheckEqual(1);
}

TEST_F(FrameworkFiles, OfTensorFlowAndKerasAreReadAsTheySay) {
  if (!Run(std::string(kExpectProgram) + std::string(kTensorFlowProgram), python_)) {
    GTEST_SKIP() << "RHARNESS_PEERS has no TensorFlow";
  }
  CheckAll();
  CheckEqual(1);
  // The state file of the folder names the last of its checkpoints.
  const auto latest = OpenCheckpoint(folder_ / "saved");
  ASSERT_TRUE(latest.ok()) << latest.error().ToString();
  const auto step = std::ranges::find((*latest)->tensors(), "step", &TensorInfo::name);
  ASSERT_NE(step, (*latest)->tensors().end());
  EXPECT_EQ(ReadAll(**latest, static_cast<std::size_t>(step - (*latest)->tensors().begin())),
            BytesOf(std::vector<std::int64_t>{6}));
  std::set<std::string> names;
  const auto model = OpenCheckpoint(folder_ / "model.keras");
  ASSERT_TRUE(model.ok()) << model.error().ToString();
  for (const TensorInfo& info : (*model)->tensors()) names.insert(info.name);
  for (const char* name :
       {"block_2/0", "dense_1/1", "dense_2/0", "tower/dense/0", "tower/dense_1/1",
        "batch_normalization/3", "bidirectional/forward_lstm/lstm_cell/2", "optimizer/0"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  // Before version 3 an archive had no name for a layer within a layer, and so one digest less.
  const bool has_names = Rows("equal.txt").at(0).size() == 3;
  EXPECT_EQ(names.contains("bidirectional/forward_lstm/lstm_cell/2"), has_names);
}

}  // namespace
}  // namespace rharness
