// Lines to prompts, strictly.
#include "probes/endpoint/prompts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/base/clean_text.h"
#include "harness/base/digest.h"
#include "harness/base/json_reader.h"
#include "harness/base/utf8.h"

namespace rharness {
namespace {

constexpr std::size_t kShownBytes = 24;

struct Line {
  std::string id;
  EndpointPrompt prompt;
};

Json AsMessages(const std::string& text) {
  return Json::MakeArray({Json().Set("role", "user").Set("content", text)});
}

// The text that a reader knows a prompt by.
std::string ShownOf(const Json& content) {
  if (!content.IsArray()) return content.AsString();
  const Json* text = content.AsArray().back().Find("content");
  if (text == nullptr) return "";
  return text->kind() == Json::Kind::kString ? text->AsString() : text->Dump();
}

void ReadMessages(JsonReader& reader, EndpointPrompt* out) {
  const Json* messages = reader.json().Find("messages");
  if (!messages->IsArray() || messages->AsArray().empty()) {
    return reader.Fail("expected a list of messages", "messages");
  }
  for (const Json& message : messages->AsArray()) {
    const Json* role = message.Find("role");
    if (role == nullptr || role->kind() != Json::Kind::kString || !message.Find("content")) {
      return reader.Fail("expected objects with a role and a content", "messages");
    }
  }
  out->chat = true;
  out->content = *messages;
}

Result<Line> ParseLine(std::string_view text, const std::string& where, bool chat, int max_tokens) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, where));
  JsonReader reader(json, where);
  Line line;
  line.prompt.max_tokens = max_tokens;
  if (!json.IsObject()) return InvalidInput("expected an object", where);
  for (const auto& [name, value] : json.AsObject()) {
    const bool known =
        name == "prompt" || name == "messages" || name == "max_tokens" || name == "id";
    if (!known) reader.Fail("unknown member; expected prompt, messages, max_tokens or id", name);
  }
  if (reader.Has("prompt") == reader.Has("messages")) {
    reader.Fail("expected either a prompt or messages");
  } else if (reader.Has("prompt")) {
    std::string prompt;
    reader.Read("prompt", &prompt);
    if (reader.ok() && prompt.empty()) reader.Fail("expected a text", "prompt");
    line.prompt.chat = chat;
    line.prompt.content = chat ? AsMessages(prompt) : Json(prompt);
  } else {
    ReadMessages(reader, &line.prompt);
  }
  reader.ReadOptional("max_tokens", &line.prompt.max_tokens);
  const int most = line.prompt.max_tokens;
  if (reader.ok() && (most < 1 || most > kMostAnswerTokens)) {
    reader.Fail(fmt::format("expected 1 to {}", kMostAnswerTokens), "max_tokens");
  }
  if (const Json* id = json.Find("id"); id != nullptr) {
    line.id = id->kind() == Json::Kind::kString ? id->AsString() : id->Dump();
  }
  RETURN_IF_ERROR(reader.status());
  return line;
}

std::string_view Trimmed(std::string_view line) {
  const auto first = line.find_first_not_of(" \t\r");
  if (first == line.npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

// Names in the order of the file, also as text.
Status NamePrompts(std::vector<Line>* lines, std::string_view file) {
  const std::size_t digits = std::to_string(lines->size()).size();
  std::set<std::string> ids;
  std::set<std::string> names;
  std::size_t number = 0;
  for (Line& line : *lines) {
    ++number;
    const std::string id = CleanText(line.id, 64);
    std::string shown = CleanText(ShownOf(line.prompt.content), kShownBytes + 1);
    if (shown.size() > kShownBytes) shown = CleanText(shown, kShownBytes) + "...";
    line.prompt.name = fmt::format("prompt {} '{}'",
                                   id.empty() ? fmt::format("{:0{}}", number, digits) : id, shown);
    if (!line.id.empty() && !ids.insert(line.id).second) {
      return InvalidInput(fmt::format("the id '{}' is there twice; expected each once", id),
                          std::string(file));
    }
    // A number may be another one's id, and long ids may begin alike.
    if (!names.insert(line.prompt.name).second) {
      return InvalidInput(
          fmt::format("two prompts are named {}; expected ids of their own", line.prompt.name),
          std::string(file));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<EndpointPrompt>> ParsePrompts(std::string_view text, std::string_view file,
                                                 bool chat, int max_tokens) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const auto first = text.find_first_not_of(" \t\r\n");
  const auto second = first == text.npos ? first : text.find_first_not_of(" \t\r\n", first + 1);
  if (second != text.npos && text[first] == '[' && text[second] == '{') {
    return InvalidInput("expected JSON Lines, an object a line, or a prompt a line; found a list",
                        std::string(file));
  }
  const bool json = first != text.npos && text[first] == '{';
  std::vector<Line> lines;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::string_view line = Trimmed(text.substr(0, text.find('\n')));
    text.remove_prefix(
        std::min(text.size(), text.find('\n') == text.npos ? text.size() : text.find('\n') + 1));
    if (line.empty()) continue;
    if (lines.size() == kMostPrompts) {
      return InvalidInput(fmt::format("more than {} prompts; expected at most that", kMostPrompts),
                          std::string(file));
    }
    const std::string where = fmt::format("{}:{}", file, number);
    if (json) {
      ASSIGN_OR_RETURN(Line parsed, ParseLine(line, where, chat, max_tokens));
      lines.push_back(std::move(parsed));
      continue;
    }
    if (line.find('\0') != line.npos || !IsUtf8(line)) {
      return InvalidInput("expected UTF-8 without NUL", where);
    }
    const std::string plain = Json(line).Dump();
    ASSIGN_OR_RETURN(Line parsed,
                     ParseLine(fmt::format("{{\"prompt\": {}}}", plain), where, chat, max_tokens));
    lines.push_back(std::move(parsed));
  }
  if (lines.empty())
    return InvalidInput("expected a prompt a line; there is none", std::string(file));
  RETURN_IF_ERROR(NamePrompts(&lines, file));
  std::vector<EndpointPrompt> prompts;
  for (Line& line : lines) prompts.push_back(std::move(line.prompt));
  return prompts;
}

std::string DigestOf(const std::vector<EndpointPrompt>& prompts) {
  Json all = Json::MakeArray();
  for (const EndpointPrompt& prompt : prompts) {
    all.Append(Json::MakeArray({prompt.content, prompt.max_tokens}));
  }
  return Sha256HexOf(all.Dump());
}

EndpointPrompt WithPrefix(const EndpointPrompt& prompt, std::string_view prefix) {
  EndpointPrompt longer = prompt;
  if (!prompt.chat) {
    longer.content = Json(std::string(prefix) + prompt.content.AsString());
    return longer;
  }
  // Before all others: what a server keeps of a prompt begins at its first token.
  Json::Array messages = prompt.content.AsArray();
  for (Json& message : messages) {
    const Json* text = message.Find("content");
    if (text->kind() != Json::Kind::kString) continue;
    message.Set("content", std::string(prefix) + text->AsString());
    break;
  }
  longer.content = Json::MakeArray(std::move(messages));
  return longer;
}

}  // namespace rharness
