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
  // Reruns of one group are expected to write the same bits: the same machine, inputs, seeds and
  // environment, in whatever words. Those of different groups are never compared.
  std::string group;
  std::string node;  // of a cluster, that it ran on; empty: no such thing
  // "weights model.safetensors" -> tensor digest, "metric loss" -> its bits in hex, "curve loss" ->
  // a digest of steps and values. A subject that a rerun lacks is not compared there.
  std::map<std::string, std::string> digests;
};

// A subject that came out in more than one way.
struct RerunDifference {
  std::string subject;
  int reruns = 0;  // of the group, which have it
  int ways = 0;    // different digests among them, at least 2
  // Which nodes wrote which: "n1, n3 | n2", those of most reruns first; empty where they ran on one
  // node, or on none that is known.
  std::string nodes;
};

// By subject, of the group in which it came out in most ways; empty where all agree, and for fewer
// than two reruns.
std::vector<RerunDifference> DifferAmongReruns(const std::vector<RerunOutputs>& reruns);

// Where reruns differ among themselves: adds the finding "reruns_differ" (it does not decide) and,
// unless the verdict is identical, the cause of that name, behind what hashes of data and code
// show and what names the draw or order that is left to chance, and ahead of everything that is
// said of environment and hardware, none of which is likely then. Else changes nothing.
void AddRerunsCause(const std::vector<RerunOutputs>& reruns, Comparison* comparison);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_EXPLAIN_RERUNS_H_
