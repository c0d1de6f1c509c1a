// Compares two fingerprints: comparability, stack, and changes.
#include "compare/fingerprints/fingerprint_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "compare/fingerprints/probe_diff.h"
#include "compare/fingerprints/stack_facts.h"
#include "harness/base/shell_word.h"

namespace rharness {
namespace {

constexpr std::array<std::pair<BehaviourChange, std::string_view>, 14> kNames = {
    {{BehaviourChange::kNone, "none"},
     {BehaviourChange::kNewlyWrong, "newly_wrong"},
     {BehaviourChange::kGone, "gone"},
     {BehaviourChange::kAppeared, "appeared"},
     {BehaviourChange::kAskedOtherwise, "asked_otherwise"},
     {BehaviourChange::kFailsOnBoth, "fails_on_both"},
     {BehaviourChange::kNonDeterminismGained, "non_determinism_gained"},
     {BehaviourChange::kNonDeterminismLost, "non_determinism_lost"},
     {BehaviourChange::kCompilerOutput, "compiler_output"},
     {BehaviourChange::kOtherAnswers, "other_answers"},
     {BehaviourChange::kHeuristicDrift, "heuristic_drift"},
     {BehaviourChange::kKernelRewritten, "kernel_rewritten"},
     {BehaviourChange::kHardwarePath, "hardware_path"},
     {BehaviourChange::kRounding, "rounding"}}};

bool IsUnreadable(const Fingerprint& fingerprint) {
  return fingerprint.suite.starts_with("unreadable: ");
}

// Why one side shows nothing at all; empty when it does.
std::string WhyUseless(const Fingerprint& fingerprint, std::string_view side) {
  if (IsUnreadable(fingerprint)) {
    return fmt::format("the {} gave no answer, its fingerprint is {}", side, fingerprint.suite);
  }
  if (fingerprint.suite != "ok") {
    return fmt::format("the probes of the {} report that their suite is broken: {}", side,
                       fingerprint.suite.empty() ? "no reason given" : fingerprint.suite);
  }
  if (fingerprint.probes.empty()) {
    return fmt::format("the {} gave no answer, its fingerprint has no probes", side);
  }
  const bool any = std::ranges::any_of(fingerprint.probes, &FingerprintProbe::Ok);
  if (any) return "";
  std::map<std::string_view, int> statuses;  // by name
  std::string first;
  for (const FingerprintProbe& probe : fingerprint.probes) {
    ++statuses[ProbeStatusName(probe.status)];
    if (first.empty() && !probe.message.empty()) {
      first = fmt::format("; {}: {}", probe.name, probe.message);
    }
  }
  std::string words;
  for (const auto& [status, count] : statuses) {
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", count, status);
  }
  return fmt::format("the {} gave no answer, none of its probes worked: {}{}", side, words, first);
}

std::vector<FactDifference> CompareStacks(const Fingerprint& before, const Fingerprint& after) {
  std::vector<FactDifference> out;
  if (IsUnreadable(before) || IsUnreadable(after)) return out;
  std::map<std::string, std::pair<std::optional<std::string>, std::optional<std::string>>> facts;
  for (const auto& [key, value] : before.stack) facts[key].first = value;
  for (const auto& [key, value] : after.stack) facts[key].second = value;
  for (const auto& [key, values] : facts) {
    if (values.first == values.second || CannotCompare(values.first, values.second)) continue;
    out.push_back({.layer = LayerOfStack(key),
                   .key = key,
                   .weight = FactWeight::kContext,
                   .recorded = values.first,
                   .observed = values.second});
  }
  std::ranges::stable_sort(out, {},
                           [](const FactDifference& fact) { return TellingRank(fact.key); });
  return out;
}

std::string KindWords(const std::vector<ProbeDifference>& probes) {
  std::map<BehaviourChange, int> counts;
  for (const ProbeDifference& probe : probes) ++counts[probe.change];
  std::string words;
  for (const auto& [change, count] : counts) {
    std::string name(BehaviourChangeName(change));
    std::ranges::replace(name, '_', ' ');
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", count, name);
  }
  return words;
}

std::string AnewWords(const FingerprintDifference& difference) {
  if (difference.revealed_anew == 0) return "";
  return fmt::format("; arithmetic and regions of {} tree{} are newly revealed, not compared",
                     difference.revealed_anew, difference.revealed_anew == 1 ? "" : "s");
}

std::string ProcessorWords(const FingerprintDifference& difference) {
  if (difference.other_processor == 0) return "";
  return fmt::format(
      "; {} probe{} ran another processor's kernels ({}) with the same order and bits",
      difference.other_processor, difference.other_processor == 1 ? "" : "s",
      difference.processors);
}

std::string ChangesOf(const FingerprintDifference& difference) {
  const std::size_t changed = difference.probes.size();
  if (changed == 0) {
    const std::string stack =
        difference.stack.empty()
            ? ""
            : fmt::format(", although {} fact{} of the stack did", difference.stack.size(),
                          difference.stack.size() == 1 ? "" : "s");
    return fmt::format("nothing changed in what {} probe{} saw{}", difference.compared,
                       difference.compared == 1 ? "" : "s", stack);
  }
  // Another question, or another number of threads, is no change of the stack.
  const auto asked = static_cast<std::size_t>(std::ranges::count_if(
      difference.probes, [](const ProbeDifference& probe) { return ShowsNothing(probe.change); }));
  if (asked == changed) {
    const bool failed = std::ranges::any_of(difference.probes, [](const ProbeDifference& probe) {
      return probe.change == BehaviourChange::kFailsOnBoth;
    });
    return fmt::format("{} of {} probes {}, and so show nothing{}", asked,
                       changed + static_cast<std::size_t>(difference.same),
                       failed ? "have cases that failed on both sides, or ran with different "
                                "parameters"
                              : "ran with different parameters",
                       difference.same > 0 ? "; the others saw no change" : "");
  }
  if (difference.same == 0 && asked == 0) {
    return fmt::format("everything changed: {}", KindWords(difference.probes));
  }
  return fmt::format("{} of {} probes changed: {}", changed,
                     changed + static_cast<std::size_t>(difference.same),
                     KindWords(difference.probes));
}

std::string SummaryOf(const FingerprintDifference& difference) {
  if (!difference.comparable) return "not comparable: " + difference.why;
  return ChangesOf(difference) + ProcessorWords(difference) + AnewWords(difference);
}

using ProbeMap = std::map<std::string, std::pair<const FingerprintProbe*, const FingerprintProbe*>>;

ProbeMap Pair(const Fingerprint& before, const Fingerprint& after) {
  ProbeMap pairs;
  for (const FingerprintProbe& probe : before.probes) pairs[probe.name].first = &probe;
  for (const FingerprintProbe& probe : after.probes) pairs[probe.name].second = &probe;
  return pairs;
}

// Probes ok on both sides that still share no case that could have differed, such as a control that
// never repeats, are compared in their determinism only and make nothing comparable.
bool BothShow(const FingerprintProbe* before, const FingerprintProbe* after) {
  if (before == nullptr || after == nullptr || !before->Ok() || !after->Ok()) return false;
  const std::set<std::string> cases = CasesOf(*before);
  return std::ranges::any_of(CasesOf(*after),
                             [&](const std::string& name) { return cases.contains(name); });
}

}  // namespace

std::set<std::string> CasesOf(const FingerprintProbe& probe) {
  std::set<std::string> cases;
  for (const auto& [name, value] : probe.choices) cases.insert(name);
  for (const auto& [name, value] : probe.trees) cases.insert(name);
  for (const auto& [name, value] : probe.bits) cases.insert(name);
  // A case that does not repeat may have nothing else to show.
  cases.insert(probe.unstable.begin(), probe.unstable.end());
  return cases;
}

std::set<std::string> UnstableCasesOf(const FingerprintProbe& probe) {
  std::set<std::string> cases = CasesOf(probe);
  std::erase_if(cases, [&](const std::string& name) { return !probe.IsUnstable(name); });
  return cases;
}

std::string_view BehaviourChangeName(BehaviourChange change) {
  for (const auto& [value, name] : kNames) {
    if (value == change) return name;
  }
  return "none";
}

FingerprintDifference DiffFingerprints(const Fingerprint& before, const Fingerprint& after) {
  FingerprintDifference out;
  out.stack = CompareStacks(before, after);
  for (const auto& [fingerprint, side] :
       {std::pair(&before, "baseline"), std::pair(&after, "candidate")}) {
    out.why = WhyUseless(*fingerprint, side);
    if (out.why.empty()) continue;
    out.silent = side;
    out.summary = SummaryOf(out);
    return out;
  }
  for (const auto& [name, pair] : Pair(before, after)) {
    const auto [old_probe, new_probe] = pair;
    ProbeDifference probe = CompareProbe(old_probe, new_probe);
    out.comparable = out.comparable || probe.cases > 0;
    out.revealed_anew += probe.revealed_anew;
    if (!probe.other_processor.empty() && out.other_processor++ == 0) {
      out.processors = probe.other_processor;
    }
    const bool left_out = new_probe == nullptr && !probe.sentence.empty() &&
                          std::ranges::find(after.by_name, name) != after.by_name.end();
    if (left_out)
      probe.sentence += fmt::format("; it runs by name alone: --probe {}", ShellWord(name));
    if (BothShow(old_probe, new_probe)) {
      ++out.compared;
      if (probe.change == BehaviourChange::kNone) ++out.same;
    }
    if (probe.change != BehaviourChange::kNone) out.probes.push_back(std::move(probe));
  }
  if (!out.comparable) {
    const auto asked =
        std::ranges::find(out.probes, BehaviourChange::kAskedOtherwise, &ProbeDifference::change);
    out.why = asked != out.probes.end()
                  ? asked->sentence
                  : "no probe worked on both sides and showed a case in common that repeats";
  }
  out.summary = SummaryOf(out);
  return out;
}

}  // namespace rharness
