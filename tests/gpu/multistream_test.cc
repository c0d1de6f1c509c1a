// gemm_multistream against a cuBLAS that races where the real one may.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "probes/probe.h"

namespace rharness {
namespace {

ProbeResult RunOnFake() {
  const auto at = std::ranges::find(Probes(), "gemm_multistream", &Probe::name);
  ProbeContext context{.device = "cuda:0", .repeats = 2};
  context.library_paths = {std::string(FAKE_CUDA_DIR) + "/blas"};
  return at->run(context);
}

TEST(GemmMultistream, SeesTheRaceOfEachSettingAndTheEnvironmentStaysAsItWas) {
  // What a user has set is not what "no setting" asks.
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8", 1);
  const ProbeResult result = RunOnFake();
  EXPECT_STREQ(std::getenv("CUBLAS_WORKSPACE_CONFIG"), ":16:8");
  ::unsetenv("CUBLAS_WORKSPACE_CONFIG");
  ASSERT_EQ(result.status, ProbeStatus::kOk) << result.message;
  const auto sets = [&](const std::string& name) {
    const auto choice = result.choices.find(name);
    return choice == result.choices.end() ? "" : choice->second.Find("equal_products")->AsString();
  };
  EXPECT_EQ(sets("no setting, one workspace"),
            "0-2 4-6 8-10 12-14 16-18 20-22 24-26 28-30 | 3 7 11 15 19 23 27 31");
  EXPECT_EQ(result.counts.at("distinct results, no setting, one workspace"), 2U);
  EXPECT_EQ(result.unstable, std::vector<std::string>{"no setting, one workspace"});
  for (const char* name :
       {"no setting, a workspace a stream", ":4096:8, one workspace",
        ":4096:8, a workspace a stream", ":16:8, one workspace", ":16:8, a workspace a stream"}) {
    EXPECT_EQ(sets(name), "0-31") << name;
    EXPECT_EQ(result.bits.at(name), result.bits.at("no setting, one workspace")) << name;
  }
}

}  // namespace
}  // namespace rharness
