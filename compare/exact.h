// What was compared bit for bit, one line per thing: for lists, counts and machines.
#ifndef RHARNESS_COMPARE_EXACT_H_
#define RHARNESS_COMPARE_EXACT_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "compare/weights/tensor_diff.h"

namespace rharness {

// The basis of the comparison, weakest last.
enum class ComparedBy { kTensors, kTensorDigests, kFileDigest, kValues, kNothing };
std::string_view ComparedByWords(ComparedBy by);  // "tensors", "SHA-256 of the file", ...

// Tensors, their recorded digests, or the digest of a whole file.
ComparedBy HowCompared(const CheckpointComparison& checkpoint);

struct ExactComparison {
  enum class State { kEqual, kDiffers, kMissing, kVacuous };
  std::string subject;  // "weights model.safetensors", "curve train_loss", "metric test_accuracy"
  State state = State::kMissing;
  ComparedBy compared_by = ComparedBy::kNothing;
  std::string first_difference;  // "tensor fc1.bias", "step 17"; empty if equal
  std::string detail;            // for people: max abs, max ULP, both values
  // Of the first differing tensor, if its bytes were at hand; apart, since most lists are of what
  // is equal, and a tensor's is three times the rest.
  std::shared_ptr<const TensorDifference> tensor;
};

// Every output, curve and metric of a comparison in this order, times and memory left out, and the
// outputs that are missing. Pure.
std::vector<ExactComparison> ExactOf(const Comparison& comparison);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_EXACT_H_
