// Taking a URL apart as far as is needed to hide some of it.
#include "harness/base/shown_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace rharness {
namespace {

constexpr std::string_view kHidden = "***";

struct Parameter {
  std::string_view name;  // with its '='; empty: there is none, and everything is the value
  std::string_view value;
};

// Of "a=1&b" {"a=", "1"} and {"", "b"}.
std::vector<Parameter> ParametersOf(std::string_view query) {
  std::vector<Parameter> all;
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    const auto equals = one.find('=');
    const std::size_t name = equals == one.npos ? 0 : equals + 1;
    all.push_back({one.substr(0, name), one.substr(name)});
    query.remove_prefix(std::min(one.size() + 1, query.size()));
  }
  return all;
}

bool IsHidden(const Parameter& one) { return !one.value.empty() && one.name != "versionId="; }

// Its query, without the '?' and the fragment.
std::string_view QueryOf(std::string_view url) {
  url = url.substr(0, url.find('#'));
  const auto mark = url.find('?');
  return mark == url.npos ? std::string_view() : url.substr(mark + 1);
}

}  // namespace

std::string ShownUrl(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == url.npos) return std::string(url);
  const std::size_t host = scheme + 3;
  const std::size_t end = std::min(url.find_first_of("/?#", host), url.size());
  const auto at = url.substr(host, end - host).rfind('@');
  std::string shown(url.substr(0, host));
  const std::size_t from = at == url.npos ? host : host + at + 1;
  shown += url.substr(from, std::min(url.find_first_of("?#", from), url.size()) - from);
  char separator = '?';
  for (const Parameter& one : ParametersOf(QueryOf(url))) {
    shown += separator;
    shown += one.name;
    shown += IsHidden(one) ? kHidden : one.value;
    separator = '&';
  }
  if (url.find('#') != url.npos) shown.append("#").append(kHidden);
  return shown;
}

std::vector<std::string> HiddenValues(std::string_view url) {
  constexpr std::size_t kShort = 8;  // it may stand in any text
  std::vector<std::string> values;
  for (const Parameter& one : ParametersOf(QueryOf(url))) {
    if (IsHidden(one) && one.value.size() >= kShort) values.emplace_back(one.value);
  }
  return values;
}

std::string WithoutCredentials(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == url.npos) return std::string(url);
  url = url.substr(0, url.find_first_of("?#", scheme + 3));
  const auto slash = url.find('/', scheme + 3);
  const auto at = url.substr(0, slash).rfind('@');
  if (at == url.npos) return std::string(url);
  return fmt::format("{}://{}", url.substr(0, scheme), url.substr(at + 1));
}

}  // namespace rharness
