// What the trainer needs of a network, and the parameters of the one that most scenarios train: 64
// inputs, one hidden ReLU layer, 10 classes. Each scenario brings its own arithmetic behind this
// interface.
#ifndef RHARNESS_SCENARIOS_COMMON_NETWORK_H_
#define RHARNESS_SCENARIOS_COMMON_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scenarios/common/digits.h"
#include "scenarios/common/rng.h"

namespace rharness::scenarios {

// One tensor of a checkpoint, row-major.
struct Tensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<float> values;
};

// `count` values, uniform over +-1/sqrt(inputs).
std::vector<float> DrawUniform(Rng* rng, std::size_t count, std::size_t inputs);

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

// fc1.bias, fc1.weight, fc2.bias, fc2.weight.
std::vector<Tensor> TensorsOf(Parameters parameters);

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
  // Every parameter, in the order of their names.
  virtual std::vector<Tensor> Export() const = 0;
  // Versions of the libraries that compute, by name; empty where there are none.
  virtual std::map<std::string, std::string> Software() const { return {}; }
  // What the run cost, by name, its unit in the name; no result of it, so nothing compares it.
  virtual std::map<std::string, double> Resources() const { return {}; }
};

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_COMMON_NETWORK_H_
