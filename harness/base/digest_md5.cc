// MD5 by OpenSSL.
#include "harness/base/digest_md5.h"

#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <utility>

#include "harness/base/digest.h"

namespace rharness {

struct Md5::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Md5::Md5(std::unique_ptr<State> state) : state_(std::move(state)) {}
Md5::~Md5() = default;
Md5::Md5(Md5&&) noexcept = default;
Md5& Md5::operator=(Md5&&) noexcept = default;

Result<Md5> Md5::Make() {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "MD5", nullptr);
  auto state = std::make_unique<State>();
  if (algorithm == nullptr || state->context == nullptr ||
      EVP_DigestInit_ex(state->context, algorithm, nullptr) != 1) {
    return Unsupported("OpenSSL offers no MD5 here, as in FIPS mode");
  }
  return Md5(std::move(state));
}

void Md5::Update(std::span<const std::byte> bytes) {
  if (EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) != 1) {
    Abort("OpenSSL cannot continue a digest");
  }
}

void Md5::Update(std::string_view text) { Update(std::as_bytes(std::span(text))); }

std::string Md5::FinishHex() {
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  if (EVP_DigestFinal_ex(state_->context, bytes.data(), &size) != 1) {
    Abort("OpenSSL cannot finish a digest");
  }
  return ToHex(std::span(bytes).first(size));
}

Result<std::string> Md5HexOf(std::string_view text) {
  ASSIGN_OR_RETURN(Md5 md5, Md5::Make());
  md5.Update(text);
  return md5.FinishHex();
}

}  // namespace rharness
