// A folder of checkpoints that a Python program wrote, and what it says they hold.
//
// Role: the fixture of the tests that compare readers with real libraries (python_files.h).
#ifndef RHARNESS_TESTS_COMPARE_WEIGHTS_PYTHON_FILES_FIXTURE_H_
#define RHARNESS_TESTS_COMPARE_WEIGHTS_PYTHON_FILES_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "compare/weights/tensor_digest.h"
#include "harness/base/subprocess.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {

class PythonFiles : public CheckpointFiles {
 protected:
  // Runs the program in the test's folder; false, with the reason printed, when Python or the
  // library is not there.
  bool Run(std::string_view program, std::string python = "/usr/bin/python3") {
    const std::filesystem::path script = Write(program, "program.py");
    folder_ = script.parent_path();
    ProcessSpec spec;
    spec.argv = {std::move(python), script.string(), folder_.string()};
    spec.environment = PickEnvironment({"PATH", "HOME", "LD_LIBRARY_PATH"});
    const ProcessResult result = RunProcess(spec, {.timeout = std::chrono::seconds(200)});
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
      std::string file = row[0];
      std::ranges::replace(file, '/', '_');
      std::ifstream bytes(folder_ / (file + "." + std::to_string(tensors.size()) + ".bin"),
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

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_WEIGHTS_PYTHON_FILES_FIXTURE_H_
