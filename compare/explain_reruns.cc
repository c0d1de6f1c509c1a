// Reruns beside each other: equal inputs and different bits.
#include "compare/explain_reruns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace rharness {
namespace {

constexpr char kCode[] = "reruns_differ";
constexpr char kStatement[] =
    "The reruns differ among themselves: a seed that is not passed on, or nondeterminism.";

constexpr char kConfirm[] =
    "rerun with every seed fixed and on one thread: if the reruns agree then, look for the seed "
    "that is not passed on; if not, for sums whose order is left to chance";
constexpr char kConfirmNodes[] =
    "rerun several times on one of these nodes: if those agree, compare the nodes' fingerprints "
    "(`rharness probe run --distribute`, `rharness gate fleet`); if not, it is the run";

std::string OfNodes(const RerunDifference& difference) {
  return difference.nodes.empty() ? "" : " (" + difference.nodes + ")";
}

// Hashes show a rerun's data and code and come first; and a cause that names the draw or order left
// to chance is more specific than this one.
bool StandsBefore(const Cause& cause) {
  constexpr std::array<std::string_view, 5> kNamed = {
      "generator_unseeded", "hash_salted", "seed_set_changed", "worker_order", "process_killed"};
  const bool of_inputs = cause.layer == Layer::kData || cause.layer == Layer::kCode;
  return (cause.strength == Strength::kShown && of_inputs) ||
         (cause.strength != Strength::kPossible &&
          std::ranges::find(kNamed, cause.code) != kNamed.end());
}

// A node that wrote both stands in both.
std::string WaysOfNodes(const std::map<std::string, std::vector<std::string>>& by_digest) {
  constexpr std::size_t kMostNames = 8;
  std::set<std::string> all;
  std::vector<std::pair<std::size_t, std::string>> ways;
  for (const auto& [digest, nodes] : by_digest) {
    const std::set<std::string> names(nodes.begin(), nodes.end());
    if (names.contains("")) return "";
    all.insert(names.begin(), names.end());
    std::vector<std::string> shown(names.begin(), names.end());
    const std::size_t more = shown.size() - std::min(shown.size(), kMostNames);
    shown.resize(shown.size() - more);
    ways.emplace_back(nodes.size(), fmt::format("{}{}", fmt::join(shown, ", "),
                                                more > 0 ? fmt::format(" and {} more", more) : ""));
  }
  if (all.size() < 2) return "";
  std::ranges::stable_sort(ways, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [reruns, names] : ways) text += (text.empty() ? "" : " | ") + names;
  return text;
}

}  // namespace

std::vector<RerunDifference> DifferAmongReruns(const std::vector<RerunOutputs>& reruns) {
  struct Seen {
    int reruns = 0;
    std::map<std::string, std::vector<std::string>> nodes;  // by digest
  };
  std::map<std::string, std::map<std::string, Seen>> by_subject;  // then by group
  for (const RerunOutputs& rerun : reruns) {
    for (const auto& [subject, digest] : rerun.digests) {
      Seen& seen = by_subject[subject][rerun.group];
      ++seen.reruns;
      seen.nodes[digest].push_back(rerun.node);
    }
  }
  std::vector<RerunDifference> differences;
  for (const auto& [subject, groups] : by_subject) {
    RerunDifference most{.subject = subject};
    for (const auto& [group, seen] : groups) {
      const int ways = static_cast<int>(seen.nodes.size());
      if (ways > most.ways) most = {subject, seen.reruns, ways, WaysOfNodes(seen.nodes)};
    }
    if (most.ways > 1) differences.push_back(most);
  }
  return differences;
}

void AddRerunsCause(const std::vector<RerunOutputs>& reruns, Comparison* comparison) {
  const std::vector<RerunDifference> differences = DifferAmongReruns(reruns);
  if (differences.empty()) return;
  const std::string statement =
      differences.front().nodes.empty()
          ? std::string(kStatement)
          : fmt::format(
                "The reruns differ among the nodes ({}): a node that computes differently, a seed "
                "that is not passed on, or nondeterminism.",
                differences.front().nodes);
  std::vector<std::string> evidence;
  for (const RerunDifference& difference : differences) {
    evidence.push_back(fmt::format("{}: {} reruns on the same inputs, {} different results{}",
                                   difference.subject, difference.reruns, difference.ways,
                                   OfNodes(difference)));
  }
  comparison->findings.push_back(
      {.code = kCode,
       .layer = Layer::kRandomness,
       .subject = differences.front().subject,
       .observed = fmt::format("{} different results in {} reruns{}", differences.front().ways,
                               differences.front().reruns, OfNodes(differences.front())),
       .limit = "one result",
       .rule = "reruns on the same inputs should write the same bits",
       .message = statement});
  if (comparison->verdict == Verdict::kIdentical) return;
  // What is declared statistical spreads: that explains no shift that a test has shown.
  if (comparison->verdict == Verdict::kDrifted && !comparison->declared_bitwise) return;
  const auto place = std::ranges::find_if_not(comparison->causes, StandsBefore);
  // It is shown, so a likely cause after it is likely no more.
  for (auto behind = place; behind != comparison->causes.end(); ++behind) {
    if (behind->strength == Strength::kLikely) behind->strength = Strength::kPossible;
  }
  comparison->causes.insert(
      place, {kCode, Layer::kRandomness, Strength::kShown, statement, std::move(evidence),
              differences.front().nodes.empty() ? kConfirm : kConfirmNodes});
}

}  // namespace rharness
