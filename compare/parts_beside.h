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

// What is loaded with the tensors, where the bytes of a side are gone.
struct BesideDigest {
  std::string digest;  // CheckpointDigest::beside
  std::vector<PartDigest> parts;
  bool is_file = false;  // as in RecordedCheckpoint
};
// The same of digests, into not_compared or asides: the parts that differ, with the first members
// of those whose text is known; where no parts were recorded, the two digests.
Status NoteBeside(const std::array<BesideDigest, 2>& beside, CheckpointComparison* comparison);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_PARTS_BESIDE_H_
