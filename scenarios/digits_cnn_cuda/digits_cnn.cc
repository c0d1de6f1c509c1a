// Chooses what computes, and reports how the GPU's first step met the CPU's.
#include "scenarios/digits_cnn_cuda/digits_cnn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "scenarios/digits_cnn_cuda/agreement.h"
#include "scenarios/digits_cnn_cuda/cpu_cnn.h"

namespace rharness::scenarios {
namespace {

// Of a tensor's error in its first step, by its largest movement. A step that is wrong is off by
// about as much as it moves. With inputs of 10 bits a few units and pooled pixels change sides, and
// their whole slopes with them: at most 0.25 on the CPU in 600 batches of 32, against 1e-4 in
// float.
constexpr double kLimit = 1e-3, kTf32Limit = 0.5;

std::unique_ptr<Network> MakeCpu(const CnnSetup& setup) {
  return std::make_unique<CpuCnn<double>>(setup.shape, setup.initial);
}

std::unique_ptr<Network> MakeNetwork(const CnnSetup& setup, const CudaFactory& make_cuda,
                                     std::vector<Disagreement>* disagreements, std::string* error) {
  if (setup.switches.device == CnnDevice::kCpu) return MakeCpu(setup);
  if (!make_cuda) {
    *error = "--device: this program was built without CUDA; only cpu works";
    return nullptr;
  }
  std::unique_ptr<Network> network = make_cuda(setup, error);
  if (network == nullptr || setup.switches.device == CnnDevice::kCuda) return network;
  return std::make_unique<HeldNetwork>(std::move(network), MakeCpu(setup), disagreements);
}

// Whether every tensor of the first step is within the limit, after a line for each.
bool Agrees(const std::vector<Disagreement>& disagreements, double limit) {
  bool agrees = true;
  for (const Disagreement& one : disagreements) {
    const bool within = one.error <= limit;
    fmt::print("first_step {} error {:.3g} limit {:.3g} {}\n", one.tensor, one.error, limit,
               within ? "agrees" : "DIFFERS");
    agrees = agrees && within;
  }
  return agrees;
}

}  // namespace

int RunDigitsCnn(int argc, char* const* argv, const CudaFactory& make_cuda) {
  CnnSwitches switches;
  std::vector<Disagreement> disagreements;
  const std::vector<ExtraFlag> flags = FlagsOf(&switches);
  const auto make_network = [&](const Options& options, std::string* error) {
    const CnnShape shape{switches.channels, options.hidden};
    const CnnSetup setup{shape, switches, options.batch,
                         InitialCnn(LayoutOf(shape), options.init_seed)};
    return MakeNetwork(setup, make_cuda, &disagreements, error);
  };
  const int status = RunTrainer(argc, argv, make_network, flags);
  if (status != 0) return status;
  return Agrees(disagreements, switches.tf32 ? kTf32Limit : kLimit) ? 0 : 1;
}

}  // namespace rharness::scenarios
