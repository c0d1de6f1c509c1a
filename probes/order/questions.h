// Questions to a masked sum: the number of leaves under the point where two of them meet.
//
// Role: private to reveal.cc, which selects the questions. Here: batches, blocks that a short
// accumulator counts exactly, repeats, and many questions in one sum.
#ifndef RHARNESS_PROBES_ORDER_QUESTIONS_H_
#define RHARNESS_PROBES_ORDER_QUESTIONS_H_

#include <span>
#include <vector>

#include "probes/order/reveal.h"

namespace rharness {

// Questions about one group of leaves: those that join `witness` at one node. -1: there is no such
// leaf, as for the whole tree, and the group is asked alone.
struct GroupQuestions {
  std::span<const int> leaves;
  int witness = -1;
  std::span<const MaskPair> pairs;  // within the group
};

class Questions {
 public:
  Questions(MaskedSum& sum, const RevealOptions& options) : sum_(sum), options_(options) {}

  // Leaves under the meeting point of each pair, group after group; 0 if an answer was no count,
  // with the reason in revealed->why. Counts probes and launches.
  Result<std::vector<int>> AskGroups(const std::vector<GroupQuestions>& groups, Revealed* revealed);
  // The same for any pairs, one sum per pair; counts nothing.
  Result<std::vector<int>> Check(const std::vector<MaskPair>& pairs, Revealed* revealed);

  // From here on counts are assembled from blocks of half the length. An accumulator that counts
  // less far than stated then gives different answers; a stuck count looks like a wide node.
  void HalveBlocks() { halved_ = true; }

  // Whether pairs asked alone have the same answers as in a batch. The samples sit in rows spread
  // over the whole batch, since kernels treat the rows at its end separately.
  Status CheckBatch(const std::vector<MaskPair>& pairs, Revealed* revealed);

 private:
  // Groups that share a sum, the weight of a unit of each, and the number of sums.
  struct Bundle {
    std::vector<std::size_t> groups;
    std::vector<std::int64_t> weights;
    std::size_t sums = 0;
  };

  Result<std::vector<int>> Ask(const std::vector<MaskPair>& pairs, Revealed* revealed,
                               bool counted);
  Result<std::vector<double>> AskOnce(const std::vector<MaskPair>& pairs, Revealed* count);
  bool Packs(const GroupQuestions& group) const;
  std::vector<Bundle> Pack(const std::vector<GroupQuestions>& groups) const;
  // Answers of a bundle's groups; 0 if the sum was not conclusive and its pairs must be asked
  // alone.
  Status AskBundle(const std::vector<GroupQuestions>& groups, const Bundle& bundle,
                   std::span<std::vector<int>> answers, Revealed* revealed);
  Result<std::vector<double>> SumBundle(const std::vector<GroupQuestions>& groups,
                                        const Bundle& bundle, Revealed* count);

  MaskedSum& sum_;
  const RevealOptions& options_;
  bool halved_ = false;
  bool packs_ = true;  // until a sum of several questions was not conclusive
};

}  // namespace rharness

#endif  // RHARNESS_PROBES_ORDER_QUESTIONS_H_
