// Pieces and headers of an answer, as libcurl hands them over.
#include "harness/net/http_answer.h"

#include <algorithm>

#include "harness/base/json.h"

namespace rharness {
namespace {

constexpr std::size_t kMostOfAnError = 1 << 16;
constexpr std::size_t kMostHeaders = 200;

// What stands between <NAME> and the next '<'.
std::string ElementIn(std::string_view xml, std::string_view name) {
  const std::string start = "<" + std::string(name) + ">";
  const auto at = xml.find(start);
  if (at == xml.npos) return {};
  const std::string_view rest = xml.substr(at + start.size());
  return std::string(rest.substr(0, rest.find('<')));
}

}  // namespace

long HttpAnswer::StatusCode() const {
  long code = 0;
  curl->getinfo(handle, CURLINFO_RESPONSE_CODE, &code);
  return code;
}

std::size_t TakeHttpPiece(char* data, std::size_t size, std::size_t count, void* user) {
  auto& answer = *static_cast<HttpAnswer*>(user);
  const std::string_view piece(data, size * count);
  const bool good = answer.StatusCode() == 200;
  if (!good) {
    answer.text.append(piece.substr(0, kMostOfAnError - answer.text.size()));
    answer.read_enough = answer.text.size() == kMostOfAnError;
    return answer.read_enough ? 0 : piece.size();
  }
  answer.bytes += piece.size();
  if (answer.bytes > answer.most_bytes) {
    answer.too_long = true;
    return 0;
  }
  if (answer.take != nullptr) {
    (*answer.take)(piece);
  } else {
    answer.text.append(piece);
  }
  return piece.size();
}

std::size_t TakeHttpHeader(char* data, std::size_t size, std::size_t count, void* user) {
  auto& answer = *static_cast<HttpAnswer*>(user);
  const std::string_view line(data, size * count);
  const auto colon = line.find(':');
  if (line.starts_with("HTTP/")) answer.headers->clear();  // of another answer, such as "100"
  if (colon == line.npos || answer.headers->size() == kMostHeaders) return line.size();
  std::string name(line.substr(0, colon));
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && static_cast<unsigned char>(value.back()) <= ' ') value.remove_suffix(1);
  answer.headers->emplace_back(std::move(name), value);
  return line.size();
}

int AskWhetherToGoOn(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto& answer = *static_cast<HttpAnswer*>(user);
  answer.cancelled = *answer.should_cancel && (*answer.should_cancel)();
  if (!answer.cancelled && !answer.read_enough && answer.StatusCode() >= 300) {
    curl_off_t microseconds = 0;
    answer.curl->getinfo(answer.handle, CURLINFO_TOTAL_TIME_T, &microseconds);
    answer.read_enough = std::chrono::microseconds(microseconds) > answer.most_time_of_an_error;
  }
  return answer.cancelled || answer.read_enough ? 1 : 0;
}

std::string MessageIn(const std::string& text) {
  if (const auto json = ParseJson(text, ""); json.ok() && json->IsObject()) {
    const auto is_text = [](const Json& one) { return one.kind() == Json::Kind::kString; };
    // OpenAI's API has {"error": {"message"}}, FastAPI {"detail"}.
    const Json* error = json->Find("error");
    for (const Json* message : {json->Find("message"), json->Find("detail"), error,
                                error == nullptr ? nullptr : error->Find("message")}) {
      if (message != nullptr && is_text(*message)) return message->AsString();
    }
    const Json* errors = json->Find("errors");
    std::string said;
    if (errors == nullptr || !errors->IsArray()) return said;
    for (const Json& one : errors->AsArray()) {
      if (is_text(one)) said += (said.empty() ? "" : "; ") + one.AsString();
    }
    return said;
  }
  if (text.find("<Error>") == text.npos) return {};
  return ElementIn(text, "Code") + ": " + ElementIn(text, "Message");
}

}  // namespace rharness
