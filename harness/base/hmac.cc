// OpenSSL's HMAC.
#include "harness/base/hmac.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "harness/base/result.h"

namespace rharness {

Sha256Bytes HmacSha256(std::string_view key, std::string_view text) {
  Sha256Bytes digest{};
  unsigned size = 0;
  // A null key would mean the one of the call before.
  const unsigned char* made =
      HMAC(EVP_sha256(), key.empty() ? "" : key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
  if (made == nullptr || size != digest.size()) Abort("OpenSSL makes no HMAC with SHA-256");
  return digest;
}

std::string HmacSha256Hex(std::string_view key, std::string_view text) {
  return ToHex(HmacSha256(key, text));
}

}  // namespace rharness
