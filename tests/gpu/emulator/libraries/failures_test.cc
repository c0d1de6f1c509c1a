// Calls of whole probes failed, once and for ever, of the driver and of every library: never a
// crash, never "ok" without a failed case. Prints a table. RHARNESS_FAULTS=all fails many more
// calls of each function, of the slow probes too.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <set>

#include "harness/base/files.h"
#include "tests/gpu/emulator/libraries/emulated_probe.h"

namespace rharness {
namespace {

struct Tally {
  int calls = 0, injected = 0, failed = 0, failed_cases = 0, unharmed = 0, wrong = 0;
};

double ChildSeconds() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Of quick probes three calls of each function and all from the first; of slow ones the first, and
// all; of the slowest all, and not of functions that tidy up, after which a probe runs to its end.
enum class Cost { kQuick, kSlow, kSlowest, kByRequest };
struct Loop {
  std::string probe;
  Changes changes;
  Cost cost = Cost::kQuick;
};

std::map<std::string, int> CallsIn(const std::string& log) {
  std::map<std::string, int> calls;
  const auto text = ReadFile(log);
  if (!text.ok()) return calls;
  std::string_view left(*text);
  for (std::size_t end = left.find('\n'); end != std::string_view::npos; end = left.find('\n')) {
    ++calls[std::string(left.substr(0, end))];
    left.remove_prefix(end + 1);
  }
  return calls;
}

bool SameFacts(const ProbeResult& one, const ProbeResult& other) {
  const auto text = [](const ProbeResult& result) {
    std::string all;
    for (const auto& [name, choice] : result.choices) all += name + choice.Dump();
    for (const auto& [name, tree] : result.trees) all += name + tree.Canonical();
    for (const auto& [name, bits] : result.bits) all += name + bits;
    for (const auto& name : result.unstable) all += name;
    return all;
  };
  return text(one) == text(other);
}

// What is tidied up when all is known; a context and a stream are set for it.
bool Tidies(const std::string& function, bool last) {
  for (const char* part : {"Destroy", "cuMemFree", "Shutdown", "ModuleUnload"}) {
    if (function.find(part) != std::string::npos) return true;
  }
  return function == "cuCtxSetCurrent" || (last && function == "cublasSetStream");
}

// Calls of a function that are failed alone.
std::set<int> NumbersOf(const Loop& loop, int count) {
  if (loop.cost == Cost::kSlowest && !IsWholeTest()) return {};
  std::set<int> numbers = {1};
  if (loop.cost == Cost::kQuick || IsWholeTest()) numbers.insert({(count + 1) / 2, count});
  if (loop.cost == Cost::kByRequest || loop.cost == Cost::kSlowest || !IsWholeTest()) {
    return numbers;
  }
  const int step = std::max(1, count / 12);
  for (int number = 1; number <= count; number += step) numbers.insert(number);
  return numbers;
}

void Inject(const Loop& loop, const Changes& changes, const std::string& failure, bool last,
            const ProbeResult& undisturbed, Tally* tally) {
  Changes failing = changes;
  failing.push_back({"EMULATED_FAIL", failure});
  const ProbeResult result = RunEmulated(loop.probe, failing);
  ++tally->injected;
  const bool crashed = result.message.find("its process") != std::string::npos;
  if (result.status == ProbeStatus::kFailed && !crashed) {
    ++tally->failed;
  } else if (result.status == ProbeStatus::kOk && result.counts.contains("failed cases")) {
    ++tally->failed_cases;
  } else if (result.status == ProbeStatus::kOk && SameFacts(result, undisturbed) &&
             Tidies(failure.substr(0, failure.find(':')), last)) {
    ++tally->unharmed;
  } else {
    ++tally->wrong;
    ADD_FAILURE() << loop.probe << " with " << failure << ": status "
                  << static_cast<int>(result.status) << " " << result.message;
  }
}

Tally InjectAll(const Loop& loop, const std::filesystem::path& folder) {
  Tally tally;
  Changes changes = loop.changes;
  changes.push_back({"EMULATED_RESULTS", folder.string()});
  Changes logged = changes;
  logged.push_back({"EMULATED_CALLS", (folder / loop.probe).string()});
  const ProbeResult undisturbed = RunEmulated(loop.probe, logged);
  EXPECT_EQ(undisturbed.status, ProbeStatus::kOk) << loop.probe << ": " << undisturbed.message;
  for (const auto& [function, count] : CallsIn(folder / loop.probe)) {
    tally.calls += count;
    // Texts have no status; what is without them is below.
    if (function.find("String") != std::string::npos ||
        function.find("StatusName") != std::string::npos) {
      continue;
    }
    if (loop.cost == Cost::kSlowest && !IsWholeTest() && Tidies(function, true)) continue;
    const auto inject = [&](const std::string& which, bool last) {
      Inject(loop, changes, function + ":" + which, last, undisturbed, &tally);
    };
    for (const int number : NumbersOf(loop, count)) inject(std::to_string(number), number == count);
    inject("1+", false);
    if (IsWholeTest() && count > 2) inject(std::to_string((count + 1) / 2) + "+", false);
  }
  return tally;
}

std::vector<Loop> Loops() {
  const Changes two = {{"EMULATED_DEVICES", "2"}, {"EMULATED_BYTES", "4194304"}};
  const Changes one_engine = {{"EMULATED_ENGINES", "1"}};
  constexpr auto kSlow = Cost::kSlow, kSlowest = Cost::kSlowest, kByRequest = Cost::kByRequest;
  std::vector<Loop> loops = {{"env_ident_cuda", {{"EMULATED_DEVICES", "2"}}},
                             {"convert_bits_cuda", {}, kSlow},
                             {"mma_features"},
                             {"wgmma_features"},
                             {"math_bits_cuda", {}, kSlow},
                             {"own_reduce_tree_cuda", {}, kSlowest},
                             {"atomic_spread_cuda", {}, kSlowest},
                             {"gemm_tree_fp32_cuda", {}, kSlowest},
                             {"gemm_tree_fp16_cuda", {}, kByRequest},
                             {"gemm_tree_fp8_cuda", {}, kByRequest},
                             {"gemm_bits_cuda", {}, kSlowest},
                             {"gemm_int8_exact_cuda", {}, kSlow},
                             {"gemm_multistream", {}, kSlowest},
                             {"gemm_workspace", {}, kSlowest},
                             {"batch_invariance_cuda", {}, kByRequest},
                             {"symv_atomics", {}, kSlowest},
                             {"lt_heuristic"},
                             {"lt_forced_algo", {}, kSlowest}};
  const Changes shared = {{"EMULATED_NCCL", "23007"},
                          {"EMULATED_BYTES", "4194304"},
                          {"NCCL_MULTI_RANK_GPU_ENABLE", "1"}};
  const std::vector<Loop> nccl = {{"nccl_choice", two, kSlow},
                                  {"nccl_choice", shared, kSlow},
                                  {"nccl_choice"},
                                  {"nccl_bits", {{"EMULATED_DEVICES", "2"}}, kByRequest},
                                  {"nccl_tree"},
                                  {"nccl_tree", {{"EMULATED_DEVICES", "3"}}, kByRequest}};
  const std::vector<Loop> cudnn = {
      {"cudnn_engine_list", {}, kSlow},          {"cudnn_engine_list_named", {}, kSlow},
      {"cudnn_conv_bits", one_engine, kSlowest}, {"cudnn_conv_tree", one_engine, kByRequest},
      {"cudnn_legacy_algo", {}, kSlowest},       {"pool_ctc_nd", {}, kSlowest},
      {"softmax_norm_tree_cuda", {}, kByRequest}};
  for (const auto* more : {&nccl, &cudnn}) {
    const bool built = std::ranges::any_of(
        Probes(), [&](const Probe& probe) { return probe.name == more->front().probe; });
    if (built) loops.insert(loops.end(), more->begin(), more->end());
  }
  const char* asked = std::getenv("RHARNESS_FAULTS");
  const std::string_view only = asked == nullptr ? "" : asked;
  std::erase_if(loops, [&](const Loop& loop) {
    if (IsWholeTest()) return only != "all" && only != loop.probe;
    return loop.cost == Cost::kByRequest;
  });
  return loops;
}

TEST(EmulatedFailures, AreFailuresOfTheProbeOrOfANamedCase) {
  auto folder = ScopedTempDir::Make();
  ASSERT_TRUE(folder.ok());
  std::printf("%-24s %6s %9s %7s %13s %9s %6s %6s\n", "probe", "calls", "injected", "failed",
              "failed cases", "unharmed", "wrong", "cpu s");
  for (const Loop& loop : Loops()) {
    const double before = ChildSeconds();
    const Tally tally = InjectAll(loop, folder->path());
    std::printf("%-24s %6d %9d %7d %13d %9d %6d %6.1f\n", loop.probe.c_str(), tally.calls,
                tally.injected, tally.failed, tally.failed_cases, tally.unharmed, tally.wrong,
                ChildSeconds() - before);
    std::fflush(stdout);
    EXPECT_GT(tally.injected, 4) << loop.probe;
    std::filesystem::remove(folder->path() / loop.probe);
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
