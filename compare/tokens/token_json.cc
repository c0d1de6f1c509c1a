// One JSON record as tokens, in the shapes that servers and trainers write.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compare/curves/printed_number.h"
#include "compare/tokens/token_record.h"

namespace rharness {

const Json* ArrayIn(const Json& object, std::string_view name) {
  const Json* member = object.IsObject() ? object.Find(name) : nullptr;
  return member != nullptr && member->IsArray() ? member : nullptr;
}

const Json* ObjectIn(const Json& object, std::string_view name) {
  const Json* member = object.IsObject() ? object.Find(name) : nullptr;
  return member != nullptr && member->IsObject() ? member : nullptr;
}

Result<double> LogprobAt(const Json& value, std::size_t place, TokenBuilder* out) {
  const bool text = value.kind() == Json::Kind::kString;
  std::optional<double> number = value.ToDouble();
  if (text) {
    const auto printed = PrintedOf(value);  // a bare NaN or Infinity
    number = printed ? std::optional(printed->value) : NumberOfText(value.AsString());
  }
  if (!number) {
    return out->Fail(
        fmt::format("token {}: expected a log-probability, found {}", place,
                    text ? QuoteForError(value.AsString()) : std::string(value.KindName())));
  }
  out->Printed(*number);
  return *number;
}

Result<std::uint32_t> TokenIdAt(const Json& value, std::size_t place, const TokenBuilder& out) {
  const auto id = value.ToInt64();
  if (!id || *id < 0 || *id >= std::int64_t{TokenName::kNotStated}) {
    return out.Fail(fmt::format("token {}: expected the id of a token, found {}", place,
                                QuoteForError(value.Dump())));
  }
  return static_cast<std::uint32_t>(*id);
}

TokenName NameOfText(std::string_view text) {
  constexpr std::string_view kId = "token_id:";
  if (text.starts_with(kId)) {
    const auto id = NumberOfText(text.substr(kId.size()));
    if (id && *id >= 0 && *id < TokenName::kNotStated && *id == std::floor(*id)) {
      return {.id = static_cast<std::uint32_t>(*id)};
    }
  }
  return {.text = DigestOfText(text)};
}

std::size_t FirstStated(const Json::Array& list) {
  const auto first = std::ranges::find_if(list, [](const Json& one) { return !one.IsNull(); });
  return static_cast<std::size_t>(first - list.begin());
}

Status AddExperts(const Json* list, TokenRecord* record, const TokenBuilder& out) {
  if (list == nullptr || record->tokens.empty()) return {};
  const Json::Array& by_token = list->AsArray();
  const std::size_t count = record->tokens.size();
  if (by_token.size() < count) {
    return out.Fail(
        fmt::format("experts of {} tokens; expected those of {}", by_token.size(), count));
  }
  std::size_t layers = 0;
  for (std::size_t i = by_token.size() - count; i < by_token.size(); ++i) {
    const Json& token = by_token[i];
    const std::size_t here = token.IsArray() ? token.AsArray().size() : 0;
    if (here == 0 || (layers != 0 && here != layers)) {
      return out.Fail(fmt::format("token {}: experts of {} layers; expected a list for each of {}",
                                  i, here, layers));
    }
    layers = here;
    for (const Json& layer : token.AsArray()) {
      std::vector<std::int64_t> experts;
      for (const Json& one : layer.IsArray() ? layer.AsArray() : Json::Array{layer}) {
        const auto expert = one.ToInt64();
        if (!expert) return out.Fail(fmt::format("token {}: expected numbers of experts", i));
        experts.push_back(*expert);
      }
      record->experts.push_back(DigestOfExperts(std::move(experts)));
    }
  }
  return {};
}

Status Give(const TokenRecord& record, TokenBuilder* out) {
  return out->Add(record.prompt, record.sample, record.tokens, record.has_sampler, record.experts,
                  record.of_prompt);
}

namespace {

constexpr std::array<std::string_view, 4> kStatedPrompt = {"prompt_token_ids", "prompt_ids",
                                                           "messages", "prompt"};

// Without the answers at the end; members in one order, without nulls.
std::string MessagesText(const Json::Array& messages) {
  const auto is_answer = [](const Json& message) {
    const Json* role = message.Find("role");
    return role != nullptr && role->kind() == Json::Kind::kString &&
           role->AsString() == "assistant";
  };
  std::size_t size = messages.size();
  while (size > 0 && messages[size - 1].IsObject() && is_answer(messages[size - 1])) --size;
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    std::vector<std::string> members;
    if (!messages[i].IsObject()) return Json::MakeArray(messages).Dump();
    for (const auto& [name, value] : messages[i].AsObject()) {
      if (!value.IsNull()) members.push_back(Json(name).Dump() + value.Dump());
    }
    std::ranges::sort(members);
    for (const std::string& member : members) text += member;
    text += '\n';
  }
  return text;
}

void StatePromptAs(const Json& prompt, TokenPrompt* out) {
  const auto state = [](std::uint64_t* kind, std::string_view text) {
    if (*kind == TokenName::kNoText) *kind = DigestOfText(text);
  };
  if (prompt.kind() == Json::Kind::kString) state(&out->text, prompt.AsString());
  if (!prompt.IsArray() || prompt.AsArray().empty()) return;
  const Json& first = prompt.AsArray().front();
  if (first.IsObject()) state(&out->messages, MessagesText(prompt.AsArray()));
  if (first.ToInt64()) state(&out->ids, prompt.Dump());
}

constexpr std::array<std::string_view, 4> kNamedPrompt = {"prompt_id", "custom_id", "uid",
                                                          "doc_id"};
// Beside lists of log-probabilities only: the "id" of a server's response changes every time.
constexpr std::array<std::string_view, 4> kOwnPrompt = {"id", "group_index", "idx", "index"};
constexpr std::array<std::string_view, 4> kSamples = {"sample", "sample_index", "sample_id",
                                                      "rollout_index"};

template <class Names>
const Json* FirstIn(const Json& object, const Names& names) {
  for (const std::string_view name : names) {
    const Json* member = object.Find(name);
    if (member != nullptr && !member->IsNull()) return member;
  }
  return nullptr;
}

std::optional<std::string> NameOf(const Json* id) {
  if (id == nullptr || id->IsArray() || id->IsObject()) return std::nullopt;
  return id->kind() == Json::Kind::kString ? id->AsString() : id->Dump();
}

// Of lists side by side.
struct Columns {
  const Json* logprobs = nullptr;
  const Json* sampler = nullptr;
  const Json* tokens = nullptr;
  const Json* mask = nullptr;
  const Json* experts = nullptr;
};

// The i-th of `size` values of a list that has at least as many, at its end.
const Json* AtEnd(const Json* list, std::size_t i, std::size_t size) {
  if (list == nullptr || list->AsArray().size() < size) return nullptr;
  return &list->AsArray()[list->AsArray().size() - size + i];
}

Result<bool> IsMasked(const Json& value, std::size_t i, const TokenBuilder& out) {
  if (value.kind() == Json::Kind::kBool) return !value.AsBool();
  const auto number = value.ToDouble();
  if (number == 0.0 || number == 1.0) return number == 0.0;
  return out.Fail(fmt::format("token {}: expected a mask of 0 or 1, found {}", i,
                              ExcerptForError(value.Dump())));
}

Status NameToken(const Json& value, std::size_t i, TokenName* name, const TokenBuilder& out) {
  if (value.kind() == Json::Kind::kString) {
    *name = NameOfText(value.AsString());
    return {};
  }
  ASSIGN_OR_RETURN(name->id, TokenIdAt(value, i, out));
  return {};
}

// Log-probabilities belong to the last tokens: those of a whole sequence begin with its second.
Status AddColumns(const Columns& columns, TokenRecord record, TokenBuilder* out) {
  const Json::Array& values = columns.logprobs->AsArray();
  const std::size_t size = values.size();
  for (const auto& [list, what] :
       {std::pair{columns.sampler, "log-probabilities of the sampler"},
        std::pair{columns.tokens, "tokens"}, std::pair{columns.mask, "values of the mask"}}) {
    if (list != nullptr && list->AsArray().size() < size) {
      return out->Fail(
          fmt::format("{} log-probabilities and {} {}", size, list->AsArray().size(), what));
    }
  }
  record.has_sampler = columns.sampler != nullptr;
  Json::Array experts;
  for (std::size_t i = FirstStated(values); i < size; ++i) {
    const Json* mask = AtEnd(columns.mask, i, size);
    if (mask != nullptr) {
      ASSIGN_OR_RETURN(const bool masked, IsMasked(*mask, i, *out));
      if (masked && record.tokens.empty()) ++record.of_prompt.masked;
      if (masked) continue;
    }
    ScoredToken token;
    ASSIGN_OR_RETURN(token.logprob, LogprobAt(values[i], i, out));
    if (record.has_sampler) {
      ASSIGN_OR_RETURN(token.sampler, LogprobAt(*AtEnd(columns.sampler, i, size), i, out));
    }
    if (const Json* name = AtEnd(columns.tokens, i, size)) {
      RETURN_IF_ERROR(NameToken(*name, i, &token.name, *out));
    }
    if (const Json* sets = AtEnd(columns.experts, i, size)) experts.push_back(*sets);
    record.tokens.push_back(token);
  }
  if (columns.experts != nullptr) {
    const Json kept = Json::MakeArray(std::move(experts));
    RETURN_IF_ERROR(AddExperts(&kept, &record, *out));
  }
  return Give(record, out);
}

bool IsBatch(const Json& list) {
  return !list.AsArray().empty() && list.AsArray().front().IsArray();
}

// One row of each list of a batch; names by row where a list states them.
Status AddRows(const Json& object, const Columns& columns, TokenBuilder* out) {
  const std::size_t rows = columns.logprobs->AsArray().size();
  const auto row = [&](const Json* list, std::size_t i) -> const Json* {
    if (list == nullptr || list->AsArray().size() != rows || !list->AsArray()[i].IsArray()) {
      return nullptr;
    }
    return &list->AsArray()[i];
  };
  const auto in_row = [&](const auto& names, std::size_t i) -> const Json* {
    const Json* list = FirstIn(object, names);
    return list == nullptr || !list->IsArray() || list->AsArray().size() != rows
               ? nullptr
               : &list->AsArray()[i];
  };
  for (std::size_t i = 0; i < rows; ++i) {
    Columns one{row(columns.logprobs, i), row(columns.sampler, i), row(columns.tokens, i),
                row(columns.mask, i), row(columns.experts, i)};
    if (one.logprobs == nullptr || (columns.sampler != nullptr && one.sampler == nullptr)) {
      return out->Fail(fmt::format("row {}: expected a list of log-probabilities", i));
    }
    TokenRecord record{.prompt = NameOf(in_row(kNamedPrompt, i))};
    for (const std::string_view name : kStatedPrompt) {
      const Json* stated = in_row(std::array{name}, i);
      if (stated != nullptr) StatePromptAs(*stated, &record.of_prompt);
    }
    const Json* sample = in_row(kSamples, i);
    record.sample = sample == nullptr ? std::nullopt : sample->ToInt64();
    if (i > 0) ++out->records;
    RETURN_IF_ERROR(AddColumns(one, std::move(record), out));
  }
  return {};
}

Status AddLists(const Json& object, TokenRecord record, TokenBuilder* out) {
  const auto list = [&](const auto& names) -> const Json* {
    for (const std::string_view name : names) {
      if (const Json* found = ArrayIn(object, name)) return found;
    }
    return nullptr;
  };
  Columns columns{list(kLogprobNames), list(kSamplerNames), list(kTokenNames), list(kMaskNames),
                  list(kExpertNames)};
  const bool own = columns.logprobs != nullptr;
  if (!own) std::swap(columns.logprobs, columns.sampler);
  if (columns.logprobs == nullptr) {
    return out->Fail(
        "no log-probabilities; expected choices, outputs, meta_info or a list such as "
        "logprobs");
  }
  out->Format("lists of log-probabilities");
  const Json* sampled = object.Find("sampled");
  if (sampled != nullptr && sampled->kind() == Json::Kind::kBool) out->Sampled(sampled->AsBool());
  if (sampled == nullptr && !own) out->Sampled(true);
  if (IsBatch(*columns.logprobs)) return AddRows(object, columns, out);
  if (!record.prompt) record.prompt = NameOf(FirstIn(object, kOwnPrompt));
  const Json* sample = FirstIn(object, kSamples);
  record.sample = sample == nullptr ? std::nullopt : sample->ToInt64();
  return AddColumns(columns, std::move(record), out);
}

}  // namespace

void StatePrompt(const Json& object, TokenPrompt* out) {
  for (const std::string_view name : kStatedPrompt) {
    if (const Json* stated = object.Find(name)) StatePromptAs(*stated, out);
  }
}

Status AddTokenRecord(const Json& json, TokenBuilder* out) {
  if (json.IsArray()) {
    for (const Json& one : json.AsArray()) RETURN_IF_ERROR(AddTokenRecord(one, out));
    return {};
  }
  if (!json.IsObject()) {
    return out->Fail(fmt::format("expected an object, found {}", json.KindName()));
  }
  ++out->records;
  TokenRecord record{.prompt = NameOf(FirstIn(json, kNamedPrompt))};
  StatePrompt(json, &record.of_prompt);
  if (const Json* response = ObjectIn(json, "response")) return AddResponse(*response, record, out);
  if (ArrayIn(json, "choices") != nullptr) return AddResponse(json, record, out);
  if (ArrayIn(json, "outputs") != nullptr) return AddRequestOutput(json, record, out);
  if (ArrayIn(json, "resps") != nullptr) return AddLikelihoods(json, record, out);
  if (ObjectIn(json, "meta_info") != nullptr) return AddSglang(json, record, out);
  return AddLists(json, record, out);
}

}  // namespace rharness
