// digits_portable writes the same bytes on every CPU model, optimisation level and C library
// variant at hand, and it learns.
#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "tests/sanitized.h"
#include "tests/scenarios/run_program.h"

namespace rharness::scenarios {
namespace {

struct Outputs {
  std::string model;
  std::string metrics;
  bool operator==(const Outputs&) const = default;
};

// Runs `prefix` + the program; four epochs keep an emulated run short.
Outputs Train(std::vector<std::string> prefix, const std::string& program,
              const std::vector<std::string>& environment = {}) {
  const RunFolder folder;
  for (const std::string& word : {BuiltProgram(program), std::string("--data"), DigitsCsv(),
                                  std::string("--epochs"), std::string("4")}) {
    prefix.push_back(word);
  }
  EXPECT_TRUE(Succeeded(RunProgram(folder, prefix, environment))) << folder.Read("stderr");
  return Outputs{folder.Read("model.safetensors"), folder.Read("metrics.json")};
}

// What the program writes on this machine, once; never empty.
const Outputs& Native() {
  static const Outputs outputs = Train({}, "digits_portable");
  EXPECT_FALSE(outputs.model.empty());
  EXPECT_FALSE(outputs.metrics.empty());
  return outputs;
}

std::string Sha256(const std::string& bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  std::string text;
  for (const unsigned char byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

TEST(DigitsPortable, WritesTheSameBytesTwice) { EXPECT_EQ(Native(), Train({}, "digits_portable")); }

TEST(DigitsPortable, WritesTheSameBytesAtEveryOptimisationLevel) {
  EXPECT_EQ(Native(), Train({}, "digits_portable_o0"));
  EXPECT_EQ(Native(), Train({}, "digits_portable_o3"));
}

// Without FMA the C library's own exp and log choose other code and give other bits.
TEST(DigitsPortable, WritesTheSameBytesWhenTheCLibraryDoesWithoutFma) {
  EXPECT_EQ(Native(),
            Train({}, "digits_portable", {"GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F"}));
}

class EmulatedCpu : public testing::TestWithParam<const char*> {};

TEST_P(EmulatedCpu, WritesTheSameBytesAsTheRealOne) {
  if (kSanitized) GTEST_SKIP() << "the emulator has no room for a sanitizer's shadow memory";
  const std::string emulator = FindProgram("qemu-x86_64");
  if (emulator.empty()) GTEST_SKIP() << "qemu-x86_64 is not installed (package qemu-user)";
  EXPECT_EQ(Native(), Train({emulator, "-cpu", GetParam()}, "digits_portable"));
}
INSTANTIATE_TEST_SUITE_P(Models, EmulatedCpu, testing::Values("Nehalem", "max"),
                         [](const auto& info) { return std::string(info.param); });

// The digests were taken from builds by clang 14 at -O3 and run on an emulated Nehalem.
TEST(DigitsPortable, WritesTheBytesThatAnotherCompilerGave) {
  const RunFolder folder;
  ASSERT_TRUE(
      Succeeded(RunProgram(folder, {BuiltProgram("digits_portable"), "--data", DigitsCsv()})));
  EXPECT_EQ(Sha256(folder.Read("model.safetensors")),
            "b963ef0aad43b2b61dda3c72e1cb2d1045821b75bc4e44e3f843fc47088ac9ec");
  EXPECT_EQ(Sha256(folder.Read("metrics.json")),
            "e96f5b2a291bcac177c45be799c352de7291d8d4d327c2aca6cc0ece3b5146b1");
}

TEST(DigitsPortable, LearnsTheDigits) {
  const RunFolder folder;
  ASSERT_TRUE(
      Succeeded(RunProgram(folder, {BuiltProgram("digits_portable"), "--data", DigitsCsv()})));
  const std::string metrics = folder.Read("metrics.json");
  EXPECT_GT(MetricNamed(metrics, "test_accuracy"), 0.95);
  EXPECT_LT(MetricNamed(metrics, "test_loss"), 0.2);
  // A network that guesses has a loss of ln(10) = 2.30.
  EXPECT_LT(MetricNamed(Native().metrics, "train_loss"), 1.0);
  EXPECT_LT(MetricNamed(metrics, "train_loss"), MetricNamed(Native().metrics, "train_loss") / 2);
}

TEST(DigitsPortable, HasSeparateSeedsForWeightsAndOrder) {
  const auto model = [](const std::string& flag, const std::string& seed) {
    const RunFolder folder;
    EXPECT_TRUE(Succeeded(
        RunProgram(folder, {BuiltProgram("digits_portable"), "--data", DigitsCsv(), flag, seed})));
    return folder.Read("model.safetensors");
  };
  const std::string neither = model("--seed", "1");
  EXPECT_NE(model("--init-seed", "2"), neither);
  EXPECT_NE(model("--shuffle-seed", "2"), neither);
  EXPECT_NE(model("--init-seed", "2"), model("--shuffle-seed", "2"));
}

TEST(DigitsPortable, NamesFileAndLineOfBadData) {
  const RunFolder folder;
  std::ifstream digits(DigitsCsv());
  std::string line;
  std::getline(digits, line);
  const std::string csv = (folder.path() / "bad.csv").string();
  std::ofstream(csv) << line << "\n17" << line.substr(1) << "\n";
  const int status = RunProgram(folder, {BuiltProgram("digits_portable"), "--data", csv});
  EXPECT_EQ(status, 2 << 8) << "exit status 2";
  EXPECT_NE(folder.Read("stderr").find("bad.csv: line 2: field 1: expected a pixel"),
            std::string::npos)
      << folder.Read("stderr");
}

TEST(DigitsPortable, RefusesAFlagThatItDoesNotKnowAndAValueOutOfRange) {
  const RunFolder folder;
  const std::string program = BuiltProgram("digits_portable");
  EXPECT_EQ(RunProgram(folder, {program, "--data", DigitsCsv(), "--plan", "hang"}), 2 << 8);
  EXPECT_EQ(RunProgram(folder, {program, "--data", DigitsCsv(), "--plant", "hangs"}), 2 << 8);
  EXPECT_EQ(RunProgram(folder, {program, "--data", DigitsCsv(), "--lr", "nan"}), 2 << 8);
  EXPECT_EQ(RunProgram(folder, {program, "--data", DigitsCsv(), "--epochs", "0"}), 2 << 8);
  EXPECT_EQ(RunProgram(folder, {program, "--data", DigitsCsv(), "--seed"}), 2 << 8);
  EXPECT_EQ(RunProgram(folder, {program}), 2 << 8);
  EXPECT_EQ(folder.Read("model.safetensors"), "");
}

}  // namespace
}  // namespace rharness::scenarios
