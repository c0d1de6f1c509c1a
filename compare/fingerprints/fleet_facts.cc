// Values that one side has throughout and the other nowhere.
#include "compare/fingerprints/fleet_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "compare/fingerprints/stack_facts.h"
#include "harness/base/digest.h"

namespace rharness {
namespace {

constexpr std::size_t kMostInWords = 3;
constexpr std::size_t kMostValue = 100;  // bytes of a value quoted in a sentence

using Value = std::optional<std::string>;

Value ValueOf(const Fingerprint& fingerprint, const std::string& key) {
  const auto found = fingerprint.stack.find(key);
  return found == fingerprint.stack.end() ? Value() : Value(found->second);
}

std::set<std::string> KeysOf(std::span<const Fingerprint* const> fingerprints) {
  std::set<std::string> keys;
  for (const Fingerprint* one : fingerprints) {
    for (const auto& [key, value] : one->stack) keys.insert(key);
  }
  return keys;
}

// Without the last part of its key, for digests of one library and its version.
std::string_view ThingOf(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  return dot == key.npos ? key : key.substr(0, dot);
}

void DropDigestsOfTold(std::vector<FleetFact>* facts) {
  std::set<std::string> told;
  std::erase_if(*facts, [&](const FleetFact& fact) {
    const bool fresh = told.emplace(ThingOf(fact.key)).second;
    return IsDigest(fact.key) && !fresh;
  });
}

std::string Quoted(const Value& value) {
  if (!value) return "absent";
  if (value->empty()) return "empty";
  return value->size() <= kMostValue ? *value : value->substr(0, kMostValue) + "...";
}

}  // namespace

std::vector<FleetFact> FactsApart(std::span<const Fingerprint* const> ours,
                                  std::span<const Fingerprint* const> theirs) {
  std::vector<FleetFact> facts;
  if (ours.empty() || theirs.empty()) return facts;
  std::set<std::string> keys = KeysOf(ours);
  keys.merge(KeysOf(theirs));
  for (const std::string& key : keys) {
    if (NamesOneMachine(key)) continue;
    const Value here = ValueOf(*ours.front(), key);
    const auto is_here = [&](const Fingerprint* one) {
      const Value there = ValueOf(*one, key);
      return there == here || CannotCompare(there, here);
    };
    if (!std::ranges::all_of(ours, is_here) || std::ranges::any_of(theirs, is_here)) continue;
    std::map<Value, int> counts;
    for (const Fingerprint* one : theirs) ++counts[ValueOf(*one, key)];
    FleetFact fact{.key = key, .here = here, .of_machine = IsOfMachine(key)};
    for (const auto& [value, count] : counts) fact.majority.push_back(value);
    std::ranges::stable_sort(fact.majority, std::greater<>(),
                             [&](const Value& value) { return counts[value]; });
    facts.push_back(std::move(fact));
  }
  std::ranges::stable_sort(facts, {}, [](const FleetFact& fact) { return TellingRank(fact.key); });
  DropDigestsOfTold(&facts);
  return facts;
}

std::string FactsInWords(const std::vector<FleetFact>& facts) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(facts.size(), kMostInWords); ++i) {
    const FleetFact& fact = facts[i];
    std::vector<std::string> values;
    for (const Value& value : fact.majority) values.push_back(Quoted(value));
    const std::size_t more = values.size() - std::min(values.size(), kMostInWords);
    values.resize(values.size() - more);
    words.push_back(fmt::format("{} is {} here and {}{} in the majority", fact.key,
                                Quoted(fact.here), fmt::join(values, " or "),
                                more > 0 ? " or another" : ""));
  }
  const std::size_t more = facts.size() - words.size();
  return fmt::format("{}{}", fmt::join(words, ", "),
                     more > 0 ? fmt::format(" and {} more fact{}", more, more > 1 ? "s" : "") : "");
}

std::string StackDigest(const Fingerprint& fingerprint) {
  Sha256 sha;
  const auto field = [&sha](std::string_view text) {
    sha.UpdateU64(text.size());
    sha.Update(text);
  };
  for (const auto& [key, value] : fingerprint.stack) {
    if (NamesOneMachine(key) || IsWithheldNote(value)) continue;
    field(key);
    field(value);
  }
  return ToHex(sha.Finish());
}

}  // namespace rharness
