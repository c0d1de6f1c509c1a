// Files that the real torch and numpy wrote have the names, shapes and bytes that these two say.
#include "tests/compare/weights/python_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "compare/weights/side_files.h"
#include "compare/weights/tensor_digest.h"
#include "harness/base/subprocess.h"
#include "tests/compare/weights/hdf5_files.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

class PythonFiles : public CheckpointFiles {
 protected:
  // Runs the program in the test's folder; false, with the reason printed, when Python or the
  // library is not there.
  bool Run(std::string_view program) {
    const std::filesystem::path script = Write(program, "program.py");
    folder_ = script.parent_path();
    ProcessSpec spec;
    spec.argv = {"/usr/bin/python3", script.string(), folder_.string()};
    spec.environment = PickEnvironment({"PATH", "HOME", "LD_LIBRARY_PATH"});
    const ProcessResult result = RunProcess(spec, {.timeout = std::chrono::seconds(100)});
    EXPECT_TRUE(result.outcome.Succeeded() || result.outcome.exit_code == 77 ||
                result.outcome.kind == OutcomeKind::kNotStarted)
        << result.outcome.ToString() << "\n"
        << result.stderr_text;
    return result.outcome.Succeeded();
  }

  std::vector<std::vector<std::string>> Rows(const std::string& name) {
    std::vector<std::vector<std::string>> rows;
    std::ifstream lines(folder_ / name);
    for (std::string line; std::getline(lines, line);) {
      std::vector<std::string> fields;
      std::istringstream stream(line);
      for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
      rows.push_back(fields);
    }
    return rows;
  }

  // What Python says each file holds.
  std::map<std::string, std::vector<TestTensor>> Expected() {
    std::map<std::string, std::vector<TestTensor>> files;
    for (const auto& row : Rows("expected.txt")) {
      auto& tensors = files[row.at(0)];
      std::ifstream bytes(folder_ / (row[0] + "." + std::to_string(tensors.size()) + ".bin"),
                          std::ios::binary);
      tensors.push_back({row.at(1), row.at(2), row.at(3),
                         std::string(std::istreambuf_iterator<char>(bytes), {})});
    }
    return files;
  }

  void CheckFile(const std::string& name, std::vector<TestTensor> expected) {
    const auto checkpoint = OpenCheckpoint(folder_ / name);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
    std::ranges::sort(expected, {}, &TestTensor::name);
    ASSERT_EQ((*checkpoint)->tensors().size(), expected.size()) << name;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const TensorInfo& info = (*checkpoint)->tensors()[i];
      std::string shape = "[";
      for (const std::uint64_t size : info.shape) {
        shape += (shape.size() > 1 ? "," : "") + std::to_string(size);
      }
      EXPECT_EQ(info.name, expected[i].name) << name;
      EXPECT_EQ(DTypeName(info.dtype), expected[i].dtype) << name << " " << info.name;
      EXPECT_EQ(shape + "]", expected[i].shape) << name << " " << info.name;
      EXPECT_TRUE(ReadAll(**checkpoint, i) == expected[i].bytes) << name << " " << info.name;
    }
  }

  void CheckAll() {
    const auto files = Expected();
    ASSERT_FALSE(files.empty());
    for (const auto& [name, tensors] : files) CheckFile(name, tensors);
    for (const auto& row : Rows("refused.txt")) {
      const auto checkpoint = OpenCheckpoint(folder_ / row.at(0));
      ASSERT_FALSE(checkpoint.ok()) << row[0];
      EXPECT_EQ(checkpoint.error().code, ErrorCode::kUnsupported) << row[0];
      EXPECT_NE(checkpoint.error().ToString().find(row.at(1)), std::string::npos)
          << checkpoint.error().ToString();
    }
  }

  void CheckUnread() {
    for (const auto& row : Rows("unread.txt")) {
      const auto checkpoint = OpenCheckpoint(folder_ / row.at(0));
      ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
      ASSERT_EQ((*checkpoint)->unread().size(), 1u) << row[0];
      EXPECT_NE((*checkpoint)->unread()[0].why.find(row.at(1)), std::string::npos)
          << (*checkpoint)->unread()[0].why;
    }
  }

  std::string DigestOf(const std::filesystem::path& path) {
    const auto checkpoint = OpenCheckpoint(path);
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
    return DigestCheckpoint(**checkpoint)->sha256;
  }

  std::filesystem::path folder_;
};

TEST_F(PythonFiles, OfTorchAreReadAsTorchSays) {
  if (!Run(kTorchProgram)) GTEST_SKIP() << "/usr/bin/python3 has no torch";
  CheckAll();
  CheckUnread();
  EXPECT_EQ(Rows("unread.txt").size(), 3u);
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
TEST_F(PythonFiles, OfH5pyMayBeDamagedAtAnyByte) {
  if (!Run(kHdf5Program)) GTEST_SKIP() << "/usr/bin/python3 has no h5py";
  std::ifstream stream(folder_ / "small.h5", std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(stream), {});
  ASSERT_GT(bytes.size(), 500u);
  int refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const char value : {'\0', '\xff', '\x01'}) {
      std::string damaged = bytes;
      damaged[i] = value;
      const auto checkpoint = OpenCheckpoint(Write(damaged, "damaged.h5"));
      if (!checkpoint.ok()) {
        ++refused;
        continue;
      }
      for (std::size_t t = 0; t < (*checkpoint)->tensors().size(); ++t) ReadAll(**checkpoint, t);
    }
    if (i % 16 == 0) (void)OpenCheckpoint(Write(bytes.substr(0, i), "short.h5"));
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace rharness
