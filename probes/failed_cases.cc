// Failures by case: recorded, united, counted.
#include "probes/failed_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace rharness {
namespace {

std::set<std::string> FailedIn(const ProbeResult& result) {
  std::set<std::string> names;
  for (const auto& [name, choice] : result.choices) {
    if (choice.Find(kFailedMember) != nullptr) names.insert(name);
  }
  return names;
}

void TakeAway(const std::string& name, ProbeResult* result) {
  const auto belongs = [&](const std::string& other) {
    return other == name || other.starts_with(name + " ");
  };
  const auto of_it = [&](const auto& entry) { return belongs(entry.first); };
  std::erase_if(result->bits, of_it);
  std::erase_if(result->trees, of_it);
  std::erase_if(result->tree_details, of_it);
  std::erase_if(result->unstable, belongs);
}

}  // namespace

void RecordFailure(const std::string& name, const Error& error, ProbeResult* result) {
  result->choices[name].Set(kFailedMember, error.ToString());
  result->notes.push_back(name + ": " + error.ToString());
  ++result->counts[kFailedCases];
  TakeAway(name, result);
}

void UniteFailures(ProbeResult* first, ProbeResult* next) {
  const std::set<std::string> here = FailedIn(*first), there = FailedIn(*next);
  for (const std::string& name : there) {
    TakeAway(name, first);
    TakeAway(name, next);
    if (here.contains(name)) continue;
    const std::string why = next->choices.at(name).Find(kFailedMember)->AsString();
    first->choices[name].Set(kFailedMember, why);
    first->notes.push_back(name + ": " + why);
    ++first->counts[kFailedCases];
  }
  for (const std::string& name : here) TakeAway(name, next);
  // Equal on both sides, whatever each said.
  for (const std::string& name : FailedIn(*first)) next->choices[name] = first->choices.at(name);
}

std::string FailuresInWords(const Json& probe) {
  std::set<std::string> cases;
  for (const char* member : {"choice", "tree", "bits"}) {
    for (const auto& [name, value] : probe.Find(member)->AsObject()) cases.insert(name);
  }
  std::size_t failed = 0;
  std::string first;
  for (const auto& [name, choice] : probe.Find("choice")->AsObject()) {
    const Json* why = choice.Find(kFailedMember);
    if (why == nullptr) continue;
    if (failed++ == 0) first = fmt::format("{}: {}", name, why->AsString());
  }
  if (failed == 0) return "";
  return fmt::format("{} case{} failed, of {} (first: {})", failed, failed == 1 ? "" : "s",
                     cases.size(), first);
}

}  // namespace rharness
