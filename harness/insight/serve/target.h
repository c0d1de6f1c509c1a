// What a request asks for, and at which door: its address and its Host. Pure.
//
// Role: the one reader of what strangers write into a request's first line and its Host header.
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
// invalid_input for any other form, for more bytes than above or 16 values, for an escape that is
// none, for bytes below 32 or 127, escaped or not, for what is no UTF-8, and for a name twice.
Result<RequestTarget> ParseTarget(std::string_view text);

// Where to listen, or where somebody does.
struct ListenAddress {
  std::string host;  // an address of IPv4, or of IPv6 without brackets
  std::uint16_t port = 0;
  bool loopback = false;

  std::string ToString() const;  // "127.0.0.1:8780", "[::1]:8780"
};
// "127.0.0.1:8780", "[::1]:0", "localhost:8780". Errors: invalid_input, names too: looking them up
// might give another address tomorrow.
Result<ListenAddress> ParseListenAddress(std::string_view text);

// Which Host headers are ours. A page of a stranger's whose name was made to lead here (DNS
// rebinding) has another one.
class AllowedHosts {
 public:
  // `names`: by which a proxy or a name server leads here, at any port.
  AllowedHosts(const ListenAddress& address, const std::vector<std::string>& names);
  // The header's text, in any case; the address (on loopback "localhost", too) at its own port.
  // Where strangers reach it, any address at that port: no name leads to such a header.
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
