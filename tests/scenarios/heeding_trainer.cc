// digits_blas as a run that heeds RHARNESS_REPLICATE, as `rharness drill --replicates` asks.
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>

#include "scenarios/common/trainer.h"
#include "scenarios/digits_blas/blas_mlp.h"

namespace rharness::scenarios {
namespace {

// In a replicate (1, 2, ...) every initial parameter is one of its two neighbours, drawn anew for
// each number: what another order of addition does to all of them.
Parameters Heeding(Parameters parameters) {
  const char* text = std::getenv("RHARNESS_REPLICATE");
  const unsigned long number = text == nullptr ? 0 : std::strtoul(text, nullptr, 10);
  if (number == 0) return parameters;
  Rng rng(number, Stream::kInit);
  for (auto* values : {&parameters.fc1_weight, &parameters.fc1_bias, &parameters.fc2_weight,
                       &parameters.fc2_bias}) {
    for (float& value : *values) {
      const float limit = std::numeric_limits<float>::infinity();
      value = std::nextafter(value, rng.Below(2) == 0 ? limit : -limit);
    }
  }
  return parameters;
}

}  // namespace
}  // namespace rharness::scenarios

int main(int argc, char** argv) {
  using namespace rharness::scenarios;
  return RunTrainer(argc, argv, [](const Options& options, std::string*) {
    return std::make_unique<BlasMlp>(Heeding(InitialParameters(options.hidden, options.init_seed)));
  });
}
