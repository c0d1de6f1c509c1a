// SHA-256 of bytes through OpenSSL's EVP interface.
#include "harness/base/digest.h"

#include <openssl/evp.h>

namespace rharness {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() {
    if (context == nullptr || EVP_DigestInit_ex(context, EVP_sha256(), nullptr) != 1) {
      Abort("OpenSSL offers no SHA-256");
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::Update(std::span<const std::byte> bytes) {
  if (EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) != 1) Abort("SHA-256 failed");
}

void Sha256::Update(std::string_view text) { Update(std::as_bytes(std::span(text))); }

void Sha256::UpdateU64(std::uint64_t value) {
  std::array<std::byte, 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(value >> (8 * i));
  }
  Update(bytes);
}

Sha256Bytes Sha256::Finish() {
  Sha256Bytes digest;
  if (EVP_DigestFinal_ex(state_->context, digest.data(), nullptr) != 1) Abort("SHA-256 failed");
  return digest;
}

Sha256Bytes Sha256Of(std::span<const std::byte> bytes) {
  Sha256 sha;
  sha.Update(bytes);
  return sha.Finish();
}

std::string Sha256HexOf(std::string_view text) {
  return ToHex(Sha256Of(std::as_bytes(std::span(text))));
}

std::string ToHex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

bool IsSha256Hex(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace rharness
