// Causes from a run's environment: image, variables, libraries, hardware. From its inputs:
// explain_inputs.cc; from patterns: explain_patterns.cc, explain_tensors.cc.
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

void Image(const ExplainInput& in, CauseList* out) {
  auto evidence = Changes(in.comparison, Layer::kEnvironment, {"image."});
  if (evidence.empty()) return;
  auto packages = Changes(in.comparison, Layer::kEnvironment, {"software.", "package."});
  const bool named = !packages.empty();
  evidence.insert(evidence.end(), packages.begin(), packages.end());
  out->Add(CausePlace::kInput,
           {"image_changed", Layer::kEnvironment, Strength::kShown,
            named ? "The image differs, and with it the versions below."
                  : "The image differs; no version in it was recorded as changed.",
            std::move(evidence),
            "rerun on the recorded image digest: rharness drill --launcher podman"});
}

constexpr char kKernels[] = "gpu_kernel";  // and their order, "gpu_kernels.order"

// The environment's differences that are as telling as this, most telling first.
std::vector<std::string> ChangesOf(const Comparison& comparison,
                                   std::initializer_list<Telling> telling) {
  std::vector<std::string> changes;
  for (const FactDifference& difference : LayerOf(comparison, Layer::kEnvironment).differences) {
    if (difference.key.starts_with("image.") || difference.key.starts_with("variable.")) continue;
    if (difference.key.starts_with("probe.") || difference.key.starts_with(kKernels)) continue;
    if (std::ranges::find(telling, TellingOf(difference)) == telling.end()) continue;
    changes.push_back(Change(difference));
  }
  return changes;
}

// Libraries decide which kernel runs and in which order it adds.
void Software(const ExplainInput& in, CauseList* out) {
  if (!Changes(in.comparison, Layer::kEnvironment, {"image."}).empty()) return;  // said there
  auto evidence = ChangesOf(in.comparison, {Telling::kInUse, Telling::kMaybeInUse});
  auto settings = Changes(in.comparison, Layer::kEnvironment, {"setting."});
  evidence.insert(evidence.end(), settings.begin(), settings.end());
  if (evidence.empty()) return;
  out->Add(
      CausePlace::kArithmetic,
      {"library_changed", Layer::kEnvironment, Strength::kLikely,
       "Libraries changed version: their kernels may add in another order.", std::move(evidence),
       "rerun with the version of A alone put back; if the bits return, it was this"});
}

void Driver(const ExplainInput& in, CauseList* out) {
  auto evidence = Changes(in.comparison, Layer::kHardware, {"gpu.driver"});
  auto cuda = Changes(in.comparison, Layer::kEnvironment, {"software.cuda_driver"});
  evidence.insert(evidence.end(), cuda.begin(), cuda.end());
  if (evidence.empty()) return;
  out->Add(CausePlace::kArithmetic,
           {"driver_changed", Layer::kEnvironment, Strength::kLikely,
            "The GPU driver changed, and with it the code that it compiles.", std::move(evidence),
            "rerun with the version of A alone put back; if the bits return, it was this"});
}

void Kernels(const ExplainInput& in, CauseList* out) {
  constexpr std::size_t kMostShown = 12;  // an upgrade may change hundreds
  auto evidence = Changes(in.comparison, Layer::kEnvironment, {kKernels});
  if (evidence.empty()) return;
  if (const std::size_t all = evidence.size(); all > kMostShown) {
    evidence.resize(kMostShown);
    evidence.push_back(fmt::format("and {} more", all - kMostShown));
  }
  out->Add(CausePlace::kArithmetic,
           {"kernels_changed", Layer::kEnvironment, Strength::kLikely,
            "The run launched other GPU kernels, or in another order or shape: a library, a driver "
            "or a device that chooses another algorithm.",
            std::move(evidence),
            "what else differs decides it: put back the library or driver of A alone, and rerun"});
}

// The rest of the system: its kernel, unused packages, digests of unnamed things.
void System(const ExplainInput& in, CauseList* out) {
  const bool image = !Changes(in.comparison, Layer::kEnvironment, {"image."}).empty();
  std::vector<std::string> system =
      Changes(in.comparison, Layer::kEnvironment, {"software.kernel", "software.os", "stack."});
  if (!system.empty() && !image) {
    out->Add(CausePlace::kChance, {"system_changed", Layer::kEnvironment, Strength::kPossible,
                                   "The operating system or its kernel differs.", std::move(system),
                                   "rerun B on a machine with A's system"});
  }
  std::vector<std::string> unused =
      ChangesOf(in.comparison, {Telling::kDataPackage, Telling::kNotInUse});
  if (!unused.empty()) {
    out->Add(CausePlace::kUnused,
             {"unused_package_changed", Layer::kEnvironment, Strength::kPossible,
              "Packages changed that no process of the run was seen to use.", std::move(unused),
              "look here last: put them back, and rerun"});
  }
  std::vector<std::string> digests = ChangesOf(in.comparison, {Telling::kDigest});
  if (!digests.empty() && !image) {
    out->Add(CausePlace::kUnused,
             {"packages_changed", Layer::kEnvironment, Strength::kPossible,
              "The host's packages are not the same; which ones was not recorded by name.",
              std::move(digests), "record the run again: package names and versions are kept"});
  }
}

// The statement on a variable, and its place.
struct VariableWords {
  CausePlace place;
  Strength strength;
  std::string_view words;
};

VariableWords WordsOfVariable(const FactDifference& difference, std::string_view name) {
  if (difference.use == FactUse::kNotUsed) {
    return {CausePlace::kUnused, Strength::kPossible,
            "; no process of the run was seen to read it."};
  }
  if (ChangesArithmetic(name)) {
    return {CausePlace::kArithmetic, Strength::kLikely, "; it is one that numeric libraries read."};
  }
  const bool used = difference.use == FactUse::kUsed;
  const std::string_view words =
      used ? "; the run reads it." : "; it may change what the run reads or writes.";
  // Many programs read these and go on as before.
  if (IsAmbient(name))
    return {CausePlace::kSetting, used ? Strength::kLikely : Strength::kPossible, words};
  return {CausePlace::kVariable, Strength::kLikely, words};
}

void Variables(const ExplainInput& in, CauseList* out) {
  for (const FactDifference& difference : LayerOf(in.comparison, Layer::kEnvironment).differences) {
    constexpr std::string_view kPrefix = "variable.", kHashSeed = "PYTHONHASHSEED";
    if (!difference.key.starts_with(kPrefix)) continue;
    const std::string name = difference.key.substr(kPrefix.size());
    if (name == kHashSeed && out->Has("hash_seed_changed")) continue;
    VariableWords words = WordsOfVariable(difference, name);
    // It changes no arithmetic, but the order of sets.
    if (name == kHashSeed)
      words = {CausePlace::kVariable, Strength::kLikely, "; the order of sets follows."};
    const std::string back = difference.recorded
                                 ? "--env " + ShellWord(name + "=" + Shown(difference.recorded))
                                 : name + " unset";
    out->Add(words.place, {"variable_changed",
                           Layer::kEnvironment,
                           words.strength,
                           fmt::format("{} changed{}", name, words.words),
                           {Change(difference)},
                           "drill again with " + back});
  }
}

void HardwareClass(const ExplainInput& in, CauseList* out) {
  std::vector<std::string> of_class, other;
  for (const FactDifference& difference : LayerOf(in.comparison, Layer::kHardware).differences) {
    if (difference.key == "gpu.driver" || difference.key == "cpu.available") continue;
    (difference.weight == FactWeight::kClass ? of_class : other).push_back(Change(difference));
  }
  if (!of_class.empty()) {
    out->Add(CausePlace::kArithmetic,
             {"hardware_class_changed", Layer::kHardware, Strength::kLikely,
              "The hardware is of another class: kernels, tile sizes and summation orders "
              "follow it.",
              std::move(of_class), "rerun on hardware of A's class"});
  }
  if (!other.empty()) {
    out->Add(CausePlace::kChance, {"hardware_changed", Layer::kHardware, Strength::kPossible,
                                   "The machine is a different one of the same class.",
                                   std::move(other), "rerun B on the machine of A"});
  }
}

void ThreadsInForce(const ExplainInput& in, CauseList* out) {
  auto threads = Changes(in.comparison, Layer::kEnvironment, {"flag."});
  auto cpus = Changes(in.comparison, Layer::kHardware, {"cpu.available"});
  if (!cpus.empty()) {
    cpus.insert(cpus.end(), threads.begin(), threads.end());
    out->Add(
        CausePlace::kArithmetic,
        {"cpus_changed", Layer::kHardware, Strength::kLikely,
         "The run could use another number of CPUs: work, and the order of sums, are divided by "
         "it.",
         std::move(cpus), "rerun with as many CPUs as A had"});
    return;
  }
  if (threads.empty()) return;
  // A variable that sets the number is the cause of that number.
  for (const PlacedCause& one : *out->list()) {
    if (one.cause.statement.find("_NUM_THREADS") != std::string::npos) return;
  }
  out->Add(CausePlace::kArithmetic,
           {"threads_changed", Layer::kEnvironment, Strength::kLikely,
            "The run had another number of threads, and sums are divided by it.",
            std::move(threads), "rerun with as many CPUs as A had, or with OMP_NUM_THREADS set"});
}

}  // namespace

std::vector<Cause> Explain(const Comparison& comparison, const std::vector<Fact>& facts_a,
                           const std::vector<Fact>& facts_b) {
  if (comparison.verdict == Verdict::kIdentical) return {};
  CauseList causes;
  const ExplainInput input{comparison, facts_a, facts_b, KnownEqualOf(comparison)};
  // Of a rerun that was not carried out nothing was left to chance.
  const bool computed = !comparison.is_rerun || comparison.ends.empty() ||
                        std::ranges::find(comparison.ends, RerunEnd::State::kCompared,
                                          &RerunEnd::state) != comparison.ends.end();
  // Less specific causes come after others on the same subject.
  if (computed) {
    for (const ExplainRule rule : HazardRules()) rule(input, &causes);
  }
  for (const ExplainRule rule : InputRules()) rule(input, &causes);
  for (const ExplainRule rule :
       {Image, Variables, Software, ThreadsInForce, Driver, Kernels, System, HardwareClass}) {
    rule(input, &causes);
  }
  for (const auto* rules : {&PatternRules(), &TensorRules(), &LogprobRules()}) {
    for (const ExplainRule rule : *rules) rule(input, &causes);
  }
  return InOrder(OnsetOf(comparison), std::move(*causes.list()));
}

}  // namespace rharness
