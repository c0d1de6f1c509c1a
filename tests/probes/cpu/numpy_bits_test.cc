// NumPy's loops, by a Python that is made up and by the machine's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/base/files.h"
#include "tests/probes/cpu/probe_cases.h"

namespace rharness {
namespace {

using ::testing::HasSubstr;

ProbeResult AskNumpy(const std::string& python) {
  for (const Probe& probe : Probes()) {
    if (probe.name == "numpy_bits") return probe.run({.repeats = 2, .python = python});
  }
  return FailedProbe("no such probe");
}

std::string MakePython(const ScopedTempDir& folder, const std::string& body) {
  const std::filesystem::path path = folder.path() / "python";
  EXPECT_TRUE(WriteFileAtomic(path, "#!/bin/sh\n" + body).ok());
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path.string();
}

TEST(NumpyBits, IsAbsentWithoutAPythonOrItsNumPy) {
  EXPECT_EQ(AskNumpy("").status, ProbeStatus::kAbsent);
  const ScopedTempDir folder = *ScopedTempDir::Make("numpy-");
  const std::string bare =
      MakePython(folder, "echo \"ModuleNotFoundError: No module named 'numpy'\" >&2; exit 1");
  EXPECT_EQ(AskNumpy(bare).status, ProbeStatus::kAbsent);
  EXPECT_EQ(AskNumpy("/no/such/python").status, ProbeStatus::kFailed);
}

TEST(NumpyBits, ReadsWhatThePythonAnswers) {
  const ScopedTempDir folder = *ScopedTempDir::Make("numpy-");
  const std::string digest(64, 'a');
  const ProbeResult result = AskNumpy(MakePython(
      folder,
      "test \"$1\" = -c && test \"$3\" = 2 || exit 3\n"
      "echo '{\"version\": \"9.9\", \"file\": \"/umath.so\", \"unstable\": [\"fp32 exp\"], "
      "\"bits\": {\"fp32 exp\": \"" +
          digest +
          "\"}, "
          "\"choices\": {\"fp32 exp\": {\"target\": \"X86_V3\"}}}'"));
  ASSERT_EQ(result.status, ProbeStatus::kOk) << result.message;
  EXPECT_EQ(result.bits.at("fp32 exp"), digest);
  EXPECT_EQ(result.choices.at("fp32 exp").Dump(), R"({"target":"X86_V3"})");
  EXPECT_EQ(result.libraries.at("numpy").Find("version")->AsString(), "9.9");
  EXPECT_EQ(result.unstable.size(), 1U);
  EXPECT_EQ(AskNumpy(MakePython(folder, "echo '{}'")).status, ProbeStatus::kFailed);
}

TEST(NumpyBits, SeesThisMachinesNumPyTwiceAlike) {
  const ProbeResult first = AskNumpy("python3");
  if (first.status == ProbeStatus::kAbsent) GTEST_SKIP() << first.message;
  if (first.message.find("cannot execute") != std::string::npos) GTEST_SKIP() << first.message;
  ASSERT_EQ(first.status, ProbeStatus::kOk) << first.message;
  EXPECT_GE(first.bits.size(), 70U);
  EXPECT_TRUE(first.unstable.empty());
  EXPECT_TRUE(first.choices.contains("dispatch"));
  EXPECT_EQ(AskNumpy("python3").bits, first.bits);
}

}  // namespace
}  // namespace rharness
