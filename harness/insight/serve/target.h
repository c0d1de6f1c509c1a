// The target of a request: its address and its Host. Pure.
//
// Role: the only reader of the untrusted first line and Host header of a request.
#ifndef RHARNESS_HARNESS_INSIGHT_SERVE_TARGET_H_
#define RHARNESS_HARNESS_INSIGHT_SERVE_TARGET_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

struct RequestTarget {
  std::string path;                          // decoded
  std::map<std::string, std::string> query;  // decoded
};

inline constexpr std::size_t kMostTargetBytes = 4096;

// An absolute path with its query (RFC 9112 3.2.1, origin form; "+" is a blank in a query). Errors:
// invalid_input for any other form, for more bytes than above or 16 values, for an invalid escape,
// for bytes below 32 or 127, escaped or not, for invalid UTF-8, and for a repeated name.
Result<RequestTarget> ParseTarget(std::string_view text);

// Where to listen, or where somebody does.
struct ListenAddress {
  std::string host;  // an address of IPv4, or of IPv6 without brackets
  std::uint16_t port = 0;
  bool loopback = false;

  std::string ToString() const;  // "127.0.0.1:8780", "[::1]:8780"
};
// "127.0.0.1:8780", "[::1]:0", "localhost:8780". Errors: invalid_input, also for names: a lookup
// might give a different address tomorrow.
Result<ListenAddress> ParseListenAddress(std::string_view text);

// The accepted Host headers. A foreign page whose name resolves here (DNS rebinding) has a
// different one.
class AllowedHosts {
 public:
  // `names`: the names of a proxy or a name server for this server, at any port.
  AllowedHosts(const ListenAddress& address, const std::vector<std::string>& names);
  // The header's text, in any case; the address (on loopback also "localhost") at its own port. If
  // the server is publicly reachable, any address at that port: no name leads to such a header.
  bool Admit(std::string_view header) const;

 private:
  std::vector<std::string> exact_;  // with port
  std::vector<std::string> names_;
  std::uint16_t any_port_ = 0;  // 0: no other address
};
// Whether this may be one of these names. Errors: invalid_input.
Status CheckHostName(std::string_view name);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_SERVE_TARGET_H_
