// The GPUs by way of the library's own symbols, which fake_nvml.cc has under the same soname.
#include "harness/records/manifest/nvml.h"

#include <gtest/gtest.h>

namespace rharness {
namespace {

TEST(Nvml, ReadsDriverGpusAndLinks) {
  Hardware hardware;
  EXPECT_EQ(ReadGpus(&hardware), "13.0");
  EXPECT_EQ(hardware.gpu_driver, "580.65.06");
  ASSERT_EQ(hardware.gpus.size(), 2u);
  EXPECT_EQ(hardware.gpus[0].model, "NVIDIA H200");
  EXPECT_EQ(hardware.gpus[0].memory_bytes, 150754820096u);
  EXPECT_EQ(hardware.gpus[1].uuid, "GPU-1");
  EXPECT_EQ(hardware.interconnect, "nvlink");
  EXPECT_EQ(hardware.gpus[0].cores, 16896);
  EXPECT_EQ(hardware.gpus[0].compute_capability, "9.0");
  EXPECT_EQ(hardware.gpus[0].mig, "disabled");
  EXPECT_EQ(hardware.gpus[1].mig, "") << "not answered";
  EXPECT_EQ(hardware.gpus[0].compute_mode, "exclusive_process");
  EXPECT_EQ(hardware.gpus[0].bus_id, "0000:17:00.0");
  EXPECT_EQ(hardware.gpus[1].bus_id, "0000:e1:00.0");
}

TEST(Nvml, FindsTheSameInTheCapturedEnvironment) {
  const Environment environment = CaptureEnvironment();
  EXPECT_EQ(environment.software.at("cuda_driver"), "13.0");
  EXPECT_EQ(environment.hardware.gpus.size(), 2u);
}

}  // namespace
}  // namespace rharness
