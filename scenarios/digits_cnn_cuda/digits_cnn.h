// Start here: the trainer from command line to files, whatever computes.
#ifndef RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_DIGITS_CNN_H_
#define RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_DIGITS_CNN_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/common/trainer.h"
#include "scenarios/digits_cnn_cuda/cnn.h"
#include "scenarios/digits_cnn_cuda/switches.h"

namespace rharness::scenarios {

// What a network needs to be made.
struct CnnSetup {
  CnnShape shape;
  CnnSwitches switches;
  std::size_t batch = 0;       // images of a step, all GPUs together
  std::vector<float> initial;  // LayoutOf(shape).total values
};

// The network on GPUs; null and an error when there is none to be had here.
using CudaFactory = std::function<std::unique_ptr<Network>(const CnnSetup&, std::string* error)>;

// RunTrainer for this network. Without `make_cuda` only --device cpu works. With --device both, the
// first step of the GPU must meet the CPU's in double precision, within 1e-3 of its largest
// movement in every tensor, or 3e-2 under TF32; else the exit status is 1. Its files are written in
// any case.
int RunDigitsCnn(int argc, char* const* argv, const CudaFactory& make_cuda);

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_DIGITS_CNN_H_
