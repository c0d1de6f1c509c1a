// URLs of histories in PostgreSQL. Pure text; libpq interprets a URL's parameters.
#ifndef RHARNESS_HARNESS_HISTORY_POSTGRESQL_URL_H_
#define RHARNESS_HARNESS_HISTORY_POSTGRESQL_URL_H_

#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace rharness {

// "postgresql:..." or "postgres:...".
bool IsPostgresqlUrl(std::string_view url);

// "postgresql://[user@]host[:port]/database?parameter=value&...", as libpq reads it. A password in
// it is refused, and no error repeats the URL then: it would appear in the process list, in logs,
// in the drill's journal and in its reports. Errors: invalid_input.
// Source: PostgreSQL's documentation, "Connection URIs".
Status CheckPostgresqlUrl(std::string_view url);

// Names that must not be given in a URL.
inline constexpr const char* kSecretParameters[] = {"password", "sslpassword"};

// How to give libpq a password; ends a sentence.
inline constexpr const char* kPasswordAdvice =
    "give it by PGPASSFILE or ~/.pgpass, by a service file (service=NAME), or by PGPASSWORD";

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_POSTGRESQL_URL_H_
