// The tour of the README through the real programs: what it promises, and that it notices when
// rharness is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "reports/model.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Tour : public testing::Test {
 protected:
  Tour() : folder_(*ScopedTempDir::Make("rharness-tour-")) {
    for (const char* program : {"rharness", "digits_portable", "digits_blas"}) {
      const fs::path built = fs::path(RHARNESS_BIN_DIR) / program;
      if (fs::exists(built)) Link(built, program);
    }
  }

  fs::path At(const std::string& name) const { return folder_.path() / name; }
  // The programs as the tour sees them.
  void Link(const fs::path& built, const std::string& program) const {
    fs::create_directories(At("programs"));
    fs::remove(At("programs") / program);
    fs::create_symlink(built, At("programs") / program);
  }
  void Script(const std::string& program, const std::string& text) const {
    fs::remove(At("programs") / program);
    ASSERT_TRUE(WriteFileAtomic(At("programs") / program, "#!/bin/sh\n" + text + "\n").ok());
    fs::permissions(At("programs") / program, fs::perms::owner_all);
  }
  ProcessResult Take() const {
    ProcessSpec spec{
        .argv = {RHARNESS_SOURCE_DIR "/scenarios/tour.sh", "--bin", "programs", "--out", "tour"},
        .environment = PickEnvironment({"PATH", "TMPDIR"}),
        .working_directory = folder_.path()};
    // What a shell may have set, and must lead nowhere.
    spec.environment["RHARNESS_HISTORY"] = "elsewhere.db";
    spec.environment["OPENBLAS_CORETYPE"] = "Prescott";
    ProcessLimits limits;
    limits.timeout = std::chrono::seconds(100);
    return RunProcess(spec, limits);
  }
  Report StoredReport() const {
    const auto json = ReadJsonFile(At("tour/drill/report.json"));
    EXPECT_TRUE(json.ok()) << json.error().ToString();
    auto report = json.ok() ? ParseReport(*json, "report.json") : Result<Report>(json.error());
    return report.ok() ? std::move(*report) : Report();
  }

  ScopedTempDir folder_;
};

TEST_F(Tour, CatchesEveryPlantedFaultInOneDrillWithFourVerdicts) {
  const ProcessResult tour = Take();
  ASSERT_EQ(tour.outcome.exit_code, 0) << tour.stdout_text << tour.stderr_text;
  EXPECT_THAT(tour.stdout_text, Not(HasSubstr("WRONG")));
  for (const char* planted :
       {"one pixel of the data changed, in digits_portable-04\n       not_comparable: ",
        "a seed that is not passed on, in digits_portable-02\n       drifted: ",
        "one weight moved by one unit in the last place, in digits_portable-03\n       drifted: ",
        "nothing, in digits_portable-01\n       identical: "}) {
    EXPECT_THAT(tour.stdout_text, HasSubstr(planted));
  }
  EXPECT_THAT(tour.stdout_text, HasSubstr("page: " + At("tour/drill/report.html").string()));
  EXPECT_TRUE(fs::exists(At("tour/drill/report.html")));
  const Report report = StoredReport();
  EXPECT_GE(report.counts.at("identical"), 1);
  EXPECT_EQ(report.counts.at("not_comparable"), 1);
  const bool blas = fs::exists(At("programs/digits_blas"));
  EXPECT_EQ(report.counts.at("drifted"), blas ? 3 : 2);
  if (tour.stderr_text.find("leaving out the BLAS kernel") == std::string::npos) {
    EXPECT_EQ(report.counts.at("equivalent"), 13);
  }
  EXPECT_EQ(Take().outcome.exit_code, 0) << "it may be taken again";
}

// A trainer that ignores the fault: the rerun is identical, and the tour must not call that right.
TEST_F(Tour, FailsWhereAFaultGotAnotherVerdict) {
  Script("digits_portable", "[ \"$6\" != flip-bit ] || exec " RHARNESS_BIN_DIR
                            "/digits_portable \"$1\" \"$2\" \"$3\" \"$4\"\n"
                            "exec " RHARNESS_BIN_DIR "/digits_portable \"$@\"");
  const ProcessResult tour = Take();
  EXPECT_EQ(tour.outcome.exit_code, 1) << tour.stdout_text << tour.stderr_text;
  EXPECT_THAT(tour.stdout_text, HasSubstr("WRONG  one weight moved by one unit in the last place"));
  EXPECT_THAT(tour.stdout_text,
              HasSubstr("digits_portable-03 must be drifted (determinism_violation) and is "
                        "identical (bit_equal)"));
  EXPECT_THAT(tour.stderr_text, HasSubstr("rharness was wrong about 1 of them"));
}

TEST_F(Tour, SaysThatItGoesWithoutABlas) {
  fs::remove(At("programs/digits_blas"));
  const ProcessResult tour = Take();
  EXPECT_EQ(tour.outcome.exit_code, 0) << tour.stdout_text << tour.stderr_text;
  EXPECT_THAT(tour.stderr_text,
              HasSubstr("leaving out the BLAS kernel: digits_blas was not built"));
  EXPECT_THAT(tour.stdout_text, HasSubstr("one pixel of the data changed"));
  EXPECT_THAT(tour.stdout_text, Not(HasSubstr("digits_blas")));
}

TEST_F(Tour, TakesAnotherKernelThanTheMachinesOwn) {
  const auto cpu = ReadFile("/proc/cpuinfo");
  if (!fs::exists(At("programs/digits_blas")) || !cpu.ok() ||
      cpu->find(" avx2 ") == std::string::npos) {
    GTEST_SKIP() << "no digits_blas, or a CPU without the Haswell kernels";
  }
  Script("digits_blas",
         "export OPENBLAS_CORETYPE=${OPENBLAS_CORETYPE:-Haswell}\n"
         "exec " RHARNESS_BIN_DIR "/digits_blas \"$@\"");
  const ProcessResult tour = Take();
  EXPECT_EQ(tour.outcome.exit_code, 0) << tour.stdout_text << tour.stderr_text;
  EXPECT_THAT(tour.stdout_text, HasSubstr("another BLAS kernel, Sandybridge, in 13 runs"));
}

TEST_F(Tour, SaysThatThereIsNoOtherKernel) {
  if (!fs::exists(At("programs/digits_blas"))) GTEST_SKIP() << "digits_blas was not built";
  Script("digits_blas",
         "export OPENBLAS_CORETYPE=Prescott\n"
         "exec " RHARNESS_BIN_DIR "/digits_blas \"$@\"");
  const ProcessResult tour = Take();
  EXPECT_EQ(tour.outcome.exit_code, 0) << tour.stdout_text << tour.stderr_text;
  EXPECT_THAT(tour.stderr_text, HasSubstr("leaving out the BLAS kernel: every other one"));
  EXPECT_THAT(tour.stdout_text, HasSubstr("a hundredth of the learning rate"));
  EXPECT_THAT(tour.stdout_text, Not(HasSubstr("another BLAS kernel")));
}

TEST_F(Tour, LeavesAFolderOfOthersAlone) {
  ASSERT_TRUE(WriteFileAtomic(At("tour/thesis.txt"), "mine").ok());
  const ProcessResult tour = Take();
  EXPECT_EQ(tour.outcome.exit_code, 4);
  EXPECT_THAT(tour.stderr_text, HasSubstr("holds files that are no tour's"));
  EXPECT_TRUE(fs::exists(At("tour/thesis.txt")));
}

}  // namespace
}  // namespace rharness
