// The dashboards, held to the models that Grafana publishes of them (grafana-foundation-sdk).
//
// RHARNESS_PEERS names the folder that `./dev peers` made; without it this test says so and is
// skipped.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/insight/objectives/dashboards.h"

namespace rharness {
namespace {

TEST(DashboardsBesideGrafana, HoldNothingThatItsModelsDoNotKnow) {
  const char* peers = std::getenv("RHARNESS_PEERS");
  if (peers == nullptr) {
    GTEST_SKIP() << "./dev peers installs grafana-foundation-sdk; set RHARNESS_PEERS to its folder";
  }
  const ScopedTempDir folder = std::move(*ScopedTempDir::Make());
  ProcessSpec spec;
  spec.argv = {std::filesystem::path(peers) / "venv/bin/python",
               RHARNESS_SOURCE_DIR "/tests/insight/objectives/grafana_models.py"};
  for (const DashboardFile& file : Dashboards("/var/lib/grafana/dashboards")) {
    if (!file.name.ends_with(".json")) continue;
    spec.argv.push_back(folder.path() / file.name);
    ASSERT_TRUE(WriteFileAtomic(spec.argv.back(), file.text).ok());
  }
  ASSERT_EQ(spec.argv.size(), 5U);
  ProcessLimits limits;
  limits.timeout = std::chrono::minutes(2);
  const ProcessResult result = RunProcess(spec, limits);
  EXPECT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
  EXPECT_EQ(result.stdout_text, "");
}

}  // namespace
}  // namespace rharness
