// Whether a machine is the candidate, from a fingerprint and evidence.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "harness/base/shell_word.h"
#include "harness/gate/gate.h"

namespace rharness {
namespace {

constexpr std::string_view kVariable = "environment.";

std::string FactOf(const Fingerprint& fingerprint, const std::string& key) {
  const auto found = fingerprint.stack.find(key);
  return found == fingerprint.stack.end() ? "" : found->second;
}

// A fingerprint is untrusted: only its variables of numeric libraries reach a run.
bool IsVariable(std::string_view key) {
  return key.starts_with(kVariable) && IsNumericVariable(key.substr(kVariable.size()));
}

// The first dotted number of a text: "0.3.21" of "OpenBLAS 0.3.21 DYNAMIC_ARCH"; empty: none.
std::string VersionIn(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && (is_digit(text[end]) || (end > begin && text[end] == '.'))) ++end;
    const std::string_view number = text.substr(begin, end - begin);
    const std::size_t dot = number.find('.');
    if (dot != number.npos && dot + 1 < number.size()) return std::string(number);
    begin = std::max(end, begin + 1);
  }
  return "";
}

// As far as both go: 9.19 agrees with 9.19.0. What states no version contradicts none.
bool VersionsAgree(const std::string& a, const std::string& b) {
  const std::string &shorter = a.size() < b.size() ? a : b, &longer = a.size() < b.size() ? b : a;
  if (!longer.starts_with(shorter)) return false;
  return shorter.empty() || shorter.size() == longer.size() || longer[shorter.size()] == '.';
}

// The candidate's data on the library that a run calls "openblas": the versions from the loader or
// the libraries, for libopenblas.so.0 and every other libopenblas.so.
std::vector<std::string> LibraryVersions(const Fingerprint& candidate, const std::string& name) {
  if (name == "glibc") return {VersionIn(FactOf(candidate, name))};
  std::vector<std::string> versions;
  const std::string before = fmt::format("libraries.lib{}.so", name);
  for (auto it = candidate.stack.lower_bound(before);
       it != candidate.stack.end() && it->first.starts_with(before); ++it) {
    if (it->first.ends_with(".version")) versions.push_back(VersionIn(it->second));
  }
  return versions;
}

// Versions stated by a run that differ from the candidate's.
std::string WhyOtherSoftware(const Fingerprint& candidate, const Environment& environment) {
  for (const auto& [name, text] : environment.software) {
    const std::string seen = VersionIn(text);
    const std::vector<std::string> there = LibraryVersions(candidate, name);
    const auto agrees = [&seen](const std::string& one) { return VersionsAgree(one, seen); };
    if (there.empty() || std::ranges::any_of(there, agrees)) continue;
    return fmt::format("it was rerun on {} {}, and the candidate has {}", name, seen,
                       there.front());
  }
  return "";
}

constexpr std::string_view kLibrary = "libraries.";

// "libopenblas.so.0" of "libraries.libopenblas.so.0.version"; empty for other facts.
std::string LibraryOf(std::string_view key) {
  if (!key.starts_with(kLibrary)) return "";
  const std::string_view rest = key.substr(kLibrary.size());
  return std::string(rest.substr(0, rest.rfind('.')));
}

std::set<std::string> LibrariesOf(const Fingerprint& fingerprint) {
  std::set<std::string> libraries;
  for (const auto& [key, value] : fingerprint.stack) libraries.insert(LibraryOf(key));
  libraries.erase("");
  return libraries;
}

// What evidence states of a fact of a stack; empty: nothing.
std::string SeenOf(const Environment& environment, const std::string& key) {
  const Hardware& hardware = environment.hardware;
  if (key == "gpu_driver") return hardware.gpu_driver;
  if (key == "cpu.model") return hardware.cpu.model;
  if (key == "cpu.microcode") return hardware.cpu.microcode;
  if (key == "cpu.isa") return fmt::format("{}", fmt::join(hardware.cpu.isa, " "));
  if (key == "gpus.0.model") return hardware.gpus.empty() ? "" : hardware.gpus.front().model;
  if (IsVariable(key)) {
    const auto found = environment.variables.find(key.substr(kVariable.size()));
    return found == environment.variables.end() ? "" : found->second.value_or("");
  }
  std::string name = key;
  if (const std::string library = LibraryOf(key); !library.empty()) {
    if (!key.ends_with(".version") || !library.starts_with("lib")) return "";
    name = library.substr(3, library.find(".so") - 3);
  }
  const auto found = environment.software.find(name);
  return found == environment.software.end() ? "" : found->second;
}

bool Shows(const Environment& environment, const std::string& key, const std::string& value) {
  const std::string seen = SeenOf(environment, key);
  if (seen.empty() || seen == value) return !seen.empty();
  const std::string version = VersionIn(seen);
  return key.starts_with(kLibrary) && !version.empty() && VersionsAgree(VersionIn(value), version);
}

// What sets the two stacks apart must be seen on the candidate's side at least once: what says
// nothing of it may have been rerun on either.
std::string WhyNotShown(const GateInput& input, const Environment& environment) {
  std::string first;
  bool shown = false;
  for (const auto& [key, value] : input.candidate.stack) {
    const std::string before = FactOf(input.baseline, key);
    // A variable that the baseline does not list is unset there; of other facts it knows nothing.
    const bool known = !before.empty() || IsVariable(key);
    if (value.empty() || !known || value == before || key == "device") continue;
    const std::string seen = SeenOf(environment, key);
    shown |= Shows(environment, key, value);
    if (!seen.empty() && !Shows(environment, key, value) && !VersionIn(seen).empty()) {
      return fmt::format("it was rerun where {} is {}, and the candidate's is {}", key, seen,
                         value);
    }
    if (first.empty()) {
      first = fmt::format("{} is {} in the baseline and {} in the candidate", key,
                          before.empty() ? "not known" : before, value);
    }
  }
  // A variable that the candidate has not is shown by its absence.
  const auto variables = CandidateVariables(input.baseline, input.candidate);
  for (const auto& [name, value] : variables) {
    if (!value && environment.variables.contains(name)) return "";
  }
  if (shown) return "";
  if (first.empty() && !variables.empty()) return "";
  if (first.empty()) {
    return "no fact sets the candidate apart from the baseline, so that no evidence can show on "
           "which it was rerun; `--drill impacted` reruns it here";
  }
  return fmt::format(
      "nothing in its evidence shows that it was rerun on the candidate and not on the baseline: "
      "{}; `--drill impacted` reruns it here",
      first);
}

std::string VariableWords(const std::string& name, const std::optional<std::string>& value) {
  return value ? fmt::format("{}={}", name, *value) : fmt::format("{} unset", name);
}

}  // namespace

std::map<std::string, std::optional<std::string>> CandidateVariables(const Fingerprint& baseline,
                                                                     const Fingerprint& candidate) {
  std::map<std::string, std::optional<std::string>> variables;
  for (const auto& [key, value] : baseline.stack) {
    if (IsVariable(key) && !candidate.stack.contains(key)) {
      variables[key.substr(kVariable.size())] = std::nullopt;
    }
  }
  for (const auto& [key, value] : candidate.stack) {
    const auto before = baseline.stack.find(key);
    const bool differs = before == baseline.stack.end() || before->second != value;
    if (IsVariable(key) && differs) variables[key.substr(kVariable.size())] = value;
  }
  return variables;
}

const ProbeDifference* FindContradiction(const FingerprintDifference& between) {
  const auto found = std::ranges::find_if(between.probes, [](const ProbeDifference& probe) {
    return probe.change == BehaviourChange::kNewlyWrong ||
           probe.change == BehaviourChange::kAskedOtherwise || !probe.gone_cases.empty() ||
           !probe.choice_cases.empty() || !probe.tree_cases.empty() || !probe.bits_cases.empty();
  });
  return found == between.probes.end() ? nullptr : &*found;
}

std::string WhatDiffersHere(const Fingerprint& candidate, const Fingerprint& here) {
  const std::set<std::string> ours = LibrariesOf(here), theirs = LibrariesOf(candidate);
  std::vector<std::string> others;
  std::ranges::set_difference(ours, theirs, std::back_inserter(others));
  if (!others.empty()) {
    return fmt::format(
        "here the probes loaded {}, and the candidate's did not: where it was probed with --python "
        "or --library-path, name the same here",
        fmt::join(others, ", "));
  }
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> facts;
  for (const auto& [key, value] : here.stack) {
    const auto there = candidate.stack.find(key);
    if (there == candidate.stack.end() || there->second == value) continue;
    facts.push_back(
        fmt::format("{} is {} here and {} in the candidate", key, value, there->second));
  }
  const std::size_t more = facts.size() - std::min(facts.size(), kNamed);
  facts.resize(facts.size() - more);
  return fmt::format("{}{}", fmt::join(facts, ", "),
                     more > 0 ? fmt::format(" and {} more fact{}", more, more > 1 ? "s" : "") : "");
}

std::string WhyElsewhere(const GateInput& input, const Environment& environment) {
  for (const auto& [name, value] : CandidateVariables(input.baseline, input.candidate)) {
    const auto found = environment.variables.find(name);
    const auto seen = found == environment.variables.end() ? std::nullopt : found->second;
    if (seen == value) continue;
    return fmt::format("it was rerun with {}, and the candidate has {}: rharness drill --env {}",
                       VariableWords(name, seen), VariableWords(name, value),
                       ShellWord(value ? fmt::format("{}={}", name, *value) : name));
  }
  for (const char* key : {"gpu_driver", "cpu.model", "gpus.0.model"}) {
    const std::string there = FactOf(input.candidate, key), seen = SeenOf(environment, key);
    if (there.empty() || there == seen || (seen.empty() && input.place_proven)) continue;
    return fmt::format("it was rerun where {} is {}, and the candidate's is {}", key,
                       seen.empty() ? "not known" : seen, there);
  }
  std::string why = WhyOtherSoftware(input.candidate, environment);
  if (why.empty() && !input.place_proven) why = WhyNotShown(input, environment);
  return why;
}

std::string WhyElsewhere(const GateInput& input, const RerunPlaces& places,
                         const std::string& run_id) {
  const auto [begin, end] = places.equal_range(run_id);
  if (begin == end) return "it has no evidence that says where it was rerun";
  for (auto place = begin; place != end; ++place) {
    std::string why = WhyElsewhere(input, place->second);
    if (!why.empty()) return why;
  }
  return "";
}

std::string WhyOfBefore(const Fingerprint& candidate, WallTime drilled) {
  constexpr auto kClockSkew = std::chrono::minutes(10);
  const auto made = ParseTime(candidate.made);
  if (!made.ok()) {
    return "the candidate does not say when it was measured, so that its drill cannot be told from "
           "one of before";
  }
  if (drilled + kClockSkew >= *made) return "";
  return fmt::format("the drill began at {}, and the candidate was measured at {}",
                     FormatTime(drilled), FormatTime(*made));
}

}  // namespace rharness
