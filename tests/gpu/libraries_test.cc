// The wrappers: what is missing is named, and errors carry the library's own words.
#include <gtest/gtest.h>

#include "probes/gpu/device.h"
#include "probes/gpu/probe_tools.h"
#include "probes/library/cuda_driver.h"
#include "probes/library/nvjitlink.h"
#include "probes/library/nvrtc.h"
#include "probes/probe.h"

namespace rharness {
namespace {

Result<std::shared_ptr<CudaDriver>> OpenFake(const std::string& kind) {
  return CudaDriver::Open({std::string(FAKE_CUDA_DIR) + "/" + kind});
}

TEST(CudaDriver, NamesTheFunctionThatTheLibraryLacks) {
  const auto driver = OpenFake("incomplete");
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(driver.error().ToString(), "libcuda.so.1: the library lacks cuLaunchKernel");
}

TEST(CudaDriver, IsNotFoundWhenThereIsNoDevice) {
  const auto driver = OpenFake("no_device");
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(driver.error().message,
            "cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected");
}

TEST(CudaDriver, FailsWithTheDriversOwnTextWhenItIsBroken) {
  const auto driver = OpenFake("broken");
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.error().code, ErrorCode::kInternal);
  EXPECT_EQ(driver.error().message, "cuInit: CUDA_ERROR_UNKNOWN: unknown error");
}

TEST(GpuProbes, AreAbsentWithoutADeviceAndFailWhenTheDriverIsBroken) {
  int seen = 0;
  for (const Probe& probe : Probes()) {
    if (probe.device != ProbeDevice::kGpu) continue;
    ++seen;
    ProbeContext context{.device = "cuda:0", .repeats = 1};
    context.library_paths = {std::string(FAKE_CUDA_DIR) + "/no_device"};
    const ProbeResult absent = probe.run(context);
    EXPECT_EQ(absent.status, ProbeStatus::kAbsent) << probe.name << ": " << absent.message;
    EXPECT_NE(absent.message.find("CUDA_ERROR_NO_DEVICE"), std::string::npos) << probe.name;
    context.library_paths = {std::string(FAKE_CUDA_DIR) + "/broken"};
    const ProbeResult failed = probe.run(context);
    EXPECT_EQ(failed.status, ProbeStatus::kFailed) << probe.name << ": " << failed.message;
  }
  EXPECT_GE(seen, 16);
}

TEST(GpuProbes, AreAbsentWithoutADriver) {
  if (Library::Open({"libcuda.so.1"}, {}).ok()) GTEST_SKIP() << "this machine has a driver";
  for (const Probe& probe : Probes()) {
    if (probe.device != ProbeDevice::kGpu) continue;
    const ProbeResult result = probe.run({.device = "cuda:0", .repeats = 1});
    EXPECT_EQ(result.status, ProbeStatus::kAbsent) << probe.name << ": " << result.message;
    EXPECT_NE(result.message.find("libcuda.so.1"), std::string::npos) << result.message;
  }
}

TEST(Device, ReadsTheNumberOfADevice) {
  EXPECT_EQ(*DeviceOrdinal("cuda"), 0);
  EXPECT_EQ(*DeviceOrdinal("cuda:12"), 12);
  for (const char* wrong :
       {"cpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "", "cuda:99999999999"}) {
    ASSERT_FALSE(DeviceOrdinal(wrong).ok()) << wrong;
    EXPECT_EQ(DeviceOrdinal(wrong).error().code, ErrorCode::kInvalidInput);
  }
}

TEST(Nvrtc, GivesTheCompilersLogForBrokenSource) {
  const auto nvrtc = Nvrtc::Open({});
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().ToString();
  const auto ptx = (*nvrtc)->Compile("__global__ void k() { nonsense; }", "k", {});
  ASSERT_FALSE(ptx.ok());
  EXPECT_NE(ptx.error().message.find("NVRTC_ERROR_COMPILATION"), std::string::npos)
      << ptx.error().message;
  EXPECT_NE(ptx.error().message.find("nonsense"), std::string::npos) << ptx.error().message;
}

TEST(NvJitLink, GivesTheLinkersLogForBrokenPtx) {
  const auto linker = NvJitLink::Open({});
  if (!linker.ok()) GTEST_SKIP() << linker.error().ToString();
  const auto cubin = (*linker)->Link(".version 7.0\n.target sm_80\n.address_size 64\nnonsense;\n",
                                     "k", {"-arch=sm_90"});
  ASSERT_FALSE(cubin.ok());
  EXPECT_NE(cubin.error().message.find("NVJITLINK_ERROR_PTX_COMPILE"), std::string::npos)
      << cubin.error().message;
  EXPECT_NE(cubin.error().message.find("nonsense"), std::string::npos) << cubin.error().message;
}

}  // namespace
}  // namespace rharness
