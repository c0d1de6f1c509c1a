// What lies beside the tensors of two checkpoints, in sentences.
//
// Role: private to this folder; under compare_checkpoints.
#ifndef RHARNESS_COMPARE_PARTS_BESIDE_H_
#define RHARNESS_COMPARE_PARTS_BESIDE_H_

#include <array>
#include <string>
#include <vector>

#include "compare/compare_checkpoints.h"
#include "compare/comparison.h"
#include "harness/base/result.h"

namespace rharness {

struct PartSentences {
  std::vector<std::string> decide;
  std::vector<std::string> aside;
};

// Of two open checkpoints: a sentence for every part that is not read as tensors, unless both sides
// have an equal one. A second set of weights is always reported, once for its files. Errors: io,
// integrity (a file that changed).
Result<PartSentences> PartsBeside(const RecordedCheckpoint& a, const RecordedCheckpoint& b,
                                  bool weights_only);

// The same of digests: `beside` are those of A and B.
void NoteBeside(const RecordedCheckpoint& a, const RecordedCheckpoint& b,
                const std::array<std::string, 2>& beside, CheckpointComparison* comparison);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_PARTS_BESIDE_H_
