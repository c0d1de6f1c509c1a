// The templates of scenarios/ci, as the systems that they are for read them.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "harness/base/subprocess.h"

namespace rharness {
namespace {

TEST(CiTemplates, AreTakenByTheToolsOfTheirSystemsAndMistakesInThemAreNot) {
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(200);
  const ProcessResult result =
      RunProcess({.argv = {RHARNESS_SOURCE_DIR "/tests/scenarios/ci_templates.sh",
                           RHARNESS_BIN_DIR "/../ci-templates-venv"},
                  .environment = PickEnvironment({"PATH", "HOME", "TMPDIR"})},
                 limits);
  std::fputs(result.stdout_text.c_str(), stdout);
  EXPECT_TRUE(result.outcome.Succeeded()) << result.outcome.ToString() << "\n"
                                          << result.stdout_text << result.stderr_text;
  EXPECT_EQ(result.stdout_text.find("FAILED"), std::string::npos);
  EXPECT_NE(result.stdout_text.find("Jenkinsfile"), std::string::npos) << "it went to its end";
  if (result.stdout_text.find("ok ") == std::string::npos) {
    GTEST_SKIP() << "none of the tools is here";
  }
}

}  // namespace
}  // namespace rharness
