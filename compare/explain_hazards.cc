// Causes that both sides may share: hazards that leave the run's result to chance, and damage
// during its recording.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "compare/explain_rules.h"

namespace rharness {
namespace {

struct Hazard {
  std::string name;  // the part of its key after the prefix
  std::string value;
};

// The facts of either side whose keys begin with this, each once.
std::vector<Hazard> HazardsBelow(const ExplainInput& in, std::string_view prefix) {
  std::vector<Hazard> hazards;
  std::set<std::string> named;
  for (const auto* facts : {&in.facts_a, &in.facts_b}) {
    for (const Fact& fact : *facts) {
      if (!fact.key.starts_with(prefix) || !fact.value || !named.insert(fact.key).second) continue;
      hazards.push_back({fact.key.substr(prefix.size()), *fact.value});
    }
  }
  return hazards;
}

std::optional<std::string> ValueOn(const std::vector<Fact>& facts, std::string_view key) {
  const auto fact = std::ranges::find(facts, key, &Fact::key);
  return fact == facts.end() ? std::nullopt : fact->value;
}

bool OnEither(const ExplainInput& in, std::string_view key, std::string_view value) {
  return ValueOn(in.facts_a, key) == value || ValueOn(in.facts_b, key) == value;
}

void Damage(const ExplainInput& in, CauseList* out) {
  std::vector<std::string> evidence;
  for (const Hazard& one : HazardsBelow(in, "damage.")) evidence.push_back(one.value);
  if (evidence.empty()) return;
  out->Add(CausePlace::kDamage,
           {"process_killed", Layer::kEnvironment, Strength::kLikely,
            "The run ended with 0 but lost something on the way: its outputs are not those that "
            "its code makes.",
            std::move(evidence), "give it the missing resource, and record it again"});
}

// What the system draws is another number each time. Packages draw for many things of their own.
void Unseeded(const ExplainInput& in, CauseList* out) {
  constexpr std::string_view kOfPackage = "package", kOfSystem = "os.urandom";
  std::vector<std::string> own, of_packages;
  for (const Hazard& one : HazardsBelow(in, "unseeded.")) {
    // What asks the system itself mostly makes names.
    const bool of_package = one.value.starts_with(kOfPackage) || one.name == kOfSystem;
    (of_package ? of_packages : own)
        .push_back(one.value.empty() ? one.name : fmt::format("{} ({})", one.name, one.value));
  }
  const auto add = [&](CausePlace place, Strength strength, std::vector<std::string> list) {
    if (list.empty()) return;
    out->Add(place, {"generator_unseeded", Layer::kRandomness, strength,
                     fmt::format("A generator without a seed is drawn from: {}.", list.front()),
                     list, "give it a seed, record the run again, and rerun it twice"});
  };
  add(CausePlace::kUnseeded, Strength::kLikely, std::move(own));
  add(CausePlace::kChance, Strength::kPossible, std::move(of_packages));
}

// Hashes of text are salted unless PYTHONHASHSEED sets the salt, and the order of sets depends on
// hashes.
void Salted(const ExplainInput& in, CauseList* out) {
  constexpr std::string_view kSeed = "flag.python.hash_seed";
  const auto a = ValueOn(in.facts_a, kSeed), b = ValueOn(in.facts_b, kSeed);
  const auto at = HazardsBelow(in, "unordered.sets");
  std::vector<std::string> evidence;
  for (const Hazard& one : at) evidence.push_back("the order of a set or a hash: " + one.value);
  if (a && b && *a != *b) {
    evidence.insert(evidence.begin(), fmt::format("PYTHONHASHSEED: {} in A, {} in B", *a, *b));
    out->Add(
        at.empty() ? CausePlace::kVariable : CausePlace::kSeen,
        {"hash_seed_changed", Layer::kRandomness, at.empty() ? Strength::kLikely : Strength::kShown,
         "Python's hashes are salted by another PYTHONHASHSEED, and sets are in another order.",
         std::move(evidence), "rerun with the PYTHONHASHSEED of A"});
    return;
  }
  // Nearly every Python is salted: without code that depends on hashes it explains nothing.
  if (at.empty() || !OnEither(in, kSeed, "random")) return;
  evidence.emplace_back("python.hash_seed is random");
  out->Add(CausePlace::kUnordered,
           {"hash_salted", Layer::kRandomness, Strength::kLikely,
            "Python's hashes are salted: PYTHONHASHSEED is not set, so that sets are in another "
            "order in every process.",
            std::move(evidence), "set PYTHONHASHSEED=0, record the run again, and rerun it twice"});
}

// The order in which a file system lists files, or in which workers are done.
void Unordered(const ExplainInput& in, CauseList* out) {
  std::vector<std::string> changed;
  for (const LayerComparison& layer : in.comparison.layers) {
    for (const FactDifference& difference : layer.differences) {
      constexpr std::string_view kOrder = "file_order.";
      if (!difference.key.starts_with(kOrder)) continue;
      changed.push_back(
          fmt::format("{}: listed in another order", difference.key.substr(kOrder.size())));
    }
  }
  if (!changed.empty()) {
    out->Add(CausePlace::kSeen,
             {"file_order_changed", Layer::kData, Strength::kShown,
              "The file system listed the same files in another order, and the run takes them as "
              "they come.",
              std::move(changed), "sort the list, record the run again, and rerun it twice"});
  }
  std::vector<std::string> workers;
  for (const Hazard& one : HazardsBelow(in, "unordered.workers")) workers.push_back(one.value);
  if (workers.empty()) return;
  out->Add(
      CausePlace::kUnordered,
      {"worker_order", Layer::kRandomness, Strength::kLikely,
       "Results are used in the order in which workers or threads finish, which differs each time.",
       std::move(workers), "take them in the order of their tasks, and rerun twice"});
}

// A copy of a file is as old as the copying.
void OrderOfTimes(const ExplainInput& in, CauseList* out) {
  std::vector<std::string> evidence;
  for (const Hazard& one : HazardsBelow(in, "unordered.times")) {
    evidence.push_back(one.value + " goes by the times of files");
  }
  if (evidence.empty()) return;
  out->Add(CausePlace::kUnordered,
           {"file_times", Layer::kData, Strength::kLikely,
            "The order of files is taken from their modification times, which a copy changes.",
            std::move(evidence), "sort them by name, record the run again, and rerun it twice"});
}

// Children that did not end with 0, and did when the run was recorded, or the other way round.
void ChildEnds(const ExplainInput& in, CauseList* out) {
  constexpr std::string_view kKey = "child_ends";
  const auto a = ValueOn(in.facts_a, kKey), b = ValueOn(in.facts_b, kKey);
  if (a == b) return;
  out->Add(CausePlace::kSeen,
           {"child_ended",
            Layer::kEnvironment,
            Strength::kShown,
            "A process that the run starts ended differently: by a signal or with a different "
            "code, such as a worker that ran out of memory.",
            {fmt::format("processes of the run: {} in A, {} in B", a.value_or("all ended with 0"),
                         b.value_or("all ended with 0"))},
            "read its stderr; compare limits of memory, files and processes"});
}

// Set at the recording, read by the run, and missing from the record.
void NotRecorded(const ExplainInput& in, CauseList* out) {
  std::vector<std::string> evidence;
  std::string first;
  for (const Fact& fact : in.facts_a) {
    constexpr std::string_view kPrefix = "unrecorded.";
    if (!fact.key.starts_with(kPrefix)) continue;
    const std::string name = fact.key.substr(kPrefix.size());
    if (first.empty()) first = name;
    evidence.push_back(
        fmt::format("{} was set in A, and {} reads it", name, fact.value.value_or("the run")));
  }
  if (evidence.empty()) return;
  out->Add(
      CausePlace::kVariable,
      {"variable_not_recorded", Layer::kEnvironment, Strength::kLikely,
       fmt::format("{} was set where the run was recorded, and is no part of the record.", first),
       std::move(evidence), "record the run again with --variable " + first});
}

void WarnedOperators(const ExplainInput& in, CauseList* out) {
  std::vector<std::string> evidence;
  for (const Hazard& one : HazardsBelow(in, "nondeterministic.")) {
    evidence.push_back(one.name + " warned that it has no deterministic implementation");
  }
  if (evidence.empty()) return;
  out->Add(CausePlace::kNondeterminism,
           {"nondeterministic_operator", Layer::kRandomness, Strength::kLikely,
            "The run uses operators whose sums have no fixed order.", std::move(evidence),
            "rerun A twice as it is: if the two differ, it was this"});
}

bool IsOff(const std::optional<std::string>& value) {
  return !value || *value == "0" || *value == "false" || *value == "False" || *value == "off";
}

// A flag that must be on for bits to hold and is off, or the other way round, on either side.
void Determinism(const ExplainInput& in, CauseList* out) {
  constexpr std::string_view kPrefix = "determinism.";
  std::vector<std::string> evidence;
  for (const auto* facts : {&in.facts_a, &in.facts_b}) {
    for (const Fact& fact : *facts) {
      if (!fact.key.starts_with(kPrefix)) continue;
      const bool must_be_off = fact.key.find("benchmark") != fact.key.npos ||
                               fact.key.find("tf32") != fact.key.npos ||
                               fact.key.find("autotune") != fact.key.npos;
      if (IsOff(fact.value) == must_be_off) continue;
      evidence.push_back(fmt::format("{} is {} in {}", fact.key.substr(kPrefix.size()),
                                     fact.value.value_or("absent"),
                                     facts == &in.facts_a ? "A" : "B"));
    }
  }
  if (evidence.empty()) return;
  out->Add(CausePlace::kNondeterminism,
           {"determinism_flag_off", Layer::kRandomness, Strength::kLikely,
            "A framework's determinism switch is not set, so kernels may add in any order.",
            std::move(evidence), "rerun A twice as it is: if the two differ, it was this"});
}

}  // namespace

const std::vector<ExplainRule>& HazardRules() {
  static const std::vector<ExplainRule> rules = {Damage,      ChildEnds,       OrderOfTimes,
                                                 NotRecorded, Unseeded,        Salted,
                                                 Unordered,   WarnedOperators, Determinism};
  return rules;
}

}  // namespace rharness
