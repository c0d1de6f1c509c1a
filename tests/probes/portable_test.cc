// Which C library rharness-probe needs: how that is worked out when it is built, what the program
// says of it, and whether the portable build runs with an older one.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/environment.h"

namespace rharness {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

constexpr char kProgram[] = RHARNESS_BIN_DIR "/rharness-probe";
const fs::path kPortableBuild = fs::path(RHARNESS_SOURCE_DIR) / "build-portable";

ProcessResult RunCommand(std::vector<std::string> argv) {
  return RunProcess({.argv = std::move(argv), .environment = ProcessEnvironment()});
}

// What glibc_floor.cmake says of a listing with these versions, in readelf's words.
ProcessResult FloorOf(const std::vector<std::string>& versions, const std::string& most = "") {
  std::string listing =
      "Version needs section '.gnu.version_r' contains 2 entries:\n"
      " Addr: 0x0000000000001f68  Offset: 0x00001f68  Link: 7 (.dynstr)\n"
      "  000000: Version: 1  File: libc.so.6  Cnt: 9\n";
  for (const std::string& version : versions) {
    listing += fmt::format("  0x0010:   Name: {}  Flags: none  Version: 11\n", version);
  }
  const ScopedTempDir folder = ScopedTempDir::Make("floor-").value();
  const fs::path file = folder.path() / "listing";
  EXPECT_TRUE(WriteFileAtomic(file, listing).ok());
  return RunCommand({RHARNESS_CMAKE, "-DLISTING=" + file.string(), "-DMOST=" + most, "-P",
                     RHARNESS_SOURCE_DIR "/probes/glibc_floor.cmake"});
}

TEST(GlibcFloor, IsTheNewestVersionAskedForByNumbersNotByLetters) {
  const ProcessResult result =
      FloorOf({"GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.9", "GLIBCXX_3.4.30", "GCC_4.2.0"});
  EXPECT_EQ(result.outcome.exit_code, 0);
  EXPECT_EQ(result.stderr_text, "needs glibc 2.17 or newer\n");
  EXPECT_EQ(FloorOf({"GLIBC_2.2.5", "GLIBC_2.3.4", "GLIBC_2.3"}).stderr_text,
            "needs glibc 2.3.4 or newer\n");
}

TEST(GlibcFloor, IsTheReleaseThatBroughtPackedRelocations) {
  EXPECT_EQ(FloorOf({"GLIBC_2.34", "GLIBC_ABI_DT_RELR"}).stderr_text,
            "needs glibc 2.36 or newer\n");
}

TEST(GlibcFloor, IsAnErrorAboveWhatWasPromised) {
  EXPECT_EQ(FloorOf({"GLIBC_2.31"}, "2.31").outcome.exit_code, 0);
  const ProcessResult result = FloorOf({"GLIBC_2.4", "GLIBC_2.32"}, "2.31");
  EXPECT_NE(result.outcome.exit_code, 0);
  EXPECT_THAT(result.stderr_text, HasSubstr("needs glibc 2.32 or newer"));
  EXPECT_THAT(result.stderr_text, testing::ContainsRegex("at most[ \n]+2\\.31"));  // CMake folds
}

TEST(GlibcFloor, IsNotGuessed) {
  EXPECT_NE(FloorOf({}).outcome.exit_code, 0);
  EXPECT_NE(FloorOf({"GLIBCXX_3.4"}).outcome.exit_code, 0);
  const ProcessResult result = FloorOf({"GLIBC_2.4", "GLIBC_PRIVATE"});
  EXPECT_NE(result.outcome.exit_code, 0);
  EXPECT_THAT(result.stderr_text, HasSubstr("GLIBC_PRIVATE"));
}

// N of the newest GLIBC_2.N among the dynamic symbols of a program; 0 where readelf is missing.
int NewestOfSymbols(const fs::path& program) {
  const ProcessResult listed = RunCommand({"readelf", "--dyn-syms", "--wide", program});
  const std::string_view text = listed.stdout_text;
  constexpr std::string_view kBefore = "@GLIBC_2.";
  int newest = 0;
  for (std::size_t at = text.find(kBefore); at != text.npos; at = text.find(kBefore, at)) {
    at += kBefore.size();
    int minor = 0;
    std::from_chars(text.data() + at, text.data() + text.size(), minor);
    newest = std::max(newest, minor);
  }
  return newest;
}

TEST(ProbeProgram, SaysWhichGlibcItsSymbolsNeed) {
  const int newest = NewestOfSymbols(kProgram);
  if (newest == 0) GTEST_SKIP() << "no readelf here that lists the symbols of " << kProgram;
  EXPECT_THAT(RunCommand({kProgram, "--version"}).stdout_text,
              EndsWith(fmt::format("\nneeds glibc 2.{} or newer\n", newest)));
}

class PortableProbe : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(program_)) {
      GTEST_SKIP() << "no " << program_ << "; ./dev probe-portable makes it";
    }
  }
  const fs::path program_ = kPortableBuild / "bin" / "rharness-probe";
};

TEST_F(PortableProbe, NeedsNoNewerGlibcThanDebian11Has) {
  const int newest = NewestOfSymbols(program_);
  if (newest == 0) GTEST_SKIP() << "no readelf here that lists the symbols of " << program_;
  EXPECT_LE(newest, 31);
  EXPECT_THAT(RunCommand({program_, "--version"}).stdout_text,
              EndsWith(fmt::format("\nneeds glibc 2.{} or newer\n", newest)));
}

// Started by the older loader itself. A whole run would start this machine's loader for its
// children: those of tests/cli that have an image do that.
TEST_F(PortableProbe, ComputesWithTheOlderLibrary) {
  const fs::path libraries = kPortableBuild / "sysroot/lib/x86_64-linux-gnu";
  const fs::path loader = libraries / "ld-2.31.so";
  if (!fs::exists(loader)) GTEST_SKIP() << "no " << loader << " to start it by";
  const auto one = [&](const std::string& probe) {
    const ProcessResult result =
        RunCommand({loader, "--library-path", libraries, program_, "--one", probe});
    EXPECT_EQ(result.outcome.exit_code, 0) << result.outcome.ToString() << result.stderr_text;
    const Result<Json> json = ParseJson(result.stdout_text, "stdout");
    return json.ok() ? json->Find("status")->AsString() : json.error().ToString();
  };
  EXPECT_EQ(one("env_ident"), "ok");
  EXPECT_EQ(one("math_bits"), "ok");
  EXPECT_EQ(one("omp_reduce_tree"), "ok");
  const ProcessResult wrong =
      RunCommand({loader, "--library-path", libraries, program_, "run", "--device", "tpu"});
  EXPECT_EQ(wrong.outcome.exit_code, 2) << wrong.stderr_text;
}

}  // namespace
}  // namespace rharness
