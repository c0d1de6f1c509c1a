// `rharness probe knobs`: variables that a run declares, and what of them this stack heeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/environment.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// With a probe of products that takes little.
ProcessResult Knobs(std::vector<std::string> arguments, const char* probe = "gemm_bits") {
  arguments.insert(arguments.begin(), {RHARNESS_BIN_DIR "/rharness", "probe", "knobs", "--probe",
                                       probe, "--repeat", "1", "--processes", "1"});
  return RunProcess({.argv = std::move(arguments), .environment = ProcessEnvironment()});
}

// OpenBLAS for a Nehalem fuses no product and no sum, which every newer CPU's kernels do.
TEST(ProbeKnobs, TellWhatActsFromWhatNothingHeeds) {
  const ProcessResult result =
      Knobs({"--variable", "OPENBLAS_CORETYPE=Nehalem", "--variable", "MKL_CBWR=COMPATIBLE",
             "--variable", "CUBLAS_WORKSPACE_CONFIG=:4096:8", "--variable", "TF_OP=1"});
  if (result.outcome.exit_code == 3) GTEST_SKIP() << "no OpenBLAS here: " << result.stdout_text;
  EXPECT_EQ(result.outcome.exit_code, 1) << result.stderr_text;
  EXPECT_THAT(result.stdout_text,
              HasSubstr("acts   OPENBLAS_CORETYPE=Nehalem: of 1 probes 1 answers otherwise without "
                        "it: gemm_bits\n"));
  EXPECT_THAT(result.stdout_text,
              HasSubstr("inert  MKL_CBWR=COMPATIBLE: 1 probes answer as they do with it\n"));
  EXPECT_THAT(result.stdout_text, HasSubstr("open   CUBLAS_WORKSPACE_CONFIG=:4096:8: what reads it "
                                            "computes on a GPU"));
  EXPECT_THAT(result.stdout_text, HasSubstr("open   TF_OP=1: no probe is known to ask"));
}

TEST(ProbeKnobs, AreTheDeclaredOnesOfARun) {
  const ScopedTempDir folder = ScopedTempDir::Make("knobs-").value();
  Manifest manifest;
  manifest.run_id = "one";
  manifest.family = "f";
  manifest.command = {"true"};
  manifest.environment.variables = {{"OMP_SCHEDULE", "static"},
                                    {"OMP_NUM_THREADS", std::nullopt},
                                    {"HOME", "/root"},
                                    {"NCCL_TOKEN", "withheld:redacted"}};
  const std::string file = folder.path() / "run.json";
  ASSERT_TRUE(WriteJsonFile(file, ToJson(manifest)).ok());
  const ProcessResult result = Knobs({"--json", file}, "convert_bits");
  EXPECT_EQ(result.outcome.exit_code, 1) << result.stderr_text;
  EXPECT_THAT(result.stdout_text,
              AllOf(HasSubstr("\"schema\": \"rharness.knobs/v1\""),
                    HasSubstr("\"name\": \"OMP_SCHEDULE\""), HasSubstr("\"state\": \"inert\""),
                    Not(HasSubstr("HOME")), Not(HasSubstr("NCCL")), Not(HasSubstr("NUM_THREADS"))));
}

TEST(ProbeKnobs, NeedSomethingToAskAndAProgramThatAnswers) {
  const ProcessResult nothing = Knobs({});
  EXPECT_EQ(nothing.outcome.exit_code, 2);
  EXPECT_THAT(nothing.stderr_text, HasSubstr("declares no variable of a numeric library"));
  EXPECT_EQ(Knobs({"--variable", "OMP_SCHEDULE"}).outcome.exit_code, 2);
  const ProcessResult silent =
      Knobs({"--variable", "OMP_SCHEDULE=static", "--program", "/bin/true"});
  EXPECT_EQ(silent.outcome.exit_code, 4);
  EXPECT_THAT(silent.stderr_text, HasSubstr("wrote no fingerprint"));
  const ProcessResult failing =
      Knobs({"--variable", "OMP_SCHEDULE=static", "--program", "/bin/false"});
  EXPECT_EQ(failing.outcome.exit_code, 4);
}

}  // namespace
}  // namespace rharness
