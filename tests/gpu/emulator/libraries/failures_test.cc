// Some calls of whole probes failed, once and for ever, of the driver and of every library: never a
// crash, never "ok" without a failed case. Prints a table. All calls: failure_table_main.cc.
#include <cstdio>
#include <set>

#include "harness/base/files.h"
#include "tests/gpu/emulator/libraries/failure_loop.h"

namespace rharness {
namespace {

struct Tally {
  int calls = 0, injected = 0;
  std::map<FailureEnd, int> ends;
};

// Of quick probes three calls of each function and all from the first; of slow ones the first, and
// all; of the slowest all, and not of functions that tidy up, after which a probe runs to its end.
std::set<int> NumbersOf(const FailureLoop& loop, int count) {
  if (loop.cost == FailureCost::kSlowest) return {};
  if (loop.cost == FailureCost::kSlow) return {1};
  return {1, (count + 1) / 2, count};
}

Tally InjectSome(const FailureLoop& loop, const std::filesystem::path& folder) {
  Tally tally;
  const Undisturbed undisturbed = RunUndisturbed(loop, folder);
  EXPECT_EQ(undisturbed.result.status, ProbeStatus::kOk)
      << loop.probe << ": " << undisturbed.result.message;
  for (const auto& [function, count] : undisturbed.calls) {
    tally.calls += count;
    if (loop.cost == FailureCost::kSlowest && TidiesUp(function, true)) continue;
    const auto inject = [&](const std::string& which, bool last) {
      const std::string failure = function + ":" + which;
      std::string message;
      const FailureEnd end = RunWithFailure(loop, folder, failure, last, undisturbed, &message);
      ++tally.injected;
      ++tally.ends[end];
      EXPECT_NE(end, FailureEnd::kWrong) << loop.probe << " with " << failure << ": " << message;
    };
    for (const int number : NumbersOf(loop, count)) inject(std::to_string(number), number == count);
    inject("1+", false);
  }
  return tally;
}

TEST(EmulatedFailures, AreFailuresOfTheProbeOrOfANamedCase) {
  auto folder = ScopedTempDir::Make();
  ASSERT_TRUE(folder.ok());
  std::printf("%-24s %6s %9s %7s %13s %9s %6s %6s\n", "probe", "calls", "injected", "failed",
              "failed cases", "unharmed", "wrong", "cpu s");
  for (const FailureLoop& loop : FailureLoops()) {
    if (loop.cost == FailureCost::kByRequest) continue;
    const double before = ChildSeconds();
    Tally tally = InjectSome(loop, folder->path());
    std::printf("%-24s %6d %9d %7d %13d %9d %6d %6.1f\n", loop.probe.c_str(), tally.calls,
                tally.injected, tally.ends[FailureEnd::kFailed],
                tally.ends[FailureEnd::kFailedCases], tally.ends[FailureEnd::kUnharmed],
                tally.ends[FailureEnd::kWrong], ChildSeconds() - before);
    std::fflush(stdout);
    EXPECT_GT(tally.injected, 4) << loop.probe;
  }
}

// A library that fails and has no words for it.
TEST(EmulatedFailures, NeedNoTextOfTheLibrary) {
  for (const auto& [probe, failure] : std::initializer_list<std::pair<std::string, std::string>>{
           {"symv_atomics", "cublasCreate:1,cublasGetStatusName:1+,cublasGetStatusString:1+"},
           {"lt_heuristic", "cublasLtCreate:1,cublasLtGetStatusName:1+,cublasLtGetStatusString:1+"},
           {"cudnn_engine_list", "cudnnCreate:1,cudnnGetErrorString:1+"},
           {"nccl_choice", "ncclCommInitAll:1,ncclGetErrorString:1+,ncclGetLastError:1+"},
           {"env_ident_cuda", "nvmlDeviceGetCount_v2:1,nvmlErrorString:1+"}}) {
    const bool built =
        std::ranges::any_of(Probes(), [&](const Probe& one) { return one.name == probe; });
    if (!built) continue;
    const ProbeResult result = RunEmulated(probe, {{"EMULATED_FAIL", failure}});
    const bool named = result.counts.contains("failed cases");
    EXPECT_TRUE(result.status == ProbeStatus::kFailed || named) << probe;
    EXPECT_EQ(result.message.find("its process"), std::string::npos) << result.message;
  }
}

}  // namespace
}  // namespace rharness
