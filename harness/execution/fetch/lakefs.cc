// Addresses and answers of lakeFS.
#include "harness/execution/fetch/lakefs.h"

#include <fmt/format.h>

#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/net/yaml.h"

namespace rharness {
namespace {

constexpr std::string_view kLakefsScheme = "lakefs://";

struct LakefsServer {
  std::string url;
  HttpCredentials credentials;
};

Status ReadLakectlFile(const std::string& file, LakefsServer* server) {
  ASSIGN_OR_RETURN(const std::string text, ReadCredentialsFile(file));
  const auto json = ParseYamlAsJson(text, file, YamlScalars::kText);
  // Its errors quote lines, and these may contain a key.
  if (!json.ok()) return InvalidInput("is no YAML; expected what lakectl config writes", file);
  if (json->IsNull()) return {};
  JsonReader reader(*json, file);
  reader.ReadObject("credentials", false, [&](JsonReader& keys) {
    keys.ReadOptional("access_key_id", &server->credentials.user);
    keys.ReadOptional("secret_access_key", &server->credentials.password);
  });
  reader.ReadObject("server", false,
                    [&](JsonReader& there) { there.ReadOptional("endpoint_url", &server->url); });
  return reader.status();
}

Result<LakefsServer> ReadLakefsServer(const ReadVariable& variable) {
  LakefsServer server;
  const std::string home = variable("HOME");
  if (!home.empty()) RETURN_IF_ERROR(ReadLakectlFile(home + "/.lakectl.yaml", &server));
  const auto take = [&](const char* name, std::string* out) {
    std::string value = variable(name);
    if (!value.empty()) *out = std::move(value);
  };
  take("LAKECTL_SERVER_ENDPOINT_URL", &server.url);
  take("LAKECTL_CREDENTIALS_ACCESS_KEY_ID", &server.credentials.user);
  take("LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY", &server.credentials.password);
  if (server.url.empty()) {
    return InvalidInput(
        "is asked for, but no server is known; expected its URL in "
        "LAKECTL_SERVER_ENDPOINT_URL or ~/.lakectl.yaml",
        "lakefs");
  }
  if (server.credentials.user.empty() != server.credentials.password.empty()) {
    return InvalidInput("an access key needs a secret one, and a secret one an access key",
                        "LAKECTL_CREDENTIALS_ACCESS_KEY_ID, LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY");
  }
  while (server.url.ends_with('/')) server.url.pop_back();
  if (!server.url.ends_with("/api/v1")) server.url += "/api/v1";
  return server;
}

Result<HttpClient> ConnectToLakefs(const RemoteOptions& options) {
  ASSIGN_OR_RETURN(LakefsServer server, ReadLakefsServer(options.variable));
  return HttpClient::Make(server.url, std::move(server.credentials), options.limits, {},
                          options.should_cancel, options.clock);
}

std::string PathOfRef(const LakefsObject& object) {
  return fmt::format("/repositories/{}/refs/{}", EscapedForUrl(object.repository),
                     EscapedForUrl(object.reference));
}

}  // namespace

Result<LakefsObject> ParseLakefs(std::string_view source) {
  LakefsObject object;
  const bool ours = source.starts_with(kLakefsScheme);
  const std::string_view rest = ours ? source.substr(kLakefsScheme.size()) : "";
  const auto first = rest.find('/');
  const auto second = first == rest.npos ? rest.npos : rest.find('/', first + 1);
  if (second != rest.npos) {
    object.repository = rest.substr(0, first);
    object.reference = rest.substr(first + 1, second - first - 1);
    object.path = rest.substr(second + 1);
  }
  if (object.repository.empty() || object.reference.empty() || object.path.empty() ||
      !IsPlainText(source)) {
    return InvalidInput("expected lakefs://REPOSITORY/COMMIT/PATH",
                        TerminalSafe(std::string(source.substr(0, 200))));
  }
  return object;
}

std::string LakefsText(const LakefsObject& object) {
  return fmt::format("{}{}/{}/{}", kLakefsScheme, object.repository, object.reference, object.path);
}

bool IsLakefsCommit(std::string_view reference) { return IsSha256Hex(reference); }

Result<Remote> OpenLakefs(std::string_view source, const RemoteOptions& options) {
  ASSIGN_OR_RETURN(const LakefsObject object, ParseLakefs(source));
  ASSIGN_OR_RETURN(HttpClient client, ConnectToLakefs(options));
  return Remote{std::move(client), PathOfRef(object) + "/objects", {{"path", object.path}}};
}

Result<LakefsStat> StatLakefs(std::string_view source, const RemoteOptions& options) {
  ASSIGN_OR_RETURN(LakefsObject object, ParseLakefs(source));
  ASSIGN_OR_RETURN(HttpClient client, ConnectToLakefs(options));
  LakefsStat stat;
  ASSIGN_OR_RETURN(const Json commits,
                   client.Get(PathOfRef(object) + "/commits", {{"amount", "1"}}));
  JsonReader log(commits, client.url());
  log.ForEach("results", [&](JsonReader& commit) {
    if (stat.commit.empty()) commit.Read("id", &stat.commit);
  });
  RETURN_IF_ERROR(log.status());
  if (!IsLakefsCommit(stat.commit)) {
    return InvalidInput(fmt::format("names no commit of {}", TerminalSafe(object.reference)),
                        client.url());
  }
  object.reference = stat.commit;  // a branch may move meanwhile
  ASSIGN_OR_RETURN(const Json said,
                   client.Get(PathOfRef(object) + "/objects/stat", {{"path", object.path}}));
  JsonReader reader(said, client.url());
  reader.Read("size_bytes", &stat.size_bytes);
  reader.Read("checksum", &stat.checksum);
  RETURN_IF_ERROR(reader.status());
  return stat;
}

}  // namespace rharness
