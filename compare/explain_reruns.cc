// Reruns beside each other: equal inputs and different bits.
#include "compare/explain_reruns.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace rharness {
namespace {

constexpr char kCode[] = "reruns_differ";
constexpr char kStatement[] =
    "The reruns differ among themselves: a seed that is not passed on, or nondeterminism.";

// What a rerun's data and code are is shown by hashes and comes first.
bool IsOfInputs(const Cause& cause) {
  return cause.strength == "shown" && (cause.layer == Layer::kData || cause.layer == Layer::kCode);
}

}  // namespace

std::vector<RerunDifference> DifferAmongReruns(const std::vector<RerunOutputs>& reruns) {
  struct Seen {
    int reruns = 0;
    std::set<std::string> digests;
  };
  std::map<std::string, std::map<std::string, Seen>> by_subject;  // then by group
  for (const RerunOutputs& rerun : reruns) {
    for (const auto& [subject, digest] : rerun.digests) {
      Seen& seen = by_subject[subject][rerun.group];
      ++seen.reruns;
      seen.digests.insert(digest);
    }
  }
  std::vector<RerunDifference> differences;
  for (const auto& [subject, groups] : by_subject) {
    RerunDifference most{.subject = subject};
    for (const auto& [group, seen] : groups) {
      const int ways = static_cast<int>(seen.digests.size());
      if (ways > most.ways) most = {subject, seen.reruns, ways};
    }
    if (most.ways > 1) differences.push_back(most);
  }
  return differences;
}

void AddRerunsCause(const std::vector<RerunOutputs>& reruns, Comparison* comparison) {
  const std::vector<RerunDifference> differences = DifferAmongReruns(reruns);
  if (differences.empty()) return;
  std::vector<std::string> evidence;
  for (const RerunDifference& difference : differences) {
    evidence.push_back(fmt::format("{}: {} reruns on the same inputs, {} different results",
                                   difference.subject, difference.reruns, difference.ways));
  }
  comparison->findings.push_back(
      {.code = kCode,
       .layer = Layer::kRandomness,
       .subject = differences.front().subject,
       .observed = fmt::format("{} different results in {} reruns", differences.front().ways,
                               differences.front().reruns),
       .limit = "one result",
       .rule = "reruns on the same inputs should write the same bits",
       .message = kStatement});
  if (comparison->verdict == Verdict::kIdentical) return;
  // What is declared statistical spreads: that explains no shift that a test has shown.
  if (comparison->verdict == Verdict::kDrifted && !comparison->declared_bitwise) return;
  const auto place = std::ranges::find_if_not(comparison->causes, IsOfInputs);
  comparison->causes.insert(
      place, {kCode, Layer::kRandomness, "shown", kStatement, std::move(evidence),
              "rerun with every seed fixed and on one thread: if the reruns agree then, look for "
              "the seed that is not passed on; if not, for sums whose order is left to chance"});
}

}  // namespace rharness
