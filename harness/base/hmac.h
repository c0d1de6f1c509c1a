// HMAC-SHA256: a digest that needs a key.
#ifndef RHARNESS_HARNESS_BASE_HMAC_H_
#define RHARNESS_HARNESS_BASE_HMAC_H_

#include <string>
#include <string_view>

#include "harness/base/digest.h"

namespace rharness {

// RFC 2104, with SHA-256 (RFC 4231). Pure.
Sha256Bytes HmacSha256(std::string_view key, std::string_view text);
std::string HmacSha256Hex(std::string_view key, std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_HMAC_H_
