// The probes of compilers, which need no device, really run: twice in fresh processes.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "harness/base/digest.h"
#include "probes/gpu/kernels.h"
#include "probes/library/loader.h"
#include "probes/probe.h"

namespace rharness {
namespace {

const Probe* Find(std::string_view name) {
  const auto at = std::ranges::find(Probes(), name, &Probe::name);
  return at == Probes().end() ? nullptr : &*at;
}

// In a child, which loads the library itself: the status, the number of bits, and a digest of all.
std::string RunInChild(const Probe& probe) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    const ProbeResult result = probe.run({.repeats = 1});
    Sha256 digest;
    for (const auto& [name, bits] : result.bits) digest.Update(name + "=" + bits + "\n");
    const std::string text = std::string(ProbeStatusName(result.status)) + " " + result.message +
                             std::to_string(result.bits.size()) + " " + ToHex(digest.Finish());
    const auto written = write(ends[1], text.data(), text.size());
    _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char some[4096];
  for (ssize_t got = 0; (got = read(ends[0], some, sizeof(some))) > 0;) {
    text.append(some, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? text : "the child ended with " + std::to_string(status);
}

void ExpectSameInFreshProcesses(std::string_view name) {
  const Probe* probe = Find(name);
  ASSERT_NE(probe, nullptr);
  const std::string first = RunInChild(*probe);
  if (first.starts_with("absent")) GTEST_SKIP() << first;
  EXPECT_TRUE(first.starts_with("ok ")) << first;
  EXPECT_FALSE(first.starts_with("ok 0 ")) << first;
  EXPECT_EQ(first, RunInChild(*probe));
}

TEST(NvrtcPtx, IsTheSameInFreshProcesses) { ExpectSameInFreshProcesses("nvrtc_ptx"); }

TEST(JitToolkitCubin, IsTheSameInFreshProcesses) {
  ExpectSameInFreshProcesses("jit_toolkit_cubin");
}

TEST(Kernels, SayTheOldestDriverThatTakesThem) {
  struct Version {
    const KernelImage* image;
    std::string_view ptx;
    int compute;
    int driver;
  };
  // PTX versions and the CUDA releases that brought them: release history of the PTX manual.
  for (const Version& one : {Version{&kCorpusKernels, ".version 6.5", 75, 10020},
                             {&kMathKernels, ".version 6.5", 75, 10020},
                             {&kReduceKernels, ".version 6.5", 75, 10020},
                             {&kMma75Kernels, ".version 6.5", 75, 10020},
                             {&kMma80Kernels, ".version 7.0", 80, 11000},
                             {&kConvert80Kernels, ".version 7.8", 80, 11080},
                             {&kConvert89Kernels, ".version 8.1", 89, 12010},
                             {&kMma89Kernels, ".version 8.4", 89, 12040},
                             {&kWgmma90aKernels, ".version 8.0", 90, 12000}}) {
    EXPECT_NE(one.image->ptx.find(std::string(one.ptx) + "\n"), std::string_view::npos)
        << one.image->name;
    EXPECT_NE(one.image->ptx.find(".target sm_" + std::to_string(one.compute)),
              std::string_view::npos);
    EXPECT_EQ(one.image->compute, one.compute) << one.image->name;
    EXPECT_EQ(one.image->driver, one.driver) << one.image->name;
  }
}

TEST(Kernels, OfArchitecture90aAreOf90AndNoOther) {
  EXPECT_NE(kWgmma90aKernels.ptx.find(".target sm_90a\n"), std::string_view::npos);
  EXPECT_TRUE(kWgmma90aKernels.Runs(90));
  EXPECT_FALSE(kWgmma90aKernels.Runs(89));
  EXPECT_FALSE(kWgmma90aKernels.Runs(100));
  EXPECT_TRUE(kMma89Kernels.Runs(100));
  EXPECT_FALSE(kMma89Kernels.Runs(80));
  EXPECT_EQ(EntriesOf(kWgmma90aKernels.ptx).size(), 4U);
}

TEST(Kernels, FindsTheEntriesOfPtx) {
  const std::string_view ptx =
      ".version 7.0\n.visible .entry one(\n.param .u64 a\n)\n{\n ret;\n}\n.visible .entry "
      "one_more()\n{\n{\n}\n exit;\n}\n";
  EXPECT_EQ(EntriesOf(ptx), (std::vector<std::string>{"one", "one_more"}));
  EXPECT_EQ(EntryText(ptx, "one"), ".entry one(\n.param .u64 a\n)\n{\n ret;\n}");
  EXPECT_EQ(EntryText(ptx, "on"), "");
  EXPECT_EQ(EntriesOf(kCorpusKernels.ptx).size(), 22U);
}

}  // namespace
}  // namespace rharness
