// Classes by digest, the majority by count, the suspect by repeats, other nodes and other stacks.
#include "compare/fingerprints/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compare/fingerprints/choice_parts.h"
#include "compare/fingerprints/fleet_facts.h"
#include "compare/fingerprints/probe_diff.h"
#include "compare/fingerprints/tree_change.h"
#include "harness/base/digest.h"

namespace rharness {
namespace {

struct Seen {
  const FleetMember* member = nullptr;
  std::string arithmetic;
  std::string stack;
};
using SeenList = std::vector<Seen>;

void Field(Sha256* sha, std::string_view text) {
  sha->UpdateU64(text.size());
  sha->Update(text);
}

void AddCase(const FingerprintProbe& probe, const std::string& name, Sha256* sha) {
  Field(sha, name);
  if (probe.IsUnstable(name)) return Field(sha, "unstable");
  const auto choice = probe.choices.find(name);
  const bool shows = !probe.trees.empty() || !probe.bits.empty();
  const std::string chosen = choice == probe.choices.end() ? "" : choice->second;
  // Another processor's kernels compute alike if their order and bits are the same.
  Field(sha, shows && !chosen.empty() ? PartsOf(chosen).rest : chosen);
  const auto tree = probe.trees.find(name);
  Field(sha, tree == probe.trees.end() ? "" : TreeText(tree->second));
  const auto bits = probe.bits.find(name);
  Field(sha, bits == probe.bits.end() ? "" : bits->second);
}

std::set<std::string> NodesOf(const SeenList& seen) {
  std::set<std::string> nodes;
  for (const Seen& one : seen) nodes.insert(one.member->node);
  return nodes;
}

std::vector<const Fingerprint*> FingerprintsOf(const SeenList& seen) {
  std::vector<const Fingerprint*> fingerprints;
  for (const Seen& one : seen) fingerprints.push_back(&one.member->fingerprint);
  return fingerprints;
}

std::string Counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// The fleet's nodes of one hardware class.
class HardwareGroup {
 public:
  HardwareGroup(std::string name, SeenList seen) : name_(std::move(name)), seen_(std::move(seen)) {
    for (const Seen& one : seen_) classes_[one.arithmetic].push_back(one);
  }

  void AddTo(Fleet* fleet) {
    std::vector<const SeenList*> order;
    for (const auto& [digest, seen] : classes_) order.push_back(&seen);
    std::ranges::stable_sort(order, std::greater<>(),
                             [](const SeenList* seen) { return NodesOf(*seen).size(); });
    const bool tie = order.size() > 1 && NodesOf(*order[0]).size() == NodesOf(*order[1]).size();
    if (!tie) majority_ = order.front();
    for (const SeenList* seen : order) AddClass(*seen, fleet);
    if (tie) AddTie(order, fleet);
    if (majority_ == nullptr) return;
    for (const SeenList* seen : order) {
      if (seen != majority_) AddOdd(*seen, fleet);
    }
  }

 private:
  void AddClass(const SeenList& seen, Fleet* fleet) const {
    FleetClass out;
    out.hardware_class = name_;
    out.arithmetic = seen.front().arithmetic;
    out.majority = &seen == majority_;
    for (const std::string& node : NodesOf(seen)) out.nodes.push_back(node);
    for (const Seen& one : seen) out.files.push_back(one.member->fingerprint.file);
    fleet->classes.push_back(std::move(out));
  }

  // No class has two stacks, and no stack two classes.
  bool ClassesAreStacks() const {
    std::map<std::string, std::string> class_of;
    for (const Seen& one : seen_) {
      const auto [at, added] = class_of.emplace(one.stack, one.arithmetic);
      if (!added && at->second != one.arithmetic) return false;
    }
    return true;
  }

  void AddTie(const std::vector<const SeenList*>& order, Fleet* fleet) const {
    std::string note = fmt::format(
        "{}: {} of arithmetic and no majority, {} in each of the largest", name_,
        fmt::format("{} classes", order.size()), Counted(NodesOf(*order[0]).size(), "node"));
    note += ClassesAreStacks()
                ? "; nodes with the same stack compute alike, so it is the stack, not a node"
                : "; nodes with the same stack compute differently, so it is not the stack alone";
    fleet->notes.push_back(note + FactsBetween(*order[0], *order[1]));
  }

  // "; gpu_driver: 580.65 on n1, 590 on n2"
  static std::string FactsBetween(const SeenList& a, const SeenList& b) {
    const std::vector<FleetFact> facts = FactsApart(FingerprintsOf(b), FingerprintsOf(a));
    if (facts.empty()) return "";
    const FleetFact& first = facts.front();
    return fmt::format("; {}: {} on {}, {} on {}{}", first.key,
                       first.majority.front().value_or("absent"), *NodesOf(a).begin(),
                       first.here.value_or("absent"), *NodesOf(b).begin(),
                       facts.size() > 1 ? fmt::format(" and {} more facts", facts.size() - 1) : "");
  }

  // One row per node and stack: repeats that agree give the same row.
  void AddOdd(const SeenList& seen, Fleet* fleet) const {
    std::set<std::pair<std::string, std::string>> told;
    for (const Seen& one : seen) {
      if (!told.emplace(one.member->node, one.stack).second) continue;
      OddNode odd;
      odd.node = one.member->node;
      odd.file = one.member->fingerprint.file;
      odd.hardware_class = name_;
      odd.facts = FactsApart(FingerprintsOf({one}), FingerprintsOf(*majority_));
      odd.difference = DiffFingerprints(Nearest(one).member->fingerprint, one.member->fingerprint);
      Suspicion(one, &odd);
      fleet->odd.push_back(std::move(odd));
    }
  }

  // A fingerprint of the majority with the fewest other differences: the same node, else the same
  // stack, else the first.
  const Seen& Nearest(const Seen& odd) const {
    for (const Seen& one : *majority_) {
      if (one.member->node == odd.member->node) return one;
    }
    for (const Seen& one : *majority_) {
      if (one.stack == odd.stack) return one;
    }
    return majority_->front();
  }

  struct Evidence {
    std::size_t repeats = 0;         // of this node on this stack that agree, this one included
    bool repeats_differ = false;     // a further fingerprint of this node on this stack differs
    std::set<std::string> alike;     // other nodes of this stack that agree with this one
    std::set<std::string> unlike;    // other nodes of this stack that do not
    bool own_majority = false;       // this node on another stack is in the majority
    bool own_elsewhere_odd = false;  // this node on the majority's stack is not in the majority
  };

  Evidence Gather(const Seen& odd) const {
    std::set<std::string> majority_stacks;
    for (const Seen& one : *majority_) majority_stacks.insert(one.stack);
    Evidence out;
    for (const Seen& one : seen_) {
      const bool same = one.arithmetic == odd.arithmetic;
      const bool in_majority = one.arithmetic == majority_->front().arithmetic;
      if (one.member->node == odd.member->node) {
        if (one.stack == odd.stack) {
          if (same) {
            ++out.repeats;
          } else {
            out.repeats_differ = true;
          }
        } else if (in_majority) {
          out.own_majority = true;
        } else if (majority_stacks.contains(one.stack)) {
          out.own_elsewhere_odd = true;
        }
      } else if (one.stack == odd.stack) {
        (same ? out.alike : out.unlike).insert(one.member->node);
      }
    }
    return out;
  }

  void Suspicion(const Seen& odd, OddNode* out) const {
    const Evidence evidence = Gather(odd);
    const std::string facts = FactsInWords(out->facts);
    const auto say = [&](Suspect suspect, const std::string& why) {
      out->suspect = suspect;
      out->sentence = fmt::format("{}: {}", SuspectName(suspect), why);
      if (evidence.repeats > 1) {
        out->sentence += fmt::format("; {} repeats of it agree", evidence.repeats);
      }
    };
    const auto with_facts = [&](const std::string& why) {
      return facts.empty() ? why : fmt::format("{}; {}", why, facts);
    };
    if (evidence.repeats_differ) {
      return say(Suspect::kNode, "repeats of this node on one stack differ from one another");
    }
    if (evidence.own_elsewhere_odd) {
      return say(Suspect::kNode, "this node is odd on the stack of the majority, too");
    }
    if (evidence.own_majority && evidence.unlike.empty()) {
      return say(Suspect::kStack,
                 with_facts("before or after, on another stack, the same node is like the "
                            "majority"));
    }
    if (!evidence.unlike.empty() && evidence.alike.empty()) {
      return say(Suspect::kNode, fmt::format("{} with the same stack differ{} from it",
                                             Counted(evidence.unlike.size(), "other node"),
                                             evidence.unlike.size() == 1 ? "s" : ""));
    }
    if (!evidence.alike.empty() && evidence.unlike.empty()) {
      return say(Suspect::kStack,
                 with_facts(fmt::format("{} with the same stack compute{} like it",
                                        Counted(evidence.alike.size(), "other node"),
                                        evidence.alike.size() == 1 ? "s" : "")));
    }
    if (!evidence.alike.empty()) {
      return say(Suspect::kUnknown, "nodes with the same stack compute like it and others do not");
    }
    say(SuspectOf(out->facts), WhyAlone(out->facts, facts));
  }

  // For a node whose stack no other node has: the facts alone.
  static Suspect SuspectOf(const std::vector<FleetFact>& facts) {
    const auto hardware = std::ranges::count_if(facts, &FleetFact::of_machine);
    if (facts.empty()) return Suspect::kUnknown;
    if (hardware == 0) return Suspect::kStack;
    return hardware == std::ssize(facts) ? Suspect::kNode : Suspect::kUnknown;
  }

  static std::string WhyAlone(const std::vector<FleetFact>& facts, const std::string& words) {
    constexpr std::string_view kToBeSure =
        "no other node has its stack, so to be sure run it on the stack of the others, or its "
        "stack elsewhere";
    if (facts.empty()) {
      return fmt::format("no single fact sets it apart, only all of them together; {}", kToBeSure);
    }
    return fmt::format("{}; {}", words, kToBeSure);
  }

  std::string name_;
  SeenList seen_;
  std::map<std::string, SeenList> classes_;  // by arithmetic
  const SeenList* majority_ = nullptr;
};

std::string WhyUseless(const Fingerprint& fingerprint) {
  if (fingerprint.suite.starts_with("unreadable: ")) return fingerprint.suite;
  if (fingerprint.suite != "ok") return "its suite is broken: " + fingerprint.suite;
  return "no probe worked and showed a case that repeats";
}

std::string SummaryOf(const Fleet& fleet, std::size_t hardware) {
  if (fleet.fingerprints == 0) return "no fingerprint shows anything: there is nothing to compare";
  if (fleet.nodes < 2) return "one node alone: there is nothing to compare it with";
  const std::string of =
      fmt::format("{} on {}", Counted(static_cast<std::size_t>(fleet.nodes), "node"),
                  fmt::format("{} hardware class{}", hardware, hardware == 1 ? "" : "es"));
  if (fleet.classes.size() == hardware) {
    return fmt::format("{} compute alike{}", of, hardware == 1 ? "" : " within each");
  }
  if (fleet.odd.empty()) {
    return fmt::format("{} fall into {} classes, and no majority says which one is odd", of,
                       fleet.classes.size());
  }
  std::set<std::string> names;
  for (const OddNode& odd : fleet.odd) names.insert(odd.node);
  constexpr std::size_t kNamed = 5;
  std::vector<std::string> first(names.begin(), names.end());
  const std::size_t more = first.size() > kNamed ? first.size() - kNamed : 0;
  first.resize(first.size() - more);
  return fmt::format("{} of {} {} majority: {}{}", names.size(), of,
                     names.size() == 1 ? "differs from its" : "differ from their",
                     fmt::join(first, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

std::string_view SuspectName(Suspect suspect) {
  switch (suspect) {
    case Suspect::kNode:
      return "node";
    case Suspect::kStack:
      return "stack";
    case Suspect::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::string ArithmeticDigest(const Fingerprint& fingerprint) {
  if (fingerprint.suite != "ok") return "";
  Sha256 sha;
  bool any = false;
  for (const FingerprintProbe& probe : fingerprint.probes) {
    if (!probe.Ok()) continue;
    Field(&sha, probe.name);
    sha.UpdateU64(probe.parameters.size());
    for (const auto& [name, value] : probe.parameters) Field(&sha, name), Field(&sha, value);
    const std::set<std::string> cases = CasesOf(probe);
    sha.UpdateU64(cases.size());
    any = any || cases.size() > UnstableCasesOf(probe).size();
    for (const std::string& name : cases) AddCase(probe, name, &sha);
  }
  return any ? ToHex(sha.Finish()) : "";
}

Fleet CompareFleet(const std::vector<FleetMember>& members) {
  Fleet fleet;
  std::map<std::string, SeenList> hardware;
  std::set<std::string> nodes;
  for (const FleetMember& member : members) {
    const Fingerprint& fingerprint = member.fingerprint;
    std::string arithmetic = ArithmeticDigest(fingerprint);
    if (arithmetic.empty()) {
      fleet.unusable.push_back(
          fmt::format("{} ({}): {}", member.node, fingerprint.file, WhyUseless(fingerprint)));
      continue;
    }
    ++fleet.fingerprints;
    nodes.insert(member.node);
    const std::string name =
        fingerprint.hardware_class.empty() ? "unknown hardware" : fingerprint.hardware_class;
    hardware[name].push_back({&member, std::move(arithmetic), StackDigest(fingerprint)});
  }
  fleet.nodes = static_cast<int>(nodes.size());
  int pairs = 0;  // hardware classes with two nodes to compare
  for (const auto& [name, seen] : hardware) {
    std::set<std::string> of_class;
    for (const auto& one : seen) of_class.insert(one.member->node);
    pairs += of_class.size() > 1 ? 1 : 0;
  }
  for (auto& [name, seen] : hardware) HardwareGroup(name, std::move(seen)).AddTo(&fleet);
  std::ranges::stable_sort(fleet.odd, {}, &OddNode::node);
  fleet.summary = SummaryOf(fleet, hardware.size());
  if (fleet.classes.size() > hardware.size()) {
    fleet.exit_code = 1;
  } else if (pairs > 0 && fleet.unusable.empty()) {
    fleet.exit_code = 0;
  }
  return fleet;
}

}  // namespace rharness
