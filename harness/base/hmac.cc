// The two passes of HMAC.
#include "harness/base/hmac.h"

#include <algorithm>
#include <array>
#include <span>

namespace rharness {

Sha256Bytes HmacSha256(std::string_view key, std::string_view text) {
  constexpr std::size_t kBlock = 64;
  std::array<char, kBlock> padded{};
  if (key.size() > kBlock) {
    const Sha256Bytes digest = Sha256Of(std::as_bytes(std::span(key)));
    std::copy(digest.begin(), digest.end(), padded.begin());
  } else {
    std::ranges::copy(key, padded.begin());
  }
  const auto masked = [&](unsigned mask) {
    std::string block(padded.begin(), padded.end());
    for (char& c : block) c = static_cast<char>(static_cast<unsigned char>(c) ^ mask);
    return block;
  };
  Sha256 inner, outer;
  inner.Update(masked(0x36));
  inner.Update(text);
  const Sha256Bytes digest = inner.Finish();
  outer.Update(masked(0x5c));
  outer.Update(std::as_bytes(std::span(digest)));
  return outer.Finish();
}

std::string HmacSha256Hex(std::string_view key, std::string_view text) {
  return ToHex(HmacSha256(key, text));
}

}  // namespace rharness
