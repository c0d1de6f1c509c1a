// Finds forbidden parts of a URL.
#include "harness/history/postgresql_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "harness/base/percent.h"

namespace rharness {
namespace {

constexpr std::string_view kSchemes[] = {"postgresql:", "postgres:"};
constexpr const char* kForm = "expected postgresql://HOST:PORT/DATABASE?sslmode=...";

Error SecretIn(std::string_view what) {
  return InvalidInput(fmt::format("a history's URL must not hold a {}: it would stand in the "
                                  "process list, in logs and in reports; {}",
                                  what, kPasswordAdvice),
                      "--history");
}

Status CheckParameters(std::string_view query) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view one = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::string name = PercentDecoded(one.substr(0, one.find('='))).value_or("");
    if (name.empty() || one.find('=') == std::string_view::npos) {
      return InvalidInput(
          fmt::format("a parameter of the history's URL is not NAME=VALUE; {}", kForm),
          "--history");
    }
    if (std::ranges::find(kSecretParameters, name) != std::end(kSecretParameters)) {
      return SecretIn("password");
    }
  }
  return {};
}

}  // namespace

bool IsPostgresqlUrl(std::string_view url) {
  return std::ranges::any_of(kSchemes,
                             [&](std::string_view scheme) { return url.starts_with(scheme); });
}

Status CheckPostgresqlUrl(std::string_view url) {
  std::string_view rest = url.substr(url.find(':') + 1);
  if (!rest.starts_with("//")) {
    return InvalidInput(fmt::format("not the URL of a PostgreSQL database; {}", kForm),
                        "--history");
  }
  rest.remove_prefix(2);
  if (std::ranges::any_of(rest, [](char c) {
        return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F || c == '\'' || c == '"' ||
               c == '\\';
      })) {
    return InvalidInput(fmt::format("the history's URL holds a blank, a quote or a control "
                                    "character, which are written %20 and so on; {}",
                                    kForm),
                        "--history");
  }
  const std::size_t query = std::min(rest.find('?'), rest.size());
  const std::string_view before = rest.substr(0, query);
  // The last '@' ends the user; a password may contain any character.
  const std::size_t at = before.rfind('@');
  if (at != std::string_view::npos && before.substr(0, at).find(':') != std::string_view::npos) {
    return SecretIn("password");
  }
  if (query == rest.size()) return {};
  if (rest.substr(query).find('@') != std::string_view::npos &&
      before.find(':') != std::string_view::npos && before.find('/') == std::string_view::npos) {
    return SecretIn("password");  // one with a '?' in it
  }
  return CheckParameters(rest.substr(query + 1));
}

}  // namespace rharness
