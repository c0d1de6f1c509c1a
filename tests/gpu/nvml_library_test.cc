// The wrapper of NVML, with false libraries: what is missing, what refuses, what is left out.
#include <gtest/gtest.h>

#include "probes/library/nvml.h"

namespace rharness {
namespace {

Result<std::shared_ptr<Nvml>> OpenFakeNvml(const std::string& kind) {
  return Nvml::Open({std::string(FAKE_CUDA_DIR) + "/" + kind});
}

TEST(Nvml, NamesTheFunctionThatTheLibraryLacks) {
  const auto nvml = OpenFakeNvml("incomplete");
  ASSERT_FALSE(nvml.ok());
  EXPECT_EQ(nvml.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(nvml.error().ToString(),
            "libnvidia-ml.so.1: the library lacks nvmlSystemGetNVMLVersion");
}

TEST(Nvml, IsNotFoundWithoutADriver) {
  const auto nvml = OpenFakeNvml("no_device");
  ASSERT_FALSE(nvml.ok());
  EXPECT_EQ(nvml.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(nvml.error().message, "nvmlInit_v2: Driver Not Loaded (9)");
}

TEST(Nvml, FailsWithItsOwnTextBesideAnotherDriver) {
  const auto nvml = OpenFakeNvml("broken");
  ASSERT_FALSE(nvml.ok());
  EXPECT_EQ(nvml.error().code, ErrorCode::kInternal);
  EXPECT_EQ(nvml.error().message, "nvmlInit_v2: Driver/library version mismatch (18)");
}

TEST(Nvml, LeavesOutWhatDeviceOrLibraryDoNotKnow) {
  const auto nvml = OpenFakeNvml("working");
  ASSERT_TRUE(nvml.ok()) << nvml.error().ToString();
  EXPECT_EQ((*nvml)->version(), "13.580.65.06");
  const auto settings = (*nvml)->DescribeSettings("00000000:1b:00.0");
  ASSERT_TRUE(settings.ok()) << settings.error().ToString();
  // MIG is refused, the default clock's function is missing, the memory's has no application clock.
  EXPECT_EQ(settings->Dump(),
            R"({"ecc":"on","persistence":"on","compute_mode":"exclusive process",)"
            R"("clocks_mhz":{"application":1500,"most":1980},"memory_clocks_mhz":{"most":3201}})");
  EXPECT_FALSE((*nvml)->DescribeSettings("00000000:ff:00.0").ok());
}

TEST(Nvml, TellsHowDevicesAreJoined) {
  const auto nvml = OpenFakeNvml("working");
  ASSERT_TRUE(nvml.ok()) << nvml.error().ToString();
  const auto topology = (*nvml)->DescribeTopology();
  ASSERT_TRUE(topology.ok()) << topology.error().ToString();
  EXPECT_EQ(topology->Dump(),
            R"({"gpus":[{"pcie_generation":5,"pcie_width":16,"nvlink_version":4,)"
            R"("nvlink_to":"switch","nvlinks":16},{"pcie_generation":5,"pcie_width":16,)"
            R"("nvlink_version":4,"nvlink_to":"switch","nvlinks":18}],)"
            R"("pairs":{"0-1":"numa node, nvlink"}})");
}

}  // namespace
}  // namespace rharness
