// The answers of inference engines: OpenAI's responses, vLLM's and SGLang's own.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "compare/curves/printed_number.h"
#include "compare/tokens/token_record.h"

namespace rharness {
namespace {

// {"1234": {"logprob": -0.5, "rank": 1, "decoded_token": "a"}, ...}: that of the token, which vLLM
// writes first, before the most probable ones.
Status AddChoice(const Json& choices, const Json* id, std::size_t place, TokenRecord* record,
                 TokenBuilder* out) {
  if (!choices.IsObject() || choices.AsObject().empty()) {
    return out->Fail(fmt::format("token {}: expected log-probabilities by token id, found {}",
                                 place, choices.KindName()));
  }
  const std::string key = id == nullptr ? choices.AsObject().front().first : id->Dump();
  const Json* chosen = choices.Find(key);
  if (chosen == nullptr) {
    return out->Fail(fmt::format("token {}: none of the log-probabilities is of its id {}", place,
                                 ExcerptForError(key)));
  }
  const Json* value = chosen->IsObject() ? chosen->Find("logprob") : chosen;
  if (value == nullptr) return out->Fail(fmt::format("token {}: no logprob", place));
  ScoredToken token;
  ASSIGN_OR_RETURN(token.logprob, LogprobAt(*value, place, out));
  token.name = NameOfText("token_id:" + key);
  const Json* text = chosen->IsObject() ? chosen->Find("decoded_token") : nullptr;
  if (text != nullptr && text->kind() == Json::Kind::kString) {
    token.name.text = DigestOfText(text->AsString());
  }
  record->tokens.push_back(token);
  return {};
}

Status AddChoices(const Json* list, const Json* ids, TokenRecord* record, TokenBuilder* out) {
  if (list == nullptr) return {};
  const Json::Array& choices = list->AsArray();
  if (ids != nullptr && ids->AsArray().size() != choices.size()) {
    return out->Fail(
        fmt::format("{} log-probabilities of {} tokens", choices.size(), ids->AsArray().size()));
  }
  for (std::size_t i = FirstStated(choices); i < choices.size(); ++i) {
    RETURN_IF_ERROR(
        AddChoice(choices[i], ids == nullptr ? nullptr : &ids->AsArray()[i], i, record, out));
  }
  return {};
}

// Whole text or the bytes of a token, which may be part of a character.
TokenName NameOfContent(const Json& token) {
  const Json* bytes = ArrayIn(token, "bytes");
  const Json* text = token.Find("token");
  const bool stated = text != nullptr && text->kind() == Json::Kind::kString;
  TokenName name = stated ? NameOfText(text->AsString()) : TokenName();
  if (bytes == nullptr || name.id != TokenName::kNotStated) return name;
  std::string raw;
  for (const Json& byte : bytes->AsArray()) raw += static_cast<char>(byte.ToInt64().value_or(0));
  name.text = DigestOfText(raw);
  return name;
}

Status AddChatContent(const Json::Array& content, TokenRecord* record, TokenBuilder* out) {
  for (std::size_t i = 0; i < content.size(); ++i) {
    const Json* value = content[i].IsObject() ? content[i].Find("logprob") : nullptr;
    if (value == nullptr) return out->Fail(fmt::format("token {}: no logprob", i));
    ScoredToken token;
    ASSIGN_OR_RETURN(token.logprob, LogprobAt(*value, i, out));
    token.name = NameOfContent(content[i]);
    record->tokens.push_back(token);
  }
  return {};
}

Status AddCompletion(const Json& logprobs, TokenRecord* record, TokenBuilder* out) {
  const Json::Array& values = ArrayIn(logprobs, "token_logprobs")->AsArray();
  const Json* texts = ArrayIn(logprobs, "tokens");
  if (texts != nullptr && texts->AsArray().size() != values.size()) {
    return out->Fail(
        fmt::format("{} log-probabilities of {} tokens", values.size(), texts->AsArray().size()));
  }
  for (std::size_t i = FirstStated(values); i < values.size(); ++i) {
    ScoredToken token;
    ASSIGN_OR_RETURN(token.logprob, LogprobAt(values[i], i, out));
    const Json* text = texts == nullptr ? nullptr : &texts->AsArray()[i];
    if (text != nullptr && text->kind() == Json::Kind::kString) {
      token.name = NameOfText(text->AsString());
    }
    record->tokens.push_back(token);
  }
  return {};
}

// Ids of the last tokens of the record, where a list beside them states these.
Status NameLast(const Json* ids, std::size_t begin, TokenRecord* record, const TokenBuilder& out) {
  if (ids == nullptr) return {};
  const Json::Array& list = ids->AsArray();
  const std::size_t count = record->tokens.size() - begin;
  if (list.size() < count) {
    return out.Fail(fmt::format("{} log-probabilities of {} tokens", count, list.size()));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = list.size() - count + i;
    ASSIGN_OR_RETURN(record->tokens[begin + i].name.id, TokenIdAt(list[at], at, out));
  }
  return {};
}

// vLLM's and SGLang's servers write experts as base64 of an array, which is not read.
const Json* ExpertsIn(const Json& answer, TokenBuilder* out) {
  const Json* experts = answer.IsObject() ? answer.Find("routed_experts") : nullptr;
  if (experts != nullptr && experts->kind() == Json::Kind::kString) {
    out->LeaveOut("answers' experts, which are base64");
  }
  return ArrayIn(answer, "routed_experts");
}

// A prompt that was scored costs one generated token, which nobody asked for.
bool IsScoring(const Json* prompt_logprobs, const Json* output) {
  return prompt_logprobs != nullptr && output != nullptr && output->AsArray().size() <= 1;
}

// What a prompt that was scored states holds the answer, too.
void ForgetPrompt(TokenPrompt* prompt) { *prompt = {.scored = prompt->scored}; }

// Of an echoed prompt the first token has no log-probability.
std::size_t EchoedTokens(const Json& response) {
  const Json* usage = ObjectIn(response, "usage");
  const Json* tokens = usage == nullptr ? nullptr : usage->Find("prompt_tokens");
  const auto count = tokens == nullptr ? std::nullopt : tokens->ToInt64();
  return static_cast<std::size_t>(std::max<std::int64_t>(count.value_or(1), 1) - 1);
}

// What an answer says: its text, or that of its message.
std::string ContentOf(const TokenRecord& record, const Json& answer) {
  if (!answer.IsObject()) return {};
  const Json* message = ObjectIn(answer, "message");
  const Json* content = answer.Find("text");
  if (content == nullptr && message != nullptr) content = message->Find("content");
  if (content == nullptr) content = answer.Find("token_ids");
  return fmt::format("{}\n{}\n{}", record.prompt.value_or(""), record.sample.value_or(0),
                     content == nullptr ? "" : content->Dump());
}

Status AddResponseChoice(const Json& response, const Json& choice, TokenRecord record,
                         TokenBuilder* out) {
  if (!choice.IsObject()) return out->Fail("'choices' has no object");
  const Json* index = choice.Find("index");
  record.sample = index == nullptr ? std::nullopt : index->ToInt64();
  const auto either = [&](std::string_view name) {
    const Json* own = ArrayIn(choice, name);
    return own != nullptr ? own : ArrayIn(response, name);
  };
  StatePrompt(choice, &record.of_prompt);
  StatePrompt(response, &record.of_prompt);
  const Json* prompt = either("prompt_logprobs");
  RETURN_IF_ERROR(
      AddChoices(prompt, prompt == nullptr ? nullptr : either("prompt_token_ids"), &record, out));
  const Json* logprobs = ObjectIn(choice, "logprobs");
  const Json* content = logprobs == nullptr ? nullptr : ArrayIn(*logprobs, "content");
  const bool completion = logprobs != nullptr && ArrayIn(*logprobs, "token_logprobs") != nullptr;
  const std::size_t begin = record.tokens.size();
  record.of_prompt.scored = begin;
  const Json* written = content != nullptr ? content
                        : completion       ? ArrayIn(*logprobs, "token_logprobs")
                                           : nullptr;
  if (!IsScoring(prompt, written)) {
    if (content != nullptr) RETURN_IF_ERROR(AddChatContent(content->AsArray(), &record, out));
    if (content == nullptr && completion) RETURN_IF_ERROR(AddCompletion(*logprobs, &record, out));
    RETURN_IF_ERROR(NameLast(ArrayIn(choice, "token_ids"), begin, &record, *out));
  }
  if (prompt == nullptr && written == nullptr) {
    return out->LeaveOutAnswer(ContentOf(record, choice));
  }
  // An echoed prompt begins with a token without a log-probability.
  const bool echoed = completion && !written->AsArray().empty() && written->AsArray()[0].IsNull();
  if (echoed) record.of_prompt.scored += EchoedTokens(response);
  if (echoed || IsScoring(prompt, written)) ForgetPrompt(&record.of_prompt);
  out->Sampled(prompt == nullptr && !echoed);
  RETURN_IF_ERROR(AddExperts(ExpertsIn(choice, out), &record, *out));
  return Give(record, out);
}

Status AddTriples(const Json* list, TokenRecord* record, TokenBuilder* out) {
  if (list == nullptr) return {};
  const Json::Array& triples = list->AsArray();
  for (std::size_t i = 0; i < triples.size(); ++i) {
    if (!triples[i].IsArray() || triples[i].AsArray().size() < 2) {
      return out->Fail(fmt::format("token {}: expected [logprob, token id, text]", i));
    }
    const Json::Array& triple = triples[i].AsArray();
    if (i == 0 && triple[0].IsNull()) continue;  // the first token of a prompt
    ScoredToken token;
    ASSIGN_OR_RETURN(token.logprob, LogprobAt(triple[0], i, out));
    ASSIGN_OR_RETURN(token.name.id, TokenIdAt(triple[1], i, *out));
    record->tokens.push_back(token);
  }
  return {};
}

// What a continuation was: the last text of its call, {"gen_args_0": {"arg_0": ..., "arg_1": ...}}
// or [[context, continuation], ...].
TokenName NameOfCall(const Json* calls, std::size_t i) {
  const Json* call = nullptr;
  if (calls != nullptr && calls->IsObject()) call = calls->Find(fmt::format("gen_args_{}", i));
  if (calls != nullptr && calls->IsArray() && i < calls->AsArray().size()) {
    call = &calls->AsArray()[i];
  }
  const Json* text = nullptr;
  if (call != nullptr && call->IsObject()) text = call->Find("arg_1");
  if (call != nullptr && call->IsArray() && call->AsArray().size() > 1) text = &call->AsArray()[1];
  return text != nullptr && text->kind() == Json::Kind::kString
             ? TokenName{.text = DigestOfText(text->AsString())}
             : TokenName();
}

}  // namespace

Status AddResponse(const Json& response, const TokenRecord& record, TokenBuilder* out) {
  out->Format("OpenAI responses");
  const Json* body = ObjectIn(response, "body");
  const Json& answer = body == nullptr ? response : *body;
  const Json* choices = ArrayIn(answer, "choices");
  if (choices == nullptr) {
    out->LeaveOut("answers without choices");
    return {};
  }
  for (const Json& choice : choices->AsArray()) {
    RETURN_IF_ERROR(AddResponseChoice(answer, choice, record, out));
  }
  return {};
}

Status AddRequestOutput(const Json& request, const TokenRecord& of, TokenBuilder* out) {
  out->Format("vLLM's request outputs");
  const Json* prompt = ArrayIn(request, "prompt_logprobs");
  for (const Json& output : ArrayIn(request, "outputs")->AsArray()) {
    TokenRecord record = of;
    const Json* index = output.IsObject() ? output.Find("index") : nullptr;
    record.sample = index == nullptr ? std::nullopt : index->ToInt64();
    RETURN_IF_ERROR(AddChoices(prompt, ArrayIn(request, "prompt_token_ids"), &record, out));
    record.of_prompt.scored = record.tokens.size();
    const Json* logprobs = ArrayIn(output, "logprobs");
    if (IsScoring(prompt, logprobs)) {
      ForgetPrompt(&record.of_prompt);
    } else {
      RETURN_IF_ERROR(AddChoices(logprobs, ArrayIn(output, "token_ids"), &record, out));
    }
    if (prompt == nullptr && logprobs == nullptr) {
      RETURN_IF_ERROR(out->LeaveOutAnswer(ContentOf(record, output)));
      continue;
    }
    out->Sampled(prompt == nullptr);
    RETURN_IF_ERROR(AddExperts(ExpertsIn(output, out), &record, *out));
    RETURN_IF_ERROR(Give(record, out));
  }
  return {};
}

Status AddSglang(const Json& answer, TokenRecord record, TokenBuilder* out) {
  const Json& meta = *answer.Find("meta_info");
  const Json* input = ArrayIn(meta, "input_token_logprobs");
  if (input != nullptr && input->AsArray().empty()) input = nullptr;
  const Json* output = ArrayIn(meta, "output_token_logprobs");
  if (input == nullptr && output == nullptr) {
    return out->LeaveOutAnswer(ContentOf(record, answer));
  }
  out->Format("SGLang's answers");
  RETURN_IF_ERROR(AddTriples(input, &record, out));
  record.of_prompt.scored = record.tokens.size();
  if (IsScoring(input, output)) {
    ForgetPrompt(&record.of_prompt);
  } else {
    RETURN_IF_ERROR(AddTriples(output, &record, out));
  }
  out->Sampled(input == nullptr);
  RETURN_IF_ERROR(AddExperts(ExpertsIn(meta, out), &record, *out));
  return Give(record, out);
}

// Each of `resps` is [[log-likelihood, is greedy], ...], as numbers or in quotes; a generated text
// has none.
Status AddLikelihoods(const Json& sample, TokenRecord record, TokenBuilder* out) {
  out->Format("log-likelihoods of continuations");
  out->OfContinuations();
  const Json::Array& answers = sample.Find("resps")->AsArray();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Json* value = &answers[i];
    while (value->IsArray() && !value->AsArray().empty()) value = &value->AsArray().front();
    const bool text = value->kind() == Json::Kind::kString;
    if (value->IsArray() || value->IsObject() || value->IsNull() ||
        (text && !NumberOfText(value->AsString()))) {
      out->LeaveOut("answers without log-likelihoods");
      return {};
    }
    ScoredToken token{.name = NameOfCall(sample.Find("arguments"), i)};
    ASSIGN_OR_RETURN(token.logprob, LogprobAt(*value, i, out));
    record.tokens.push_back(token);
  }
  return Give(record, out);
}

}  // namespace rharness
