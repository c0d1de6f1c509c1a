// The fence around OpenSSL's keys: PEM in, signatures and their verification out.
#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <utility>

#include "harness/base/base64.h"
#include "harness/base/digest.h"
#include "harness/trust/attestation/secret_file.h"
#include "harness/trust/attestation/signer.h"

namespace rharness {
namespace {

constexpr std::string_view kExpectedKey = "expected Ed25519 or ECDSA over P-256";
constexpr std::size_t kScalarBytes = 32;
constexpr std::size_t kMostSignatureBytes = 128;
constexpr std::size_t kPointBytes = 65;  // 04, x and y
constexpr std::string_view kEd25519Head("\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00", 12);
constexpr std::string_view kP256Head(
    "\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07"
    "\x03\x42\x00",
    26);

template <auto free_it>
struct Freed {
  template <class T>
  void operator()(T* pointer) const {
    free_it(pointer);
  }
};
using BioPointer = std::unique_ptr<BIO, Freed<BIO_free>>;
using NumberPointer = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using ContextPointer = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;
using PairPointer = std::unique_ptr<ECDSA_SIG, Freed<ECDSA_SIG_free>>;
using KeyPointer = std::shared_ptr<EVP_PKEY>;

KeyPointer Owned(EVP_PKEY* key) { return {key, EVP_PKEY_free}; }

const unsigned char* BytesOf(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// OpenSSL's last error, which it then forgets: a leftover would be reported for a later failure.
std::string LastReason() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "OpenSSL does not say why" : reason;
}

bool IsP256(const EVP_PKEY* key) {
  std::array<char, 64> group{};
  return EVP_PKEY_get_base_id(key) == EVP_PKEY_EC &&
         EVP_PKEY_get_group_name(key, group.data(), group.size(), nullptr) == 1 &&
         std::string_view(group.data()) == SN_X9_62_prime256v1;
}

// A coordinate of a point in 32 bytes, big-endian; empty if there is none.
std::string Coordinate(const EVP_PKEY* key, const char* name) {
  BIGNUM* number = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &number) != 1) return "";
  const NumberPointer owned(number);
  std::string bytes(kScalarBytes, '\0');
  const int size = BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()),
                                static_cast<int>(bytes.size()));
  return size == static_cast<int>(kScalarBytes) ? bytes : "";
}

// SubjectPublicKeyInfo in the one encoding that ids are made of: RFC 8410 section 4; RFC 5480
// section 2, with the curve by its name and the point uncompressed. Empty: no such key.
std::string CanonicalDer(const EVP_PKEY* key) {
  if (EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519) {
    std::string raw(kScalarBytes, '\0');
    std::size_t size = raw.size();
    const bool got =
        EVP_PKEY_get_raw_public_key(key, reinterpret_cast<unsigned char*>(raw.data()), &size) == 1;
    return got && size == raw.size() ? std::string(kEd25519Head) + raw : "";
  }
  if (!IsP256(key)) return "";
  const std::string x = Coordinate(key, OSSL_PKEY_PARAM_EC_PUB_X);
  const std::string y = Coordinate(key, OSSL_PKEY_PARAM_EC_PUB_Y);
  return x.empty() || y.empty() ? "" : std::string(kP256Head) + '\x04' + x + y;
}

std::string NameOfAlgorithm(const EVP_PKEY* key) {
  const char* name = EVP_PKEY_get0_type_name(key);
  std::array<char, 64> group{};
  if (EVP_PKEY_get_group_name(key, group.data(), group.size(), nullptr) == 1) {
    return fmt::format("{} over {}", name == nullptr ? "EC" : name, group.data());
  }
  return name == nullptr ? "unknown" : name;
}

// The context of one signature or verification. Ed25519 hashes for itself.
const EVP_MD* DigestFor(const EVP_PKEY* key) {
  return EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 ? nullptr : EVP_sha256();
}

bool VerifiesOnce(EVP_PKEY* key, std::string_view bytes, std::string_view signature) {
  const ContextPointer context(EVP_MD_CTX_new());
  const bool good =
      context != nullptr &&
      EVP_DigestVerifyInit(context.get(), nullptr, DigestFor(key), nullptr, key) == 1 &&
      EVP_DigestVerify(context.get(), BytesOf(signature), signature.size(), BytesOf(bytes),
                       bytes.size()) == 1;
  ERR_clear_error();
  return good;
}

struct AskedPassphrase {
  const std::string* text = nullptr;  // nullptr: there is none
  bool asked = false;
};

// OpenSSL calls it for an encrypted key; without it, it would prompt on the terminal.
int GivePassphrase(char* buffer, int size, int /*writing*/, void* data) {
  auto& passphrase = *static_cast<AskedPassphrase*>(data);
  passphrase.asked = true;
  if (passphrase.text == nullptr || passphrase.text->size() > static_cast<std::size_t>(size)) {
    return -1;
  }
  std::ranges::copy(*passphrase.text, buffer);
  return static_cast<int>(passphrase.text->size());
}

Result<KeyPointer> ParsePrivateKey(const std::string& pem, const std::string* passphrase,
                                   const std::string& where) {
  const BioPointer input(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  AskedPassphrase asked{.text = passphrase};
  KeyPointer key = Owned(PEM_read_bio_PrivateKey(input.get(), nullptr, GivePassphrase, &asked));
  const std::string reason = LastReason();
  if (asked.asked && passphrase == nullptr) {
    return InvalidInput("the key is encrypted; expected --passphrase-file", where);
  }
  if (asked.asked && key == nullptr) {
    return InvalidInput(fmt::format("the passphrase does not open the key ({})", reason), where);
  }
  if (key == nullptr) {
    return InvalidInput(fmt::format("holds no private key in PEM ({})", reason), where);
  }
  if (!asked.asked && passphrase != nullptr) {
    return InvalidInput("the key is not encrypted; expected no --passphrase-file", where);
  }
  return key;
}

}  // namespace

// Makes public keys of OpenSSL's.
class KeyMaker {
 public:
  static Result<PublicKey> Make(const EVP_PKEY* key, std::string_view where) {
    std::string der = CanonicalDer(key);
    if (der.empty()) {
      return InvalidInput(fmt::format("a key of {}; {}", NameOfAlgorithm(key), kExpectedKey),
                          std::string(where));
    }
    const unsigned char* begin = BytesOf(der);
    KeyPointer canonical = Owned(d2i_PUBKEY(nullptr, &begin, static_cast<long>(der.size())));
    if (canonical == nullptr) {
      return InvalidInput(fmt::format("is no public key ({})", LastReason()), std::string(where));
    }
    return PublicKey(std::move(canonical), std::move(der),
                     EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519);
  }
};

namespace {

class PemSigner : public Signer {
 public:
  PemSigner(KeyPointer key, PublicKey public_key)
      : key_(std::move(key)), public_key_(std::move(public_key)) {}

  Result<std::string> Sign(std::string_view bytes) override {
    const ContextPointer context(EVP_MD_CTX_new());
    std::string signature(kMostSignatureBytes, '\0');
    std::size_t size = signature.size();
    if (context == nullptr ||
        EVP_DigestSignInit(context.get(), nullptr, DigestFor(key_.get()), nullptr, key_.get()) !=
            1 ||
        EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                       BytesOf(bytes), bytes.size()) != 1) {
      return Unsupported(
          fmt::format("OpenSSL cannot sign with {}: {}", public_key_.algorithm(), LastReason()));
    }
    signature.resize(size);
    return signature;
  }
  const PublicKey& public_key() const override { return public_key_; }

 private:
  KeyPointer key_;
  PublicKey public_key_;
};

}  // namespace

Result<PublicKey> PublicKey::FromPem(std::string_view pem, std::string_view where) {
  constexpr std::string_view kBegin = "-----BEGIN PUBLIC KEY-----";
  constexpr std::string_view kEnd = "-----END PUBLIC KEY-----";
  const auto fail = [&](std::string message) {
    return InvalidInput(std::move(message), std::string(where));
  };
  if (pem.find("PRIVATE KEY-----") != pem.npos) {
    return fail("a private key; expected the public one: openssl pkey -in KEY -pubout");
  }
  const auto blank = [](std::string_view text) {
    return text.find_first_not_of(" \t\r\n") == text.npos;
  };
  const auto begin = pem.find(kBegin);
  const auto end = pem.find(kEnd);
  if (begin == pem.npos || end == pem.npos || !blank(pem.substr(0, begin)) ||
      !blank(pem.substr(end + kEnd.size()))) {
    return fail(fmt::format("expected one PEM block, from {} to {}", kBegin, kEnd));
  }
  const BioPointer input(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  AskedPassphrase none;  // a header may ask for one, and nobody is to be asked
  const KeyPointer key = Owned(PEM_read_bio_PUBKEY(input.get(), nullptr, GivePassphrase, &none));
  const std::string reason = LastReason();
  if (key == nullptr) return fail(fmt::format("is no public key ({})", reason));
  return KeyMaker::Make(key.get(), where);
}

Result<PublicKey> PublicKey::FromPoint(std::string_view point, std::string_view where) {
  const bool is_ed25519 = point.size() == kScalarBytes;
  if (!is_ed25519 && (point.size() != kPointBytes || point[0] != '\x04')) {
    return InvalidInput(fmt::format("a public key of {} bytes; {}", point.size(), kExpectedKey),
                        std::string(where));
  }
  std::string der(is_ed25519 ? kEd25519Head : kP256Head);
  der += point;
  const unsigned char* begin = BytesOf(der);
  const KeyPointer key = Owned(d2i_PUBKEY(nullptr, &begin, static_cast<long>(der.size())));
  const std::string reason = LastReason();
  if (key == nullptr) {
    return InvalidInput(fmt::format("is no public key ({})", reason), std::string(where));
  }
  return KeyMaker::Make(key.get(), where);
}

PublicKey::PublicKey(std::shared_ptr<evp_pkey_st> key, std::string der, bool is_ed25519)
    : key_(std::move(key)), der_(std::move(der)), id_(Sha256HexOf(der_)), is_ed25519_(is_ed25519) {}

std::string PublicKey::Pem() const {
  constexpr std::size_t kLine = 64;
  const std::string text = ToBase64Text(der_);
  std::string pem = "-----BEGIN PUBLIC KEY-----\n";
  for (std::size_t at = 0; at < text.size(); at += kLine) pem += text.substr(at, kLine) + "\n";
  return pem + "-----END PUBLIC KEY-----\n";
}

std::string EcdsaDerOf(std::string_view pair) {
  if (pair.size() != 2 * kScalarBytes) return "";
  NumberPointer r(BN_bin2bn(BytesOf(pair), kScalarBytes, nullptr));
  NumberPointer s(BN_bin2bn(BytesOf(pair) + kScalarBytes, kScalarBytes, nullptr));
  const PairPointer both(ECDSA_SIG_new());
  if (!r || !s || !both || ECDSA_SIG_set0(both.get(), r.get(), s.get()) != 1) return "";
  (void)r.release();  // theirs now
  (void)s.release();
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(both.get(), &der);
  if (size <= 0) return "";
  std::string text(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return text;
}

std::string_view PublicKey::algorithm() const { return is_ed25519_ ? "Ed25519" : "ECDSA P-256"; }

bool PublicKey::Verifies(std::string_view bytes, std::string_view signature) const {
  if (signature.empty() || signature.size() > kMostSignatureBytes) return false;
  if (VerifiesOnce(key_.get(), bytes, signature)) return true;
  if (is_ed25519_) return false;
  const std::string der = EcdsaDerOf(signature);
  return !der.empty() && VerifiesOnce(key_.get(), bytes, der);
}

Result<std::unique_ptr<Signer>> LoadPemSigner(const std::filesystem::path& key_file,
                                              const std::filesystem::path& passphrase_file) {
  ASSIGN_OR_RETURN(const SecretText pem, ReadSecretFile(key_file, "the key"));
  KeyPointer key;
  if (passphrase_file.empty()) {
    ASSIGN_OR_RETURN(key, ParsePrivateKey(pem.text(), nullptr, key_file.string()));
  } else {
    ASSIGN_OR_RETURN(const SecretText line, ReadSecretLine(passphrase_file, "the passphrase"));
    ASSIGN_OR_RETURN(key, ParsePrivateKey(pem.text(), &line.text(), key_file.string()));
  }
  ASSIGN_OR_RETURN(PublicKey public_key, KeyMaker::Make(key.get(), key_file.string()));
  return std::unique_ptr<Signer>(
      std::make_unique<PemSigner>(std::move(key), std::move(public_key)));
}

}  // namespace rharness
