// Reading MLflow's variables and its credentials file.
#include "harness/records/intake/mlflow_credentials.h"

#include <sys/stat.h>

#include <cstdlib>
#include <utility>

#include "harness/base/files.h"

namespace rharness {
namespace {

std::string Trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

// NAME of "[mlflow]", as configparser reads it.
std::string MemberOf(std::string_view ini, std::string_view name) {
  bool ours = false;
  std::string found;
  while (!ini.empty()) {
    const auto end = ini.find('\n');
    const std::string line = Trimmed(ini.substr(0, end));
    ini = end == ini.npos ? "" : ini.substr(end + 1);
    if (line.starts_with('[')) ours = line == "[mlflow]";
    const auto equals = line.find_first_of("=:");
    if (ours && equals != line.npos && Trimmed(line.substr(0, equals)) == name) {
      found = Trimmed(line.substr(equals + 1));
    }
  }
  return found;
}

Status ReadCredentialsFile(const std::string& file, HttpCredentials* credentials) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  if ((status.st_mode & 077) != 0) {
    return InvalidInput("others may read it; chmod 600 keeps its password to you", file);
  }
  constexpr std::uint64_t kMostBytes = 1 << 16;
  ASSIGN_OR_RETURN(const std::string ini, ReadFile(file, kMostBytes));
  credentials->user = MemberOf(ini, "mlflow_tracking_username");
  credentials->password = MemberOf(ini, "mlflow_tracking_password");
  return {};
}

}  // namespace

Result<HttpCredentials> ReadMlflowCredentials(const ReadVariable& variable) {
  HttpCredentials credentials;
  credentials.token = variable("MLFLOW_TRACKING_TOKEN");
  if (!credentials.token.empty()) return credentials;
  credentials.user = variable("MLFLOW_TRACKING_USERNAME");
  credentials.password = variable("MLFLOW_TRACKING_PASSWORD");
  const std::string home = variable("HOME");
  if (credentials.user.empty() && credentials.password.empty() && !home.empty()) {
    RETURN_IF_ERROR(ReadCredentialsFile(home + "/.mlflow/credentials", &credentials));
  }
  if (credentials.user.empty() != credentials.password.empty()) {
    return InvalidInput("a user needs a password, and a password a user",
                        "MLFLOW_TRACKING_USERNAME, MLFLOW_TRACKING_PASSWORD");
  }
  return credentials;
}

Result<HttpClient> ConnectToMlflow(const std::string& url, const ReadVariable& variable,
                                   std::function<bool()> should_cancel, const HttpLimits& limits) {
  ASSIGN_OR_RETURN(HttpCredentials credentials, ReadMlflowCredentials(variable));
  return HttpClient::Make(url, std::move(credentials), limits,
                          variable("MLFLOW_TRACKING_SERVER_CERT_PATH"), std::move(should_cancel));
}

std::string EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace rharness
