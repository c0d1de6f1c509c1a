// `rharness probe run --distribute` where Slurm's programs are scripts: what is refused, what is
// unusable, what never ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/environment.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ProbeDistribute : public testing::Test {
 protected:
  void SetUp() override {
    auto made = ScopedTempDir::Make("rharness-distribute-");
    ASSERT_TRUE(made.ok());
    folder_ = std::make_unique<ScopedTempDir>(std::move(*made));
    fs::create_directory(At("bin"));
    for (const char* program : {"sinfo", "sbatch", "squeue", "scancel"}) Script(program, "exit 0");
  }
  fs::path At(const std::string& name) const { return folder_->path() / name; }
  void Script(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(At("bin/" + name), "#!/bin/sh\n" + text + "\n").ok());
    fs::permissions(At("bin/" + name), fs::perms::owner_all);
  }
  ProcessResult Probe(const std::vector<std::string>& options) const {
    std::vector<std::string> argv = {
        RHARNESS_BIN_DIR "/rharness", "probe", "run", "--probe", "fp_scalar", "--out",
        At("fleet").string()};
    argv.insert(argv.end(), options.begin(), options.end());
    auto environment = ProcessEnvironment();
    environment["PATH"] = At("bin").string() + ":/usr/bin:/bin";
    return RunProcess({.argv = std::move(argv), .environment = std::move(environment)},
                      {.timeout = std::chrono::minutes(2)});
  }
  ProcessResult Distribute(std::vector<std::string> options = {}) const {
    options.insert(options.end(), {"--dispatch", "slurm", "--distribute"});
    return Probe(options);
  }

  std::unique_ptr<ScopedTempDir> folder_;
};

TEST_F(ProbeDistribute, TellsNodesWithOneReasonInOneLine) {
  Script("sinfo",
         "i=0\nwhile [ $i -lt 5000 ]; do i=$((i+1)); echo \"n$i|p*|down|(null)|no power\"; done\n"
         "echo 'x7|p*|drained|(null)|bad DIMM'");
  const ProcessResult swept = Distribute({"--json"});
  EXPECT_EQ(swept.outcome.exit_code, 4);
  EXPECT_EQ(std::ranges::count(swept.stderr_text, '\n'), 2) << swept.stderr_text.substr(0, 2000);
  EXPECT_THAT(swept.stderr_text, HasSubstr("] (5000 nodes): no fingerprint: down: no power\n"));
  EXPECT_THAT(swept.stderr_text, HasSubstr("x7: no fingerprint: drained: bad DIMM\n"));
  EXPECT_THAT(swept.stdout_text, HasSubstr("\"node\": \"n4711\"")) << "by node in JSON";
}

TEST_F(ProbeDistribute, TellsAHundredReasonsAndCountsTheRest) {
  Script("sinfo",
         "i=0\nwhile [ $i -lt 250 ]; do i=$((i+1)); echo \"n$i|p*|down|(null)|ticket $i\"; done");
  const ProcessResult swept = Distribute();
  EXPECT_EQ(std::ranges::count(swept.stderr_text, '\n'), 101);
  EXPECT_THAT(swept.stderr_text, HasSubstr("150 further nodes: no fingerprint, for 150 further"));
}

TEST_F(ProbeDistribute, TellsATroubleOfSlurmsAsOne) {
  Script("sinfo", "echo 'sinfo: error: Access/permission denied' >&2; exit 1");
  const ProcessResult refused = Distribute();
  EXPECT_EQ(refused.outcome.exit_code, 4);
  EXPECT_THAT(refused.stderr_text, HasSubstr("sinfo: Access/permission denied"));
  Script("sinfo", "echo 'what is this'");
  EXPECT_EQ(Distribute().outcome.exit_code, 4);
  EXPECT_FALSE(fs::exists(At("fleet")));
}

TEST_F(ProbeDistribute, EndsAProgramThatPrintsWithoutEnd) {
  Script("sinfo", "exec yes 'n1|p*|idle|(null)|none'");
  const auto began = std::chrono::steady_clock::now();
  const ProcessResult swept = Distribute();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));
  EXPECT_EQ(swept.outcome.exit_code, 4);
  EXPECT_THAT(swept.stderr_text, HasSubstr("sinfo: printed more than 64 MiB"));
}

TEST_F(ProbeDistribute, RefusesWhatGoesWithItAlone) {
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {"--wait", "60s"}, {"--sbatch=--partition=p"}, {"--json"}, {"--dispatch", "slurm"}}) {
    const ProcessResult refused = Probe(options);
    EXPECT_EQ(refused.outcome.exit_code, 2) << options[0];
    EXPECT_THAT(refused.stderr_text, HasSubstr("goes with --distribute")) << options[0];
  }
  EXPECT_FALSE(fs::exists(At("fleet")));
}

}  // namespace
}  // namespace rharness
