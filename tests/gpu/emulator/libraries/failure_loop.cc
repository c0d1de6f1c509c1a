// Runs of probes on the emulated machine, undisturbed and with failures.
#include "tests/gpu/emulator/libraries/failure_loop.h"

#include <sys/resource.h>

#include <algorithm>
#include <string_view>

#include "harness/base/files.h"

namespace rharness {
namespace {

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

Changes OnMachine(const FailureLoop& loop, const std::filesystem::path& folder) {
  Changes changes = loop.changes;
  changes.push_back({"EMULATED_RESULTS", folder.string()});
  return changes;
}

}  // namespace

std::vector<FailureLoop> FailureLoops() {
  const Changes two = {{"EMULATED_DEVICES", "2"}, {"EMULATED_BYTES", "4194304"}};
  const Changes one_engine = {{"EMULATED_ENGINES", "1"}};
  constexpr auto kSlow = FailureCost::kSlow, kSlowest = FailureCost::kSlowest,
                 kByRequest = FailureCost::kByRequest;
  std::vector<FailureLoop> loops = {{"env_ident_cuda", {{"EMULATED_DEVICES", "2"}}},
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
  const std::vector<FailureLoop> nccl = {{"nccl_choice", two, kSlow},
                                         {"nccl_choice", shared, kSlow},
                                         {"nccl_choice"},
                                         {"nccl_bits", {{"EMULATED_DEVICES", "2"}}, kByRequest},
                                         {"nccl_tree"},
                                         {"nccl_tree", {{"EMULATED_DEVICES", "3"}}, kByRequest}};
  const std::vector<FailureLoop> cudnn = {
      {"cudnn_engine_list", {}, kSlow},          {"cudnn_engine_list_named", {}, kSlow},
      {"cudnn_conv_bits", one_engine, kSlowest}, {"cudnn_conv_tree", one_engine, kByRequest},
      {"cudnn_legacy_algo", {}, kSlowest},       {"pool_ctc_nd", {}, kSlowest},
      {"softmax_norm_tree_cuda", {}, kByRequest}};
  for (const auto* more : {&nccl, &cudnn}) {
    const bool built = std::ranges::any_of(
        Probes(), [&](const Probe& probe) { return probe.name == more->front().probe; });
    if (built) loops.insert(loops.end(), more->begin(), more->end());
  }
  return loops;
}

double ChildSeconds() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

bool TidiesUp(const std::string& function, bool last) {
  for (const char* part : {"Destroy", "cuMemFree", "Shutdown", "ModuleUnload"}) {
    if (function.find(part) != std::string::npos) return true;
  }
  return function == "cuCtxSetCurrent" || (last && function == "cublasSetStream");
}

Undisturbed RunUndisturbed(const FailureLoop& loop, const std::filesystem::path& folder) {
  const std::filesystem::path log = folder / (loop.probe + ".calls");
  Changes logged = OnMachine(loop, folder);
  logged.push_back({"EMULATED_CALLS", log.string()});
  Undisturbed run{.result = RunEmulated(loop.probe, logged), .calls = CallsIn(log)};
  std::erase_if(run.calls, [](const auto& call) {
    return call.first.find("String") != std::string::npos ||
           call.first.find("StatusName") != std::string::npos;
  });
  std::filesystem::remove(log);
  return run;
}

FailureEnd RunWithFailure(const FailureLoop& loop, const std::filesystem::path& folder,
                          const std::string& failure, bool last, const Undisturbed& undisturbed,
                          std::string* message) {
  Changes failing = OnMachine(loop, folder);
  failing.push_back({"EMULATED_FAIL", failure});
  const ProbeResult result = RunEmulated(loop.probe, failing);
  *message = result.message;
  const bool crashed = result.message.find("its process") != std::string::npos;
  if (result.status == ProbeStatus::kFailed && !crashed) return FailureEnd::kFailed;
  if (result.status != ProbeStatus::kOk) return FailureEnd::kWrong;
  if (result.counts.contains("failed cases")) return FailureEnd::kFailedCases;
  const bool tidies = TidiesUp(failure.substr(0, failure.find(':')), last);
  return tidies && SameFacts(result, undisturbed.result) ? FailureEnd::kUnharmed
                                                         : FailureEnd::kWrong;
}

}  // namespace rharness
