// PostgreSQL's client library, loaded at first use.
//
// Role: private to postgresql_database.cc. rharness does not link to libpq or to SOCI's backend for
// it, which pulls in a directory and a Kerberos client: histories in files need none of them.
#ifndef RHARNESS_HARNESS_HISTORY_LIBPQ_H_
#define RHARNESS_HARNESS_HISTORY_LIBPQ_H_

#include <libpq-fe.h>
#include <soci/soci.h>

#include <map>
#include <string>

#include "harness/base/result.h"

namespace rharness {

struct Libpq {
  const soci::backend_factory* factory = nullptr;
  decltype(&PQconninfoParse) parse = nullptr;
  decltype(&PQconndefaults) defaults = nullptr;
  decltype(&PQconninfoFree) free_options = nullptr;
  decltype(&PQfreemem) free_text = nullptr;
  decltype(&PQstatus) status = nullptr;
  decltype(&PQhost) host = nullptr;
  decltype(&PQport) port = nullptr;
  decltype(&PQdb) database = nullptr;
  decltype(&PQuser) user = nullptr;
  decltype(&PQsetErrorVerbosity) set_verbosity = nullptr;
};

// The same one for the life of the process. Errors: unsupported, with the package's name.
Result<const Libpq*> LoadLibpq();

using ConnectionOptions = std::map<std::string, std::string>;

// The content of a URL, as libpq reads it. Errors: invalid_input, without the URL.
Result<ConnectionOptions> ReadPostgresqlUrl(const Libpq& libpq, const std::string& url);

// libpq's defaults for parts missing from a URL: its variables and its service file.
ConnectionOptions DefaultOptions(const Libpq& libpq);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_LIBPQ_H_
