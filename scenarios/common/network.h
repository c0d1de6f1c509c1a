// What the trainer needs of a network: 64 inputs, one hidden ReLU layer, 10 classes. Each scenario
// brings its own arithmetic behind this interface.
#ifndef RHARNESS_SCENARIOS_COMMON_NETWORK_H_
#define RHARNESS_SCENARIOS_COMMON_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/common/digits.h"

namespace rharness::scenarios {

// Row-major, as a linear layer y = W x + b stores them: weight [outputs, inputs].
struct Parameters {
  std::size_t hidden = 0;
  std::vector<float> fc1_weight;  // [hidden, kPixels]
  std::vector<float> fc1_bias;    // [hidden]
  std::vector<float> fc2_weight;  // [kClasses, hidden]
  std::vector<float> fc2_bias;    // [kClasses]
};

// Uniform over +-1/sqrt(inputs) for weights and biases of each layer, drawn in the order of the
// members above from the init stream of `seed`.
Parameters InitialParameters(std::size_t hidden, std::uint64_t seed);

struct SgdStep {
  float learning_rate;
  float momentum;  // v = momentum * v + gradient; parameter -= learning_rate * v
};

struct Score {
  double loss_sum = 0;  // cross-entropy in nats, summed over the images
  std::size_t correct = 0;
};

class Network {
 public:
  virtual ~Network() = default;
  // One step along the mean gradient of the batch; returns the summed loss before the step.
  virtual double TrainBatch(const Batch& batch, const SgdStep& step) = 0;
  virtual Score Evaluate(const Batch& batch) = 0;
  virtual Parameters Export() const = 0;
  // Versions of the libraries that compute, by name; empty where there are none.
  virtual std::map<std::string, std::string> Software() const { return {}; }
};

using NetworkFactory = std::function<std::unique_ptr<Network>(const Parameters&)>;

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_COMMON_NETWORK_H_
