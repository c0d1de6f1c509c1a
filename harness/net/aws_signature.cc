// The canonical request, the string to sign and the chain of keys.
#include "harness/net/aws_signature.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/digest.h"
#include "harness/base/hmac.h"

namespace rharness {
namespace {

std::string CanonicalQuery(const HttpQuery& query) {
  HttpQuery escaped;
  for (const auto& [name, value] : query) {
    escaped.emplace_back(EscapedForUrl(name), EscapedForUrl(value));
  }
  std::ranges::sort(escaped);
  std::string text;
  for (const auto& [name, value] : escaped) {
    text += fmt::format("{}{}={}", text.empty() ? "" : "&", name, value);
  }
  return text;
}

std::string NamesOf(const HttpHeaders& headers) {
  std::string names;
  for (const auto& [name, value] : headers) names += (names.empty() ? "" : ";") + name;
  return names;
}

std::string RawHmac(std::string_view key, std::string_view text) {
  const Sha256Bytes bytes = HmacSha256(key, text);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace

std::string AwsAuthorization(const AwsKeys& keys, AwsRequest request) {
  std::ranges::sort(request.headers);
  std::string headers;
  for (const auto& [name, value] : request.headers) headers += fmt::format("{}:{}\n", name, value);
  const std::string names = NamesOf(request.headers);
  const std::string canonical =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, request.path,
                  CanonicalQuery(request.query), headers, names, request.payload_sha256);
  const std::string day = request.time.substr(0, 8);
  const std::string scope =
      fmt::format("{}/{}/{}/aws4_request", day, request.region, request.service);
  const std::string to_sign =
      fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", request.time, scope, Sha256HexOf(canonical));
  std::string key = "AWS4" + keys.secret_key;
  for (const std::string& part : {day, request.region, request.service}) key = RawHmac(key, part);
  const std::string signature = HmacSha256Hex(RawHmac(key, "aws4_request"), to_sign);
  return fmt::format("AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}",
                     keys.access_key, scope, names, signature);
}

}  // namespace rharness
