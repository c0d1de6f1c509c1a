// Reading addresses of requests, addresses to listen on, and Host headers.
#include "harness/insight/serve/target.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "harness/base/percent.h"
#include "harness/base/utf8.h"

namespace rharness {
namespace {

constexpr std::size_t kMostValues = 16;
constexpr std::uint16_t kHttpPort = 80;
constexpr char kHttpPortText[] = ":80";

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 32 || byte == 127;
}

Result<std::string> Decode(std::string_view text, bool plus_is_blank) {
  std::string encoded(text);
  if (plus_is_blank) std::ranges::replace(encoded, '+', ' ');
  auto decoded = PercentDecoded(encoded);
  if (!decoded) return InvalidInput("an escape is not % and two hex digits");
  if (std::ranges::any_of(*decoded, IsControl)) return InvalidInput("holds a control character");
  if (!IsUtf8(*decoded)) return InvalidInput("is not UTF-8");
  return std::move(*decoded);
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::optional<std::uint16_t> PortIn(std::string_view text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || port > 65535) {
    return std::nullopt;
  }
  return static_cast<std::uint16_t>(port);
}

}  // namespace

Result<RequestTarget> ParseTarget(std::string_view text) {
  if (text.size() > kMostTargetBytes) {
    return InvalidInput(fmt::format("the address is longer than {} bytes", kMostTargetBytes));
  }
  if (!text.starts_with('/')) return InvalidInput("the address is not a path that begins with /");
  if (text.find_first_of("# ") != std::string_view::npos) {
    return InvalidInput("the address holds a blank or a fragment");
  }
  RequestTarget target;
  const std::size_t mark = std::min(text.find('?'), text.size());
  ASSIGN_OR_RETURN(target.path, Decode(text.substr(0, mark), false));
  std::string_view rest = mark < text.size() ? text.substr(mark + 1) : std::string_view();
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    ASSIGN_OR_RETURN(std::string name, Decode(pair.substr(0, equals), true));
    ASSIGN_OR_RETURN(std::string value,
                     Decode(pair.substr(std::min(equals + 1, pair.size())), true));
    if (target.query.size() == kMostValues) return InvalidInput("the query has too many values");
    if (!target.query.emplace(std::move(name), std::move(value)).second) {
      return InvalidInput("the query has a name twice");
    }
  }
  return target;
}

std::string ListenAddress::ToString() const {
  const bool six = host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", six ? "[" : "", host, six ? "]" : "", port);
}

Result<ListenAddress> ParseListenAddress(std::string_view text) {
  const auto wrong = [&] {
    return InvalidInput(
        fmt::format("'{}' is no address to listen on; expected one such as "
                    "127.0.0.1:8780 or [::1]:8780, port 0 for any",
                    text.substr(0, 80)));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  const std::optional<std::uint16_t> port = PortIn(text.substr(colon + 1));
  std::string host = Lower(text.substr(0, colon));
  if (!port || host.size() > 64) return wrong();
  if (host == "localhost") host = "127.0.0.1";
  in_addr four{};
  in6_addr six{};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) {
    return ListenAddress{host, *port, host.starts_with("127.")};
  }
  if (!host.starts_with('[') || !host.ends_with(']')) return wrong();
  host = host.substr(1, host.size() - 2);
  if (inet_pton(AF_INET6, host.c_str(), &six) != 1) return wrong();
  return ListenAddress{host, *port, IN6_IS_ADDR_LOOPBACK(&six) != 0};
}

AllowedHosts::AllowedHosts(const ListenAddress& address, const std::vector<std::string>& names) {
  ListenAddress local = address;
  const auto add = [&](const std::string& host) {
    local.host = host;
    exact_.push_back(local.ToString());
    // A browser leaves out the port that it would take anyway.
    if (address.port == kHttpPort)
      exact_.push_back(exact_.back().substr(0, exact_.back().rfind(':')));
  };
  add(address.host);
  if (address.loopback) add("localhost");
  any_port_ = address.loopback ? std::uint16_t{0} : address.port;
  for (const std::string& name : names) names_.push_back(Lower(name));
}

bool AllowedHosts::Admit(std::string_view header) const {
  const std::string host = Lower(header);
  if (std::find(exact_.begin(), exact_.end(), host) != exact_.end()) return true;
  if (any_port_ != 0) {
    const auto is_here = [&](const std::string& text) {
      const Result<ListenAddress> literal = ParseListenAddress(text);
      return literal.ok() && literal->port == any_port_ && !text.starts_with("localhost");
    };
    if (is_here(host) || (any_port_ == kHttpPort && is_here(host + kHttpPortText))) return true;
  }
  const std::size_t colon = host.find(':');
  if (colon != std::string::npos && !PortIn(std::string_view(host).substr(colon + 1))) return false;
  return std::find(names_.begin(), names_.end(), host.substr(0, colon)) != names_.end();
}

Status CheckHostName(std::string_view name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-';
  });
  if (!name.empty() && name.size() <= 253 && plain) return {};
  return InvalidInput(
      fmt::format("'{}' is no host name; expected one such as drift.example.org, "
                  "without a scheme or a port",
                  name.substr(0, 80)));
}

}  // namespace rharness
