// Files that the real torch and numpy wrote have the names, shapes and bytes that these two say.
#include "tests/compare/weights/python_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "compare/weights/side_files.h"
#include "tests/compare/weights/hdf5_files.h"
#include "tests/compare/weights/python_files_fixture.h"

namespace rharness {
namespace {

TEST_F(PythonFiles, OfTorchAreReadAsTorchSays) {
  if (!Run(kTorchProgram)) GTEST_SKIP() << "/usr/bin/python3 has no torch";
  CheckAll();
  CheckUnread();
  EXPECT_EQ(Rows("unread.txt").size(), 1u);
  const std::string digest = DigestOf(folder_ / "plain.pt");
  EXPECT_EQ(DigestOf(folder_ / "another name.pth"), digest);
  EXPECT_EQ(DigestOf(folder_ / "buffer.bin"), digest);
  const auto expected = Expected();
  EXPECT_EQ(DigestOf(Write(FileOf(expected.at("plain.pt")))), digest);
  const auto training = OpenCheckpoint(folder_ / "training.pt");
  ASSERT_TRUE(training.ok());
  const auto& metadata = (*training)->metadata();
  for (const auto& [key, value] :
       std::map<std::string, std::string>{{"epoch", "3"},
                                          {"best", "inf"},
                                          {"notes.1.0", "b"},
                                          {"notes.1.1", "None"},
                                          {"optimizer.param_groups.0.betas.0", "0.9"},
                                          {"scheduler.last_epoch", "1"}}) {
    EXPECT_NE(std::ranges::find(metadata, std::pair(key, value)), metadata.end()) << key;
  }
}

TEST_F(PythonFiles, OfNumpyAreReadAsNumpySays) {
  if (!Run(kNumpyProgram)) GTEST_SKIP() << "/usr/bin/python3 has no numpy";
  CheckAll();
  EXPECT_EQ(DigestOf(folder_ / "stored.npz"), DigestOf(folder_ / "deflated.npz"));
}

TEST_F(PythonFiles, OfH5pyAreReadAsH5pySays) {
  if (!Run(kHdf5Program)) GTEST_SKIP() << "/usr/bin/python3 has no h5py";
  CheckAll();
  EXPECT_EQ(DigestOf(folder_ / "model.keras"), DigestOf(folder_ / "model.weights.h5"));
}

TEST_F(PythonFiles, OfKerasDifferByTheirModelAndNotByWhenTheyWereSaved) {
  if (!Run(kHdf5Program)) GTEST_SKIP() << "/usr/bin/python3 has no h5py";
  const auto unread = [&](const char* name) {
    const auto checkpoint = OpenCheckpoint(folder_ / name);
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
    return (*checkpoint)->unread();
  };
  const auto model = unread("model.keras"), again = unread("again.keras");
  const auto wider = unread("wider.keras");
  ASSERT_EQ(model.size(), 2u);
  EXPECT_EQ(model[0].name, "config.json");
  EXPECT_EQ(model[0].kind, PartKind::kModel);
  EXPECT_EQ(model[1].kind, PartKind::kAside);
  for (const std::size_t part : {0, 1}) EXPECT_FALSE(*DifferenceOf(model[part], again[part]));
  ASSERT_TRUE(*DifferenceOf(model[0], wider[0]));
  EXPECT_NE((*DifferenceOf(model[0], wider[0]))->find("config"), std::string::npos);
}

// Every byte of a file that is small: none leads astray for ever or out of the file.
TEST_F(PythonFiles, OfOneKerasModelHaveOneDigestInBothLayouts) {
  if (!Run(kHdf5Program)) GTEST_SKIP() << "/usr/bin/python3 has no h5py";
  EXPECT_EQ(DigestOf(folder_ / "older.h5"), DigestOf(folder_ / "newer.weights.h5"));
  const auto older = OpenCheckpoint(folder_ / "older.h5");
  std::vector<std::string> names;
  for (const TensorInfo& info : (*older)->tensors()) names.push_back(info.name);
  EXPECT_EQ(
      names,
      (std::vector<std::string>{
          "bidirectional/backward_lstm/lstm_cell/0", "bidirectional/forward_lstm/lstm_cell/0",
          "bidirectional/forward_lstm/lstm_cell/1", "dense_1/0", "dense_1/1", "first/0", "first/1",
          "optimizer/0", "optimizer/1", "tower/dense/0", "tower/dense/1", "tower/dense_1/0"}));
  ASSERT_EQ((*older)->unread().size(), 2u);
  EXPECT_EQ((*older)->unread()[0].content, R"({"":{"keras_version":"3.15.1"}})");
  EXPECT_EQ((*older)->unread()[0].kind, PartKind::kAside);
  EXPECT_EQ((*older)->unread()[1].name, "model_config");
  EXPECT_EQ((*older)->unread()[1].kind, PartKind::kModel);
}

TEST_F(PythonFiles, OfH5pyMayBeDamagedAtAnyByte) {
  if (!Run(kHdf5Program)) GTEST_SKIP() << "/usr/bin/python3 has no h5py";
  for (const char* name : {"small.h5", "small_earliest.h5", "small_latest.h5"}) {
    std::ifstream stream(folder_ / name, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(stream), {});
    ASSERT_GT(bytes.size(), 500u);
    int refused = 0;
    const std::size_t step = 1 + bytes.size() / 3000 * 8;
    for (std::size_t i = 0; i < bytes.size(); i += step) {
      for (const char value : {'\0', '\xff', '\x01'}) {
        std::string damaged = bytes;
        damaged[i] = value;
        const auto checkpoint = OpenCheckpoint(Write(damaged, "damaged.h5"));
        if (!checkpoint.ok()) {
          ++refused;
          continue;
        }
        (void)DigestCheckpoint(**checkpoint, 1);  // compressed bytes may be refused as late as here
      }
      if (i % 16 == 0) (void)OpenCheckpoint(Write(bytes.substr(0, i), "short.h5"));
    }
    EXPECT_GT(refused, 40) << name;
  }
}

}  // namespace
}  // namespace rharness
