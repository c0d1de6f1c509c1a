// Causes from a run's inputs: data, code, command, seeds.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "compare/explain_rules.h"
#include "harness/base/shell_word.h"

namespace rharness {
namespace {

// NAME of the fact "data.NAME.sha256"; empty for other facts.
std::string DataNameIn(std::string_view key) {
  constexpr std::string_view kBegin = "data.", kEnd = ".sha256";
  if (!key.starts_with(kBegin) || !key.ends_with(kEnd)) return "";
  return std::string(key.substr(kBegin.size(), key.size() - kBegin.size() - kEnd.size()));
}

// The producers of the data with different hashes, on each side; empty: not stated.
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

// Adds that a different transform made it, if both sides name theirs.
bool MadeOtherwise(const FactDifference& difference, const ExplainInput& in, CauseList* out) {
  const auto [was, is] = LineageOf(difference, in);
  if (!was || !is || *was == *is) return false;
  out->Add(
      CausePlace::kInput,
      {"data_made_otherwise",
       Layer::kData,
       Strength::kShown,
       fmt::format("The data '{}' was made by another version of the transform: {} -> {}.",
                   DataNameIn(difference.key), *was, *is),
       {Change(difference)},
       "make it with the transform of A, and compare its hash with that of A (rharness hash)"});
  return true;
}

// A file of both sides with other content; or one that one side alone reads, which mostly follows
// from the setting behind it.
void UndeclaredInputs(const ExplainInput& in, CauseList* out) {
  std::vector<std::string> changed, alone;
  for (const FactDifference& one : LayerOf(in.comparison, Layer::kData).differences) {
    if (!one.key.starts_with("input.")) continue;
    (one.recorded && one.observed ? changed : alone).push_back(Change(one));
  }
  constexpr char kConfirm[] = "declare it (--data or --code-file), and record again";
  if (!changed.empty()) {
    out->Add(CausePlace::kVariable,
             {"undeclared_input_changed", Layer::kData, Strength::kLikely,
              "A file that the run reads, and that nothing declares, is not the same.",
              std::move(changed), kConfirm});
  }
  if (!alone.empty()) {
    out->Add(CausePlace::kChance, {"undeclared_input_changed", Layer::kData, Strength::kPossible,
                                   "A file that nothing declares is read on one side alone.",
                                   std::move(alone), kConfirm});
  }
}

void Data(const ExplainInput& in, CauseList* out) {
  std::vector<std::string> evidence;
  std::vector<std::string> asked;
  std::vector<std::string> folders;
  for (const FactDifference& difference : LayerOf(in.comparison, Layer::kData).differences) {
    // These have causes of their own.
    if (StartsWithAny(difference.key, {"input.", "file_order."})) continue;
    if (difference.key.starts_with("evaluation.")) {
      asked.push_back(Change(difference));
      continue;
    }
    if (difference.key.starts_with("empty_folders.")) {
      folders.push_back(Change(difference));
      continue;
    }
    if (MadeOtherwise(difference, in, out)) continue;
    evidence.push_back(Change(difference));
    const auto [was, is] = LineageOf(difference, in);
    if (was) evidence.push_back(fmt::format("it was made by {} in A", *was));
    if (is) evidence.push_back(fmt::format("it was made by {} in B", *is));
  }
  if (!asked.empty()) {
    out->Add(CausePlace::kInput,
             {"evaluation_changed", Layer::kData, Strength::kShown,
              "The two evaluations did not ask the same.", std::move(asked),
              "evaluate both with one version of the task, prompt, few-shot set and template"});
  }
  if (!folders.empty()) {
    out->Add(CausePlace::kInput,
             {"empty_folders_changed", Layer::kData, Strength::kShown,
              "The data have other empty folders, which a program that lists folders sees.",
              std::move(folders), "give both sides the same folders"});
  }
  if (evidence.empty()) return;
  out->Add(CausePlace::kInput,
           {"data_changed", Layer::kData, Strength::kShown,
            "The training data is not the same: its hashes differ.", std::move(evidence),
            "run `rharness hash DATA` on both machines, and compare with the recorded SHA-256"});
}

// "seed", "data_seed", "seed.init": a hyperparameter that is one.
bool NamesSeed(std::string_view key) { return key.find("seed") != key.npos; }

bool IsHyperparameter(const FactDifference& difference, bool of_seed) {
  return difference.key.starts_with("hyperparameter.") && NamesSeed(difference.key) == of_seed;
}

void Hyperparameters(const ExplainInput& in, CauseList* out) {
  std::vector<std::string> evidence;
  for (const FactDifference& difference : LayerOf(in.comparison, Layer::kCode).differences) {
    if (IsHyperparameter(difference, /*of_seed=*/false)) evidence.push_back(Change(difference));
  }
  if (evidence.empty()) return;
  out->Add(CausePlace::kInput, {"hyperparameter_changed", Layer::kCode, Strength::kShown,
                                "The runs were configured differently: hyperparameters differ.",
                                std::move(evidence), "rerun B with the hyperparameters of A"});
}

// The seeds that differ, declared as such or as hyperparameters.
std::vector<FactDifference> ChangedSeeds(const Comparison& comparison) {
  std::vector<FactDifference> seeds;
  for (const FactDifference& one : LayerOf(comparison, Layer::kRandomness).differences) {
    if (one.key.starts_with("seed.")) seeds.push_back(one);
  }
  for (const FactDifference& one : LayerOf(comparison, Layer::kCode).differences) {
    if (IsHyperparameter(one, /*of_seed=*/true)) seeds.push_back(one);
  }
  return seeds;
}

std::vector<std::string> WordsOf(const std::optional<std::string>& text) {
  std::vector<std::string> words(1);
  for (const char c : text.value_or("")) {
    if (c == ' ' || c == '=') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

// Whether two commands differ in nothing but seeds that differ.
bool DiffersInSeedsAlone(const FactDifference& command, const std::vector<FactDifference>& seeds) {
  const auto then = WordsOf(command.recorded), now = WordsOf(command.observed);
  if (then.size() != now.size()) return false;
  for (std::size_t i = 0; i < then.size(); ++i) {
    const bool said = std::ranges::any_of(seeds, [&](const FactDifference& seed) {
      return seed.recorded == then[i] && seed.observed == now[i];
    });
    if (then[i] != now[i] && !said) return false;
  }
  return true;
}

void Command(const ExplainInput& in, CauseList* out) {
  const auto seeds = ChangedSeeds(in.comparison);
  std::vector<std::string> evidence;
  for (const FactDifference& difference : LayerOf(in.comparison, Layer::kCode).differences) {
    if (!StartsWithAny(difference.key, {"command", "family"})) continue;
    if (!DiffersInSeedsAlone(difference, seeds)) evidence.push_back(Change(difference));
  }
  if (evidence.empty()) return;
  out->Add(CausePlace::kVariable,
           {"command_changed", Layer::kCode, Strength::kLikely,
            "The runs were started by another command, or are of another family.",
            std::move(evidence), "compare the two commands argument by argument"});
}

void Code(const ExplainInput& in, CauseList* out) {
  auto evidence = Changes(in.comparison, Layer::kCode, {"code."});
  if (evidence.empty()) return;
  const bool files = std::ranges::any_of(
      evidence, [](const std::string& change) { return change.find(".sha256") != change.npos; });
  std::string confirm = "compare the two commits with git diff, over the files that the run reads";
  for (const FactDifference& difference : LayerOf(in.comparison, Layer::kCode).differences) {
    if (difference.key == "code.commit" && difference.recorded && difference.observed) {
      confirm = fmt::format("git diff {} {}", ShellWord(*difference.recorded),
                            ShellWord(*difference.observed));
    }
  }
  out->Add(files ? CausePlace::kInput : CausePlace::kSetting,
           {"code_changed", Layer::kCode, files ? Strength::kShown : Strength::kLikely,
            files ? "The code is not the same: files that the run reads differ."
                  : "The commits differ; the files themselves were not pinned by hash.",
            std::move(evidence), std::move(confirm)});
}

// Seeds that were set while both ran, whatever was declared. Seeds of workers follow from the
// others.
void SeedsThatWereSet(const ExplainInput& in, CauseList* out) {
  constexpr std::string_view kWorker = " (worker)";
  std::vector<std::string> seeds, of_workers;
  for (const FactDifference& one : LayerOf(in.comparison, Layer::kRandomness).differences) {
    if (!one.key.starts_with("seed_set.")) continue;
    (one.key.find(kWorker) != one.key.npos ? of_workers : seeds).push_back(Change(one));
  }
  if (!seeds.empty()) {
    out->Add(CausePlace::kSeen, {"seed_set_changed", Layer::kRandomness, Strength::kShown,
                                 "Other seeds were set than in A.", std::move(seeds),
                                 "look for the source of the run's seeds"});
  } else if (!of_workers.empty() && !out->Has("generator_unseeded")) {
    out->Add(CausePlace::kUnseeded,
             {"worker_seed_changed", Layer::kRandomness, Strength::kLikely,
              "Worker processes set other seeds than in A.", std::move(of_workers),
              "seed what hands seeds to the workers: a generator for the loader, and its workers"});
  }
  std::vector<std::string> flags;
  for (const FactDifference& one : LayerOf(in.comparison, Layer::kRandomness).differences) {
    if (one.key.starts_with("flag.") && one.key != "flag.python.hash_seed") {
      flags.push_back(Change(one));
    }
  }
  if (flags.empty()) return;
  out->Add(CausePlace::kArithmetic,
           {"flag_changed", Layer::kRandomness, Strength::kLikely,
            "Switches that decide which kernels run were not in the same position.",
            std::move(flags), "rerun with the flags of A"});
}

void Seeds(const ExplainInput& in, CauseList* out) {
  std::vector<std::string> changed;
  for (const FactDifference& one : ChangedSeeds(in.comparison)) changed.push_back(Change(one));
  if (!changed.empty()) {
    out->Add(CausePlace::kInput, {"seed_changed", Layer::kRandomness, Strength::kShown,
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
  if (missing.empty() || out->Has("generator_unseeded")) return;
  out->Add(CausePlace::kUnseeded,
           {"seed_missing", Layer::kRandomness, Strength::kLikely,
            "A source of randomness has no seed, so each run draws its own.", std::move(missing),
            "check the manifest with `rharness check`; pass the seed and rerun A twice"});
}

}  // namespace

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

const std::vector<ExplainRule>& InputRules() {
  static const std::vector<ExplainRule> rules = {
      UndeclaredInputs, Data, Seeds, Hyperparameters, Code, Command, SeedsThatWereSet};
  return rules;
}

}  // namespace rharness
