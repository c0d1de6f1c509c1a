// What of a machine with GPUs is a fingerprint's stack, and what only its context.
#include "probes/stack.h"

#include <gtest/gtest.h>

namespace rharness {
namespace {

Environment MachineWithGpus() {
  Environment environment;
  environment.software = {{"cuda_driver", "13.0"}, {"glibc", "2.36"}};
  environment.hardware.gpu_driver = "580.65.06";
  environment.hardware.gpus = {{"NVIDIA H200", 150754820096, "GPU-1111"},
                               {"NVIDIA H200", 150754820096, "GPU-2222"}};
  environment.variables = {{"NCCL_ALGO", "Ring"}, {"CUDA_HOME", std::nullopt}, {"HOME", "/root"}};
  return environment;
}

TEST(Stack, NamesDriversAndModelsOfGpus) {
  const Json stack = DescribeStack(MachineWithGpus(), "cuda:0", {});
  EXPECT_EQ(stack.Find("device")->AsString(), "cuda:0");
  EXPECT_EQ(stack.Find("gpu_driver")->AsString(), "580.65.06");
  EXPECT_EQ(stack.Find("cuda_driver")->AsString(), "13.0");
  EXPECT_EQ(stack.Find("gpus")->Dump(), R"([{"model":"NVIDIA H200","memory_bytes":150754820096},)"
                                        R"({"model":"NVIDIA H200","memory_bytes":150754820096}])");
  EXPECT_EQ(stack.Find("environment")->Dump(), R"({"NCCL_ALGO":"Ring"})");
}

TEST(Stack, KeepsWhatOnlyNamesOneMachineInTheContext) {
  const Environment environment = MachineWithGpus();
  EXPECT_EQ(DescribeStack(environment, "cuda:0", {}).Dump().find("GPU-1111"), std::string::npos);
  EXPECT_EQ(CaptureContext(environment).Find("gpus")->Dump(), R"(["GPU-1111","GPU-2222"])");
}

}  // namespace
}  // namespace rharness
