// The rules of MLPerf for each benchmark, as a table.
#include "compare/results/mlperf_benchmarks.h"

#include <algorithm>
#include <array>

namespace rharness {
namespace {

constexpr auto kEpochs = ConvergenceUnit::kEpochs;
constexpr auto kSamples = ConvergenceUnit::kSamples;

constexpr std::array kBenchmarks = {
    MlperfBenchmark{"bert", 10, kEpochs},
    MlperfBenchmark{"cosmoflow", 10, kEpochs},
    MlperfBenchmark{"deepcam", 5, kEpochs},
    MlperfBenchmark{"deepseekv3_671b", 3, kSamples},
    MlperfBenchmark{"dlrm", 5, kEpochs},
    MlperfBenchmark{"dlrm_dcnv2", 10, kEpochs},
    MlperfBenchmark{"dlrmv4", 10, kSamples},
    MlperfBenchmark{"flux1", 10, kSamples},
    MlperfBenchmark{"gnn", 10, kEpochs},
    MlperfBenchmark{"gpt3", 3, kEpochs},
    MlperfBenchmark{"gpt_oss_20b", 10, kSamples},
    MlperfBenchmark{"llama2_70b_lora", 10, kSamples},
    MlperfBenchmark{
        .name = "llama31_405b", .submission_runs = 3, .unit = kSamples, .extra_allowance = 46080.0},
    MlperfBenchmark{"llama31_8b", 10, kSamples},
    MlperfBenchmark{"maskrcnn", 5, kEpochs},
    MlperfBenchmark{"oc20", 5, kEpochs},
    MlperfBenchmark{"openfold", 10, kEpochs},
    MlperfBenchmark{"qwen35_397b_grpo", 3, kSamples},
    MlperfBenchmark{"resnet", 5, kEpochs},
    MlperfBenchmark{"retinanet", 5, kEpochs},
    MlperfBenchmark{"rgat", 10, kEpochs},
    MlperfBenchmark{"rnnt", 10, kEpochs},
    MlperfBenchmark{"ssd", 5, kEpochs},
    MlperfBenchmark{kStableDiffusion, 10, kSamples},
    MlperfBenchmark{"unet3d", 40, kEpochs, 4, 4},
};

}  // namespace

std::string_view ConvergenceUnitName(ConvergenceUnit unit) {
  switch (unit) {
    case kEpochs:
      return "epochs";
    case kSamples:
      return "samples";
    case ConvergenceUnit::kSteps:
      break;
  }
  return "steps";
}

const MlperfBenchmark* FindMlperfBenchmark(std::string_view name) {
  const auto* found =
      std::find_if(kBenchmarks.begin(), kBenchmarks.end(),
                   [&](const MlperfBenchmark& benchmark) { return benchmark.name == name; });
  return found == kBenchmarks.end() ? nullptr : found;
}

}  // namespace rharness
