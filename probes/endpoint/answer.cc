// JSON of a stranger to an answer.
#include "probes/endpoint/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "harness/base/clean_text.h"
#include "harness/base/digest.h"
#include "harness/base/json_reader.h"
#include "probes/endpoint/prompts.h"

namespace rharness {
namespace {

bool IsText(const Json* json) { return json != nullptr && json->kind() == Json::Kind::kString; }

// Some servers have none of a token.
void TakeLogprob(JsonReader& reader, const Json* logprob, EndpointAnswer* out) {
  const bool none = logprob == nullptr || logprob->IsNull();
  if (!none && !logprob->ToDouble()) return reader.Fail("expected a number or null");
  out->logprobs.push_back(none ? "null" : logprob->Dump());
}

// {"content": [{"token", "logprob"}]}, or {"tokens": [], "token_logprobs": []}.
void ReadLogprobs(JsonReader& reader, EndpointAnswer* out) {
  reader.ForEach("content", [&](JsonReader& one) {
    one.Read("token", &out->tokens.emplace_back());
    if (one.ok()) TakeLogprob(one, one.json().Find("logprob"), out);
  });
  reader.ReadArray("tokens", &out->tokens);
  reader.ForEach("token_logprobs", [&](JsonReader& one) { TakeLogprob(one, &one.json(), out); });
  if (!reader.ok()) return;
  if (out->tokens.size() != out->logprobs.size()) {
    return reader.Fail(fmt::format("{} tokens and {} log-probabilities; expected as many",
                                   out->tokens.size(), out->logprobs.size()));
  }
  if (out->tokens.size() > kMostAnswerTokens) {
    reader.Fail(fmt::format("more than {} tokens", kMostAnswerTokens));
  }
}

void ReadMessage(JsonReader& message, EndpointAnswer* out) {
  // DeepSeek, SGLang: "reasoning_content"; vLLM: "reasoning".
  for (const char* name : {"reasoning_content", "reasoning"}) {
    if (IsText(message.json().Find(name))) out->text += message.json().Find(name)->AsString();
  }
  std::string content;
  message.ReadOptional("content", &content);
  out->text += content;
}

void ReadChoice(JsonReader& choice, bool chat, EndpointAnswer* out) {
  if (chat) {
    choice.ReadObject("message", true, [&](JsonReader& message) { ReadMessage(message, out); });
  } else {
    choice.Read("text", &out->text);
  }
  choice.ReadOptional("finish_reason", &out->finish);
  choice.ReadObject("logprobs", false, [&](JsonReader& logprobs) { ReadLogprobs(logprobs, out); });
  if (choice.ok() && (out->finish == "abort" || out->finish == "error")) {
    choice.Fail(fmt::format("expected a whole answer; the server gave it up: '{}'", out->finish),
                "finish_reason");
  }
  if (choice.ok() && out->text.empty() && out->tokens.empty()) {
    choice.Fail("the answer has neither text nor token, and so shows nothing");
  }
}

// "at token 5: ' red' and ' blue'"; empty: equal.
std::string FirstOther(const char* where, const std::vector<std::string>& a,
                       const std::vector<std::string>& b, bool quote) {
  const auto said = [&](const std::vector<std::string>& list, std::size_t at) {
    if (at >= list.size()) return std::string("the end");
    return quote ? QuotedShort(list[at]) : list[at];
  };
  const std::size_t most = std::max(a.size(), b.size());
  for (std::size_t at = 0; at < most; ++at) {
    if (at < a.size() && at < b.size() && a[at] == b[at]) continue;
    return fmt::format("{} {}: {} and {}", where, at + 1, said(a, at), said(b, at));
  }
  return "";
}

}  // namespace

bool EndpointAnswer::HasLogprobs() const {
  constexpr double kNotComputed = -9999.0;
  return !logprobs.empty() && std::ranges::all_of(logprobs, [](const std::string& text) {
    return text != "null" && std::strtod(text.c_str(), nullptr) > kNotComputed;
  });
}

Result<EndpointAnswer> ParseEndpointAnswer(const Json& json, bool chat, std::string_view where) {
  JsonReader reader(json, std::string(where));
  EndpointAnswer answer;
  bool first = true;
  if (!json.IsObject()) return InvalidInput("expected an object", std::string(where));
  if (const Json* error = json.Find("error"); error != nullptr && !error->IsNull()) {
    const Json* message = error->IsObject() ? error->Find("message") : error;
    const bool text = IsText(message);
    return InvalidInput("the server answers with an error: " +
                            (text ? QuotedShort(message->AsString()) : "without words"),
                        std::string(where));
  }
  if (!reader.Has("choices")) reader.Fail("missing; expected a list of answers", "choices");
  reader.ForEach("choices", [&](JsonReader& choice) {
    if (std::exchange(first, false)) ReadChoice(choice, chat, &answer);
  });
  if (reader.ok() && first) reader.Fail("expected an answer; the list is empty", "choices");
  reader.ReadOptional("model", &answer.model);
  if (IsText(json.Find("id"))) answer.id = json.Find("id")->AsString();
  reader.ReadOptional("system_fingerprint", &answer.system_fingerprint);
  RETURN_IF_ERROR(reader.status());
  return answer;
}

std::string DigestOf(const EndpointAnswer& answer) {
  Json all = Json::MakeArray({answer.text, answer.finish});
  for (const std::string& token : answer.tokens) all.Append(token);
  for (const std::string& logprob : answer.logprobs) all.Append(logprob);
  return Sha256HexOf(all.Dump());
}

std::string PartingOf(const EndpointAnswer& a, const EndpointAnswer& b) {
  if (!a.tokens.empty() && !b.tokens.empty()) {
    if (auto words = FirstOther("at token", a.tokens, b.tokens, true); !words.empty()) return words;
  }
  if (a.text != b.text) {
    const auto [at, other] = std::ranges::mismatch(a.text, b.text);
    const auto rest = [](auto from, const std::string& text) {
      return from == text.end() ? std::string("the end")
                                : QuotedShort(std::string(from, text.end()));
    };
    return fmt::format("at byte {} of the text: {} and {}", at - a.text.begin() + 1,
                       rest(at, a.text), rest(other, b.text));
  }
  if (a.finish != b.finish) return fmt::format("in why they end: {} and {}", a.finish, b.finish);
  return FirstOther("only in the log-probability of token", a.logprobs, b.logprobs, false);
}

}  // namespace rharness
