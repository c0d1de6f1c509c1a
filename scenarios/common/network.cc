// The starting point of every network.
#include "scenarios/common/network.h"

#include <cmath>
#include <utility>

namespace rharness::scenarios {

std::vector<float> DrawUniform(Rng* rng, std::size_t count, std::size_t inputs) {
  // IEEE 754 defines division and square root to the last bit, unlike the rest of libm.
  const float bound = 1.0f / std::sqrt(static_cast<float>(inputs));
  std::vector<float> values(count);
  for (float& value : values) value = bound * rng->Symmetric();
  return values;
}

Parameters InitialParameters(std::size_t hidden, std::uint64_t seed) {
  Rng rng(seed, Stream::kInit);
  Parameters parameters;
  parameters.hidden = hidden;
  parameters.fc1_weight = DrawUniform(&rng, hidden * kPixels, kPixels);
  parameters.fc1_bias = DrawUniform(&rng, hidden, kPixels);
  parameters.fc2_weight = DrawUniform(&rng, kClasses * hidden, hidden);
  parameters.fc2_bias = DrawUniform(&rng, kClasses, hidden);
  return parameters;
}

std::vector<Tensor> TensorsOf(Parameters parameters) {
  const std::size_t hidden = parameters.hidden;
  return {{"fc1.bias", {hidden}, std::move(parameters.fc1_bias)},
          {"fc1.weight", {hidden, kPixels}, std::move(parameters.fc1_weight)},
          {"fc2.bias", {kClasses}, std::move(parameters.fc2_bias)},
          {"fc2.weight", {kClasses, hidden}, std::move(parameters.fc2_weight)}};
}

}  // namespace rharness::scenarios
