// The environment: which variables are kept, what the machine's files say, and what is never kept.
#include "harness/records/manifest/environment.h"

#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <algorithm>
#include <fstream>

#include "harness/base/digest.h"
#include "harness/base/json_reader.h"
#include "harness/records/manifest/host.h"
#include "harness/records/manifest/packages.h"

namespace rharness {
namespace {

TEST(Environment, RecordsWatchedVariablesSetOrUnset) {
  const std::map<std::string, std::string> variables = {
      {"OMP_NUM_THREADS", "3"}, {"NCCL_BUFFSIZE", "8"}, {"HOME", "/home/a"}, {"TZ", ""}};
  const Environment environment = CaptureEnvironment(&variables);
  EXPECT_EQ(environment.variables.at("OMP_NUM_THREADS"), "3");
  EXPECT_EQ(environment.variables.at("TZ"), "");
  EXPECT_EQ(environment.variables.at("NCCL_BUFFSIZE"), "8");
  EXPECT_EQ(environment.variables.at("PYTHONHASHSEED"), std::nullopt);
  EXPECT_FALSE(environment.variables.contains("HOME"));
  EXPECT_FALSE(environment.variables.contains("NCCL_DEBUG"));
}

// What a fingerprint records beside its answers: instructions that kernels may use, as well.
TEST(Environment, KnowsTheVariablesThatSwitchKernels) {
  for (const char* name :
       {"OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES", "ATEN_CPU_CAPABILITY",
        "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "MKL_CBWR", "GLIBC_TUNABLES"}) {
    EXPECT_TRUE(IsNumericVariable(name)) << name;
  }
  EXPECT_FALSE(IsNumericVariable("HOME"));
  EXPECT_FALSE(IsNumericVariable("NPYRC"));
}

TEST(Environment, ReadsItsOwnVariablesWithoutAMap) {
  ASSERT_EQ(::setenv("OPENBLAS_CORETYPE", "Haswell", 1), 0);
  EXPECT_EQ(CaptureEnvironment().variables.at("OPENBLAS_CORETYPE"), "Haswell");
}

TEST(Environment, WritesNoSecretDown) {
  const std::map<std::string, std::string> variables = {
      {"JAX_SERVICE_TOKEN", "abc"}, {"TORCH_hub_password", "hunter2"}, {"NCCL_MY_KEY", "k"}};
  const Environment environment = CaptureEnvironment(&variables);
  EXPECT_TRUE(IsWithheld(*environment.variables.at("JAX_SERVICE_TOKEN")));
  EXPECT_TRUE(IsWithheld(*environment.variables.at("NCCL_MY_KEY")));
  EXPECT_TRUE(IsWithheld("withheld:sha256:" + Sha256HexOf("abc"))) << "as older records have it";
  EXPECT_FALSE(IsWithheld("abc"));
  const std::string json = ToJson(environment).Dump();
  EXPECT_EQ(json.find("hunter2"), std::string::npos);
  EXPECT_EQ(json.find(Sha256HexOf("hunter2")), std::string::npos) << "which a list of words finds";
}

TEST(Environment, SeesThisMachine) {
  const Environment environment = CaptureEnvironment();
  utsname system{};
  ASSERT_EQ(::uname(&system), 0);
  EXPECT_EQ(environment.hardware.cpu.architecture, system.machine);
  EXPECT_EQ(environment.software.at("kernel"), system.release);
  EXPECT_GE(environment.hardware.cpu.logical_cores, 1);
  EXPECT_GT(environment.hardware.memory_bytes, std::uint64_t{1} << 20);
  const Cpu& cpu = environment.hardware.cpu;
  if (cpu.sockets == 0) GTEST_SKIP() << "no hwloc here";
  EXPECT_GE(cpu.numa_nodes, 1);
  EXPECT_LE(cpu.sockets * cpu.cores_per_socket, cpu.logical_cores);
}

TEST(Environment, ListsWatchedNamesOnce) {
  std::vector<std::string> names = WatchedVariables();
  for (const char* name : {"PYTHONHASHSEED", "OMP_NUM_THREADS", "OPENBLAS_CORETYPE", "MKL_CBWR",
                           "CUBLAS_WORKSPACE_CONFIG", "NVIDIA_TF32_OVERRIDE", "NCCL_ALGO",
                           "ATEN_CPU_CAPABILITY", "LD_PRELOAD"}) {
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(Environment, ComesBackFromJson) {
  const std::map<std::string, std::string> variables = {{"OMP_NUM_THREADS", "3"}};
  Environment environment = CaptureEnvironment(&variables);
  environment.hardware.gpus.push_back({"NVIDIA H200", 150754820096u, "GPU-1"});
  const Json json = ToJson(environment);
  Environment again;
  JsonReader reader(json, "e.json");
  ReadEnvironment(reader, &again);
  ASSERT_TRUE(reader.ok()) << reader.status().error().ToString();
  EXPECT_EQ(again.variables, environment.variables);
  EXPECT_EQ(again.software, environment.software);
  EXPECT_EQ(ToJson(again).Dump(), json.Dump());
}

TEST(CpuInfo, ReadsX86) {
  Cpu cpu;
  ReadCpuInfo(
      "processor\t: 0\nmodel name\t: AMD EPYC 9654 96-Core Processor\nmicrocode\t: 0xa101144\n"
      "flags\t\t: fpu vme avx avx2 fma sse4_2 aes avx512f rdrand f16c amx_tile\n\n"
      "processor\t: 1\nmodel name\t: another\nmicrocode\t: 0x1\nflags\t\t: sse2\n",
      &cpu);
  EXPECT_EQ(cpu.model, "AMD EPYC 9654 96-Core Processor");
  EXPECT_EQ(cpu.microcode, "0xa101144");
  EXPECT_EQ(cpu.isa, (std::vector<std::string>{"amx_tile", "avx", "avx2", "avx512f", "f16c", "fma",
                                               "sse4_2"}));
}

TEST(CpuInfo, ReadsArmWhichNamesPartsOnly) {
  Cpu cpu;
  ReadCpuInfo(
      "processor\t: 0\nFeatures\t: fp asimd aes sve sve2 bf16 i8mm crc32\n"
      "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd4f\n",
      &cpu);
  EXPECT_EQ(cpu.model, "ARM 0x41 0xd4f");
  EXPECT_EQ(cpu.isa, (std::vector<std::string>{"asimd", "bf16", "fp", "i8mm", "sve", "sve2"}));
}

TEST(CpuInfo, LeavesFieldsEmptyWithoutText) {
  Cpu cpu;
  ReadCpuInfo("", &cpu);
  EXPECT_TRUE(cpu.model.empty() && cpu.microcode.empty() && cpu.isa.empty());
}

TEST(HostFiles, GiveMemoryAndTheNameOfTheSystem) {
  EXPECT_EQ(MemoryOf("MemFree: 12 kB\nMemTotal:       24000000 kB\nSwap: 1 kB\n"), 24576000000u);
  EXPECT_EQ(MemoryOf("nothing"), 0u);
  EXPECT_EQ(PrettyNameOf("ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(PrettyNameOf("ID=x\n"), "");
}

TEST(HostPackages, AreTheInstalledOnesSorted) {
  EXPECT_EQ(InstalledPackages("Package: zlib1g\nStatus: install ok installed\nArchitecture: amd64\n"
                              "Version: 1:1.2.13\nDescription: a\n library\n\n"
                              "Package: old\nStatus: deinstall ok config-files\n"
                              "Architecture: all\nVersion: 1\n\n"
                              "Package: bash\nStatus: install ok installed\nArchitecture: amd64\n"
                              "Version: 5.2"),
            "bash:amd64=5.2\nzlib1g:amd64=1:1.2.13\n");
  EXPECT_EQ(InstalledPackages(""), "");
}

TEST(HostPackages, HaveADigestWhereDpkgKeepsAList) {
  const std::string digest = HostPackagesSha256();
  EXPECT_EQ(HostPackagesSha256(), digest);
  if (std::ifstream("/var/lib/dpkg/status").good()) {
    EXPECT_TRUE(IsSha256Hex(digest));
  } else {
    EXPECT_EQ(digest, "");
  }
}

}  // namespace
}  // namespace rharness
