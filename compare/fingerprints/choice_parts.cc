// By the names of a choice's members.
#include "compare/fingerprints/choice_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "harness/base/json.h"

namespace rharness {
namespace {

constexpr std::size_t kMostProbeValue = 120;  // bytes of a value quoted in a sentence
constexpr std::size_t kMostMembers = 3;       // of a choice, named in a sentence

std::string TextOf(const Json& json) {
  return json.kind() == Json::Kind::kString ? json.AsString() : json.Dump();
}

bool NamesProcessor(std::string_view member) {
  constexpr std::array<std::string_view, 4> kMembers = {"core", "target", "enabled", "baseline"};
  return std::ranges::find(kMembers, member) != kMembers.end();
}

// "64x64x64 threads 2"
bool NamesThreads(std::string_view name) {
  constexpr std::string_view kWord = " threads ";
  const auto at = name.rfind(kWord);
  if (at == name.npos) return false;
  const std::string_view count = name.substr(at + kWord.size());
  return !count.empty() && std::ranges::all_of(count, [](char c) { return c >= '0' && c <= '9'; });
}

std::string ThreadsOf(const FingerprintProbe& probe, const std::string& name) {
  const auto choice = probe.choices.find(name);
  return choice == probe.choices.end() ? "" : PartsOf(choice->second).threads;
}

}  // namespace

ChoiceParts PartsOf(const std::string& choice) {
  ChoiceParts parts;
  const auto json = ParseJson(choice, "choice");
  if (!json.ok() || !json->IsObject()) return {.rest = choice, .processor = {}, .threads = {}};
  Json rest = Json::MakeObject(), processor = Json::MakeObject();
  for (const auto& [name, value] : json->AsObject()) {
    if (name == "threads") {
      parts.threads = value.Dump();
    } else if (name != "logprobs" && name != "differs") {
      (NamesProcessor(name) ? processor : rest).Set(name, value);
    }
  }
  parts.rest = rest.Dump();
  if (!processor.AsObject().empty()) parts.processor = processor.Dump();
  return parts;
}

std::string ThreadsInForce(const FingerprintProbe& probe, const std::string& name) {
  if (NamesThreads(name)) return "";
  const std::string own = ThreadsOf(probe, name);
  return own.empty() ? ThreadsOf(probe, "blas") : own;
}

std::string OtherThreadsWords(const FingerprintProbe& before, const FingerprintProbe& after,
                              const std::vector<std::string>& cases) {
  const std::string& name = cases.front();
  const std::string is = ThreadsInForce(after, name);
  return fmt::format(
      "ran with {} thread{}, and with {} before: a different order of addition in {} case{} shows "
      "nothing about the stack (first: {})",
      is, is == "1" ? "" : "s", ThreadsInForce(before, name), cases.size(),
      cases.size() == 1 ? "" : "s", ShortOf(name));
}

std::string ShortOf(const std::string& text) {
  return text.size() <= kMostProbeValue ? text : text.substr(0, kMostProbeValue) + "...";
}

std::string MembersChanged(const std::map<std::string, std::string>& was,
                           const std::map<std::string, std::string>& is) {
  std::map<std::string, std::pair<std::string, std::string>> members;
  for (const auto& [name, value] : was) members[name].first = value;
  for (const auto& [name, value] : is) members[name].second = value;
  std::erase_if(members, [](const auto& m) { return m.second.first == m.second.second; });
  std::vector<std::string> words;
  for (const auto& [name, values] : members) {
    const auto shown = [](const std::string& text) {
      return text.empty() ? "none" : ShortOf(text);
    };
    words.push_back(fmt::format("{} {} → {}", name, shown(values.first), shown(values.second)));
  }
  const std::size_t more = words.size() - std::min(words.size(), kMostMembers);
  words.resize(words.size() - more);
  return fmt::format("{}{}", fmt::join(words, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string DescribeChoiceChange(const std::string& before, const std::string& after) {
  const auto old_json = ParseJson(before, "choice"), new_json = ParseJson(after, "choice");
  const bool objects =
      old_json.ok() && new_json.ok() && old_json->IsObject() && new_json->IsObject();
  if (!objects) return fmt::format("{} → {}", ShortOf(before), ShortOf(after));
  std::map<std::string, std::string> was, is;
  for (const auto& [name, value] : old_json->AsObject()) was[name] = TextOf(value);
  for (const auto& [name, value] : new_json->AsObject()) is[name] = TextOf(value);
  return MembersChanged(was, is);
}

}  // namespace rharness
