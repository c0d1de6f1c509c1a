// Signing and verification keys: Ed25519 (RFC 8032) and ECDSA over P-256 with SHA-256.
//
// Role: the one place with keys in it; keys.cc is the fence around OpenSSL's. The signer is an
// interface, so that a key may lie outside of a file. Not here: trust (trust.h).
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_SIGNER_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_SIGNER_H_

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "harness/base/result.h"

struct evp_pkey_st;  // OpenSSL's EVP_PKEY

namespace rharness {

// Copies share one key. Equal keys have equal ids, however they were encoded.
class PublicKey {
 public:
  // One PEM block "PUBLIC KEY" (SubjectPublicKeyInfo) and nothing else. Errors: invalid_input for
  // other text, a private key, a key of another algorithm or curve; `where` names it.
  static Result<PublicKey> FromPem(std::string_view pem, std::string_view where);
  // The bytes alone, as returned by tokens and servers: 32 for Ed25519, 65 for P-256 (04, x and y).
  static Result<PublicKey> FromPoint(std::string_view point, std::string_view where);

  // SHA-256 of the SubjectPublicKeyInfo in DER, a point of P-256 uncompressed, in hex.
  const std::string& id() const { return id_; }
  // The same SubjectPublicKeyInfo as a PEM block, in lines of 64.
  std::string Pem() const;
  std::string_view algorithm() const;  // "Ed25519", "ECDSA P-256"

  // Whether `signature` is this key's over `bytes`: 64 bytes of Ed25519; of P-256 DER, or r and s
  // of 32 bytes each. Anything else is false.
  bool Verifies(std::string_view bytes, std::string_view signature) const;

 private:
  friend class KeyMaker;
  PublicKey(std::shared_ptr<evp_pkey_st> key, std::string der, bool is_ed25519);

  std::shared_ptr<evp_pkey_st> key_;
  std::string der_;
  std::string id_;
  bool is_ed25519_ = false;
};

// r and s of P-256, 32 bytes each, as DER; empty for another length.
std::string EcdsaDerOf(std::string_view pair);

// A signer: a key in a file, or one that never leaves its device.
class Signer {
 public:
  virtual ~Signer() = default;
  // The signature's bytes, which public_key() verifies. Errors: those of the key's place.
  virtual Result<std::string> Sign(std::string_view bytes) = 0;
  virtual const PublicKey& public_key() const = 0;
};

// The key of a PEM file (PKCS #8, also encrypted, or EC PRIVATE KEY), which only its owner may
// read. `passphrase_file`: its first line opens an encrypted key; empty: there is none, without a
// prompt. Errors: not_found, io, invalid_input for a file that others may read, no key, an
// encrypted key without a passphrase or with a wrong one, a passphrase for an unencrypted key, a
// key of another algorithm. No error quotes a key or a passphrase.
Result<std::unique_ptr<Signer>> LoadPemSigner(const std::filesystem::path& key_file,
                                              const std::filesystem::path& passphrase_file = {});

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_SIGNER_H_
