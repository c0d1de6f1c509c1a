// digits_cnn_cuda: trains a small convolutional network on the handwritten digits, by cuDNN,
// cuBLAS, NCCL and kernels of its own.
#include "scenarios/digits_cnn_cuda/gpu/cuda_cnn.h"

int main(int argc, char** argv) {
  using namespace rharness::scenarios;
  return RunDigitsCnn(argc, argv, MakeCudaCnn);
}
