// scenarios/record_gpu.sh and bundle_gpu.sh where there is no GPU: a step that fails is written
// down, and the probes' step works on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/scenarios/run_program.h"

namespace rharness::scenarios {
namespace {

TEST(RecordGpu, EndsWithOneLineAndStatusThreeWhereThereIsNoGpu) {
  if (std::filesystem::exists("/dev/nvidia0")) GTEST_SKIP() << "this machine has a GPU";
  const std::string script = std::string(RHARNESS_SOURCE_DIR) + "/scenarios/record_gpu.sh";
  const std::string bash = FindProgram("bash");
  if (bash.empty()) GTEST_SKIP() << "bash is not installed";
  const RunFolder folder;
  const std::string out = (folder.path() / "gpu").string();
  EXPECT_EQ(RunProgram(folder, {bash, script, "--out", out}), 3 << 8);
  const std::string message = folder.Read("stderr");
  EXPECT_NE(message.find("no GPU is visible here"), std::string::npos) << message;
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 1);
  EXPECT_FALSE(std::filesystem::exists(out));
  EXPECT_EQ(RunProgram(folder, {bash, script, "--frobnicate"}), 2 << 8);
}

void WriteProgram(const std::filesystem::path& path, const std::string& line) {
  std::ofstream(path) << "#!/bin/sh\n" << line << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

// A machine with nvidia-smi, and programs that all fail.
std::filesystem::path MakeFalsePrograms(const RunFolder& folder) {
  const std::filesystem::path bin = folder.path() / "bin";
  std::filesystem::create_directory(bin);
  WriteProgram(bin / "nvidia-smi", "echo 'GPU 0: a false one'");
  for (const char* name : {"rharness", "rharness-more", "rharness-probe", "digits_cnn_cuda"}) {
    WriteProgram(bin / name, "exit 1");
  }
  std::filesystem::create_directory(bin / "observe");
  WriteProgram(bin / "observe/rharness-look", "exit 1");
  return bin;
}

TEST(RecordGpu, TakesWhatBundleGpuPackedAndLeavesOneArchive) {
  const std::string bash = FindProgram("bash"), tar = FindProgram("tar");
  if (bash.empty() || tar.empty() || FindProgram("timeout").empty()) {
    GTEST_SKIP() << "no bash, tar or timeout";
  }
  const RunFolder folder;
  const std::filesystem::path bin = MakeFalsePrograms(folder);
  // One that needs a library beside glibc, as bash does.
  std::filesystem::copy_file(bash, bin / "rharness",
                             std::filesystem::copy_options::overwrite_existing);
  const std::string root = RHARNESS_SOURCE_DIR, bundle = (folder.path() / "b.tar.gz").string();
  ASSERT_EQ(RunProgram(folder, {bash, root + "/scenarios/bundle_gpu.sh", "--bin", bin.string(),
                                "--out", bundle}),
            0)
      << folder.Read("stderr");
  ASSERT_EQ(RunProgram(folder, {tar, "-C", folder.path().string(), "-xzf", bundle}), 0);
  const std::filesystem::path packed = folder.path() / "rharness-gpu";
  std::string libraries;
  for (const auto& entry : std::filesystem::directory_iterator(packed / "build/bin/lib")) {
    libraries += entry.path().filename().string() + " ";
  }
  EXPECT_NE(libraries.find("libtinfo.so"), std::string::npos) << libraries;
  EXPECT_EQ(libraries.find("libc.so"), std::string::npos) << libraries;
  EXPECT_EQ(libraries.find("ld-linux"), std::string::npos) << libraries;
  EXPECT_TRUE(std::filesystem::exists(packed / "build/bin/observe/rharness-look"));
  EXPECT_EQ(std::filesystem::read_symlink(packed / "build/bin/rharness"), "rharness-more");
  // Of the repository the commit, where it could be packed, and the folders that are run.
  EXPECT_TRUE(std::filesystem::exists(packed / "scenarios/digits_cnn_cuda"));
  EXPECT_FALSE(std::filesystem::exists(packed / "harness"));
  EXPECT_FALSE(std::filesystem::exists(packed / "scenarios/digits_torch/history"));
  const std::string archive = (folder.path() / "out/a.tar.gz").string();
  EXPECT_EQ(RunProgram(folder,
                       {bash, (packed / "scenarios/record_gpu.sh").string(), "--out",
                        (folder.path() / "gpu").string(), "--only", "machine,timings", "--archive",
                        archive},
                       {"PATH=" + bin.string() + ":" + getenv("PATH")}),
            1 << 8)
      << folder.Read("stderr");
  ASSERT_EQ(RunProgram(folder, {tar, "-tzf", archive}), 0);
  const std::string names = folder.Read("stdout");
  for (const char* name : {"gpu/summary.md\n", "gpu/machine.txt\n", "gpu/timings.md\n"}) {
    EXPECT_NE(names.find(name), std::string::npos) << names;
  }
  EXPECT_EQ(names.find("gpu/tree/"), std::string::npos);
  const std::string summary = folder.Read("gpu/summary.md");
  EXPECT_NE(summary.find("## machine: done"), std::string::npos) << summary;
  EXPECT_NE(summary.find("## timings: FAILED"), std::string::npos) << summary;
  EXPECT_NE(summary.find("## record: not run"), std::string::npos) << summary;
}

TEST(RecordGpu, WritesDownEveryStepThatFailsAndGoesOnInThreeCalls) {
  const std::string bash = FindProgram("bash");
  if (bash.empty() || FindProgram("timeout").empty()) GTEST_SKIP() << "no bash or no timeout";
  const RunFolder folder;
  const std::filesystem::path bin = MakeFalsePrograms(folder);
  const auto run = [&](const std::string& option, const std::string& value) {
    return RunProgram(folder,
                      {bash, std::string(RHARNESS_SOURCE_DIR) + "/scenarios/record_gpu.sh", "--out",
                       (folder.path() / "gpu").string(), "--bin", bin.string(), option, value},
                      {"PATH=" + bin.string() + ":" + getenv("PATH")});
  };
  EXPECT_EQ(run("--call", "1"), 1 << 8) << folder.Read("stderr");
  EXPECT_NE(folder.Read("gpu/summary.md").find("## record: not run"), std::string::npos);
  for (const char* call : {"2", "3"}) EXPECT_EQ(run("--call", call), 1 << 8);
  const std::string summary = folder.Read("gpu/summary.md");
  for (const char* line :
       {"## machine: done", "## agreement: FAILED", "## record: FAILED", "## drill: FAILED",
        "## switches: FAILED", "## timings: FAILED", "## probes: FAILED", "## loaded: FAILED",
        "## versions: ", "## sanitizers: ", "## torch: "}) {
    EXPECT_NE(summary.find(line), std::string::npos) << line << " in\n" << summary;
  }
  EXPECT_EQ(summary.find(": not run"), std::string::npos) << summary;
  EXPECT_EQ(run("--call", "4"), 2 << 8);
  EXPECT_EQ(run("--only", "no"), 2 << 8);
}

// On the CPU's probes: each alone in the first call, all in one process in the third.
TEST(RecordGpu, AsksEachProbeAloneAndThenAllByOneProcess) {
  const std::string bash = FindProgram("bash");
  if (bash.empty() || FindProgram("timeout").empty()) GTEST_SKIP() << "no bash or no timeout";
  const RunFolder folder;
  const std::filesystem::path bin = MakeFalsePrograms(folder);
  const std::string script = std::string(RHARNESS_SOURCE_DIR) + "/scenarios/record_gpu.sh";
  const std::filesystem::path built = std::filesystem::path(BuiltProgram("rharness")).parent_path();
  RunProgram(folder,
             {bash, script, "--out", (folder.path() / "gpu").string(), "--bin", built.string(),
              "--device", "cpu", "--only", "own,probes", "--budget", "60"},
             {"PATH=" + bin.string() + ":" + getenv("PATH")});
  const std::string summary = folder.Read("gpu/summary.md");
  EXPECT_NE(summary.find("- fp_scalar: ok\n"), std::string::npos) << summary;
  const std::size_t at = summary.find("- all: exit code ");
  ASSERT_NE(at, std::string::npos) << summary << folder.Read("stderr");
  const std::string line = summary.substr(at, summary.find('\n', at) - at);
  EXPECT_NE(line.find(" ok"), std::string::npos) << summary;
  EXPECT_NE(summary.find(" probes show what they showed alone, 0 changed"), std::string::npos)
      << summary;
}

}  // namespace
}  // namespace rharness::scenarios
