// Causes from facts: what was recorded to be another thing. Causes from patterns: see
// explain_patterns.cc.
#include "compare/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include "compare/explain_rules.h"
#include "compare/fact_order.h"
#include "harness/base/shell_word.h"

namespace rharness {
namespace {

std::string Shown(const std::optional<std::string>& value) {
  constexpr std::size_t kLongest = 80;
  if (!value) return "absent";
  return value->size() <= kLongest ? *value : value->substr(0, kLongest) + "...";
}

std::string Change(const FactDifference& difference) {
  return fmt::format("{}: {} in A, {} in B", difference.key, Shown(difference.recorded),
                     Shown(difference.observed));
}

bool StartsWithAny(std::string_view key, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(prefixes,
                             [&](std::string_view prefix) { return key.starts_with(prefix); });
}

// The differences of one layer whose key begins with one of these.
std::vector<std::string> Changes(const Comparison& comparison, Layer layer,
                                 std::initializer_list<std::string_view> prefixes) {
  std::vector<std::string> changes;
  for (const FactDifference& difference : LayerOf(comparison, layer).differences) {
    if (StartsWithAny(difference.key, prefixes)) changes.push_back(Change(difference));
  }
  return changes;
}

// NAME of the fact "data.NAME.sha256"; empty for other facts.
std::string DataNameIn(std::string_view key) {
  constexpr std::string_view kBegin = "data.", kEnd = ".sha256";
  if (!key.starts_with(kBegin) || !key.ends_with(kEnd)) return "";
  return std::string(key.substr(kBegin.size(), key.size() - kBegin.size() - kEnd.size()));
}

// What made the data of which the hash differs, on either side; empty: not said.
std::array<std::optional<std::string>, 2> LineageOf(const FactDifference& difference,
                                                    const ExplainInput& in) {
  std::array<std::optional<std::string>, 2> makers;
  const std::string name = DataNameIn(difference.key);
  if (name.empty()) return makers;
  for (std::size_t side = 0; side < makers.size(); ++side) {
    for (const Fact& fact : side == 0 ? in.facts_a : in.facts_b) {
      if (fact.kind == FactKind::kLineage && fact.key == "made_by." + name) {
        makers[side] = fact.value;
      }
    }
  }
  return makers;
}

// Adds that another transform made it, if both sides say which did.
bool MadeOtherwise(const FactDifference& difference, const ExplainInput& in,
                   std::vector<Cause>* out) {
  const auto [was, is] = LineageOf(difference, in);
  if (!was || !is || *was == *is) return false;
  out->push_back(
      {"data_made_otherwise",
       Layer::kData,
       "shown",
       fmt::format("The data '{}' was made by another version of the transform: {} -> {}.",
                   DataNameIn(difference.key), *was, *is),
       {Change(difference)},
       "make it by the transform of A, and hold its hash to that of A (rharness hash)"});
  return true;
}

void Data(const ExplainInput& in, std::vector<Cause>* out) {
  auto undeclared = Changes(in.comparison, Layer::kData, {"input."});
  if (!undeclared.empty()) {
    out->push_back({"undeclared_input_changed", Layer::kData, "likely",
                    "A file that the run reads, and that nothing declares, is not the same.",
                    std::move(undeclared), "declare it (--data or --code-file), and record again"});
  }
  std::vector<std::string> evidence;
  for (const FactDifference& difference : LayerOf(in.comparison, Layer::kData).differences) {
    if (difference.key.starts_with("input.") || MadeOtherwise(difference, in, out)) continue;
    evidence.push_back(Change(difference));
    const auto [was, is] = LineageOf(difference, in);
    if (was) evidence.push_back(fmt::format("it was made by {} in A", *was));
    if (is) evidence.push_back(fmt::format("it was made by {} in B", *is));
  }
  if (evidence.empty()) return;
  out->push_back({"data_changed", Layer::kData, "shown",
                  "The training data is not the same: its hashes differ.", std::move(evidence),
                  "rharness hash DATA on both machines, and compare with the recorded sha256"});
}

void Hyperparameters(const ExplainInput& in, std::vector<Cause>* out) {
  auto evidence = Changes(in.comparison, Layer::kCode, {"hyperparameter."});
  if (evidence.empty()) return;
  out->push_back({"hyperparameter_changed", Layer::kCode, "shown",
                  "The runs were not asked to do the same: hyperparameters differ.",
                  std::move(evidence), "rerun B with the hyperparameters of A"});
}

void Command(const ExplainInput& in, std::vector<Cause>* out) {
  auto evidence = Changes(in.comparison, Layer::kCode, {"command", "family"});
  if (evidence.empty()) return;
  out->push_back({"command_changed", Layer::kCode, "likely",
                  "The runs were started by another command, or are of another family.",
                  std::move(evidence), "compare the two commands argument by argument"});
}

void Code(const ExplainInput& in, std::vector<Cause>* out) {
  auto evidence = Changes(in.comparison, Layer::kCode, {"code."});
  if (evidence.empty()) return;
  const bool files = std::ranges::any_of(
      evidence, [](const std::string& change) { return change.find(".sha256") != change.npos; });
  std::string confirm = "git diff between the two commits, over the files that the run reads";
  for (const FactDifference& difference : LayerOf(in.comparison, Layer::kCode).differences) {
    if (difference.key == "code.commit" && difference.recorded && difference.observed) {
      confirm = fmt::format("git diff {} {}", ShellWord(*difference.recorded),
                            ShellWord(*difference.observed));
    }
  }
  out->push_back({"code_changed", Layer::kCode, files ? "shown" : "likely",
                  files ? "The code is not the same: files that the run reads differ."
                        : "The commits differ; the files themselves were not pinned by hash.",
                  std::move(evidence), std::move(confirm)});
}

void Image(const ExplainInput& in, std::vector<Cause>* out) {
  auto evidence = Changes(in.comparison, Layer::kEnvironment, {"image."});
  if (evidence.empty()) return;
  auto packages = Changes(in.comparison, Layer::kEnvironment, {"software.", "package."});
  const bool named = !packages.empty();
  evidence.insert(evidence.end(), packages.begin(), packages.end());
  out->push_back({"image_changed", Layer::kEnvironment, "shown",
                  named ? "The image is another one, and with it the versions below."
                        : "The image is another one; no version in it was recorded as changed.",
                  std::move(evidence),
                  "rerun on the recorded image digest: rharness drill --launcher podman"});
}

// Of the environment's differences those that are as telling as this, most telling first.
std::vector<std::string> ChangesOf(const Comparison& comparison,
                                   std::initializer_list<Telling> telling) {
  std::vector<std::string> changes;
  for (const FactDifference& difference : LayerOf(comparison, Layer::kEnvironment).differences) {
    if (difference.key.starts_with("image.") || difference.key.starts_with("variable.")) continue;
    if (difference.key.starts_with("probe.")) continue;
    if (std::ranges::find(telling, TellingOf(difference)) == telling.end()) continue;
    changes.push_back(Change(difference));
  }
  return changes;
}

// Libraries decide which kernel runs and in which order it adds.
void Software(const ExplainInput& in, std::vector<Cause>* out) {
  if (!Changes(in.comparison, Layer::kEnvironment, {"image."}).empty()) return;  // said there
  auto evidence = ChangesOf(in.comparison, {Telling::kInUse, Telling::kMaybeInUse});
  auto settings = Changes(in.comparison, Layer::kEnvironment, {"setting."});
  evidence.insert(evidence.end(), settings.begin(), settings.end());
  if (evidence.empty()) return;
  out->push_back({"library_changed", Layer::kEnvironment, "likely",
                  "Libraries changed version: their kernels may add in another order.",
                  std::move(evidence),
                  "rerun with the version of A alone put back; if the bits return, it was this"});
}

void Driver(const ExplainInput& in, std::vector<Cause>* out) {
  auto evidence = Changes(in.comparison, Layer::kHardware, {"gpu.driver"});
  auto cuda = Changes(in.comparison, Layer::kEnvironment, {"software.cuda_driver"});
  evidence.insert(evidence.end(), cuda.begin(), cuda.end());
  if (evidence.empty()) return;
  out->push_back({"driver_changed", Layer::kEnvironment, "likely",
                  "The GPU driver changed, and with it what it compiles.", std::move(evidence),
                  "rerun with the version of A alone put back; if the bits return, it was this"});
}

// The rest of the system: its kernel, packages that nothing used, digests of what is not named.
void System(const ExplainInput& in, std::vector<Cause>* out) {
  const bool image = !Changes(in.comparison, Layer::kEnvironment, {"image."}).empty();
  std::vector<std::string> system =
      Changes(in.comparison, Layer::kEnvironment, {"software.kernel", "software.os", "stack."});
  if (!system.empty() && !image) {
    out->push_back({"system_changed", Layer::kEnvironment, "possible",
                    "The operating system or its kernel is another one.", std::move(system),
                    "rerun B on a machine with A's system"});
  }
  std::vector<std::string> unused =
      ChangesOf(in.comparison, {Telling::kDataPackage, Telling::kNotInUse});
  if (!unused.empty()) {
    out->push_back({"unused_package_changed", Layer::kEnvironment, "possible",
                    "Packages changed that no process of the run was seen to use.",
                    std::move(unused), "look here last: put them back, and rerun"});
  }
  std::vector<std::string> digests = ChangesOf(in.comparison, {Telling::kDigest});
  if (!digests.empty() && !image) {
    out->push_back({"packages_changed", Layer::kEnvironment, "possible",
                    "The host's packages are not the same; which ones was not recorded by name.",
                    std::move(digests),
                    "record the run again: package names and versions are kept"});
  }
}

void Variables(const ExplainInput& in, std::vector<Cause>* out) {
  for (const FactDifference& difference : LayerOf(in.comparison, Layer::kEnvironment).differences) {
    constexpr std::string_view kPrefix = "variable.";
    if (!difference.key.starts_with(kPrefix)) continue;
    const std::string name = difference.key.substr(kPrefix.size());
    const bool numeric = ChangesArithmetic(name);
    const std::string back = difference.recorded
                                 ? "--env " + ShellWord(name + "=" + Shown(difference.recorded))
                                 : name + " unset";
    out->push_back({"variable_changed",
                    Layer::kEnvironment,
                    numeric ? "likely" : "possible",
                    fmt::format("{} changed{}", name,
                                numeric ? "; it is one that numeric libraries read."
                                        : "; it may change what the run reads or writes."),
                    {Change(difference)},
                    "rharness drill with " + back});
  }
}

void HardwareClass(const ExplainInput& in, std::vector<Cause>* out) {
  std::vector<std::string> of_class, other;
  for (const FactDifference& difference : LayerOf(in.comparison, Layer::kHardware).differences) {
    if (difference.key == "gpu.driver") continue;
    (difference.weight == FactWeight::kClass ? of_class : other).push_back(Change(difference));
  }
  if (!of_class.empty()) {
    out->push_back({"hardware_class_changed", Layer::kHardware, "likely",
                    "The hardware is of another class: kernels, tile sizes and summation orders "
                    "follow it.",
                    std::move(of_class), "rerun on hardware of A's class"});
  }
  if (!other.empty()) {
    out->push_back({"hardware_changed", Layer::kHardware, "possible",
                    "The machine is another one of the same class.", std::move(other),
                    "rerun B on the machine of A"});
  }
}

// What was set while both ran, whatever they were told.
void SeedsThatWereSet(const ExplainInput& in, std::vector<Cause>* out) {
  auto seeds = Changes(in.comparison, Layer::kRandomness, {"seed_set."});
  if (!seeds.empty()) {
    out->push_back({"seed_set_changed", Layer::kRandomness, "likely",
                    "Other seeds were set than in A.", std::move(seeds),
                    "look for where the run takes its seeds from"});
  }
  auto flags = Changes(in.comparison, Layer::kRandomness, {"flag."});
  if (flags.empty()) return;
  out->push_back({"flag_changed", Layer::kRandomness, "likely",
                  "Switches that decide which kernels run were not in the same position.",
                  std::move(flags), "rerun with the flags of A"});
}

void Seeds(const ExplainInput& in, std::vector<Cause>* out) {
  auto changed = Changes(in.comparison, Layer::kRandomness, {"seed."});
  if (!changed.empty()) {
    out->push_back({"seed_changed", Layer::kRandomness, "shown",
                    "A seed is not the same on both sides.", std::move(changed),
                    "rerun with the seed of A"});
  }
  std::vector<std::string> missing;
  for (const auto* facts : {&in.facts_a, &in.facts_b}) {
    for (const Fact& fact : *facts) {
      if (!fact.key.starts_with("rng.") || fact.value != "not seeded") continue;
      missing.push_back(fmt::format("{} draws random numbers without a recorded seed in {}",
                                    fact.key.substr(4), facts == &in.facts_a ? "A" : "B"));
    }
  }
  if (missing.empty()) return;
  out->push_back({"seed_missing", Layer::kRandomness, "likely",
                  "A source of randomness has no seed, so each run draws its own.",
                  std::move(missing), "rharness admit MANIFEST; pass the seed and rerun A twice"});
}

bool IsOff(const std::optional<std::string>& value) {
  return !value || *value == "0" || *value == "false" || *value == "False" || *value == "off";
}

// A flag that must be on for bits to hold and is off, or the other way round, on either side.
void Determinism(const ExplainInput& in, std::vector<Cause>* out) {
  std::vector<std::string> evidence;
  for (const auto* facts : {&in.facts_a, &in.facts_b}) {
    for (const Fact& fact : *facts) {
      if (!fact.key.starts_with("determinism.")) continue;
      const bool must_be_off = fact.key.find("benchmark") != fact.key.npos ||
                               fact.key.find("tf32") != fact.key.npos ||
                               fact.key.find("autotune") != fact.key.npos;
      if (IsOff(fact.value) == must_be_off) continue;
      evidence.push_back(fmt::format("{} is {} in {}", fact.key.substr(12), Shown(fact.value),
                                     facts == &in.facts_a ? "A" : "B"));
    }
  }
  if (evidence.empty()) return;
  out->push_back({"determinism_flag_off", Layer::kRandomness, "likely",
                  "A framework's determinism switch is not set, so kernels may add in any order.",
                  std::move(evidence), "rerun A twice as it is: if the two differ, it was this"});
}

int Rank(const Cause& cause) {
  return cause.strength == "shown" ? 0 : cause.strength == "likely" ? 1 : 2;
}

}  // namespace

const LayerComparison& LayerOf(const Comparison& comparison, Layer layer) {
  return comparison.layers[static_cast<std::size_t>(layer)];
}

std::vector<Cause> Explain(const Comparison& comparison, const std::vector<Fact>& facts_a,
                           const std::vector<Fact>& facts_b) {
  std::vector<Cause> causes;
  if (comparison.verdict == Verdict::kIdentical) return causes;
  const ExplainInput input{comparison, facts_a, facts_b};
  for (const auto rule : {Data, Hyperparameters, Command, Code, Image, Variables, Software, Driver,
                          System, HardwareClass, Seeds, SeedsThatWereSet, Determinism}) {
    rule(input, &causes);
  }
  for (const auto rule : PatternRules()) rule(input, &causes);
  std::ranges::stable_sort(causes, [](const Cause& x, const Cause& y) {
    return std::pair(Rank(x), x.layer) < std::pair(Rank(y), y.layer);
  });
  return causes;
}

}  // namespace rharness
