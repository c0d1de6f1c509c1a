// Facts of single nodes and ranks, by the functions that make those of a whole run.
#include "harness/judge/gang_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "harness/judge/facts_of.h"
#include "harness/judge/kernel_facts.h"

namespace rharness {
namespace {

using FactsByKey = std::map<std::string, Fact>;

bool IsOfNode(const Fact& fact) {
  return fact.layer == Layer::kEnvironment || fact.layer == Layer::kHardware;
}

bool IsOfRank(const Fact& fact) {
  return fact.key.starts_with("seed_set.") || fact.key.starts_with("flag.") ||
         fact.key.starts_with("library.") || fact.key.starts_with("nccl.") ||
         fact.key.starts_with(kKernelFact) || fact.key == kKernelOrderFact;
}

// Facts of a rank are in no bundle, which would be unfolded for each of a thousand ranks.
FactsByKey ByKey(const std::vector<Fact>& facts, bool (*is_wanted)(const Fact&)) {
  FactsByKey by_key;
  for (const Fact& fact : is_wanted == IsOfRank ? facts : Unbundled(facts)) {
    if (fact.kind == FactKind::kValue && is_wanted(fact)) by_key.emplace(fact.key, fact);
  }
  return by_key;
}

const Environment& EnvironmentOf(const GangParts& parts, std::size_t node,
                                 const Environment& head) {
  const bool own = node < parts.nodes.size() && parts.nodes[node].environment;
  return own ? *parts.nodes[node].environment : head;
}

std::optional<Observation> ObservationOf(const GangParts& parts, std::size_t rank,
                                         const std::optional<Observation>& first) {
  if (!first || rank >= parts.ranks.size()) return first;
  Observation own = *first;
  if (parts.ranks[rank].seeds) own.seeds = *parts.ranks[rank].seeds;
  if (parts.ranks[rank].flags) own.flags = *parts.ranks[rank].flags;
  if (parts.ranks[rank].nccl) own.nccl = *parts.ranks[rank].nccl;
  if (parts.ranks[rank].libraries) own.libraries = *parts.ranks[rank].libraries;
  if (parts.ranks[rank].kernels) own.kernels = parts.ranks[rank].kernels;
  return own;
}

std::string HostOf(const GangParts& parts, std::size_t node) {
  return node < parts.nodes.size() ? parts.nodes[node].host : "";
}

std::string HostOfRank(const GangParts& parts, std::size_t rank) {
  return HostOf(parts, static_cast<std::size_t>(parts.ranks[rank].node));
}

constexpr std::size_t kMostHostsTold = 8;

// "node 0 n1, node 1 n2": one side's value, of the nodes whose hosts differ.
std::string HostsInWords(const std::vector<std::size_t>& others, const GangParts& parts) {
  std::string words;
  for (std::size_t i = 0; i < std::min(others.size(), kMostHostsTold); ++i) {
    words += fmt::format("{}node {} {}", i == 0 ? "" : ", ", others[i], HostOf(parts, others[i]));
  }
  if (others.size() > kMostHostsTold) {
    words += fmt::format(" and {} more", others.size() - kMostHostsTold);
  }
  return words;
}

// The hosts of a run are no fact where they are the recorded ones, by number. Else they are
// comparable: a sum over ranks may have another order, or cross another switch.
void AddHosts(const GangParts& there, const GangParts& here, GangFacts* out) {
  if (there.nodes.size() != here.nodes.size() || here.nodes.size() < 2) return;
  std::vector<std::size_t> others;
  std::array<std::multiset<std::string>, 2> hosts;
  for (std::size_t node = 0; node < here.nodes.size(); ++node) {
    const std::string then = HostOf(there, node), now = HostOf(here, node);
    if (then.empty() || now.empty()) return;
    if (then != now) others.push_back(node);
    hosts[0].insert(then);
    hosts[1].insert(now);
  }
  if (others.empty()) return;
  const bool same = hosts[0] == hosts[1];
  const Fact fact{.layer = Layer::kHardware,
                  .key = std::string(same ? kGangNodeOrder : kGangNodeSet),
                  .value = HostsInWords(others, there),
                  .weight = FactWeight::kContext};
  out->recorded.push_back(fact);
  out->observed.push_back(fact);
  out->observed.back().value =
      HostsInWords(others, here) +
      (same ? ", the same nodes in another order" : ", other nodes of the class");
}

// Says where a value was seen, which is no part of a key: a rerun may run on other hosts.
void SayHosts(const std::string& then, const std::string& now, Fact* recorded, Fact* observed) {
  if (recorded != nullptr && observed != nullptr && recorded->value == observed->value) return;
  if (recorded != nullptr && recorded->value && !then.empty() && then != now) {
    *recorded->value += " on " + then;
  }
  if (observed != nullptr && observed->value && !now.empty()) *observed->value += " on " + now;
}

// The two sides of a run, with a node's or a rank's facts in place of node 0's.
class Sides {
 public:
  Sides(const Manifest& manifest, const Evidence& evidence)
      : manifest_(manifest), evidence_(evidence), there_(*manifest.gang), here_(*evidence.gang) {
    manifest_.gang.reset();
    evidence_.gang.reset();
    head_environment_ = manifest_.environment;
    rerun_environment_ = evidence_.environment;
    first_ = manifest_.observation;
    rerun_first_ = evidence_.observation;
  }

  void AddNodes(GangFacts* out) {
    AddHosts(there_.parts, here_, out);
    const auto nodes = std::min(there_.parts.nodes.size(), here_.nodes.size());
    const auto differs = [](const GangParts& parts, std::size_t node) {
      return node < parts.nodes.size() && parts.nodes[node].environment.has_value();
    };
    std::optional<GangFacts> head;
    for (std::size_t node = 1; node < nodes; ++node) {
      if (!differs(there_.parts, node) && !differs(here_, node)) continue;
      if (!head) head = Facts();
      manifest_.environment = EnvironmentOf(there_.parts, node, head_environment_);
      evidence_.environment = EnvironmentOf(here_, node, rerun_environment_);
      Add(*head, Facts(), IsOfNode,
          {fmt::format("{}{}", kOnNode, node), HostOf(there_.parts, node), HostOf(here_, node)},
          out);
    }
    manifest_.environment = head_environment_;
    evidence_.environment = rerun_environment_;
  }

  void AddRanks(GangFacts* out) {
    if (!first_ || !rerun_first_) return;
    const auto ranks = std::min(there_.parts.ranks.size(), here_.ranks.size());
    const GangFacts first = Facts();
    for (std::size_t rank = 1; rank < ranks; ++rank) {
      manifest_.observation = ObservationOf(there_.parts, rank, first_);
      evidence_.observation = ObservationOf(here_, rank, rerun_first_);
      const std::string_view part = there_.start == GangStart::kOnce ? kOnNode : kOnRank;
      Add(first, Facts(), IsOfRank,
          {fmt::format("{}{}", part, rank), HostOfRank(there_.parts, rank),
           HostOfRank(here_, rank)},
          out);
    }
  }

 private:
  // Behind a key, and the hosts of the record and of the rerun.
  struct Place {
    std::string suffix, then, now;
  };

  GangFacts Facts() const {
    return {.recorded = FactsAsRerun(manifest_, evidence_),
            .observed = FactsOf(evidence_, manifest_)};
  }

  // Keys whose fact is another than the first's, on either side.
  static void Add(const GangFacts& first, const GangFacts& own, bool (*is_wanted)(const Fact&),
                  const Place& place, GangFacts* out) {
    const std::array<FactsByKey, 2> firsts = {ByKey(first.recorded, is_wanted),
                                              ByKey(first.observed, is_wanted)};
    const std::array<FactsByKey, 2> owns = {ByKey(own.recorded, is_wanted),
                                            ByKey(own.observed, is_wanted)};
    std::set<std::string> keys;
    for (std::size_t side = 0; side < owns.size(); ++side) {
      for (const auto& [key, fact] : owns[side]) {
        const auto found = firsts[side].find(key);
        if (found == firsts[side].end() || found->second.value != fact.value) keys.insert(key);
      }
      for (const auto& [key, fact] : firsts[side]) {
        if (!owns[side].contains(key)) keys.insert(key);
      }
    }
    for (const std::string& key : keys) {
      std::array<std::optional<Fact>, 2> facts;
      for (std::size_t side = 0; side < owns.size(); ++side) {
        const auto found = owns[side].find(key);
        if (found == owns[side].end()) continue;
        facts[side] = found->second;
        facts[side]->key += place.suffix;
      }
      SayHosts(place.then, place.now, facts[0] ? &*facts[0] : nullptr,
               facts[1] ? &*facts[1] : nullptr);
      if (facts[0]) out->recorded.push_back(std::move(*facts[0]));
      if (facts[1]) out->observed.push_back(std::move(*facts[1]));
    }
  }

  Manifest manifest_;
  Evidence evidence_;
  const Gang there_;
  const GangParts here_;
  Environment head_environment_;
  Environment rerun_environment_;
  std::optional<Observation> first_;
  std::optional<Observation> rerun_first_;
};

}  // namespace

GangFacts FactsOfGang(const Manifest& recorded, const Manifest& other) {
  if (!other.gang) return {};
  Evidence evidence;
  evidence.environment = other.environment;
  evidence.observation = other.observation;
  evidence.gang = other.gang->parts;
  return FactsOfGang(recorded, evidence);
}

GangFacts FactsOfGang(const Manifest& manifest, const Evidence& evidence) {
  GangFacts facts;
  if (!manifest.gang || !evidence.gang) return facts;
  Sides sides(manifest, evidence);
  sides.AddNodes(&facts);
  sides.AddRanks(&facts);
  return facts;
}

}  // namespace rharness
