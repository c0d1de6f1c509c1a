// Which kind of place a key lies in.
#include "harness/trust/attestation/open_signer.h"

#include <fmt/format.h>

#include <utility>

#include "harness/records/intake/mlflow_credentials.h"

namespace rharness {

bool IsKeyFile(std::string_view locator) {
  return !locator.starts_with("pkcs11:") && !locator.starts_with("vault:");
}

Result<std::unique_ptr<Signer>> OpenSigner(const std::string& locator, const SignerPlace& place) {
  if (IsKeyFile(locator)) return LoadPemSigner(locator, place.passphrase_file);
  const bool token = locator.starts_with("pkcs11:");
  if (!place.passphrase_file.empty()) {
    return InvalidInput(token ? "--passphrase-file opens a PEM file; a token's PIN is named by "
                                "pin-source=file:PATH or RHARNESS_PKCS11_PIN_FILE"
                              : "--passphrase-file opens a PEM file; Vault's token is read from "
                                "VAULT_TOKEN_FILE or ~/.vault-token",
                        place.passphrase_file.string());
  }
  return token ? OpenPkcs11Signer(locator, place) : OpenVaultSigner(locator, place);
}

Result<std::unique_ptr<Signer>> OpenSigner(const std::string& locator,
                                           const std::filesystem::path& passphrase_file) {
  return OpenSigner(
      locator, SignerPlace{.passphrase_file = passphrase_file, .variable = &EnvironmentVariable});
}

Result<std::string> CheckedSignature(const PublicKey& key, std::string_view bytes,
                                     std::string signature, const std::string& where) {
  if (key.Verifies(bytes, signature)) return signature;
  return IntegrityError(
      fmt::format("the signature that came back is not that of key {}; nothing is signed",
                  key.id()),
      where);
}

}  // namespace rharness
