// The described devices as env_ident_cuda finds them, and NVML's own refusals.
#include "probes/library/nvml.h"
#include "tests/gpu/emulator/libraries/checked.h"

namespace rharness {
namespace {

TEST(EmulatedNvml, DescribesTheDevicesThatTheDriverHas) {
  const ProbeResult result = ExpectOk("env_ident_cuda", {{"EMULATED_DEVICES", "2"}});
  EXPECT_EQ(result.choices.at("settings").Dump(),
            R"({"ecc":"on","persistence":"on","compute_mode":"default","mig":"off",)"
            R"("clocks_mhz":{"application":1980,"default":1980,"most":1980},)"
            R"("memory_clocks_mhz":{"application":2619,"default":2619,"most":2619}})");
  EXPECT_EQ(result.choices.at("topology").Find("pairs")->Dump(), R"({"0-1":"numa node, nvlink"})");
  const Json& gpu = result.choices.at("topology").Find("gpus")->AsArray()[1];
  EXPECT_EQ(gpu.Dump(), R"({"pcie_generation":5,"pcie_width":16,"nvlink_version":4,)"
                        R"("nvlink_to":"switch","nvlinks":18})");
  const ProbeResult older = ExpectOk("env_ident_cuda", {{"EMULATED_DEVICE", "A100"}});
  EXPECT_EQ(older.choices.at("topology").Find("gpus")->AsArray()[0].Find("nvlinks")->ToInt64(), 12);
}

TEST(EmulatedNvml, RefusesAsItsReferenceSays) {
  const auto check = [](const ProbeContext& context, ProbeResult* result) -> Status {
    ASSIGN_OR_RETURN(const auto nvml, Nvml::Open(context.library_paths));
    const auto& f = nvml->f;
    NvmlDevice device = nullptr;
    const auto expect = [&](std::string_view what, int got, int wanted) {
      ExpectStatus(what, got, wanted, result);
    };
    expect("index", f.nvmlDeviceGetHandleByIndex_v2(1, &device), 2);
    expect("bus", f.nvmlDeviceGetHandleByPciBusId_v2("00000000:77:00.0", &device), 6);
    expect("no bus", f.nvmlDeviceGetHandleByPciBusId_v2("nonsense", &device), 2);
    expect("right", f.nvmlDeviceGetHandleByIndex_v2(0, &device), 0);
    int state = 0;
    unsigned mhz = 0;
    char text[4];
    expect("link", f.nvmlDeviceGetNvLinkState(device, 18, &state), 2);
    expect("device", f.nvmlDeviceGetComputeMode(nullptr, &state), 2);
    expect("clock", f.nvmlDeviceGetMaxClockInfo(device, 9, &mhz), 2);
    expect("size", f.nvmlSystemGetNVMLVersion(text, sizeof(text)), 7);
    expect("stop", f.nvmlShutdown(), 0);
    expect("stopped", f.nvmlDeviceGetComputeMode(device, &state), 1);
    return {};
  };
  ExpectAsDocumented(check);
}

}  // namespace
}  // namespace rharness
