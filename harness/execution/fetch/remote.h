// Access to a manifest's source: the server, the path, and the credentials.
//
// Role: for this folder, for pinning (pin.h) and for harness/execution/rebuild: one interface to
// http, S3 and lakeFS.
#ifndef RHARNESS_HARNESS_EXECUTION_FETCH_REMOTE_H_
#define RHARNESS_HARNESS_EXECUTION_FETCH_REMOTE_H_

#include <functional>
#include <string>
#include <string_view>

#include "harness/base/clock.h"
#include "harness/net/http.h"
#include "harness/records/intake/mlflow_credentials.h"

namespace rharness {

struct RemoteOptions {
  ReadVariable variable = EnvironmentVariable;
  HttpLimits limits;
  std::function<bool()> should_cancel;
  Clock* clock = &SystemClock();  // for waits and times in signatures
};

struct Remote {
  HttpClient client;
  std::string path;
  HttpQuery query;
};

// Whether a source can be queried: http://, https://, s3://, lakefs://.
bool IsRemote(std::string_view source);
inline constexpr char kRemoteForms[] = "http://, https://, s3:// or lakefs://";

// Errors: invalid_input for an unusable source or credentials, unsupported for other kinds; none
// quotes a credential.
Result<Remote> OpenRemote(std::string_view source, const RemoteOptions& options);

// NAME of "[SECTION]" in a file as configparser reads it; empty: missing.
std::string IniMember(std::string_view ini, std::string_view section, std::string_view name);
// A file of credentials; empty if there is none. Errors: invalid_input if others may read it.
Result<std::string> ReadCredentialsFile(const std::string& file);
// No control characters, line breaks or marks that reorder text.
bool IsPlainText(std::string_view text);
// '/' stays, all else as EscapedForUrl.
std::string EscapedPath(std::string_view path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_FETCH_REMOTE_H_
