// The starting point of every network.
#include "scenarios/common/network.h"

#include <cmath>

#include "scenarios/common/rng.h"

namespace rharness::scenarios {
namespace {

std::vector<float> Draw(Rng* rng, std::size_t count, std::size_t inputs) {
  // IEEE 754 defines division and square root to the last bit, unlike the rest of libm.
  const float bound = 1.0f / std::sqrt(static_cast<float>(inputs));
  std::vector<float> values(count);
  for (float& value : values) value = bound * rng->Symmetric();
  return values;
}

}  // namespace

Parameters InitialParameters(std::size_t hidden, std::uint64_t seed) {
  Rng rng(seed, Stream::kInit);
  Parameters parameters;
  parameters.hidden = hidden;
  parameters.fc1_weight = Draw(&rng, hidden * kPixels, kPixels);
  parameters.fc1_bias = Draw(&rng, hidden, kPixels);
  parameters.fc2_weight = Draw(&rng, kClasses * hidden, hidden);
  parameters.fc2_bias = Draw(&rng, kClasses, hidden);
  return parameters;
}

}  // namespace rharness::scenarios
