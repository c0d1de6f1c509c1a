// What makes a machine the candidate, as far as a fingerprint and an evidence both tell it.
#include <fmt/format.h>

#include "harness/gate/gate.h"

namespace rharness {
namespace {

constexpr std::string_view kVariable = "environment.";

std::string FactOf(const Fingerprint& fingerprint, const std::string& key) {
  const auto found = fingerprint.stack.find(key);
  return found == fingerprint.stack.end() ? "" : found->second;
}

// A fingerprint is a stranger's: of what it says only variables of numeric libraries reach a run.
bool IsVariable(std::string_view key) {
  return key.starts_with(kVariable) && IsNumericVariable(key.substr(kVariable.size()));
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

std::string WhyElsewhere(const GateInput& input, const Environment& environment) {
  for (const auto& [name, value] : CandidateVariables(input.baseline, input.candidate)) {
    const auto found = environment.variables.find(name);
    const auto seen = found == environment.variables.end() ? std::nullopt : found->second;
    if (seen == value) continue;
    return fmt::format("it was rerun with {}, and the candidate has {}: rharness drill --env {}",
                       VariableWords(name, seen), VariableWords(name, value),
                       value ? fmt::format("{}={}", name, *value) : name);
  }
  const Hardware& hardware = environment.hardware;
  const std::pair<const char*, std::string> facts[] = {
      {"gpu_driver", hardware.gpu_driver},
      {"cpu.model", hardware.cpu.model},
      {"gpus.0.model", hardware.gpus.empty() ? "" : hardware.gpus.front().model}};
  for (const auto& [key, seen] : facts) {
    const std::string there = FactOf(input.candidate, key);
    if (there.empty() || seen.empty() || there == seen) continue;
    return fmt::format("it was rerun where {} is {}, and the candidate's is {}", key, seen, there);
  }
  return "";
}

}  // namespace rharness
