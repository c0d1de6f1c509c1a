// A project of a program that `rharness record` runs without an option.
#ifndef RHARNESS_TESTS_CLI_RECORD_FINDS_H_
#define RHARNESS_TESTS_CLI_RECORD_FINDS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/admission.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

namespace fs = std::filesystem;

// Reads data.csv by a module of its own, draws with a seed, writes a log and an array by numpy's
// format with the standard library alone.
inline constexpr char kFoundProgram[] = R"py(import json, os, random, struct
import parts
random.seed(11)
data = parts.load("input/data.csv")
weights = [sum(data) + random.random() for _ in range(4)]
os.makedirs("out/checkpoints", exist_ok=True)
header = str({"descr": "<f8", "fortran_order": False, "shape": (4,)}).ljust(117) + "\n"
with open("out/model.npy", "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    f.write(struct.pack("<4d", *weights))
with open("out/log.jsonl", "w") as f:
    for step in range(3):
        f.write(json.dumps({"step": step, "val_accuracy": 0.5 + step / 10, "train_loss": 1.0}) + "\n")
)py";

class RecordFinds : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = ScopedTempDir::Make();
    ASSERT_TRUE(folder.ok());
    folder_ = std::make_unique<ScopedTempDir>(std::move(*folder));
    fs::create_directories(At("project/input"));
    Write("train.py", kFoundProgram);
    Write("parts.py", "def load(p):\n    return [float(x) for x in open(p).read().split(',')]\n");
    Write("input/data.csv", "1,2,3");
  }
  fs::path At(const std::string& name) const { return folder_->path() / name; }
  void Write(const std::string& name, const std::string& content) const {
    ASSERT_TRUE(WriteFileAtomic(At("project/" + name), content).ok());
  }
  ProcessResult Run(std::vector<std::string> argv) const {
    ProcessSpec spec;
    spec.argv = std::move(argv);
    spec.environment = PickEnvironment({"PATH", "HOME", "TMPDIR"});
    spec.working_directory = At("project");
    ProcessLimits limits;
    limits.timeout = std::chrono::seconds(120);
    return RunProcess(spec, limits);
  }
  ProcessResult Record(const std::vector<std::string>& options,
                       const std::vector<std::string>& command = {"/usr/bin/python3",
                                                                  "train.py"}) const {
    std::vector<std::string> argv = {RHARNESS_BIN_DIR "/rharness", "record"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.push_back("--");
    argv.insert(argv.end(), command.begin(), command.end());
    return Run(std::move(argv));
  }
  Manifest Recorded(const std::string& name = "runs/project-1.json") const {
    const auto manifest = LoadManifest(At("project/" + name));
    EXPECT_TRUE(manifest.ok()) << manifest.error().ToString();
    return manifest.ok() ? *manifest : Manifest();
  }
  static std::string GuessOf(const Manifest& manifest, std::string_view path) {
    if (!manifest.origin) return "";
    const auto& fields = manifest.origin->fields;
    const auto field = std::ranges::find(fields, path, &FieldOrigin::path);
    if (field == fields.end()) return "";
    EXPECT_EQ(field->grade, Grade::kHint);
    return field->from;
  }

 private:
  std::unique_ptr<ScopedTempDir> folder_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_CLI_RECORD_FINDS_H_
