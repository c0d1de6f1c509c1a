// What a GPU stack is said to be: on the false machine, whose other libraries are this machine's.
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "probes/gpu/stack_libraries.h"
#include "probes/library/nvrtc.h"
#include "tests/gpu/test_probe.h"

namespace rharness {
namespace {

TEST(EnvIdentCuda, NamesDeviceSettingsTopologyAndVariables) {
  const ScopedVariable tf32("NVIDIA_TF32_OVERRIDE", "0"), algorithm("NCCL_ALGO", "Ring");
  const ProbeResult result = RunOnFakes("env_ident_cuda");
  ASSERT_EQ(result.status, ProbeStatus::kOk) << result.message;
  const Json& device = result.choices.at("device");
  EXPECT_EQ(device.Find("name")->AsString(), "Test GPU");
  EXPECT_EQ(device.Find("compute_capability")->AsString(), "9.0");
  EXPECT_EQ(device.Find("multiprocessors")->Dump(), "132");
  EXPECT_EQ(device.Find("memory_bytes")->Dump(), "150754820096");
  EXPECT_EQ(result.choices.at("settings").Find("ecc")->AsString(), "on");
  EXPECT_EQ(result.choices.at("topology").Find("pairs")->Dump(), R"({"0-1":"numa node, nvlink"})");
  EXPECT_EQ(result.choices.at("environment").Find("NCCL_ALGO")->AsString(), "Ring");
  EXPECT_EQ(result.choices.at("environment").Find("NVIDIA_TF32_OVERRIDE")->AsString(), "0");
  EXPECT_EQ(result.choices.at("CUDA driver").Find("version")->AsString(), "13.0");
  EXPECT_EQ(result.choices.at("NVML").Find("version")->AsString(), "13.580.65.06");
  EXPECT_TRUE(result.libraries.contains("libcuda.so.1"));
  EXPECT_TRUE(result.libraries.contains("libnvidia-ml.so.1"));
}

TEST(EnvIdentCuda, FailsWhenALibraryIsThereAndCannotBeLoaded) {
  auto folder = ScopedTempDir::Make();
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(WriteFileAtomic(folder->path() / "libcudnn.so.9", "no library").ok());
  const StackLibraries found = FindStackLibraries({folder->path()});
  ASSERT_EQ(found.broken.size(), 1u);
  EXPECT_TRUE(found.broken[0].starts_with("cuDNN: ")) << found.broken[0];
  EXPECT_NE(found.broken[0].find("libcudnn.so.9"), std::string::npos) << found.broken[0];
  EXPECT_FALSE(found.named.contains("cuDNN"));
}

TEST(StackLibraries, SayTheVersionsThatTheLibrariesSayThemselves) {
  const auto nvrtc = Nvrtc::Open({});
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().ToString();
  const StackLibraries found = FindStackLibraries({});
  EXPECT_TRUE(found.broken.empty()) << found.broken.front();
  ASSERT_TRUE(found.named.contains("NVRTC"));
  EXPECT_EQ(found.named.at("NVRTC").Find("version")->AsString(), (*nvrtc)->version());
  for (const char* name : {"CUDA runtime", "cuBLAS", "cuBLASLt", "cuDNN", "NCCL", "nvJitLink"}) {
    const auto library = found.named.find(name);
    if (library == found.named.end()) continue;
    EXPECT_FALSE(library->second.Find("version")->AsString().empty()) << name;
  }
}

TEST(NumericVariables, KeepWhatBearsOnArithmeticAndNoPlacesOrSecrets) {
  const char* const environment[] = {"NCCL_PROTO=LL",
                                     "NCCL_KEY=hidden",
                                     "CUBLAS_WORKSPACE_CONFIG=:16:8",
                                     "CUDNN_EXPERIMENTAL=1",
                                     "CUDA_FORCE_PTX_JIT=1",
                                     "CUDA_VISIBLE_DEVICES=GPU-1234",
                                     "CUDA_HOME=/opt/cuda",
                                     "NVIDIA_VISIBLE_DEVICES=all",
                                     "PATH=/usr/bin",
                                     "NCCL_WITHOUT_VALUE",
                                     "NCCL_EMPTY=",
                                     nullptr};
  EXPECT_EQ(NumericVariables(environment).Dump(),
            R"({"CUBLAS_WORKSPACE_CONFIG":":16:8","CUDA_FORCE_PTX_JIT":"1",)"
            R"("CUDNN_EXPERIMENTAL":"1","NCCL_EMPTY":"","NCCL_PROTO":"LL"})");
}

}  // namespace
}  // namespace rharness
