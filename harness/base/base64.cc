// OpenSSL's base 64, held to one meaning a text.
#include "harness/base/base64.h"

#include <openssl/evp.h>

#include <algorithm>
#include <climits>
#include <cstddef>

namespace rharness {
namespace {

// OpenSSL counts in int.
constexpr std::size_t kMostAtOnce = std::size_t{3} << 28;

const unsigned char* BytesOf(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string ToBase64Text(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kMostAtOnce);
    // It ends what it writes with a zero byte.
    std::string digits((part.size() + 2) / 3 * 4 + 1, '\0');
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(digits.data()), BytesOf(part),
                                     static_cast<int>(part.size()));
    text.append(digits, 0, static_cast<std::size_t>(size));
    bytes.remove_prefix(part.size());
  }
  return text;
}

std::optional<std::string> FromBase64Text(std::string_view text) {
  const bool padded = text.ends_with('=');
  if (text.size() > INT_MAX || (padded && text.size() % 4 != 0)) return std::nullopt;
  const bool url_safe = text.find_first_of("-_") != text.npos;
  if (url_safe && text.find_first_of("+/") != text.npos) return std::nullopt;
  std::string digits(text);
  std::ranges::replace(digits, '-', '+');
  std::ranges::replace(digits, '_', '/');
  if (!padded) digits.append((4 - digits.size() % 4) % 4, '=');
  std::string bytes(digits.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), BytesOf(digits),
                                   static_cast<int>(digits.size()));
  if (size < 0) return std::nullopt;
  // It counts what padding stands for, and takes white space at both ends and bits that are left
  // over: none of these is written the same way again.
  const auto padding = static_cast<std::size_t>(std::ranges::count(digits, '='));
  if (padding > 2 || static_cast<std::size_t>(size) < padding) return std::nullopt;
  bytes.resize(static_cast<std::size_t>(size) - padding);
  if (ToBase64Text(bytes) != digits) return std::nullopt;
  return bytes;
}

}  // namespace rharness
