// By the members of the two choices.
#include "compare/fingerprints/answer_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "compare/fingerprints/choice_parts.h"
#include "harness/base/clean_text.h"
#include "harness/base/json.h"

namespace rharness {
namespace {

constexpr std::size_t kMostWords = 200;  // bytes of a fingerprint's own words

Json ChoiceOf(const std::string& text) {
  auto json = ParseJson(text, "choice");
  return json.ok() ? std::move(*json) : Json();
}

// Of this case; null: the probe does not have it.
Json AnswerOf(const FingerprintProbe& probe, const std::string& name) {
  const auto choice = probe.choices.find(name);
  return choice == probe.choices.end() ? Json() : ChoiceOf(choice->second);
}

std::optional<std::string> TextMember(const Json& choice, std::string_view name) {
  const Json* value = choice.Find(name);
  if (value == nullptr || value->kind() != Json::Kind::kString) return {};
  return value->AsString();
}

// "token 5 ' red' → ' blue'" of the first element that differs; empty: none does.
std::string ElementChange(const Json& before, const Json& after, const char* member,
                          std::string_view noun, bool quote) {
  const Json *was = before.Find(member), *is = after.Find(member);
  if (was == nullptr || is == nullptr || !was->IsArray() || !is->IsArray()) return "";
  const Json::Array &a = was->AsArray(), &b = is->AsArray();
  const auto said = [&](const Json::Array& list, std::size_t at) -> std::string {
    if (at >= list.size()) return "the end";
    if (list[at].kind() != Json::Kind::kString) return ShortOf(list[at].Dump());
    return quote ? QuotedShort(list[at].AsString()) : CleanText(list[at].AsString(), 60);
  };
  for (std::size_t at = 0; at < std::max(a.size(), b.size()); ++at) {
    const bool same = at < a.size() && at < b.size() && a[at].Dump() == b[at].Dump();
    if (!same) return fmt::format("{} {} {} → {}", noun, at + 1, said(a, at), said(b, at));
  }
  return "";
}

std::string TextChange(const Json& before, const Json& after) {
  const auto was = TextMember(before, "text"), is = TextMember(after, "text");
  if (!was || !is || *was == *is) return "";
  const auto [a, b] = std::ranges::mismatch(*was, *is);
  return fmt::format("byte {} of the text {} → {}", a - was->begin() + 1,
                     QuotedShort(std::string(a, was->end())),
                     QuotedShort(std::string(b, is->end())));
}

std::string RelationChange(const Json& before, const Json& after) {
  for (const auto& [member, words] :
       {std::pair("as_alone", "as alone"), std::pair("as_cold", "as without a cached prefix")}) {
    const Json *was = before.Find(member), *is = after.Find(member);
    if (was == nullptr || is == nullptr || was->Dump() == is->Dump()) continue;
    if (is->Dump() == "true") return fmt::format("is now {}", words);
    const std::string differs = TextMember(after, "differs").value_or("");
    return fmt::format("is no longer {}{}", words,
                       differs.empty() ? "" : ": " + CleanText(differs, kMostWords));
  }
  return "";
}

}  // namespace

std::string AnswerChange(const std::string& before, const std::string& after) {
  const Json was = ChoiceOf(before), is = ChoiceOf(after);
  for (std::string words : {RelationChange(was, is),
                            ElementChange(was, is, "tokens", "token", true), TextChange(was, is)}) {
    if (!words.empty()) return words;
  }
  return DescribeChoiceChange(before, after);
}

std::string LogprobChange(const FingerprintProbe& before, const FingerprintProbe& after,
                          const std::string& name) {
  const std::string words = ElementChange(AnswerOf(before, name), AnswerOf(after, name), "logprobs",
                                          "log-probability of token", false);
  return words.empty() ? "" : ": " + words;
}

std::string AnswersDiffer(const FingerprintProbe& probe, const std::string& name) {
  const auto words = TextMember(AnswerOf(probe, name), "differs");
  return words ? ": " + CleanText(*words, kMostWords) : "";
}

}  // namespace rharness
