// Differences of checkpoints and of files in words.
#ifndef RHARNESS_COMPARE_DESCRIBE_CHECKPOINT_H_
#define RHARNESS_COMPARE_DESCRIBE_CHECKPOINT_H_

#include <string>

#include "compare/comparison.h"

namespace rharness {

// "3 of 12 tensors differ, first fc1.weight at index 7, at most 1e-09 and 1 ULP apart"; names and
// shapes if tensors cannot be compared. For checkpoints that are not equal.
std::string DescribeBits(const CheckpointComparison& checkpoint);

// For a file that no reader opens: whether its bytes are equal, else both digests.
std::string DescribeFile(const CheckpointComparison& file);

// "3 elements of fc1.weight, 1 element of fc2.bias": elements that are not finite on one side and
// another kind of number on the other. Names at most three tensors.
std::string DescribeNonFinite(const CheckpointDifference& difference);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_DESCRIBE_CHECKPOINT_H_
