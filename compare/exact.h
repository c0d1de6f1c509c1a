// What was compared bit for bit, a line a thing: for lists, counts and machines that want no more.
#ifndef RHARNESS_COMPARE_EXACT_H_
#define RHARNESS_COMPARE_EXACT_H_

#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compare/weights/tensor_diff.h"

namespace rharness {

struct ExactComparison {
  enum class State { kEqual, kDiffers, kMissing, kVacuous };
  std::string subject;  // "weights model.safetensors", "curve train_loss", "metric test_accuracy"
  State state = State::kMissing;
  std::string first_difference;  // "tensor fc1.bias", "step 17"; empty if equal
  std::string detail;            // for people: max abs, max ULP, both values
  std::optional<TensorDifference>
      tensor;  // of the first differing tensor, if its bytes were at hand
};

// Every checkpoint, curve and metric of a comparison in this order, times and memory left out, and
// the checkpoints that are missing. Pure.
std::vector<ExactComparison> ExactOf(const Comparison& comparison);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_EXACT_H_
