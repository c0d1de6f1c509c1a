// digits_blas: trains on the handwritten digits through OpenBLAS. OPENBLAS_CORETYPE chooses the
// kernels, and with them the bits; OPENBLAS_NUM_THREADS the threads, one when it is not set.
#include <cblas.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "scenarios/common/trainer.h"
#include "scenarios/digits_blas/blas_mlp.h"

int main(int argc, char** argv) {
  using namespace rharness::scenarios;
  if (std::getenv("OPENBLAS_NUM_THREADS") == nullptr) openblas_set_num_threads(1);
  fmt::print("blas_core {} threads {} config {}\n", openblas_get_corename(),
             openblas_get_num_threads(), openblas_get_config());
  return RunTrainer(argc, argv, [](const Options& options, std::string*) {
    return std::make_unique<BlasMlp>(InitialParameters(options.hidden, options.init_seed));
  });
}
