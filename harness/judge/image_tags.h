// Moved tags of images: the same name for another image. Pure.
#ifndef RHARNESS_HARNESS_JUDGE_IMAGE_TAGS_H_
#define RHARNESS_HARNESS_JUDGE_IMAGE_TAGS_H_

#include <string>
#include <vector>

#include "harness/records/manifest/manifest.h"
#include "harness/verdict/verdict.h"

namespace rharness {

struct TagMove {
  std::string tag;     // "registry.example/ml/train:1"
  std::string before;  // digest
  std::string after;
  std::string sentence;
};
// Each time that a tag was recorded with another digest than by the run before it, in the order of
// the runs' start. Ignores images without a tag or a digest.
std::vector<TagMove> FindTagMoves(const std::vector<Manifest>& runs);

// The last of these for the run's own tag, as findings of the environment layer that decide
// nothing: a rerun uses the digest.
std::vector<Finding> TagFindings(const Manifest& run, const std::vector<TagMove>& moves);

// One sentence for each time that a tag was recorded with another digest than by the run before it,
// in the order of the runs' start: which tag, from and to what, and when each was recorded. Ignores
// images without a tag or a digest.
std::vector<std::string> TagMoves(const std::vector<Manifest>& runs);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_IMAGE_TAGS_H_
