// CUB's probes as far as they go without a device: what the runtime inside says of no driver and of
// an old one, and that the program starts without any.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "harness/base/json.h"
#include "harness/base/subprocess.h"
#include "probes/gpu/cub_launch.h"
#include "probes/library/loader.h"

namespace rharness {
namespace {

// The loader finds the false driver; the runtime inside looks nowhere else.
ProcessResult RunWithDriver(const std::string& kind, const std::vector<std::string>& arguments) {
  ProcessSpec spec;
  spec.argv = {std::string(RHARNESS_BIN_DIR) + "/rharness-probe"};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.environment = {{"PATH", "/usr/bin:/bin"}};
  if (!kind.empty()) spec.environment["LD_LIBRARY_PATH"] = std::string(FAKE_CUDA_DIR) + "/" + kind;
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(60);
  Result<ProcessResult> result = RunProcess(spec, limits);
  return result.ok() ? *result : ProcessResult{.stderr_text = result.error().ToString()};
}

std::string MessageOf(const std::string& probe, const std::string& kind, std::string* status) {
  const ProcessResult process = RunWithDriver(kind, {"--one", probe, "--device", "cuda:0"});
  const Result<Json> json = ParseJson(process.stdout_text, "result");
  if (!json.ok()) return json.error().ToString() + process.stderr_text;
  *status = json->Find("status")->AsString();
  return json->Find("message")->AsString();
}

TEST(CubProbes, FailWithTheRuntimesOwnTextOnADriverOfAnOlderMajorVersion) {
  for (const char* probe : {"cub_reduce_tree_cuda", "scan_bits_cuda"}) {
    std::string status;
    const std::string message = MessageOf(probe, "old", &status);
    EXPECT_EQ(status, "failed") << message;
    EXPECT_NE(message.find("this one is of 12.4"), std::string::npos) << message;
    EXPECT_NE(message.find("cudaSetDevice: cudaErrorInsufficientDriver: CUDA driver version is "
                           "insufficient for CUDA runtime version"),
              std::string::npos)
        << message;
  }
}

TEST(FatbinForceJit, SaysThatTheDriverIsTooOldForTheToolkitsMachineCode) {
  std::string status;
  const std::string message = MessageOf("fatbin_force_jit", "old", &status);
  EXPECT_EQ(status, "failed") << message;
  EXPECT_TRUE(message.starts_with("machine code: machine code of CUDA ")) << message;
  EXPECT_TRUE(message.ends_with("this one is of 12.4")) << message;
}

TEST(OtherGpuProbes, AreNotStoppedByTheRuntimeOnAnOldDriver) {
  std::string status;
  // The false driver goes no further than the first module, which is past every version's check.
  const std::string message = MessageOf("own_reduce_tree_cuda", "old", &status);
  EXPECT_EQ(message, "libcuda.so.1: cuModuleLoadDataEx: CUDA_ERROR_UNKNOWN: unknown error");
}

TEST(ProbeProgram, ListsAndRunsProbesOfTheCpuWithTheRuntimeInsideAndABrokenDriverOrNone) {
  for (const char* driver : {"", "broken", "no_device", "incomplete"}) {
    const ProcessResult list = RunWithDriver(driver, {"list"});
    EXPECT_EQ(list.outcome.kind, OutcomeKind::kExited) << list.stderr_text;
    EXPECT_EQ(list.outcome.exit_code, 0) << list.stderr_text;
    EXPECT_NE(list.stdout_text.find("\ncub_reduce_tree_cuda "), std::string::npos);
    EXPECT_NE(list.stdout_text.find("\nscan_bits_cuda "), std::string::npos);
    const ProcessResult run =
        RunWithDriver(driver, {"run", "--device", "cpu", "--probe", "scan_bits", "-q"});
    EXPECT_EQ(run.outcome.exit_code, 0) << run.stderr_text;
    const Result<Json> json = ParseJson(run.stdout_text, "fingerprint");
    ASSERT_TRUE(json.ok()) << json.error().ToString();
    EXPECT_EQ(json->Find("probes")->AsArray()[0].Find("status")->AsString(), "ok");
  }
}

TEST(ProbeProgram, NeedsNoLibraryOfCuda) {
  const ProcessResult readelf = [] {
    ProcessSpec spec;
    spec.argv = {"readelf", "-d", std::string(RHARNESS_BIN_DIR) + "/rharness-probe"};
    spec.environment = {{"PATH", "/usr/bin:/bin"}};
    Result<ProcessResult> result = RunProcess(spec, {});
    return result.ok() ? *result : ProcessResult{};
  }();
  if (readelf.stdout_text.empty()) GTEST_SKIP() << "no readelf here";
  EXPECT_NE(readelf.stdout_text.find("libc.so"), std::string::npos);
  EXPECT_EQ(readelf.stdout_text.find("libcuda"), std::string::npos) << readelf.stdout_text;
}

TEST(Cub, StartsNotWithoutADriver) {
  if (Library::Open({"libcuda.so.1"}, {}).ok()) GTEST_SKIP() << "this machine has a driver";
  const Status old = StartCub(0, 12040);
  ASSERT_FALSE(old.ok());
  EXPECT_EQ(old.error().code, ErrorCode::kUnsupported);
  const Status same = StartCub(0, CubRuntimeVersion());
  ASSERT_FALSE(same.ok());
  EXPECT_EQ(same.error().code, ErrorCode::kInternal);
  EXPECT_TRUE(same.error().message.starts_with("cudaSetDevice: cudaError")) << same.error().message;
}

TEST(Cub, OffersEveryOrderFromCccl31On) {
  EXPECT_TRUE(CubOffers(CubOrder::kRunToRun));
  int major = 0, minor = 0;
  ASSERT_EQ(std::sscanf(CcclVersion().c_str(), "%d.%d.", &major, &minor), 2) << CcclVersion();
  const bool newer = major > 3 || (major == 3 && minor >= 1);
  EXPECT_EQ(CubOffers(CubOrder::kNotGuaranteed), newer);
  EXPECT_EQ(CubOffers(CubOrder::kGpuToGpu), newer);
  EXPECT_EQ(CubOrderName(CubOrder::kGpuToGpu), "gpu_to_gpu");
}

}  // namespace
}  // namespace rharness
