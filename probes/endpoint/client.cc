// The protocol of client.h, over harness/net.
#include "probes/endpoint/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>

#include "harness/base/clean_text.h"
#include "harness/base/json_reader.h"

namespace rharness {
namespace {

constexpr std::string_view kVersionPath = "/v1";

// The connection's trouble, and not that of one prompt.
bool IsOfConnection(const Error& error) {
  return error.code == ErrorCode::kIo || error.code == ErrorCode::kTimeout ||
         error.code == ErrorCode::kUnsupported;
}

std::string BaseOf(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  const auto host = url.find("://");
  if (host != url.npos && url.find('/', host + 3) == url.npos) url += kVersionPath;
  return url;
}

std::string TextIn(const Json& json, std::string_view name) {
  const Json* value = json.Find(name);
  if (value == nullptr || value->kind() != Json::Kind::kString) return "";
  return CleanText(value->AsString(), kMostIdentityBytes);
}

// The first that answers with a version. None is no error: the API has no such request.
std::string VersionOf(const EndpointOptions& options, const std::string& base) {
  constexpr std::pair<const char*, const char*> kWhere[] = {{"/version", "version"},
                                                            {"/props", "build_info"},
                                                            {"/get_server_info", "version"},
                                                            {"/info", "version"}};
  std::string root = base;
  if (root.ends_with(kVersionPath)) root.resize(root.size() - kVersionPath.size());
  HttpLimits limits = options.limits;
  limits.attempts = 1;
  limits.request = std::min(limits.request, std::chrono::milliseconds(5'000));
  limits.response_bytes = 4 << 20;
  auto client = HttpClient::Make(root, options.credentials, limits, options.certificates,
                                 options.interrupted);
  if (!client.ok()) return "";
  for (const auto& [path, name] : kWhere) {
    const auto said = client->Get(path, {});
    if (!said.ok()) continue;
    if (std::string version = TextIn(*said, name); !version.empty()) return version;
  }
  return "";
}

Result<std::string> OnlyModel(const Json& listed, const std::string& where) {
  JsonReader reader(listed, where);
  std::vector<std::string> models;
  if (!listed.IsObject() || !reader.Has("data")) {
    return InvalidInput("expected the models of the server as a list 'data'; --model names one",
                        where);
  }
  reader.ForEach("data", [&](JsonReader& one) { one.Read("id", &models.emplace_back()); });
  RETURN_IF_ERROR(reader.status());
  if (models.size() == 1) return models.front();
  std::string named;
  for (std::size_t i = 0; i < std::min<std::size_t>(models.size(), 5); ++i) {
    named += (i == 0 ? ": " : ", ") + QuotedShort(models[i]);
  }
  return InvalidInput(fmt::format("the server lists {} models{}; expected --model to name one",
                                  models.size(), named),
                      where);
}

// OpenAI answers for "gpt-4o" as "gpt-4o-2024-08-06", transformers with a revision: "NAME@main".
bool IsModel(std::string_view answered, std::string_view asked) {
  if (!answered.starts_with(asked)) return false;
  const std::string_view rest = answered.substr(asked.size());
  if (rest.empty() || rest.front() == '@') return true;
  const auto dated = [](char c) { return c == '-' || (c >= '0' && c <= '9'); };
  return rest.front() == '-' && rest.size() > 4 && std::ranges::all_of(rest, dated);
}

}  // namespace

Result<HttpClient> EndpointClient::MakeClient() const {
  return HttpClient::Make(base_, options_.credentials, options_.limits, options_.certificates,
                          options_.interrupted);
}

Result<EndpointClient> EndpointClient::Connect(const EndpointOptions& options) {
  EndpointClient endpoint;
  endpoint.options_ = options;
  endpoint.base_ = BaseOf(options.url);
  ASSIGN_OR_RETURN(HttpClient client, endpoint.MakeClient());
  HttpHeaders headers;
  const auto listed = client.Get("/models", {}, &headers);
  if (!listed.ok() && (options.model.empty() || IsOfConnection(listed.error()))) {
    return listed.error();
  }
  endpoint.identity_.model = options.model;
  if (options.model.empty()) {
    ASSIGN_OR_RETURN(endpoint.identity_.model, OnlyModel(*listed, endpoint.base_ + "/models"));
  }
  for (const auto& [name, value] : headers) {
    if (name == "server") endpoint.identity_.server = CleanText(value, kMostIdentityBytes);
  }
  endpoint.identity_.version = VersionOf(options, endpoint.base_);
  endpoint.clients_.push_back(std::move(client));
  return endpoint;
}

Json EndpointClient::BodyOf(const EndpointPrompt& prompt) const {
  Json body = Json()
                  .Set("model", identity_.model)
                  .Set(prompt.chat ? "messages" : "prompt", prompt.content)
                  .Set("max_tokens", prompt.max_tokens)
                  .Set("temperature", 0)
                  .Set("seed", 0)
                  .Set("stream", false);
  if (!logprobs_) return body;
  if (!prompt.chat) return body.Set("logprobs", 1);
  return body.Set("logprobs", true).Set("top_logprobs", 1);
}

Result<EndpointAnswer> EndpointClient::Ask(HttpClient* client, const EndpointPrompt& prompt) const {
  const char* path = prompt.chat ? "/chat/completions" : "/completions";
  ASSIGN_OR_RETURN(const Json json, client->Post(path, BodyOf(prompt)));
  const std::string where = fmt::format("{}{}: {}", base_, path, prompt.name);
  ASSIGN_OR_RETURN(EndpointAnswer answer, ParseEndpointAnswer(json, prompt.chat, where));
  if (!answer.model.empty() && !IsModel(answer.model, identity_.model)) {
    return InvalidInput(fmt::format("the model {} answers; expected {}", QuotedShort(answer.model),
                                    QuotedShort(identity_.model)),
                        where);
  }
  return answer;
}

Result<EndpointAnswer> EndpointClient::AskFirst(const EndpointPrompt& prompt) {
  auto answer = Ask(&clients_.front(), prompt);
  if (answer.ok()) {
    if (answer->tokens.empty()) without_logprobs_ = "the server gives no log-probabilities";
    return answer;
  }
  if (IsOfConnection(answer.error())) return answer;
  logprobs_ = false;
  auto without = Ask(&clients_.front(), prompt);
  if (without.ok()) {
    without_logprobs_ = "with log-probabilities: " + answer.error().message;
    return without;
  }
  logprobs_ = true;
  return answer;
}

Status EndpointClient::AskAll(const std::vector<const EndpointPrompt*>& prompts, int at_a_time,
                              const TakeAnswer& take) {
  const std::size_t workers =
      std::min<std::size_t>(static_cast<std::size_t>(at_a_time), prompts.size());
  while (clients_.size() < workers) {
    ASSIGN_OR_RETURN(HttpClient client, MakeClient());
    clients_.push_back(std::move(client));
  }
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  Status status;
  const auto work = [&](std::size_t worker) {
    for (std::size_t at = next++; at < prompts.size(); at = next++) {
      Result<EndpointAnswer> answer = Ask(&clients_[worker], *prompts[at]);
      const std::lock_guard lock(mutex);
      if (!status.ok()) return;
      const bool fails = !answer.ok() && IsOfConnection(answer.error());
      status = fails ? Status(answer.error()) : take(at, std::move(answer));
      if (!status.ok()) next = prompts.size();
    }
  };
  std::vector<std::jthread> threads;
  try {
    for (std::size_t worker = 1; worker < workers; ++worker) threads.emplace_back(work, worker);
  } catch (const std::system_error&) {
    next = prompts.size();
    threads.clear();
    return ProcessError(
        fmt::format("the system refuses {} threads; expected fewer at a time", workers));
  }
  work(0);
  threads.clear();
  return status;
}

}  // namespace rharness
