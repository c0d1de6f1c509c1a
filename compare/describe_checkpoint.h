// Differences of checkpoints and of files in words.
#ifndef RHARNESS_COMPARE_DESCRIBE_CHECKPOINT_H_
#define RHARNESS_COMPARE_DESCRIBE_CHECKPOINT_H_

#include <string>

#include "compare/comparison.h"

namespace rharness {

// "3 of 12 tensors differ, first fc1.weight at index 7, at most 1e-09 and 1 ULP apart"; of names
// and shapes where tensors cannot be compared. For checkpoints that are not equal.
std::string DescribeBits(const CheckpointComparison& checkpoint);

// Of a file that no reader opens: whether its bytes are the same, and by which digests they are
// not.
std::string DescribeFile(const CheckpointComparison& file);

// "3 elements of fc1.weight, 1 element of fc2.bias": those that are not finite on a side
// and another kind of number on the other. At most three tensors are named.
std::string DescribeNonFinite(const CheckpointDifference& difference);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_DESCRIBE_CHECKPOINT_H_
