// Signed requests to S3.
#include "harness/execution/fetch/s3.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/files.h"
#include "harness/net/aws_signature.h"

namespace rharness {
namespace {

constexpr std::string_view kS3Scheme = "s3://";
constexpr std::string_view kVersionQuery = "?versionId=";

bool IsBucket(std::string_view name) {
  return name.size() >= 3 && name.size() <= 63 && std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '.' || c == '_';
         });
}

// "20130524T000000Z"
std::string AwsTime(WallTime time) {
  std::string text = FormatTime(time).substr(0, 19);  // "2013-05-24T00:00:00"
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text + "Z";
}

std::string ProfileOf(const ReadVariable& variable) {
  const std::string profile = variable("AWS_PROFILE");
  return profile.empty() ? "default" : profile;
}

std::string FileNamed(const ReadVariable& variable, const char* name, const char* in_home) {
  const std::string file = variable(name);
  const std::string home = variable("HOME");
  if (!file.empty() || home.empty()) return file;
  return home + in_home;
}

Result<AwsKeys> ReadAwsKeys(const ReadVariable& variable) {
  AwsKeys keys{variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"),
               variable("AWS_SESSION_TOKEN")};
  std::string where = "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY";
  if (keys.access_key.empty() && keys.secret_key.empty()) {
    where = FileNamed(variable, "AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials");
    ASSIGN_OR_RETURN(const std::string ini, ReadCredentialsFile(where));
    const std::string profile = ProfileOf(variable);
    keys = {IniMember(ini, profile, "aws_access_key_id"),
            IniMember(ini, profile, "aws_secret_access_key"),
            IniMember(ini, profile, "aws_session_token")};
  }
  if (keys.access_key.empty() == keys.secret_key.empty()) return keys;
  return InvalidInput("an access key needs a secret one, and a secret one an access key", where);
}

std::string ReadRegion(const ReadVariable& variable) {
  for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    const std::string region = variable(name);
    if (!region.empty()) return region;
  }
  constexpr std::uint64_t kMostBytes = 1 << 20;
  const auto ini = ReadFile(FileNamed(variable, "AWS_CONFIG_FILE", "/.aws/config"), kMostBytes);
  const std::string profile = ProfileOf(variable);
  const std::string section = profile == "default" ? profile : "profile " + profile;
  const std::string region = ini.ok() ? IniMember(*ini, section, "region") : "";
  return region.empty() ? "us-east-1" : region;
}

// The host as sent: without a default port.
std::string HostHeader(std::string_view url) {
  const bool secure = url.starts_with("https://");
  std::string_view host = url.substr(url.find("://") + 3);
  host = host.substr(0, host.find('/'));
  const std::string_view usual = secure ? ":443" : ":80";
  if (host.ends_with(usual)) host.remove_suffix(usual.size());
  return std::string(host);
}

// The path of a URL that has one: an endpoint behind a prefix.
std::string PathOfUrl(std::string_view url) {
  const auto slash = url.find('/', url.find("://") + 3);
  std::string path(slash == url.npos ? "" : url.substr(slash));
  while (path.ends_with('/')) path.pop_back();
  return path;
}

struct S3Place {
  std::string url;   // of the server
  std::string path;  // of the object
};

S3Place PlaceOfObject(const S3Object& object, const std::string& region,
                      const ReadVariable& variable) {
  std::string endpoint = variable("AWS_ENDPOINT_URL_S3");
  if (endpoint.empty()) endpoint = variable("AWS_ENDPOINT_URL");
  const std::string key = "/" + EscapedPath(object.key);
  if (endpoint.empty() && object.bucket.find('.') == std::string::npos) {
    return {fmt::format("https://{}.s3.{}.amazonaws.com", object.bucket, region), key};
  }
  if (endpoint.empty()) endpoint = fmt::format("https://s3.{}.amazonaws.com", region);
  return {endpoint, "/" + object.bucket + key};
}

HttpCredentials Signing(const AwsKeys& keys, const std::string& region, const std::string& url,
                        Clock* clock) {
  HttpCredentials credentials;
  if (keys.access_key.empty()) return credentials;
  credentials.secrets = {keys.secret_key, keys.session_token};
  credentials.sign = [=](std::string_view method, std::string_view path, const HttpQuery& query) {
    HttpHeaders headers = {{"x-amz-content-sha256", kEmptySha256},
                           {"x-amz-date", AwsTime(clock->Now())}};
    if (method == "HEAD") headers.emplace_back("x-amz-checksum-mode", "ENABLED");
    if (!keys.session_token.empty()) {
      headers.emplace_back("x-amz-security-token", keys.session_token);
    }
    AwsRequest request{.method = std::string(method),
                       .path = PathOfUrl(url) + std::string(path),
                       .query = query,
                       .headers = headers,
                       .payload_sha256 = kEmptySha256,
                       .time = headers[1].second,
                       .region = region,
                       .service = "s3"};
    request.headers.emplace_back("host", HostHeader(url));
    headers.emplace_back("Authorization", AwsAuthorization(keys, std::move(request)));
    return headers;
  };
  return credentials;
}

}  // namespace

Result<S3Object> ParseS3(std::string_view source) {
  const auto wrong = [&] {
    return InvalidInput("expected s3://BUCKET/KEY, with ?versionId=ID behind it where it is one",
                        TerminalSafe(std::string(source.substr(0, 200))));
  };
  if (!source.starts_with(kS3Scheme)) return wrong();
  std::string_view rest = source.substr(kS3Scheme.size());
  S3Object object;
  const auto slash = rest.find('/');
  if (slash == rest.npos) return wrong();
  object.bucket = rest.substr(0, slash);
  rest.remove_prefix(slash + 1);
  const auto query = rest.rfind(kVersionQuery);
  if (query != rest.npos) object.version_id = rest.substr(query + kVersionQuery.size());
  object.key = rest.substr(0, query);
  const bool version = query == rest.npos || !object.version_id.empty();
  if (!IsBucket(object.bucket) || object.key.empty() || !version || !IsPlainText(object.key) ||
      !IsPlainText(object.version_id)) {
    return wrong();
  }
  return object;
}

std::string S3Text(const S3Object& object) {
  return fmt::format("s3://{}/{}{}{}", object.bucket, object.key,
                     object.version_id.empty() ? "" : kVersionQuery, object.version_id);
}

Result<Remote> OpenS3(std::string_view source, const RemoteOptions& options) {
  ASSIGN_OR_RETURN(const S3Object object, ParseS3(source));
  ASSIGN_OR_RETURN(const AwsKeys keys, ReadAwsKeys(options.variable));
  const std::string region = ReadRegion(options.variable);
  S3Place place = PlaceOfObject(object, region, options.variable);
  HttpCredentials credentials = Signing(keys, region, place.url, options.clock);
  ASSIGN_OR_RETURN(
      HttpClient client,
      HttpClient::Make(place.url, std::move(credentials), options.limits,
                       options.variable("AWS_CA_BUNDLE"), options.should_cancel, options.clock));
  Remote remote{std::move(client), std::move(place.path), {}};
  if (!object.version_id.empty()) remote.query.emplace_back("versionId", object.version_id);
  return remote;
}

}  // namespace rharness
