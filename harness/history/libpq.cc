// Loading SOCI's backend and, behind it, libpq; reading connection options.
#include "harness/history/libpq.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <soci/version.h>

#include "harness/history/postgresql_url.h"

namespace rharness {
namespace {

Result<Libpq> Load() {
  // By its name alone: SOCI's own loader would look in the working directory, too.
  const std::string name =
      fmt::format("libsoci_postgresql.so.{}.{}", SOCI_VERSION / 100000, SOCI_VERSION / 100 % 1000);
  void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return Unsupported(
        fmt::format("histories in PostgreSQL need SOCI's library for it (of Debian's "
                    "package libsoci-postgresql4.0): {}",
                    why == nullptr ? name : why));
  }
  Libpq libpq;
  bool whole = true;
  const auto find = [&](const char* symbol, auto* function) {
    *function =
        reinterpret_cast<std::remove_reference_t<decltype(*function)>>(::dlsym(library, symbol));
    whole = whole && *function != nullptr;
  };
  const soci::backend_factory* (*factory)() = nullptr;
  find("factory_postgresql", &factory);
  find("PQconninfoParse", &libpq.parse);
  find("PQconndefaults", &libpq.defaults);
  find("PQconninfoFree", &libpq.free_options);
  find("PQfreemem", &libpq.free_text);
  find("PQstatus", &libpq.status);
  find("PQhost", &libpq.host);
  find("PQport", &libpq.port);
  find("PQdb", &libpq.database);
  find("PQuser", &libpq.user);
  find("PQsetErrorVerbosity", &libpq.set_verbosity);
  if (!whole) return Unsupported(name + " or its libpq lacks a function; use Debian 12's or later");
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
    // It may quote what it did not understand.
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
