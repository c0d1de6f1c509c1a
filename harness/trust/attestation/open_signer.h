// Opens a signer by the place of its key: a PEM file, a PKCS#11 token, or Vault's transit engine.
//
// Role: opens the --key of every verb that signs. Every signature is verified with its own public
// key before it is returned: nothing unsigned is called signed.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_OPEN_SIGNER_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_OPEN_SIGNER_H_

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/net/http.h"
#include "harness/trust/attestation/signer.h"

namespace rharness {

struct SignerPlace {
  std::filesystem::path passphrase_file;  // of a PEM file alone
  // Reads a variable of the environment; empty text if it is not set.
  std::function<std::string(const char*)> variable;
  HttpLimits limits = {.connect = std::chrono::milliseconds{10'000},
                       .request = std::chrono::milliseconds{30'000},
                       .response_bytes = std::uint64_t{1} << 20,
                       .attempts = 3,
                       .first_wait = std::chrono::milliseconds{500},
                       .longest_wait = std::chrono::milliseconds{5'000}};
};

// Whether the locator is the path of a key file.
bool IsKeyFile(std::string_view locator);

// "pkcs11:..." (RFC 7512), "vault:MOUNT/KEY", or a PEM file's path; "./pkcs11:x" is a file.
//
//   key in   | its secret, always in a file that nobody else may read
//   PEM file | `passphrase_file`, where it is encrypted
//   token    | the PIN: pin-source=file:PATH in the URI, or the file that RHARNESS_PKCS11_PIN_FILE
//            | names. pin-value is refused: who lists processes reads it
//   Vault    | the token: the file that VAULT_TOKEN_FILE names, or ~/.vault-token
//
// Errors: those of LoadPemSigner, OpenPkcs11Signer and OpenVaultSigner; invalid_input for a
// passphrase without an encrypted file.
Result<std::unique_ptr<Signer>> OpenSigner(const std::string& locator, const SignerPlace& place);
// With the variables of this process.
Result<std::unique_ptr<Signer>> OpenSigner(const std::string& locator,
                                           const std::filesystem::path& passphrase_file = {});

// `uri` names one private key of one token: by token, serial, object, id and so on; module-path
// names the module; without it p11-kit's configured modules are searched. Loads libp11-kit.so.0.
// The PIN is tried once: tokens lock. Errors: invalid_input (an invalid URI, a PIN in it, a PIN
// file that others may read, a wrong PIN, more than one matching token or key), not_found (no
// token, no key), unsupported (no p11-kit, another kind of key, no public half), io (the token
// fails).
Result<std::unique_ptr<Signer>> OpenPkcs11Signer(const std::string& uri, const SignerPlace& place);

// A key of the types ecdsa-p256 or ed25519: its newest version at opening, and that version alone.
// The server is VAULT_ADDR's, https or this machine; VAULT_NAMESPACE, VAULT_CACERT,
// VAULT_CLIENT_TIMEOUT (whole seconds) and VAULT_MAX_RETRIES as in Vault's tools. Errors: those of
// HttpClient; invalid_input (no address, no token),
// unsupported (a key of another type); integrity if the answer is of another version.
Result<std::unique_ptr<Signer>> OpenVaultSigner(const std::string& locator,
                                                const SignerPlace& place);

// The signature, if it is this key's. Errors: integrity.
Result<std::string> CheckedSignature(const PublicKey& key, std::string_view bytes,
                                     std::string signature, const std::string& where);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_OPEN_SIGNER_H_
