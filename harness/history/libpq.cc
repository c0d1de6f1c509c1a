// Loading SOCI's backend and, behind it, libpq; reading connection options.
#include "harness/history/libpq.h"

#include <fmt/format.h>
#include <soci/version.h>

#ifdef RHARNESS_ARCHIVES
#include <soci/postgresql/soci-postgresql.h>
#endif

#include "harness/base/shared_library.h"
#include "harness/history/libpq_calls.h"
#include "harness/history/postgresql_url.h"

namespace rharness {
namespace {

using Factory = const soci::backend_factory*();

#ifdef RHARNESS_ARCHIVES
// The backend is in the program, libpq is the system's.
Result<SharedLibrary> LoadBackend(Factory** factory) {
  ASSIGN_OR_RETURN(SharedLibrary library,
                   SharedLibrary::Load("a history in PostgreSQL", "libpq5", {"libpq.so.5"}));
  LeadLibpqCallsTo(&library);
  *factory = soci::factory_postgresql;
  return library;
}
#else
Result<SharedLibrary> LoadBackend(Factory** factory) {
  // By its name alone: SOCI's own loader would look in the working directory, too.
  const std::string name =
      fmt::format("libsoci_postgresql.so.{}.{}", SOCI_VERSION / 100000, SOCI_VERSION / 100 % 1000);
  ASSIGN_OR_RETURN(SharedLibrary library,
                   SharedLibrary::Load("a history in PostgreSQL", "libsoci-postgresql4.0", {name}));
  library.Find("factory_postgresql", factory);
  return library;
}
#endif

Result<Libpq> Load() {
  Factory* factory = nullptr;
  ASSIGN_OR_RETURN(SharedLibrary library, LoadBackend(&factory));
  Libpq libpq;
  library.Find("PQconninfoParse", &libpq.parse);
  library.Find("PQconndefaults", &libpq.defaults);
  library.Find("PQconninfoFree", &libpq.free_options);
  library.Find("PQfreemem", &libpq.free_text);
  library.Find("PQstatus", &libpq.status);
  library.Find("PQhost", &libpq.host);
  library.Find("PQport", &libpq.port);
  library.Find("PQdb", &libpq.database);
  library.Find("PQuser", &libpq.user);
  library.Find("PQsetErrorVerbosity", &libpq.set_verbosity);
  RETURN_IF_ERROR(library.status());  // of its libpq as well, which is found through it
  libpq.factory = factory();
  return libpq;
}

ConnectionOptions OptionsOf(const PQconninfoOption* option) {
  ConnectionOptions options;
  for (; option != nullptr && option->keyword != nullptr; ++option) {
    if (option->val != nullptr) options[option->keyword] = option->val;
  }
  return options;
}

}  // namespace

Result<const Libpq*> LoadLibpq() {
  static const Result<Libpq> libpq = Load();
  if (!libpq.ok()) return libpq.error();
  return &*libpq;
}

Result<ConnectionOptions> ReadPostgresqlUrl(const Libpq& libpq, const std::string& url) {
  char* message = nullptr;
  PQconninfoOption* parsed = libpq.parse(url.c_str(), &message);
  ConnectionOptions options = OptionsOf(parsed);
  if (parsed != nullptr) libpq.free_options(parsed);
  std::string why = message == nullptr ? "" : message;
  if (message != nullptr) libpq.free_text(message);
  if (parsed == nullptr) {
    // It may quote the text that it did not understand.
    why = why.substr(0, why.find('"'));
    return InvalidInput("libpq cannot read the history's URL: " + why, "--history");
  }
  for (const char* name : kSecretParameters) {
    if (options.contains(name)) {
      return InvalidInput(
          fmt::format("a history's URL must not hold a password; {}", kPasswordAdvice),
          "--history");
    }
  }
  return options;
}

ConnectionOptions DefaultOptions(const Libpq& libpq) {
  PQconninfoOption* found = libpq.defaults();
  ConnectionOptions options = OptionsOf(found);
  if (found != nullptr) libpq.free_options(found);
  for (const char* name : kSecretParameters) options.erase(name);
  return options;
}

}  // namespace rharness
