// Do the reruns of one run agree among themselves? A forgotten seed shows in them, before any
// change of the environment is suspected.
//
// Role: pure. The drill calls AddRerunsCause once for each rerun's judged and explained comparison,
// with the outputs of all compared reruns of the run:
//
//   std::vector<RerunOutputs> outputs;  // one a rerun that ran to its end
//   outputs.push_back({.rerun = 1, .group = host + " " + inputs, .digests = {{subject, digest}}});
//   comparison.causes = Explain(comparison, facts_a, facts_b);
//   AddRerunsCause(outputs, &comparison);
#ifndef RHARNESS_COMPARE_EXPLAIN_RERUNS_H_
#define RHARNESS_COMPARE_EXPLAIN_RERUNS_H_

#include <map>
#include <string>
#include <vector>

#include "compare/comparison.h"

namespace rharness {

// What one rerun wrote.
struct RerunOutputs {
  int rerun = 0;
  // Reruns of one group should write the same bits: the same machine, inputs, seeds and
  // environment, as any text. Different groups are never compared.
  std::string group;
  std::string node;  // of a cluster, that it ran on; empty: no such thing
  // "weights model.safetensors" -> tensor digest, "metric loss" -> its bits in hex, "curve loss" ->
  // a digest of steps and values. A subject missing from a rerun is not compared there.
  std::map<std::string, std::string> digests;
};

// A subject whose digests differ between reruns.
struct RerunDifference {
  std::string subject;
  int reruns = 0;  // reruns of the group that have it
  int ways = 0;    // different digests among them, at least 2
  // Which nodes wrote which: "n1, n3 | n2", the largest set of reruns first; empty if they ran on
  // one node, or the nodes are not known.
  std::string nodes;
};

// By subject, of the group with the most different digests; empty if all agree, and for fewer than
// two reruns.
std::vector<RerunDifference> DifferAmongReruns(const std::vector<RerunOutputs>& reruns);

// If reruns differ among themselves: adds the finding "reruns_differ" (it does not decide) and,
// unless the verdict is identical, the cause of that name. It stands behind causes from hashes of
// data and code and those that name the draw or order left to chance, and ahead of all causes of
// environment and hardware, which are not likely any more. Else changes nothing.
void AddRerunsCause(const std::vector<RerunOutputs>& reruns, Comparison* comparison);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_EXPLAIN_RERUNS_H_
