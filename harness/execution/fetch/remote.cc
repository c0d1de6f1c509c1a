// One door for all kinds of sources, and files of credentials.
#include "harness/execution/fetch/remote.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <utility>

#include "harness/base/files.h"
#include "harness/base/shown_url.h"
#include "harness/execution/fetch/lakefs.h"
#include "harness/execution/fetch/s3.h"

namespace rharness {
namespace {

bool IsHttp(std::string_view source) {
  return source.starts_with("http://") || source.starts_with("https://");
}

// "https://host:1/a/b?c" as "https://host:1" and "/a/b?c".
Result<Remote> OpenHttp(const std::string& source, const RemoteOptions& options) {
  const auto host = source.find("://") + 3;
  const auto slash = source.find('/', host);
  if (slash == source.npos || slash == host) {
    return Unsupported("expected http://HOST/PATH or https://HOST/PATH", ShownUrl(source));
  }
  HttpCredentials credentials;
  credentials.secrets = HiddenValues(source);
  ASSIGN_OR_RETURN(HttpClient client,
                   HttpClient::Make(source.substr(0, slash), std::move(credentials), options.limits,
                                    {}, options.should_cancel, options.clock));
  return Remote{std::move(client), source.substr(slash), {}};
}

std::string TrimmedIni(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

}  // namespace

bool IsRemote(std::string_view source) {
  return IsHttp(source) || source.starts_with("s3://") || source.starts_with("lakefs://");
}

Result<Remote> OpenRemote(std::string_view source, const RemoteOptions& options) {
  if (IsHttp(source)) return OpenHttp(std::string(source), options);
  if (source.starts_with("s3://")) return OpenS3(source, options);
  if (source.starts_with("lakefs://")) return OpenLakefs(source, options);
  return Unsupported(fmt::format("expected {}", kRemoteForms),
                     TerminalSafe(ShownUrl(source).substr(0, 200)));
}

std::string IniMember(std::string_view ini, std::string_view section, std::string_view name) {
  const std::string head = fmt::format("[{}]", section);
  bool ours = false;
  std::string found;
  while (!ini.empty()) {
    const auto end = ini.find('\n');
    const std::string line = TrimmedIni(ini.substr(0, end));
    ini = end == ini.npos ? "" : ini.substr(end + 1);
    if (line.starts_with('[')) ours = line == head;
    if (line.starts_with('#') || line.starts_with(';')) continue;
    const auto equals = line.find('=');
    if (ours && equals != line.npos && TrimmedIni(line.substr(0, equals)) == name) {
      found = TrimmedIni(line.substr(equals + 1));
    }
  }
  return found;
}

Result<std::string> ReadCredentialsFile(const std::string& file) {
  struct stat status {};
  if (file.empty() || ::stat(file.c_str(), &status) != 0) return std::string();
  if ((status.st_mode & 077) != 0) {
    return InvalidInput("others may read it; chmod 600 keeps its keys to you", file);
  }
  constexpr std::uint64_t kMostBytes = 1 << 20;
  return ReadFile(file, kMostBytes);
}

bool IsPlainText(std::string_view text) {
  return TerminalSafe(std::string(text)) == text && text.find_first_of("\n\t\r") == text.npos;
}

std::string EscapedPath(std::string_view path) {
  std::string escaped;
  while (true) {
    const auto slash = path.find('/');
    escaped += EscapedForUrl(path.substr(0, slash));
    if (slash == path.npos) return escaped;
    escaped += '/';
    path.remove_prefix(slash + 1);
  }
}

}  // namespace rharness
